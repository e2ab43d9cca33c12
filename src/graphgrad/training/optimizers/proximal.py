"""Gradient descent and Adagrad with a proximal step, which makes variables sparse."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Constant
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class _Rates:
    """The operands of both. No base class: programs ask which classes are direct heirs of Optimizer."""

    def __init__(self, learning_rate: Any, l1: float, l2: float):
        self._given = ((learning_rate, "learning_rate"), (l1, "l1_regularization_strength"),
                       (l2, "l2_regularization_strength"))
        self._tensors: list[Any] = []

    def prepare(self) -> None:
        self._tensors = [convert_to_tensor(x, name=name) for x, name in self._given]

    def like(self, grad: Any) -> list[Any]:
        return [as_dtype_of(x, grad) for x in self._tensors]


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then a step towards zero.

        prox = var - rate * grad
        var = shrink(prox, rate * l1) / (1 + rate * l2)

    Args:
      learning_rate: a float, or a tensor.
      l1_regularization_strength, l2_regularization_strength: not negative.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations.
    Reference: Duchi and Singer, 2009; TensorFlow 2.21 `tf.compat.v1.train.ProximalGradientDescentOptimizer`.

    >>> w = tf.Variable([1.0, 0.1])
    >>> optimizer = tf.train.ProximalGradientDescentOptimizer(0.5, l1_regularization_strength=1.0)
    >>> step = optimizer.minimize(tf.reduce_sum(0.0 * w))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(w)
    array([0.5, 0. ], dtype=float32)
    """

    def __init__(self, learning_rate: Any, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False,
                 name: str = "ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._rates = _Rates(learning_rate, l1_regularization_strength, l2_regularization_strength)

    def _prepare(self) -> None:
        self._rates.prepare()

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyProximalGradientDescent(var.handle, *self._rates.like(grad), grad,
                                                        use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return raw.ResourceSparseApplyProximalGradientDescent(
            var.handle, *self._rates.like(grad.values), grad.values, grad.indices, use_locking=self._use_locking)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with a proximal step: `ProximalGradientDescentOptimizer` at the rate rate / sqrt(sum of grad**2).

    Args:
      learning_rate: a float, or a tensor.
      initial_accumulator_value: where the sums of squares start; positive.
      l1_regularization_strength, l2_regularization_strength: not negative.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slot.
    Raises: ValueError if `initial_accumulator_value` is not positive.
    Reference: Duchi and Singer, 2009; TensorFlow 2.21 `tf.compat.v1.train.ProximalAdagradOptimizer`.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._rates = _Rates(learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._start = initial_accumulator_value

    def _prepare(self) -> None:
        self._rates.prepare()

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._get_or_make_slot_with_initializer(v, Constant(self._start, dtype=v.dtype), v.shape, v.dtype,
                                                    "accumulator", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyProximalAdagrad(
            var.handle, self.get_slot(var, "accumulator").handle, *self._rates.like(grad), grad,
            use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return raw.ResourceSparseApplyProximalAdagrad(
            var.handle, self.get_slot(var, "accumulator").handle, *self._rates.like(grad.values), grad.values,
            grad.indices, use_locking=self._use_locking)
