"""Adagrad."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Constant
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined

from .optimizer import Optimizer, as_dtype_of


class AdagradOptimizer(Optimizer):
    """Adagrad: steps divided by the root of the sum of all squared gradients.

        accumulator += grad**2
        var -= learning_rate * grad / sqrt(accumulator)

    Args:
      learning_rate: a float, a tensor, or a function that gives one.
      initial_accumulator_value: where the accumulators start; positive.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slot.
    Raises: ValueError if `initial_accumulator_value` is not positive.
    Reference: Duchi et al., 2011; TensorFlow 2.21 `tf.compat.v1.train.AdagradOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.AdagradOptimizer(0.5, initial_accumulator_value=3.0).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(w)
    np.float32(1.75)
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            if is_fully_defined(v.shape._dims):
                self._get_or_make_slot_with_initializer(
                    v, Constant(self._initial_accumulator_value, dtype=v.dtype), v.shape, v.dtype, "accumulator",
                    self._name)
            else:
                zeros = raw.ZerosLike(v.initial_value)
                start = raw.AddV2(zeros, convert_to_tensor(self._initial_accumulator_value, v.dtype))
                self._get_or_make_slot(v, start, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._call_if_callable(self._learning_rate),
                                                       name="learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdagrad(var.handle, self.get_slot(var, "accumulator").handle,
                                        as_dtype_of(self._learning_rate_tensor, grad), grad,
                                        use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        return raw.ResourceSparseApplyAdagrad(
            var.handle, self.get_slot(var, "accumulator").handle, as_dtype_of(self._learning_rate_tensor, grad),
            grad.values, grad.indices, use_locking=self._use_locking, sum_duplicates=True)
