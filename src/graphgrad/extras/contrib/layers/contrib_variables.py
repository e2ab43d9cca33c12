"""Variables, initializers and regularizers of `tf.contrib.framework` and `tf.contrib.layers`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.frontend.variables.scaling_initializers import compute_fans
from graphgrad.frontend.variables.variable import VariableV1
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.math.arithmetic import add_n
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.cross_entropy import l2_loss
from graphgrad.ops.random.random import random_uniform, truncated_normal

from .arg_scope import add_arg_scope

# -- variables -------------------------------------------------------------------------


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Any = None, use_resource: Any = None,
             **kwargs: Any) -> VariableV1:
    """Gets or makes the variable of a name; see `tf.get_variable`.

    Args:
      name, shape, dtype, initializer, regularizer, trainable, collections, caching_device, partitioner, custom_getter,
        use_resource: as in `tf.get_variable`.
      device: accepted; without effect.
      **kwargs: `synchronization`, `aggregation`, as for `tf.get_variable`.
    Reference: TensorFlow 1.15 `tf.contrib.framework.variable`.
    """
    keys = list(collections) if collections is not None else [GraphKeys.GLOBAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, trainable, list(dict.fromkeys(keys)),
                        caching_device, partitioner, use_resource=use_resource, custom_getter=custom_getter,
                        **kwargs)


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = float32, initializer: Any = None, regularizer: Any = None,
                   trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
                   partitioner: Any = None, custom_getter: Any = None, use_resource: Any = None,
                   **kwargs: Any) -> VariableV1:
    """Gets or makes the variable of a name, in the collection MODEL_VARIABLES too; see `variable`."""
    keys = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, keys, caching_device, device, partitioner,
                    custom_getter, use_resource, **kwargs)


def get_variables(scope: Any = None, suffix: str | None = None,
                  collection: str = GraphKeys.GLOBAL_VARIABLES) -> list[Any]:
    """Returns the variables of a collection.

    Args:
      scope: a `VariableScope`, or a regular expression that names begin with.
      suffix: the end of the names.
      collection: the collection.
    """
    prefix = getattr(scope, "name", scope)
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        prefix = f"{prefix or ''}.*{re.escape(suffix)}"
    return get_collection(collection, prefix)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables of MODEL_VARIABLES; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables of LOCAL_VARIABLES; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables of TRAINABLE_VARIABLES; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Returns the variables whose names end with a suffix.

    Args:
      suffix: the end of the names.
      scope: a `VariableScope`, or a regular expression that names begin with.
    Reference: TensorFlow 1.15 `tf.contrib.framework.get_variables_by_suffix`.
    """
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Returns the variables with a name, in any scope beneath `scope`.

    Args:
      given_name: the last part of the names.
      scope: a `VariableScope`, or a regular expression that names begin with.
    Reference: TensorFlow 1.15 `tf.contrib.framework.get_variables_by_name`.
    """
    found = get_variables(scope, given_name)
    return [v for v in found if v.op.name.rpartition("/")[2] == given_name.rpartition("/")[2]]


def get_unique_variable(var_op_name: str) -> VariableV1:
    """Returns the variable with a full name.

    Args:
      var_op_name: the name of the variable's operation, with its scopes.
    Raises: ValueError if there is none.
    Reference: TensorFlow 1.15 `tf.contrib.framework.get_unique_variable`.
    """
    for v in get_collection(GraphKeys.GLOBAL_VARIABLES, re.escape(var_op_name)):
        if v.op.name == var_op_name:
            return v
    raise ValueError(f"Couldn't find variable {var_op_name}.\n  Asked for at {user_source(2)}")


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """Returns the global variables whose names begin with one of `include`, but not one of `exclude`.

    Args:
      include, exclude: lists of scopes or regular expressions; all and none by default.
    Reference: TensorFlow 1.15 `tf.contrib.framework.get_variables_to_restore`.
    """
    kept = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left_out = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in kept if id(v) not in left_out]


# -- initializers ----------------------------------------------------------------------


def variance_scaling_initializer(factor: Any = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: Any = None,
                                 dtype: Any = float32) -> Callable[..., Tensor]:
    """Makes an initializer: random values with variance `factor` / n.

    Args:
      factor: a positive number; 2 suits relu.
      mode: n is the number of inputs ("FAN_IN"), of outputs ("FAN_OUT"), or their mean ("FAN_AVG").
      uniform: whether values are uniform, not normal.
      seed: an int for a repeatable sequence.
      dtype: a floating dtype.
    Returns: a function of shape and dtype, for `get_variable`.
    Raises: TypeError for other dtypes and modes.
    Reference: TensorFlow 1.15 `tf.contrib.layers.variance_scaling_initializer`.
    """
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.\n"
                        f"  Asked for at {user_source(2)}\n  Fix: give dtype=tf.float32")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG].\n  Asked for at {user_source(2)}")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        whole = shape if partition_info is None else partition_info.full_shape
        fan_in, fan_out = compute_fans(whole)
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        # 1.3 compensates for the variance that truncation removes.
        return truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer


def xavier_initializer(uniform: bool = True, seed: Any = None, dtype: Any = float32) -> Callable[..., Tensor]:
    """Makes an initializer: random values with variance 1 / n, n the mean of the numbers of inputs and outputs.

    Args:
      uniform: whether values are uniform, not normal.
      seed: an int for a repeatable sequence.
      dtype: a floating dtype.
    Returns: a function of shape and dtype, for `get_variable`.
    Reference: TensorFlow 1.15 `tf.contrib.layers.xavier_initializer`; Glorot and Bengio 2010.

    >>> bool((abs(sess.run(xavier_initializer()([4, 2]))) <= 1).all())
    True
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer

