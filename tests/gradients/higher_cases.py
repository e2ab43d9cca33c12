"""Hessians, Jacobians and vectorised maps that are computed beside TensorFlow and here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.table import generator


class Case:
    """`function(tf, jacobian, batch_jacobian, *inputs)` gives a list of tensors; `shapes` are those of the inputs."""

    def __init__(self, function: Callable[..., Any], *shapes: tuple[int, ...]):
        self.function = function
        self.shapes = shapes

    def inputs(self, name: str) -> list[np.ndarray[Any, Any]]:
        """The inputs, the same for a name on every machine; positive, away from corners."""
        return [generator("higher", name, i).uniform(0.3, 1.7, shape) for i, shape in enumerate(self.shapes)]


def _net(tf: Any, x: Any, w: Any) -> Any:
    return tf.nn.softmax(tf.tanh(tf.matmul(x, w)))


def _hessians_of_two(tf: Any, _: Any, __: Any, x: Any, z: Any) -> Any:
    return tf.hessians([tf.reduce_sum(x**3) * tf.reduce_prod(z), z * tf.reduce_sum(tf.sin(x))], [x, z])


def _hessian_of_net(tf: Any, _: Any, __: Any, x: Any, w: Any) -> Any:
    return tf.hessians(tf.reduce_sum(tf.math.log(_net(tf, x, w)) * x), [w])


def _jacobians(tf: Any, jacobian: Any, _: Any, x: Any, w: Any) -> Any:
    return jacobian(_net(tf, x, w), [x, w])


def _jacobian_of_matrices(tf: Any, jacobian: Any, _: Any, x: Any) -> Any:
    spd = tf.matmul(x, x, transpose_b=True) + tf.eye(3, dtype=x.dtype)
    return [jacobian(tf.linalg.inv(spd), x), jacobian(tf.linalg.cholesky(spd), x)]


def _jacobian_of_gather(tf: Any, jacobian: Any, _: Any, x: Any) -> Any:
    return [jacobian(tf.gather(x, [0, 2, 0]) ** 2, x), jacobian(tf.concat([x[1:], x[:1] * x[1:2]], 0), x)]


def _jacobian_of_convolution(tf: Any, jacobian: Any, _: Any, x: Any, k: Any) -> Any:
    y = tf.nn.max_pool2d(tf.nn.conv2d(x, k, 1, "SAME"), 2, 2, "VALID")
    return jacobian(y, [x, k])


def _second_jacobian(tf: Any, jacobian: Any, _: Any, x: Any) -> Any:
    return [jacobian(jacobian(tf.nn.softmax(x * x), x), x)]


def _gradient_of_jacobian(tf: Any, jacobian: Any, _: Any, x: Any, w: Any) -> Any:
    return tf.gradients(tf.reduce_sum(jacobian(_net(tf, x, w), x) ** 2), [x, w])


def _batch_jacobians(tf: Any, _: Any, batch_jacobian: Any, x: Any, w: Any) -> Any:
    y = _net(tf, x, w)
    return [batch_jacobian(y, x), batch_jacobian(tf.stack([y, y * y], 2), x)]


def _curl_penalty(tf: Any, _: Any, batch_jacobian: Any, x: Any, w: Any) -> Any:
    j = batch_jacobian(tf.tanh(tf.matmul(x, w)), x)
    return tf.gradients(tf.reduce_sum((j - tf.transpose(j, [0, 2, 1])) ** 2), [x, w])


def _mapped(tf: Any, _: Any, __: Any, x: Any, w: Any) -> Any:
    y = tf.vectorized_map(lambda row: tf.linalg.matvec(w, row, transpose_a=True) / tf.reduce_max(row), x)
    return [y, *tf.gradients(tf.reduce_sum(tf.sin(y)), [x, w]), *tf.hessians(tf.reduce_sum(y**2), [w])]


def _mapped_structure(tf: Any, _: Any, __: Any, x: Any, z: Any) -> Any:
    y = tf.vectorized_map(lambda a: {"sum": a[0] + a[1], "far": (tf.reduce_sum(a[0]), a[1] * 2)}, (x, z))
    return [y["sum"], *y["far"], *tf.gradients(y["sum"] ** 2, [x, z])]


def _per_example(tf: Any, _: Any, __: Any, x: Any, w: Any) -> Any:
    def slope(row: Any) -> Any:
        return tf.gradients(tf.reduce_sum(_net(tf, row[None], w)[:, 0]), w)[0]

    return [tf.vectorized_map(slope, x)]


def _mapped_control_flow(tf: Any, _: Any, __: Any, x: Any) -> Any:
    def row(a: Any) -> Any:
        chosen = tf.cond(tf.reduce_sum(a) > 3.0, lambda: a * a, lambda: -a)
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * a), (0, chosen))[1]

    y = tf.vectorized_map(row, x)
    return [y]


CASES = {
    "hessians of two": Case(_hessians_of_two, (2, 3), (2,)),
    "hessian of a net": Case(_hessian_of_net, (4, 3), (3, 3)),
    "jacobians": Case(_jacobians, (2, 3), (3, 4)),
    "jacobian of matrices": Case(_jacobian_of_matrices, (3, 3)),
    "jacobian of gather": Case(_jacobian_of_gather, (3, 2)),
    "jacobian of convolution": Case(_jacobian_of_convolution, (1, 4, 4, 2), (2, 2, 2, 3)),
    "second jacobian": Case(_second_jacobian, (3,)),
    "gradient of jacobian": Case(_gradient_of_jacobian, (2, 3), (3, 2)),
    "batch jacobians": Case(_batch_jacobians, (3, 2), (2, 4)),
    "curl penalty": Case(_curl_penalty, (4, 3), (3, 3)),
    "mapped": Case(_mapped, (3, 2), (2, 2)),
    "mapped structure": Case(_mapped_structure, (3, 2), (3, 1)),
    "per example": Case(_per_example, (4, 2), (2, 3)),
    "mapped control flow": Case(_mapped_control_flow, (4, 3)),
}
