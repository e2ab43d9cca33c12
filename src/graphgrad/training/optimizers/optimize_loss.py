"""`tf.contrib.layers.optimize_loss`: a training step in one call."""

from __future__ import annotations

import contextlib
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.variables.initializers import Constant
from graphgrad.frontend.variables.variable_functions import trainable_variables
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ir.values.indexed_slices import of_values, with_values
from graphgrad.ops.math.clip import clip_by_global_norm
from graphgrad.ops.random.random import truncated_normal

from .adagrad import AdagradOptimizer
from .adam import AdamOptimizer
from .ftrl import FtrlOptimizer
from .global_step import get_global_step
from .gradient_descent import GradientDescentOptimizer
from .momentum import MomentumOptimizer
from .optimizer import Optimizer
from .rmsprop import RMSPropOptimizer


def _momentum(learning_rate: Any) -> Any:
    return MomentumOptimizer(learning_rate, momentum=0.9)


OPTIMIZERS: dict[str, Any] = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer, "Momentum": _momentum,
    "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer,
}


def optimize_loss(loss: Any, global_step: Any, learning_rate: Any, optimizer: Any, gradient_noise_scale: Any = None,
                  gradient_multipliers: Any = None, clip_gradients: Any = None, learning_rate_decay_fn: Any = None,
                  update_ops: Any = None, variables: Any = None, name: str | None = None, summaries: Any = None,
                  colocate_gradients_with_ops: bool = False, increment_global_step: bool = True) -> Tensor:
    """Builds a training step: an optimizer, learning-rate decay, clipping, and the operations of UPDATE_OPS.

    Args:
      loss: a scalar.
      global_step: the step counter; the graph's own, if it has one, by default.
      learning_rate: a number or a scalar; may be None if the optimizer has one.
      optimizer: a name ("Adagrad", "Adam", "Ftrl", "Momentum", "RMSProp", "SGD"), a class, an object, or a function
        of the learning rate.
      gradient_noise_scale: the standard deviation of noise to add to gradients.
      gradient_multipliers: factors for the gradients of variables, by variable or name.
      clip_gradients: the largest global norm, or a function of pairs of gradient and variable.
      learning_rate_decay_fn: a function of learning rate and step.
      update_ops: what to run before; the collection UPDATE_OPS by default.
      variables: the variables to train; the trainable ones by default.
      name: the name of the scope.
      summaries: accepted; no summaries are written.
      colocate_gradients_with_ops: as in `tf.gradients`.
      increment_global_step: whether the step counter goes on.
    Returns: the loss, as a tensor that depends on the step.
    Raises: ValueError for arguments that do not fit.
    Reference: TensorFlow 1.15 `tf.contrib.layers.optimize_loss`.

    >>> w = tf.Variable(3.0)
    >>> step = optimize_loss(w * w, None, 0.1, "SGD")
    >>> sess.run(tf.global_variables_initializer())
    >>> _ = sess.run(step)
    >>> sess.run(w)
    np.float32(2.4)
    """
    loss = convert_to_tensor(loss)
    global_step = get_global_step() if global_step is None else global_step
    with variable_scope(name, "OptimizeLoss"):
        waiting = set(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if waiting:
            with get_default_graph().control_dependencies(waiting):
                loss = raw.Identity(loss)
        rate = _rate(learning_rate, learning_rate_decay_fn, global_step)
        opt = _optimizer(optimizer, rate)
        pairs = opt.compute_gradients(loss, trainable_variables() if variables is None else variables,
                                      colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = [(g if g is None else _noisy(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = [(_multiplied(g, v, gradient_multipliers), v) for g, v in pairs]
        if callable(clip_gradients):
            pairs = clip_gradients(pairs)
        elif clip_gradients is not None:
            clipped, _ = clip_by_global_norm([g for g, _ in pairs], float(clip_gradients))
            pairs = list(zip(clipped, [v for _, v in pairs], strict=True))
        step = opt.apply_gradients(pairs, global_step if increment_global_step else None, name="train")
        with get_default_graph().control_dependencies([step]):
            return raw.Identity(loss, name="loss")


def _rate(learning_rate: Any, decay: Any, global_step: Any) -> Any:
    rate = learning_rate
    if isinstance(learning_rate, float):
        rate = get_variable("learning_rate", [], initializer=Constant(learning_rate), trainable=False)
    if decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.\n"
                             f"  Asked for at {user_source(3)}\n  Fix: tf.train.get_or_create_global_step()")
        rate = decay(rate, global_step)
    return rate


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZERS:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZERS)}], you provided {optimizer}.\n"
                             f"  Asked for at {user_source(3)}")
        if rate is None:
            raise ValueError("Learning rate is None, but should be specified if optimizer is string "
                             f"({optimizer}).\n  Asked for at {user_source(3)}")
        return OPTIMIZERS[optimizer](rate)
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, type) or callable(optimizer):
        with contextlib.suppress(TypeError):
            return optimizer() if rate is None else optimizer(rate)
    raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of Optimizer or a "
                     f"function with one argument. Got {optimizer}.\n  Asked for at {user_source(3)}")


def _noisy(gradient: Any, scale: Any) -> Any:
    gradient = convert_to_tensor(gradient)
    noise = truncated_normal(raw.Shape(gradient), dtype=gradient.dtype)
    return raw.AddV2(gradient, raw.Mul(noise, convert_to_tensor(scale, gradient.dtype)))


def _multiplied(gradient: Any, variable: Any, multipliers: Any) -> Any:
    for key, factor in multipliers.items():
        if (key is variable or (isinstance(key, str) and key == variable.name)) and gradient is not None:
            scale = convert_to_tensor(factor, gradient.dtype)
            return with_values(gradient, raw.Mul(of_values(gradient), scale))
    return gradient
