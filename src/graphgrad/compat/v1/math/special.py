"""`tf.math.special` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.ops.math.bessel: bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1
    bessel_k1e bessel_y0 bessel_y1
graphgrad.ops.math.special_integrals: dawsn expint fresnel_cos fresnel_sin spence
""")
