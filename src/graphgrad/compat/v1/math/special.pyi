"""`tf.math.special` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.ops.math.bessel import bessel_i0 as bessel_i0
from graphgrad.ops.math.bessel import bessel_i0e as bessel_i0e
from graphgrad.ops.math.bessel import bessel_i1 as bessel_i1
from graphgrad.ops.math.bessel import bessel_i1e as bessel_i1e
from graphgrad.ops.math.bessel import bessel_j0 as bessel_j0
from graphgrad.ops.math.bessel import bessel_j1 as bessel_j1
from graphgrad.ops.math.bessel import bessel_k0 as bessel_k0
from graphgrad.ops.math.bessel import bessel_k0e as bessel_k0e
from graphgrad.ops.math.bessel import bessel_k1 as bessel_k1
from graphgrad.ops.math.bessel import bessel_k1e as bessel_k1e
from graphgrad.ops.math.bessel import bessel_y0 as bessel_y0
from graphgrad.ops.math.bessel import bessel_y1 as bessel_y1
from graphgrad.ops.math.special_integrals import dawsn as dawsn
from graphgrad.ops.math.special_integrals import expint as expint
from graphgrad.ops.math.special_integrals import fresnel_cos as fresnel_cos
from graphgrad.ops.math.special_integrals import fresnel_sin as fresnel_sin
from graphgrad.ops.math.special_integrals import spence as spence

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"
]
