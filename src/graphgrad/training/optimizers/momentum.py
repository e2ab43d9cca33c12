"""Gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .optimizer import Optimizer, as_dtype_of


class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum.

        accumulation = momentum * accumulation + grad
        var -= learning_rate * accumulation

    Args:
      learning_rate, momentum: floats, tensors, or functions that give one.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slot.
      use_nesterov: whether to step along `grad + momentum * accumulation` (Sutskever et al., 2013).

    Reference: TensorFlow 2.21 `tf.compat.v1.train.MomentumOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.MomentumOptimizer(0.25, 0.5).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> for _ in range(2):
    ...     sess.run(step)
    >>> sess.run(w)
    np.float32(1.375)
    """

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._call_if_callable(self._learning_rate),
                                                       name="learning_rate")
        self._momentum_tensor = convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ResourceApplyMomentum(
            var.handle, self.get_slot(var, "momentum").handle, as_dtype_of(self._learning_rate_tensor, grad), grad,
            as_dtype_of(self._momentum_tensor, grad), use_locking=self._use_locking,
            use_nesterov=self._use_nesterov)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        return raw.ResourceSparseApplyMomentum(
            var.handle, self.get_slot(var, "momentum").handle, as_dtype_of(self._learning_rate_tensor, grad),
            grad.values, grad.indices, as_dtype_of(self._momentum_tensor, grad), use_locking=self._use_locking,
            use_nesterov=self._use_nesterov, sum_duplicates=True)
