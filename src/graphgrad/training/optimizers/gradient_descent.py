"""Gradient descent."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class GradientDescentOptimizer(Optimizer):
    """Plain gradient descent: `var -= learning_rate * grad`.

    Args:
      learning_rate: a float, a tensor, or a function that gives one.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations.

    Reference: TensorFlow 2.21 `tf.compat.v1.train.GradientDescentOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(w * w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(w)
    np.float32(1.0)
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._call_if_callable(self._learning_rate),
                                                       name="learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyGradientDescent(var.handle, as_dtype_of(self._learning_rate_tensor, grad), grad,
                                                use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        delta = raw.Mul(raw.Neg(grad.values), as_dtype_of(self._learning_rate_tensor, grad), name="mul")
        return raw.ResourceScatterAdd(var.handle, grad.indices, delta)
