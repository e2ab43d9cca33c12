"""FTRL: follow the regularized leader."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Constant
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class FtrlOptimizer(Optimizer):
    """FTRL-Proximal with L1 and L2 regularization.

    Args:
      learning_rate: a float, a tensor, or a function that gives one.
      learning_rate_power: how fast learning slows down; at most 0.
      initial_accumulator_value: where the sums of squared gradients start; at least 0.
      l1_regularization_strength, l2_regularization_strength: at least 0.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.
      accum_name, linear_name: other names for the slots.
      l2_shrinkage_regularization_strength: weight decay in the gradient; at least 0.
      beta: a constant added to the learning rates' denominators; at least 0.
    Raises: ValueError for values out of range.
    Reference: McMahan et al., 2013; TensorFlow 2.21 `tf.compat.v1.train.FtrlOptimizer`.

    >>> w = tf.Variable(0.0)
    >>> step = tf.train.FtrlOptimizer(1.0, initial_accumulator_value=3.0).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(w)
    np.float32(-0.5)
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: Any = None, linear_name: Any = None,
                 l2_shrinkage_regularization_strength: float = 0.0, beta: Any = None):
        super().__init__(use_locking, name)
        lower_bounded = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for what, value in lower_bounded.items():
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._scalars: list[Any] = []

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            start = Constant(self._initial_accumulator_value, dtype=v.dtype)
            self._get_or_make_slot_with_initializer(v, start, v.shape, v.dtype, "accum",
                                                    self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        # beta, an addition to the denominator of the rates, acts as an L2 penalty of beta / (2 rate).
        given = {
            "learning_rate": rate,
            "l1_regularization_strength": self._l1_regularization_strength,
            "l2_regularization_strength": self._l2_regularization_strength + self._beta / (2.0 * rate),
            "l2_shrinkage_regularization_strength": self._l2_shrinkage_regularization_strength,
            "learning_rate_power": self._learning_rate_power,
        }
        if self._l2_shrinkage_regularization_strength <= 0:
            del given["l2_shrinkage_regularization_strength"]
        self._scalars = [convert_to_tensor(v, name=n) for n, v in given.items()]

    def _handles(self, var: Any) -> list[Any]:
        return [var.handle, self.get_slot(var, "accum").handle, self.get_slot(var, "linear").handle]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        apply = raw.ResourceApplyFtrl if len(self._scalars) == 4 else raw.ResourceApplyFtrlV2
        scalars = [as_dtype_of(s, grad) for s in self._scalars]
        return apply(*self._handles(var), grad, *scalars, use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        apply = raw.ResourceSparseApplyFtrl if len(self._scalars) == 4 else raw.ResourceSparseApplyFtrlV2
        scalars = [as_dtype_of(s, grad) for s in self._scalars]
        return apply(*self._handles(var), grad.values, grad.indices, *scalars, use_locking=self._use_locking,
                     sum_duplicates=True)
