"""Sobol sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, float64, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor
from graphgrad.system.late_imports import load

_BITS = 32


@op("SobolSample", "dim: int32, num_results: int32, skip: int32 -> samples: dtype",
    dtype=frozenset({float32, float64}), host=("dim", "num_results", "skip"), flags=("host",))
def sobol_sample_op(xp, dim, num_results, skip, *, dtype=float32):
    """Computes points of Sobol's sequence, without the first one, 0."""
    for what, value, least in (("dim", dim, 1), ("num_results", num_results, 1), ("skip", skip, 0)):
        if value < least:
            raise Complaint(f"{what} must be at least {least}, not {int(value)}", f"{what}={least}")
    qmc = load("scipy.stats.qmc")

    if dim > qmc.Sobol.MAXDIM:
        raise Complaint(f"dim must be at most {qmc.Sobol.MAXDIM}, not {int(dim)}", "fewer dimensions")
    if int(num_results) + int(skip) >= 2**31:
        raise Complaint(f"num_results + skip must be less than 2147483648, not {int(num_results) + int(skip)}",
                        "skip fewer points")
    directions = qmc.Sobol(int(dim), scramble=False, bits=_BITS)._sv  # (dim, bits)
    places = np.arange(int(skip) + 1, int(skip) + 1 + int(num_results), dtype=np.uint64)
    gray = places ^ (places >> np.uint64(1))
    points = np.zeros((len(places), int(dim)), directions.dtype)
    for bit in range(_BITS):
        points ^= np.where(gray[:, None] >> np.uint64(bit) & np.uint64(1), directions[None, :, bit], 0).astype(
            points.dtype)
    return (points / 2.0**_BITS).astype(dtype.np_dtype)


@sobol_sample_op.shape
def _sobol_sample_shape(dim, num_results, skip):
    return (num_results, dim)


sobol_sample_op.grad(NOT_DIFFERENTIABLE)


def sobol_sample(dim: Any, num_results: Any, skip: Any = 0, dtype: DTypeLike = float32,
                 name: str | None = None) -> Tensor:
    """Computes points of Sobol's sequence, which fill the unit cube evenly.

    Args:
      dim: the number of dimensions, a positive scalar.
      num_results: the number of points.
      skip: the number of points to skip.
      dtype: float32 or float64.
      name: a name for the scope of the operations.
    Returns: (num_results, dim), numbers in (0, 1).
    Raises: InvalidArgumentError at run time for numbers that are too small.
    Gradient: none.
    Reference: TensorFlow 2.21 SobolSample; Joe and Kuo, "Constructing Sobol sequences with better two-dimensional
      projections" (2008).

    >>> sess.run(tf.math.sobol_sample(2, 3))
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    with name_scope(name, "sobol"):
        given = [convert_to_tensor(v, int32) for v in (dim, num_results, skip)]
        return raw.SobolSample(*given, dtype=as_dtype(dtype))
