"""Histograms of fixed width."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, float64, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks


def _bins(xp, values, value_range, nbins):
    low, high = value_range[0], value_range[1]
    width = (high - low) / xp.asarray(nbins, value_range.dtype)
    found = xp.floor((values - low) / width).astype(np.int64)
    return xp.clip(found, 0, nbins - 1)


@op("HistogramFixedWidth", "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=frozenset({int32, int64, float32, float64}), host=("nbins",))
def histogram_fixed_width_op(xp, values, value_range, nbins, *, dtype=int32):
    """Counts the values in each of `nbins` intervals of equal width; values outside count in the first or last one."""
    n = int(nbins)
    if n <= 0:
        raise Complaint(f"nbins should be a positive number, but got '{n}'", "give a positive number")
    kind = np.float64
    at = _bins(xp, values.reshape(-1).astype(kind), value_range.astype(kind), n)
    if xp is np:
        return np.bincount(at, minlength=n).astype(dtype.np_dtype)
    return xp.zeros(n, dtype.np_dtype).at[at].add(1)


@histogram_fixed_width_op.shape
def _histogram_shape(values, value_range, nbins):
    return (nbins,)


histogram_fixed_width_op.grad(NOT_DIFFERENTIABLE)


def histogram_fixed_width(values: TensorLike, value_range: Any, nbins: Any = 100, dtype: DTypeLike = int32,
                          name: str | None = None) -> Tensor:
    """Counts the values in each of `nbins` intervals of equal width; values outside count in the first or last one.

    Args:
      values: numbers of any shape.
      value_range: (2,), where the first interval begins and the last one ends; dtype of `values`.
      nbins: the number of intervals.
      dtype: int32 or int64.
      name: a name for the operation.
    Returns: (nbins,).
    Raises: InvalidArgumentError if there are no intervals.
    Gradient: none.
    Reference: TensorFlow 2.21 HistogramFixedWidth.

    >>> sess.run(tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5))
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    values = convert_to_tensor(values, name="values")
    value_range = convert_to_tensor(value_range, values.dtype, name="value_range")
    return raw.HistogramFixedWidth(values, value_range, nbins, dtype=as_dtype(dtype), name=name)


def histogram_fixed_width_bins(values: TensorLike, value_range: Any, nbins: Any = 100, dtype: DTypeLike = int32,
                               name: str | None = None) -> Tensor:
    """Returns the interval that each value lies in; see `histogram_fixed_width`.

    Args:
      values, value_range, nbins, name: as for `histogram_fixed_width`.
      dtype: int32 or int64.
    Returns: the shape of `values`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.histogram_fixed_width_bins`.

    >>> sess.run(tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5))
    array([0, 0, 1, 2, 4, 4], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width_bins"):
        values = convert_to_tensor(values, name="values")
        value_range = raw.Cast(convert_to_tensor(value_range, values.dtype, name="value_range"), DstT=float64)
        nbins = convert_to_tensor(nbins, int32, name="nbins")
        low, high = (raw.GatherV2(value_range, i, 0) for i in (0, 1))
        scaled = raw.RealDiv(raw.Sub(raw.Cast(values, DstT=float64), low), raw.Sub(high, low))
        places = raw.Cast(raw.Floor(raw.Mul(scaled, raw.Cast(nbins, DstT=float64))), DstT=int32)
        places = raw.Minimum(raw.Maximum(places, 0), raw.Sub(nbins, 1))
        return raw.Cast(places, DstT=as_dtype(dtype))


limit_ranks(scalars="HistogramFixedWidth.nbins")
