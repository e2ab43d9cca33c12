"""Moving averages kept in one variable, as layers update them."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable import AssignedVariable
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope

from .slots import op_name


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True,
                          name: str | None = None) -> AssignedVariable | Any:
    """Moves a variable towards a value: variable -= (1 - decay) * (variable - value).

    Args:
      variable: the variable.
      value: a tensor of its shape.
      decay: the weight of the old value.
      zero_debias: whether to correct for the start at zero; it takes two more variables.
      name: a name for the operation.
    Returns: the variable's value afterwards.
    Reference: TensorFlow 2.21 tensorflow.python.training.moving_averages.

    >>> from graphgrad.training.optimizers.moving_averages import assign_moving_average
    >>> mean = tf.Variable(1.0)
    >>> update = assign_moving_average(mean, 3.0, 0.5, zero_debias=False)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(update)
    np.float32(2.0)
    """
    with name_scope(name or "AssignMovingAvg") as scope:
        rate = 1.0 - convert_to_tensor(decay, name="decay")
        if rate.dtype is not variable.dtype:
            rate = raw.Cast(rate, DstT=variable.dtype)
        value = convert_to_tensor(value, variable.dtype)
        if not zero_debias:
            return variable.assign_sub((variable - value) * rate, name=scope)
        with variable_scope(op_name(variable)):
            biased = get_variable("biased", initializer=Zeros(), shape=variable.shape, dtype=variable.dtype,
                                  trainable=False)
            count = get_variable("local_step", [], variable.dtype, Zeros(), trainable=False)
        later = biased.assign_sub((biased - value) * rate)
        steps = count.assign_add(1.0)
        return variable.assign(later / (1.0 - raw.Pow(1.0 - rate, steps)), name=scope)


def weighted_moving_average(value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None,
                            name: str | None = None) -> Any:
    """Computes the weighted average of a value: average of weight * value over the average of weight.

    Args:
      value: a tensor.
      decay: the weight of the old averages.
      weight: a tensor that broadcasts with `value`.
      truediv: accepted; the division is exact.
      collections: what the two variables are added to; the global ones by default.
      name: a name for the operation.
    Returns: a tensor like `value`; computing it updates the averages.
    Reference: TensorFlow 2.21 tensorflow.python.training.moving_averages.
    """
    value = convert_to_tensor(value)
    weight = convert_to_tensor(weight, value.dtype)
    with variable_scope(name, "WeightedMovingAvg", [value, weight]) as scope:
        parts = []
        for title, now in (("numerator", value * weight), ("denominator", weight)):
            kept = get_variable(title, now.shape, now.dtype, Zeros(), trainable=False, collections=collections)
            parts.append(assign_moving_average(kept, now, decay, zero_debias=False))
        return raw.RealDiv(parts[0], parts[1], name=f"{scope.name}/")