# -- regularizers ----------------------------------------------------------------------


def _check_scale(scale: Any, what: str = "scale") -> None:
    if isinstance(scale, int):
        raise ValueError(f"{what} cannot be an integer: {scale}\n  Asked for at {user_source(3)}\n  Fix: {scale}.0")
    if isinstance(scale, float) and scale < 0.0:
        raise ValueError(f"Setting a {what} less than 0 on a regularizer: {scale}\n  Asked for at {user_source(3)}")


def _nothing(_: Any) -> None:
    """Adds no loss: the regularizer of scale 0."""


def l1_regularizer(scale: Any, scope: str | None = None) -> Callable[[Any], Tensor | Any]:
    """Makes a regularizer: scale times the sum of |w|.

    Args:
      scale: a float; 0.0 for none.
      scope: the name of the operations.
    Returns: a function of a variable.
    Raises: ValueError for ints and negative scales.
    Reference: TensorFlow 1.15 `tf.contrib.layers.l1_regularizer`.

    >>> sess.run(l1_regularizer(0.5)(tf.constant([1.0, -3.0])))
    np.float32(2.0)
    """
    _check_scale(scale)
    if isinstance(scale, float) and scale == 0.0:
        return _nothing

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "l1_regularizer") as name:
            w = convert_to_tensor(weights)
            return raw.Mul(convert_to_tensor(scale, w.dtype), reduce_sum(raw.Abs(w)), name=name or None)

    return regularizer


def l2_regularizer(scale: Any, scope: str | None = None) -> Callable[[Any], Tensor | Any]:
    """Makes a regularizer: scale times half the sum of w^2.

    Args:
      scale: a float; 0.0 for none.
      scope: the name of the operations.
    Returns: a function of a variable.
    Raises: ValueError for ints and negative scales.
    Reference: TensorFlow 1.15 `tf.contrib.layers.l2_regularizer`.

    >>> sess.run(l2_regularizer(0.5)(tf.constant([1.0, -3.0])))
    np.float32(2.5)
    """
    _check_scale(scale)
    if isinstance(scale, float) and scale == 0.0:
        return _nothing

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "l2_regularizer") as name:
            w = convert_to_tensor(weights)
            return raw.Mul(convert_to_tensor(scale, w.dtype), l2_loss(w), name=name or None)

    return regularizer


def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Callable[[Any], Any] | None:
    """Makes a regularizer: the sum of others.

    Args:
      regularizer_list: the regularizers; Nones are omitted.
      scope: the name of the operations.
    Returns: a function of a variable; None if there are no regularizers.
    Reference: TensorFlow 1.15 `tf.contrib.layers.sum_regularizer`.
    """
    some = [r for r in regularizer_list if r is not None]
    if not some:
        return None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer") as name:
            losses = [loss for r in some if (loss := r(weights)) is not None]
            return add_n(losses, name=name or None) if losses else None

    return regularizer


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0,
                      scope: str | None = None) -> Callable[[Any], Any] | None:
    """Makes a regularizer: the sum of `l1_regularizer` and `l2_regularizer`.

    Args:
      scale_l1, scale_l2: floats; 0.0 for none.
      scope: the name of the operations.
    Returns: a function of a variable.
    Raises: ValueError for ints and negative scales.
    Reference: TensorFlow 1.15 `tf.contrib.layers.l1_l2_regularizer`.

    >>> sess.run(l1_l2_regularizer(0.5, 0.5)(tf.constant([1.0, -3.0])))
    np.float32(4.5)
    """
    _check_scale(scale_l1, "scale_l1")
    _check_scale(scale_l2, "scale_l2")
    scope = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def apply_regularization(regularizer: Any, weights_list: Any = None) -> Tensor:
    """Sums a regularizer's losses for weights, and adds the sum to REGULARIZATION_LOSSES.

    Args:
      regularizer: a function of a variable.
      weights_list: the variables; those of the collection WEIGHTS by default.
    Returns: a scalar.
    Raises: ValueError if there are no weights.
    Reference: TensorFlow 1.15 `tf.contrib.layers.apply_regularization`.

    >>> l2 = l2_regularizer(1.0)
    >>> sess.run(apply_regularization(l2, [tf.constant([2.0]), tf.constant([4.0])]))
    np.float32(10.0)
    """
    weights = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError(f"No weights to regularize.\n  Asked for at {user_source(2)}\n  Fix: give weights_list")
    with name_scope("get_regularization_penalty"):
        penalties = [loss for w in weights if (loss := regularizer(w)) is not None]
        total = add_n(penalties) if penalties else convert_to_tensor(0.0)
    graph = variables_graph()
    if graph is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total
