"""ArgMax and ArgMin."""

from __future__ import annotations

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import BOOL, INDEX, REAL, as_dtype, int16, int64, uint16
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.synonyms import either


def _position_shape(shape, dimension):
    if shape is None:
        return None
    rank = len(shape)
    if dimension is None:
        return (None,) * max(rank - 1, 0)
    axis = _checked(dimension, rank)
    return shape[:axis] + shape[axis + 1 :]


def _checked(dimension, rank):
    if not -rank <= dimension < rank:
        raise Complaint(f"Expected dimension in the range [{-rank}, {rank}), but got {dimension}",
                        "use an axis in that range" if rank else "reshape the scalar to a vector")
    return int(dimension) % rank


def _declare(name, function, index_types, output_types, doc, gradient_advice):
    def kernel(xp, input, dimension, *, output_type=int64):
        axis = _checked(int(dimension), input.ndim)
        if not input.shape[axis]:
            raise Complaint(f"Reduction axis {axis} is empty in shape {list(input.shape)}", "leave empty inputs out")
        return getattr(xp, function)(input, axis=axis).astype(output_type.np_dtype)

    kernel.__doc__ = doc
    record = op(name, "input: T, dimension: Tidx -> output: output_type", T=REAL | BOOL, Tidx=index_types,
                output_type=output_types, host=("dimension",), shape=_position_shape,
                gradient_advice=gradient_advice)(kernel)

    @record.grad
    def _no_gradient(op, dy):
        return None, None


_declare("ArgMax", "argmax", INDEX | {int16}, INDEX | {int16, uint16}, "Returns the first position of the maximum.",
         "a soft argmax: tf.reduce_sum(tf.nn.softmax(k * x) * tf.range(n), -1), n a float")
_declare("ArgMin", "argmin", INDEX, INDEX, "Returns the first position of the minimum.",
         "a soft argmin: tf.reduce_sum(tf.nn.softmax(-k * x) * tf.range(n), -1), n a float")


def _axis(axis):
    if hasattr(axis, "dtype") and not as_dtype(axis.dtype).is_integer:
        raise TypeError(f"axis tensor dtypes {as_dtype(axis.dtype).name} is not supported. Fix: give an int")
    return 0 if axis is None else axis


def argmax(input: TensorLike, axis: TensorLike = None, output_type: DTypeLike = int64,
           name: str | None = None) -> Tensor:
    """Returns the first position of the maximum along an axis.

    Args:
      input: a real or bool tensor.
      axis: the axis, in [-rank, rank); 0 by default.
      output_type: the dtype of the result: int16, uint16, int32 or int64.
      name: a name for the operation.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMax.

    >>> sess.run(tf.argmax([[1, 5, 5], [7, 2, 3]], axis=1))
    array([1, 0])
    """
    return raw.ArgMax(input, _axis(axis), output_type=as_dtype(output_type), name=name)


def argmin(input: TensorLike, axis: TensorLike = None, output_type: DTypeLike = int64,
           name: str | None = None) -> Tensor:
    """Returns the first position of the minimum along an axis.

    Args:
      input: a real or bool tensor.
      axis: the axis, in [-rank, rank); 0 by default.
      output_type: the dtype of the result: int32 or int64.
      name: a name for the operation.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMin.

    >>> sess.run(tf.argmin([[1, 5, 5], [7, 2, 3]], axis=1))
    array([0, 1])
    """
    return raw.ArgMin(input, 0 if axis is None else axis, output_type=as_dtype(output_type), name=name)


def argmax_v1(input: TensorLike, axis: TensorLike = None, name: str | None = None, dimension: TensorLike = None,
              output_type: DTypeLike = int64) -> Tensor:
    """Returns the first position of the maximum along an axis.

    Args:
      input: a real or bool tensor.
      axis: the axis, in [-rank, rank); 0 by default.
      name: a name for the operation.
      dimension: the older name of `axis`.
      output_type: the dtype of the result: int16, uint16, int32 or int64.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMax.

    >>> sess.run(tf.argmax([[1, 5, 5], [7, 2, 3]], 1))
    array([1, 0])
    """
    return argmax(input, either("axis", axis, "dimension", dimension), output_type, name)


def argmin_v1(input: TensorLike, axis: TensorLike = None, name: str | None = None, dimension: TensorLike = None,
              output_type: DTypeLike = int64) -> Tensor:
    """Returns the first position of the minimum along an axis.

    Args:
      input: a real or bool tensor.
      axis: the axis, in [-rank, rank); 0 by default.
      name: a name for the operation.
      dimension: the older name of `axis`.
      output_type: the dtype of the result: int32 or int64.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMin.

    >>> sess.run(tf.argmin([[1, 5, 5], [7, 2, 3]], 1))
    array([0, 1])
    """
    return argmin(input, either("axis", axis, "dimension", dimension), output_type, name)


def arg_max(input: TensorLike, dimension: TensorLike, output_type: DTypeLike = int64,
            name: str | None = None) -> Tensor:
    """Returns the first position of the maximum along an axis: `argmax` under its oldest name.

    Args:
      input: a real or bool tensor.
      dimension: the axis, in [-rank, rank).
      output_type: the dtype of the result: int16, uint16, int32 or int64.
      name: a name for the operation.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMax.

    >>> sess.run(tf.arg_max([[1, 5, 5], [7, 2, 3]], 1))
    array([1, 0])
    """
    return argmax(input, dimension, output_type, name)


def arg_min(input: TensorLike, dimension: TensorLike, output_type: DTypeLike = int64,
            name: str | None = None) -> Tensor:
    """Returns the first position of the minimum along an axis: `argmin` under its oldest name.

    Args:
      input: a real or bool tensor.
      dimension: the axis, in [-rank, rank).
      output_type: the dtype of the result: int32 or int64.
      name: a name for the operation.
    Returns: a tensor of dtype `output_type` without the axis.
    Raises: ValueError for an axis out of range; InvalidArgumentError at run time if it is empty.
    Gradient: None.
    Reference: TensorFlow 2.21 ArgMin.

    >>> sess.run(tf.arg_min([[1, 5, 5], [7, 2, 3]], 1))
    array([0, 1])
    """
    return argmin(input, dimension, output_type, name)


limit_ranks(scalars="ArgMax.dimension ArgMin.dimension")
