"""RMSProp."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Ones
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined

from .optimizer import Optimizer, as_dtype_of


class RMSPropOptimizer(Optimizer):
    """RMSProp: steps divided by the root of a running mean of squared gradients.

        rms = decay * rms + (1 - decay) * grad**2
        momentum = momentum_factor * momentum + learning_rate * grad / sqrt(rms + epsilon)
        var -= momentum

    Args:
      learning_rate: a float, a tensor, or a function that gives one.
      decay: of the running mean.
      momentum: the momentum's factor.
      epsilon: keeps the division finite.
      use_locking: accepted; updates of one run never interleave.
      centered: whether to use the variance (the mean is subtracted), not the mean square.
      name: the name of the training operations and of the slots.
    Reference: Tieleman and Hinton, 2012; TensorFlow 2.21 `tf.compat.v1.train.RMSPropOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.RMSPropOptimizer(0.5, epsilon=0.0).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(w)
    np.float32(1.5)
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._scalars: list[Any] = []

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            if is_fully_defined(v.shape._dims):
                self._get_or_make_slot_with_initializer(v, Ones(v.dtype), v.shape, v.dtype, "rms", self._name)
            else:
                self._get_or_make_slot(v, raw.OnesLike(v.initial_value), "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        given = {"learning_rate": self._learning_rate, "decay": self._decay, "momentum": self._momentum,
                 "epsilon": self._epsilon}
        self._scalars = [convert_to_tensor(self._call_if_callable(v), name=n) for n, v in given.items()]

    def _operands(self, grad: Any, var: Any) -> tuple[list[Any], list[Any]]:
        slots = ["mg", "rms", "momentum"] if self._centered else ["rms", "momentum"]
        handles = [var.handle, *(self.get_slot(var, s).handle for s in slots)]
        return handles, [as_dtype_of(s, grad) for s in self._scalars]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        handles, scalars = self._operands(grad, var)
        apply = raw.ResourceApplyCenteredRMSProp if self._centered else raw.ResourceApplyRMSProp
        return apply(*handles, *scalars, grad, use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        handles, scalars = self._operands(grad, var)
        apply = raw.ResourceSparseApplyCenteredRMSProp if self._centered else raw.ResourceSparseApplyRMSProp
        return apply(*handles, *scalars, grad.values, grad.indices, use_locking=self._use_locking,
                     sum_duplicates=True)
