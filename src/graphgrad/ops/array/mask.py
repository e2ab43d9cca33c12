"""Where, boolean masks and sequence masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import BOOL, NUMERIC, as_dtype, bool_
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import compatible, normalize_axis, num_elements, shape_str
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import all_axes, join, part, shape_of


@op("Where", "input: T -> index: int64", T=NUMERIC | BOOL, flags=("host",))
def where_op(xp, x):
    """Returns the coordinates of the elements that are true or not zero, in row-major order."""
    return np.argwhere(x).astype(np.int64)


@where_op.shape
def _where_shape(x):
    return (None, None) if x is None else (None, len(x))


where_op.grad(NOT_DIFFERENTIABLE)


def boolean_mask(tensor: TensorLike, mask: Any, axis: Any = None, name: str | None = "boolean_mask") -> Tensor:
    """Selects the parts of `tensor` where `mask` is true.

    Args:
      tensor: (*P, *M, *Q), P having `axis` dimensions.
      mask: (*M), bool; its rank must be known while the graph is built.
      axis: int, the first axis that the mask is for; 0 by default.
      name: a name for the operations.
    Returns: (*P, n, *Q), dtype of `tensor`, n the number of true elements of `mask`.
    Raises: ValueError for a scalar mask, one of unknown rank, or one that does not fit.
    Gradient: of the gather by the mask's true positions; None for the mask.
    Reference: TensorFlow 2.21 `tf.boolean_mask`.

    >>> sess.run(tf.boolean_mask([1, 2, 3], [True, False, True]))
    array([1, 3], dtype=int32)
    """
    with name_scope(name, "boolean_mask"):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        own, shape = mask._spec.shape, tensor._spec.shape
        if own is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None. "
                             "E.g. shape=[None] is ok, but shape=None is not. Fix: mask.set_shape([None])")
        if own == ():
            raise ValueError("mask cannot be scalar. Fix: give one element for each row, e.g. tf.reshape(mask, [1])")
        first = 0 if axis is None else int(_value_of(axis, "axis"))
        if first < 0:
            first = normalize_axis(first, len(shape))
        last = first + len(own)
        if shape is not None and (len(shape) < last or not compatible(shape[first:last], own)):
            raise ValueError(f"Shapes {shape_str(shape[first:last])} and {shape_str(own)} are incompatible: mask must "
                             f"fit the axes {first} to {last - 1} of tensor. Fix: give a mask of the tensor's shape")
        # Flat, so that the gradient of the gather below becomes dense here, as in TensorFlow.
        tensor = _flatten(tensor, first, last)
        mask = raw.Reshape(mask, [-1])
        where = raw.Squeeze(raw.Where(mask), squeeze_dims=(1,))
        return raw.GatherV2(tensor, where, first)


def boolean_mask_v1(tensor: TensorLike, mask: Any, name: str | None = "boolean_mask", axis: Any = None) -> Tensor:
    """Calls `boolean_mask` with the arguments in TensorFlow 1's order.

    Args:
      tensor, mask, name, axis: as there.
    Returns: as there.
    Raises: as there.
    Gradient: as there.
    Reference: TensorFlow 2.21 `tf.compat.v1.boolean_mask`.

    >>> sess.run(tf.boolean_mask([[1, 2], [3, 4]], [True, False], axis=1))
    array([[1],
           [3]], dtype=int32)
    """
    return boolean_mask(tensor, mask, axis, name)


def _value_of(value: Any, what: str) -> Any:
    if not is_tensor_like(value):
        return value
    known = constant_value(convert_to_tensor(value))
    if known is None:
        raise ValueError(f"{what} must be known while the graph is built, not {value}. Fix: give an int")
    return known


def _flatten(tensor, first, last):
    """Merges the axes of `tensor` from `first` up to `last` into one."""
    shape = tensor._spec.shape
    if shape is not None:
        sizes = [*shape[:first], num_elements(shape[first:last]), *shape[last:]]
        if sizes.count(None) <= 1:
            return raw.Reshape(tensor, np.array([-1 if s is None else s for s in sizes], np.int32))
    sizes = shape_of(tensor)
    rest = raw.StridedSlice(sizes, [last], [0], [1], end_mask=1)
    return raw.Reshape(tensor, join(part(sizes, 0, first), [-1], rest))


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: DTypeLike = bool_, name: str | None = None) -> Tensor:
    """Makes a mask that is true for the first `lengths[...]` positions of each row.

    Args:
      lengths: (*D), integers.
      maxlen: scalar, the length of a row; the largest of `lengths` by default.
      dtype: the dtype of the mask.
      name: a name for the operations.
    Returns: (*D, maxlen), `dtype`: element [..., j] is j < lengths[...].
    Raises: ValueError if maxlen is not a scalar.
    Gradient: none; the mask depends on integers.
    Reference: TensorFlow 2.21 `tf.sequence_mask`.

    >>> sess.run(tf.sequence_mask([1, 3], dtype=tf.int32))
    array([[1, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    with name_scope(name, "SequenceMask"):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = raw.Maximum(raw.Max(lengths, all_axes(lengths)), 0)
        else:
            maxlen = convert_to_tensor(maxlen)
            if maxlen._spec.shape not in (None, ()):
                raise ValueError(f"maxlen must be scalar for sequence_mask, not of shape {maxlen.shape}. "
                                 "Fix: give one number")
        if maxlen.dtype is not lengths.dtype:
            lengths = raw.Cast(lengths, DstT=maxlen.dtype)
        mask = raw.Less(raw.Range(0, maxlen, 1), raw.ExpandDims(lengths, -1))
        dtype = as_dtype(dtype)
        return mask if dtype is bool_ else raw.Cast(mask, DstT=dtype)


__all__ = ["boolean_mask", "boolean_mask_v1", "sequence_mask"]
