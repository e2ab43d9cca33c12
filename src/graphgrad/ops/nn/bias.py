"""BiasAdd and the layers built on it."""

from __future__ import annotations

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import IMAGE_FORMATS
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import NUMERIC
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank, with_rank_at_least
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.host_sums import sum_over
from graphgrad.ops.common.shape_values import axes, fill, join, minus, rank_of, shape_of


@op("BiasAdd", "value: T, bias: T -> output: T", T=NUMERIC, limits=IMAGE_FORMATS, linear=Linear.JOINTLY)
def bias_add_op(xp, value, bias, *, data_format="NHWC"):
    """Adds a vector along the channels: the last dimension, or the second for NCHW."""
    if data_format == "NCHW":
        bias = bias.reshape((1, -1) + (1,) * (value.ndim - 2))
    return value + bias


@bias_add_op.written_as
def _bias_add_formula(op):
    return "value + bias" if op._attr("data_format") == "NHWC" else None


@bias_add_op.shape
def _bias_add_op_shape(value, bias, data_format):
    (n,) = with_rank(bias, 1, "bias")
    with_rank_at_least(value, 2, "value")
    if value is None:
        return None
    axis = _channels(data_format, len(value))
    if n is not None and value[axis] is not None and n != value[axis]:
        raise Complaint(f"bias has {n} elements but value has {value[axis]} channels in dimension {axis}",
                        "give one bias for each channel, or another data_format")
    return value if value[axis] is not None else value[:axis] + (n,) + value[axis + 1 :]


def _channels(data_format, rank):
    return 1 if data_format == "NCHW" else rank - 1


@bias_add_op.stacked
def _bias_add_stacked(op, operands, stacked):
    value, bias = operands
    if stacked != [True, False] or op.attrs.get("data_format", "NHWC") != "NHWC":
        return None
    return raw.AddV2(value, bias)


@bias_add_op.by_rows
def _rows_of_value(op, rows):
    return not rows[1] and len(op.outputs[0]._spec.shape or ()) > 1


@bias_add_op.grad
def _bias_add_op_grad(op, dy):
    if op._attr("data_format") == "NHWC":
        return dy, raw.BiasAddGrad(dy)
    return dy, raw.BiasAddGrad(dy, data_format="NCHW")


@op("BiasAddV1", "value: T, bias: T -> output: T", T=NUMERIC, linear=Linear.JOINTLY)
def bias_add_v1_op(xp, value, bias):
    """Adds a vector along the last dimension."""
    return value + bias


@bias_add_v1_op.shape
def _bias_add_v1_shape(value, bias):
    return _bias_add_op_shape(value, bias, "NHWC")


@bias_add_v1_op.grad
def _bias_add_v1_grad(op, dy):
    rank = rank_of(dy)
    return dy, raw.Sum(dy, axes(0, minus(rank, 1)))


@op("BiasAddGrad", "out_backprop: T -> output: T", T=NUMERIC, limits=IMAGE_FORMATS, linear=Linear.JOINTLY)
def bias_add_grad(xp, dy, *, data_format="NHWC"):
    """Sums over all dimensions but the channels."""
    keep = _channels(data_format, dy.ndim)
    return sum_over(xp, dy, tuple(i for i in range(dy.ndim) if i != keep))


@bias_add_grad.written_as
def _bias_add_grad_formula(op):
    rank = op.inputs[0].shape.rank
    if rank is None:
        return None
    keep = _channels(op._attr("data_format"), rank)
    return f"sum(out_backprop, axes({', '.join(str(i) for i in range(rank) if i != keep)}))"


@bias_add_grad.shape
def _bias_add_grad_shape(dy, data_format):
    with_rank_at_least(dy, 2, "out_backprop")
    return (None,) if dy is None else (dy[_channels(data_format, len(dy))],)


@bias_add_grad.grad
def _bias_add_grad_grad(op, db):
    dy = op.inputs[0]
    if op._attr("data_format") == "NCHW":
        db = raw.Reshape(db, join([-1], fill(minus(rank_of(dy), 2), 1)))
    return raw.BroadcastTo(db, shape_of(dy))


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Adds a vector along the channels.

    Args:
      value: (N, ..., C), or (N, C, ...) for data_format "NC...".
      bias: (C), of the same dtype.
      data_format: "N...C" (the default, also "NHWC") or "NC..." (also "NCHW").
      name: a name for the operation.
    Returns: a tensor like `value`.
    Raises: ValueError if the number of channels differs or the format is unknown.
    Gradient: dy, and its sum over everything but the channels.
    Reference: TensorFlow 2.21 BiasAdd.

    >>> sess.run(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]))
    array([[11., 22.]], dtype=float32)
    """
    if data_format is None:
        data_format = "NHWC"
    elif data_format.startswith("NC"):
        data_format = "NCHW"
    elif data_format.startswith("N") and data_format.endswith("C"):
        data_format = "NHWC"
    else:
        raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
    value = convert_to_tensor(value, name="input")
    bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
    if data_format == "NHWC":  # the default, which keeps the common case short
        return raw.BiasAdd(value, bias, name=name)
    return raw.BiasAdd(value, bias, data_format=data_format, name=name)


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Computes the dense layer x @ weights + biases.

    Args:
      x: (N, I).
      weights: (I, O).
      biases: (O).
      name: a name for the operation.
    Returns: (N, O).
    Raises: ValueError if the shapes are incompatible.
    Gradient: those of MatMul and BiasAdd.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.xw_plus_b`.

    >>> sess.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [1.0]], [0.5]))
    array([[3.5]], dtype=float32)
    """
    with name_scope(name, "xw_plus_b") as scope:
        x = convert_to_tensor(x, name="x")
        product = raw.MatMul(x, convert_to_tensor(weights, name="weights"))
        return raw.BiasAdd(product, convert_to_tensor(biases, name="biases"), name=scope)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Computes the dense layer relu(x @ weights + biases).

    Args:
      x: (N, I).
      weights: (I, O).
      biases: (O).
      name: a name for the operation.
    Returns: (N, O).
    Raises: ValueError if the shapes are incompatible.
    Gradient: those of MatMul, BiasAdd and Relu.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.relu_layer`.

    >>> sess.run(tf.nn.relu_layer([[1.0, -2.0]], [[1.0], [1.0]], [0.5]))
    array([[0.]], dtype=float32)
    """
    with name_scope(name, "relu_layer") as scope:
        x = convert_to_tensor(x, name="x")
        product = raw.MatMul(x, convert_to_tensor(weights, name="weights"))
        return raw.Relu(raw.BiasAdd(product, convert_to_tensor(biases, name="biases")), name=scope)
