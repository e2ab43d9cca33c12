"""Adadelta."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class AdadeltaOptimizer(Optimizer):
    """Adadelta: steps as large as recent steps were.

        accum = rho * accum + (1 - rho) * grad**2
        update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * grad
        accum_update = rho * accum_update + (1 - rho) * update**2
        var -= learning_rate * update

    Args:
      learning_rate, rho, epsilon: floats, tensors, or functions that give one.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.
    Reference: Zeiler, 2012; TensorFlow 2.21 `tf.compat.v1.train.AdadeltaOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.AdadeltaOptimizer(1.0, rho=0.0, epsilon=1.0).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> print(round(float(sess.run(w)), 4))
    1.2929
    """

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._scalars: list[Any] = []

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        given = {"lr": self._lr, "rho": self._rho, "epsilon": self._epsilon}
        self._scalars = [convert_to_tensor(self._call_if_callable(v), name=n) for n, v in given.items()]

    def _operands(self, grad: Any, var: Any) -> list[Any]:
        slots = [self.get_slot(var, s).handle for s in ("accum", "accum_update")]
        return [var.handle, *slots, *(as_dtype_of(s, grad) for s in self._scalars)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyAdadelta(*self._operands(grad, var), grad, use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        return raw.ResourceSparseApplyAdadelta(*self._operands(grad, var), grad.values, grad.indices,
                                               use_locking=self._use_locking, sum_duplicates=True)
