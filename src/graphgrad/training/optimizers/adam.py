"""Adam."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.control.group import group

from .optimizer import Optimizer, _beside, as_dtype_of


class AdamOptimizer(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square.

        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        var -= learning_rate * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + epsilon)

    A variable of which only rows were gathered is updated as a whole: m and v decay in all rows.

    Args:
      learning_rate, beta1, beta2, epsilon: floats, tensors, or functions that give one.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.
      use_own_namescope_for_non_slot_vars: whether the powers of beta are named below `name`.

    Reference: Kingma and Ba, 2015; TensorFlow 2.21 `tf.compat.v1.train.AdamOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> step = tf.train.AdamOptimizer(0.5).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> print(round(float(sess.run(w)), 4))
    1.5
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam",
                 use_own_namescope_for_non_slot_vars: bool = False):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._own_namescope = use_own_namescope_for_non_slot_vars
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = current_graph()
        while graph is not None and graph.building_function:
            graph = graph._outer_graph
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _create_slots(self, var_list: Any) -> None:
        # The powers are kept on the device of one variable, the first by name.
        first = min(var_list, key=lambda v: v.name)
        for name, value in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            if self._own_namescope:
                with name_scope(self._name + "/"):
                    self._create_non_slot_variable(self._call_if_callable(value), name, first)
            else:
                self._create_non_slot_variable(self._call_if_callable(value), name, first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert_to_tensor(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert_to_tensor(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        powers = [as_dtype_of(p, grad) if p.dtype is grad.dtype else raw.Cast(p, DstT=grad.dtype)
                  for p in self._get_beta_accumulators()]
        scalars = [as_dtype_of(t, grad) for t in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)]
        return raw.ResourceApplyAdam(var.handle, self.get_slot(var, "m").handle, self.get_slot(var, "v").handle,
                                     *powers, *scalars, grad, use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        # All rows of m and v decay, so the update is dense whatever the gradient is.
        shape = var.shape
        rows = shape._dims[0] if shape.rank else None
        count = rows if rows is not None else raw.StridedSlice(
            raw.VariableShape(var.handle, shape=None), [0], [1], [1], shrink_axis_mask=1)
        dense = raw.UnsortedSegmentSum(grad.values, grad.indices, count)
        if current_graph() is not None:
            dense.set_shape(shape)
        return self._apply_dense(dense, var)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        graph = current_graph()
        if graph is None:
            for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t)):
                power.assign(raw.Mul(power, beta))
            return None
        with graph.control_dependencies(update_ops), _beside(graph, beta1_power):
            last = [_times(beta1_power, self._beta1_t), _times(beta2_power, self._beta2_t)]
        return group(*update_ops, *last, name=name_scope)


def _times(power: Variable, beta: Any) -> Any:
    return power.assign(raw.Mul(power, as_dtype_of(beta, power), name="mul"), read_value=False)
