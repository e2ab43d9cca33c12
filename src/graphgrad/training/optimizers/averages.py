"""Moving averages of variables and tensors."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_functions import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.control.group import group

from .slots import create_slot, create_zeros_slot, op_name

_AVERAGED = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


class ExponentialMovingAverage:
    """Keeps averages: average -= (1 - decay) * (average - value), each time `apply`'s operation runs.

    Args:
      decay: the weight of the old average.
      num_updates: a step count; early averages follow faster, with min(decay, (1 + n) / (10 + n)).
      zero_debias: whether to correct the averages of tensors for their start at zero.
      name: appended to the names of the averaged variables.
    Reference: TensorFlow 2.21 `tf.train.ExponentialMovingAverage`.

    >>> w = tf.Variable(1.0, name="w")
    >>> ema = tf.train.ExponentialMovingAverage(0.5)
    >>> update = ema.apply([w])
    >>> sess.run(tf.global_variables_initializer())
    >>> _ = sess.run(w.assign(3.0))
    >>> sess.run(update)
    >>> sess.run(ema.average(w))
    np.float32(2.0)
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = "ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The suffix of the names of averages."""
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """Makes the operation that updates the averages, creating them if necessary.

        Args:
          var_list: variables and tensors; all trainable variables by default.
        Returns: the `Operation`; in eager mode None.
        Raises: TypeError for other than floating-point dtypes.
        """
        if var_list is None:
            var_list = trainable_variables()
        for v in var_list:
            if v.dtype not in _AVERAGED:
                raise TypeError(f"The variables must be half, float, or double: {v.name}")
            if _ref(v) not in self._averages:
                self._averages[_ref(v)] = self._make_average(v)
        with name_scope(self._name) as scope:
            decay = self._decay_tensor()
            updates = [self._update(v, decay) for v in var_list]
            return group(*[u for u in updates if u is not None], name=scope)

    def _make_average(self, v: Any) -> Any:
        graph = current_graph()
        with init_scope():
            if not isinstance(v, Variable):
                return create_zeros_slot(v, self._name)
            average = create_slot(v, v.initialized_value(), self._name)
        if graph is not None:
            graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, v)
        return average

    def _decay_tensor(self) -> Any:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        n = raw.Cast(convert_to_tensor(self._num_updates), DstT=decay.dtype, name="num_updates")
        return raw.Minimum(decay, (1.0 + n) / (10.0 + n))

    def _update(self, v: Any, decay: Any) -> Any:
        average = self._averages[_ref(v)]
        with name_scope("AssignMovingAvg") as scope:
            rate = 1.0 - decay
            if rate.dtype is not average.dtype:
                rate = raw.Cast(rate, DstT=average.dtype)
            if self._zero_debias and not isinstance(v, Variable):
                return self._update_debiased(v, average, rate, scope)
            return average.assign_sub((average - v) * rate, read_value=False)

    def _update_debiased(self, v: Any, average: Any, rate: Any, scope: str) -> Any:
        biased, count = self._debias_state(average)
        later = biased.assign_sub((biased - v) * rate)
        steps = count.assign_add(1.0)
        return average.assign(later / (1.0 - raw.Pow(1.0 - rate, steps)), name=scope, read_value=False)

    def _debias_state(self, average: Any) -> tuple[Any, Any]:
        key = (_ref(average), "debias")
        if key not in self._averages:
            with init_scope():
                biased = create_zeros_slot(average, "biased")
                count = create_slot(average, convert_to_tensor(0.0, average.dtype), "local_step")
            self._averages[key] = (biased, count)
        pair: tuple[Any, Any] = self._averages[key]
        return pair

    def average(self, var: Any) -> Any:
        """Returns the variable with the average of `var`, or None."""
        return self._averages.get(_ref(var))

    def average_name(self, var: Any) -> str:
        """Returns the name of the variable with the average of `var`, whether it exists or not."""
        if _ref(var) in self._averages:
            return op_name(self._averages[_ref(var)])
        return f"{op_name(var)}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Returns a dict for a `Saver` that loads the averages into the variables themselves.

        Args:
          moving_avg_variables: the variables that have averages in the checkpoint; all
            trainable ones and those with averages by default.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        chosen = {_ref(v): v for v in moving_avg_variables}
        names = {self.average_name(v): v for v in chosen.values()}
        averaged = {op_name(v) for v in chosen.values()}
        for v in {_ref(v): v for v in moving_average_variables() + global_variables()}.values():
            if op_name(v) not in averaged and op_name(v) not in names:
                names[op_name(v)] = v
        return names


def _ref(v: Any) -> Any:
    return v._identity if isinstance(v, Variable) else v.ref()
