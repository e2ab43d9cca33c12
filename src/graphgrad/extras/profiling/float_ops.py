"""How many float operations an operation takes, as TensorFlow's profiler counts them.

Types that are not here count as none, as they do there: of `tf.nn.relu` and `tf.tanh`, nothing is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from graphgrad.ir.graph import Operation, Tensor


class _Unknown(Exception):
    """A dimension is not known."""


def float_operations(op: Operation) -> int | None:
    """Returns how many float operations an operation takes; None if that depends on dimensions that are not known."""
    try:
        if op.type in _FOR_EACH_RESULT:
            return _FOR_EACH_RESULT[op.type] * _size(op.outputs[0])
        if op.type in _FOR_EACH_INPUT:
            return _FOR_EACH_INPUT[op.type] * _size(op.inputs[0])
        if op.type in _REDUCTIONS:
            return _size(op.inputs[0]) - (0 if op.type == "Mean" else _size(op.outputs[0]))
        rule = _RULES.get(op.type)
        return 0 if rule is None else int(rule(op))
    except _Unknown:
        return None


def _dimensions(t: Tensor) -> list[int]:
    shape = t._spec.shape
    if shape is None or None in shape:
        raise _Unknown
    return [int(n) for n in shape if n is not None]


def _size(t: Tensor) -> int:
    return math.prod(_dimensions(t))


_FOR_EACH_RESULT = {**dict.fromkeys(
    "Add AddV2 Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal NotEqual".split(), 1),
    "SquaredDifference": 2, "RsqrtGrad": 4}
_FOR_EACH_INPUT = {**dict.fromkeys("Reciprocal Square Log Neg BiasAdd".split(), 1),
                   "Rsqrt": 2, "Softmax": 5}
_REDUCTIONS = frozenset("Sum Mean ArgMax ArgMin BiasAddGrad".split())


def _half_norm(op: Operation) -> int:
    return 3 * _size(op.inputs[0]) - 1


def _sum_of_several(op: Operation) -> int:
    return _size(op.inputs[0]) * (len(op.inputs) - 1)


def _product(op: Operation) -> int:
    transposed = op._attr("transpose_a") if op.type == "MatMul" else op._attr("adj_x")
    return 2 * _dimensions(op.inputs[0])[-2 if transposed else -1] * _size(op.outputs[0])


def _convolution(op: Operation) -> int:
    """For each result, and each element of the part of the filter that makes it."""
    return 2 * _size(op.outputs[0]) * math.prod(_dimensions(op.inputs[1])[:-1])


def _by_channel(op: Operation) -> int:
    return 2 * _size(op.outputs[0]) * math.prod(_dimensions(op.inputs[1])[:2])


def _backwards(op: Operation, images: Tensor, filters: Tensor) -> int:
    _, rows, columns, _ = op._attr("strides")
    return 2 * _size(images) * _size(filters) // (_dimensions(images)[-1] * rows * columns)


def _to_images(op: Operation) -> int:
    return _backwards(op, op.outputs[0], op.inputs[1])


def _to_filters(op: Operation) -> int:
    return _backwards(op, op.inputs[0], op.outputs[0])


def _pool(op: Operation) -> int:
    return math.prod(op._attr("ksize")) * _size(op.outputs[0])


def _average_gradient(op: Operation) -> int:
    return 2 * math.prod(op._attr("ksize")) * _size(op.inputs[1])


def _maximum_gradient(op: Operation) -> int:
    return (math.prod(op._attr("ksize")) + 1) * _size(op.inputs[1])


_RULES: dict[str, Callable[[Operation], int]] = {
    "L2Loss": _half_norm, "AddN": _sum_of_several, "MatMul": _product, "BatchMatMul": _product,
    "BatchMatMulV2": _product, "BatchMatMulV3": _product, "Conv2D": _convolution, "Conv3D": _convolution,
    "DepthwiseConv2dNative": _by_channel, "Dilation2D": _by_channel, "Conv2DBackpropInput": _to_images,
    "Conv2DBackpropFilter": _to_filters, "AvgPool": _pool, "MaxPool": _pool, "AvgPoolGrad": _average_gradient,
    "MaxPoolGrad": _maximum_gradient}
