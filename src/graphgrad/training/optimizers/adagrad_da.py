"""Adagrad with dual averaging."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Constant, Zeros
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging: variables depend on the sums of gradients, and L1 makes them sparse.

        gradients += grad;  squares += grad**2
        var = -learning_rate * shrink(gradients, l1 * step) / (l2 * step * learning_rate + sqrt(squares))

    where shrink moves its argument towards zero by l1 * step, and not beyond.

    Args:
      learning_rate: a float, or a tensor.
      global_step: the global step; the step is one more.
      initial_gradient_squared_accumulator_value: where the sums of squares start; positive.
      l1_regularization_strength, l2_regularization_strength: not negative.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.
    Raises: ValueError if the start of the sums is not positive.
    Reference: Duchi et al., 2011; TensorFlow 2.21 `tf.compat.v1.train.AdagradDAOptimizer`.
    """

    def __init__(self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._start = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._rate: Any = None

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._get_or_make_slot_with_initializer(v, Zeros(), v.shape, v.dtype, "gradient_accumulator", self._name)
            self._get_or_make_slot_with_initializer(v, Constant(self._start, dtype=v.dtype), v.shape, v.dtype,
                                                    "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._rate = convert_to_tensor(self._learning_rate, name="learning_rate")

    def _operands(self, var: Any, grad: Any) -> list[Any]:
        def like(x: Any) -> Any:
            return as_dtype_of(convert_to_tensor(x, None if hasattr(x, "dtype") else var.dtype), grad)

        step = raw.Cast(convert_to_tensor(self._global_step), DstT=dtypes.int64) + 1
        return [as_dtype_of(self._rate, grad), like(self._l1), like(self._l2), step]

    def _slots_of(self, var: Any) -> list[Any]:
        return [self.get_slot(var, n).handle for n in ("gradient_accumulator", "gradient_squared_accumulator")]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdagradDA(var.handle, *self._slots_of(var), grad, *self._operands(var, grad),
                                          use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        values = grad.values
        return raw.ResourceSparseApplyAdagradDA(
            var.handle, *self._slots_of(var), values, grad.indices, *self._operands(var, values),
            use_locking=self._use_locking)
