"""The common layers of `tf.contrib.layers`, built on those of `tf.layers`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.frontend.structure.structure_types import P, R, S
from graphgrad.frontend.variables.initializers import Ones, Zeros
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.layers import conv_layers, dense, pool_layers
from graphgrad.layers.batch_norm_layer import BatchNormalization
from graphgrad.ops.nn.activations import relu as relu_function
from graphgrad.ops.nn.activations import relu6 as relu6_function
from graphgrad.ops.nn.norm.moments import batch_normalization as normalized
from graphgrad.ops.nn.norm.moments import moments

from .arg_scope import add_arg_scope
from .contrib_variables import model_variable, xavier_initializer

_ZEROS = Zeros()
_XAVIER = xavier_initializer()
_NAMES = {"kernel": "weights", "bias": "biases", "depthwise_kernel": "depthwise_weights",
          "pointwise_kernel": "pointwise_weights"}


def _getter(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """Gives variables contrib's names, and adds them to MODEL_VARIABLES."""
    scope, slash, last = name.rpartition("/")
    collections = [*(kwargs.pop("collections", None) or [GraphKeys.GLOBAL_VARIABLES]), GraphKeys.MODEL_VARIABLES]
    return getter(f"{scope}{slash}{_NAMES.get(last, last)}", *args, collections=collections, **kwargs)


def _add(keys: Any, value: Any) -> None:
    graph = variables_graph()
    if graph is not None and value is not None:
        for key in [keys] if isinstance(keys, str) else keys or ():
            if all(value is not v for v in graph.get_collection(key)):
                graph.add_to_collection(key, value)


def _add_variables(collections: Any, **variables: Any) -> None:
    """Puts variables into `variables_collections`: names for all, or a dict of names for each kind."""
    for kind, value in variables.items():
        _add(collections.get(kind) if isinstance(collections, dict) else collections, value)


def collect_named_outputs(collections: Any, alias: Any, outputs: S) -> S:
    """Puts the outputs of a layer into collections, under a name.

    Args:
      collections: a name or a list of names; None for none.
      alias: the name.
      outputs: a tensor; its attribute `aliases` is set.
    Returns: `outputs`.
    Reference: TensorFlow 1.15 `tf.contrib.layers.utils.collect_named_outputs`.
    """
    if collections:
        outputs.aliases = [alias]  # type: ignore[attr-defined]  # symbolic tensors take attributes
        _add(collections, outputs)
    return outputs


def convert_collection_to_dict(collection: Any, clear_collection: bool = False) -> dict[str, Any]:
    """Converts a collection of outputs to a dict by the names of their layers.

    Args:
      collection: the name of the collection.
      clear_collection: whether to empty the collection.
    Returns: a dict from names to tensors.
    Reference: TensorFlow 1.15 `tf.contrib.layers.utils.convert_collection_to_dict`.
    """
    graph = get_default_graph()
    result = {a: t for t in graph.get_collection(collection) for a in getattr(t, "aliases", [t.op.name])}
    if clear_collection:
        graph.get_collection_ref(collection).clear()
    return result


def _finished(outputs: Any, activation_fn: Any, normalizer_fn: Any, normalizer_params: Any, collections: Any,
              name: str) -> Any:
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, name, outputs)


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: Any, activation_fn: Any = relu_function, normalizer_fn: Any = None,
                    normalizer_params: Any = None, weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                    biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                    variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                    scope: Any = None) -> Tensor:
    """Adds a fully connected layer, with `weights` and `biases`.

    Args:
      inputs: (..., n).
      num_outputs: the number of outputs.
      activation_fn: a function, or None; relu by default.
      normalizer_fn, normalizer_params: a function to use instead of a bias, such as `batch_norm`, and its arguments.
      weights_initializer, weights_regularizer, biases_initializer, biases_regularizer: of the variables;
        no biases if their initializer is None.
      reuse: whether to reuse existing variables; needs a scope.
      variables_collections, outputs_collections: collections to join; for variables also a dict of them by kind.
      trainable: whether optimizers update the variables.
      scope: the name of the variable scope, or the scope.
    Returns: (..., num_outputs).
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.fully_connected`.

    >>> y = fully_connected(tf.ones([3, 4]), 2)
    >>> y.name, [v.name for v in tf.trainable_variables()]
    ('fully_connected/Relu:0', ['fully_connected/weights:0', 'fully_connected/biases:0'])
    """
    if not isinstance(num_outputs, (int, np.integer)):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.\n"
                         f"  Asked for at {user_source(2)}")
    with variable_scope(scope, "fully_connected", reuse=reuse, custom_getter=_getter) as sc:
        layer = dense.Dense(num_outputs, None, normalizer_fn is None and biases_initializer is not None,
                           weights_initializer, biases_initializer, weights_regularizer, biases_regularizer,
                           trainable=trainable, _scope=sc, _reuse=reuse)
        outputs = layer.apply(convert_to_tensor(inputs))
        _add_variables(variables_collections, weights=layer.kernel, biases=layer.bias)
        return _finished(outputs, activation_fn, normalizer_fn, normalizer_params, outputs_collections, sc.name)


def _layout(data_format: Any) -> str:
    if data_format is not None and not (data_format.startswith("NC") or data_format.endswith("C")):
        raise ValueError(f"Invalid data_format: {data_format!r}.\n  Asked for at {user_source(3)}\n"
                         "  Fix: use NHWC or NCHW")
    return "channels_first" if data_format is not None and data_format.startswith("NC") else "channels_last"


@add_arg_scope
def convolution(inputs: Any, num_outputs: Any, kernel_size: Any, stride: Any = 1, padding: Any = "SAME",
                data_format: Any = None, rate: Any = 1, activation_fn: Any = relu_function, normalizer_fn: Any = None,
                normalizer_params: Any = None, weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                scope: Any = None, conv_dims: Any = None) -> Tensor:
    """Adds a convolution over 1, 2 or 3 dimensions, with `weights` and `biases`.

    Args:
      inputs: (N, ..., C), or (N, C, ...) for a data_format "NC...".
      num_outputs: the number of output channels.
      kernel_size: the size of the window, an int or one for each dimension.
      stride, rate: the stride and the dilation of the window.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW" or their relatives.
      activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
        biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope: as in
        `fully_connected`.
      conv_dims: the number of dimensions that is expected.
    Returns: a tensor of the inputs' rank.
    Raises: ValueError for inputs of another rank.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.convolution`.
    """
    inputs = convert_to_tensor(inputs)
    n = (inputs.shape.rank or 0) - 2
    if n not in (1, 2, 3) or conv_dims not in (None, n):
        raise ValueError(f"Convolution expects input with rank {(conv_dims or 2) + 2}, got {inputs.shape.rank}.\n"
                         f"  Built at {user_source(2)}")
    kind: Any = {1: conv_layers.Conv1D, 2: conv_layers.Conv2D, 3: conv_layers.Conv3D}[n]
    with variable_scope(scope, "Conv", reuse=reuse, custom_getter=_getter) as sc:
        layer = kind(num_outputs, kernel_size, stride, padding, _layout(data_format), rate, None,
                     normalizer_fn is None and biases_initializer is not None, weights_initializer, biases_initializer,
                     weights_regularizer, biases_regularizer, trainable=trainable, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        _add_variables(variables_collections, weights=layer.kernel, biases=layer.bias)
        return _finished(outputs, activation_fn, normalizer_fn, normalizer_params, outputs_collections, sc.name)


def _same_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function as having the arguments of `convolution`, for `arg_scope`."""
    signature = inspect.signature(convolution)
    parameters = list(signature.parameters.values())[:-1]
    # Silenced: functions have such an attribute, which `inspect` reads, and mypy does not know it.
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function


def _of_rank(dims: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    plain: Any = convolution
    return plain.__wrapped__(*args, conv_dims=dims, **kwargs)  # its own scope has been handled


@add_arg_scope
@_same_arguments
def convolution1d(inputs: Any, num_outputs: Any, kernel_size: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Adds a convolution over one dimension; see `convolution`."""
    return _of_rank(1, (inputs, num_outputs, kernel_size, *args), kwargs)


@add_arg_scope
@_same_arguments
def convolution2d(inputs: Any, num_outputs: Any, kernel_size: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Adds a convolution over two dimensions; see `convolution`.

    >>> y = convolution2d(tf.ones([2, 8, 8, 3]), 4, 3, stride=2)
    >>> y.name, y.shape.as_list(), tf.trainable_variables()[0].name
    ('Conv/Relu:0', [2, 4, 4, 4], 'Conv/weights:0')
    """
    return _of_rank(2, (inputs, num_outputs, kernel_size, *args), kwargs)


@add_arg_scope
@_same_arguments
def convolution3d(inputs: Any, num_outputs: Any, kernel_size: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Adds a convolution over three dimensions; see `convolution`."""
    return _of_rank(3, (inputs, num_outputs, kernel_size, *args), kwargs)


@add_arg_scope
def convolution2d_transpose(inputs: Any, num_outputs: Any, kernel_size: Any, stride: Any = 1, padding: Any = "SAME",
                            data_format: Any = "NHWC", activation_fn: Any = relu_function, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True,
                            scope: Any = None) -> Tensor:
    """Adds the transpose of a `convolution2d`.

    Args:
      inputs: (N, H, W, C), or with C second for a data_format "NC...".
      num_outputs: the number of output channels.
      kernel_size, stride, padding, data_format: of the convolution that is transposed.
      activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
        biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope: as in
        `fully_connected`.
    Returns: a tensor of the inputs' rank; with padding "SAME" its sides are the inputs' times the stride.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.convolution2d_transpose`.

    >>> convolution2d_transpose(tf.ones([2, 4, 4, 3]), 5, 3, stride=2).shape.as_list()
    [2, 8, 8, 5]
    """
    with variable_scope(scope, "Conv2d_transpose", reuse=reuse, custom_getter=_getter) as sc:
        layer = conv_layers.Conv2DTranspose(
            num_outputs, kernel_size, stride, padding, _layout(data_format), None,
            normalizer_fn is None and biases_initializer is not None, weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, _scope=sc, _reuse=reuse)
        outputs = layer.apply(convert_to_tensor(inputs))
        _add_variables(variables_collections, weights=layer.kernel, biases=layer.bias)
        return _finished(outputs, activation_fn, normalizer_fn, normalizer_params, outputs_collections, sc.name)


# -- normalization ---------------------------------------------------------------------


@add_arg_scope
def batch_norm(inputs: Any, decay: Any = 0.999, center: bool = True, scale: bool = False, epsilon: Any = 0.001,
               activation_fn: Any = None, param_initializers: Any = None, param_regularizers: Any = None,
               updates_collections: Any = GraphKeys.UPDATE_OPS, is_training: Any = True, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               batch_weights: Any = None, fused: Any = None, data_format: Any = "NHWC",
               zero_debias_moving_mean: bool = False, scope: Any = None, renorm: bool = False,
               renorm_clipping: Any = None, renorm_decay: Any = 0.99, adjustment: Any = None) -> Tensor:
    """Adds batch normalization; see `tf.layers.batch_normalization`.

    Args:
      inputs: a float tensor of known rank.
      decay: the weight of the old value in the moving averages.
      center, scale: whether there is a `beta`, a `gamma`.
      epsilon: a small number that is added to the variance.
      activation_fn: a function, or None.
      param_initializers, param_regularizers: dicts for beta, gamma, moving_mean, moving_variance.
      updates_collections: collections of the updates of the moving averages; None to update with the outputs.
      is_training: a bool, or a boolean tensor.
      reuse, variables_collections, outputs_collections, trainable, scope: as in `fully_connected`.
      fused: whether to use one op; by default where that is possible.
      data_format: "NHWC" or "NCHW".
      batch_weights, zero_debias_moving_mean, renorm, renorm_clipping, renorm_decay, adjustment: not implemented.
    Returns: a tensor of the inputs' shape.
    Raises: NotImplementedError for what is not implemented.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.batch_norm`.

    >>> y = batch_norm(tf.ones([4, 3]))
    >>> [v.name for v in tf.model_variables()]
    ['BatchNorm/beta:0', 'BatchNorm/moving_mean:0', 'BatchNorm/moving_variance:0']
    """
    for what, value in (("batch_weights", batch_weights), ("zero_debias_moving_mean", zero_debias_moving_mean)):
        if value is not None and value is not False:
            raise NotImplementedError(f"batch_norm: {what} is not implemented.\n  Asked for at {user_source(2)}\n"
                                      "  Fix: leave it out")
    first, regularizers = param_initializers or {}, param_regularizers or {}
    with variable_scope(scope, "BatchNorm", reuse=reuse, custom_getter=_getter) as sc:
        layer = BatchNormalization(
            1 if _layout(data_format) == "channels_first" else -1, decay, epsilon, center, scale,
            first.get("beta", _ZEROS), first.get("gamma", "ones"), first.get("moving_mean", _ZEROS),
            first.get("moving_variance", "ones"), regularizers.get("beta"), regularizers.get("gamma"), renorm=renorm,
            renorm_clipping=renorm_clipping, renorm_momentum=renorm_decay, fused=fused, trainable=trainable,
            adjustment=adjustment, _scope=sc, _reuse=reuse)
        keys = updates_collections or []
        layer._update_keys = [keys] if isinstance(keys, str) else list(keys)
        outputs = layer.apply(convert_to_tensor(inputs), training=is_training)
        _add_variables(variables_collections, beta=layer.beta, gamma=layer.gamma, moving_mean=layer.moving_mean,
                       moving_variance=layer.moving_variance)
        if updates_collections is None and layer.updates:
            with get_default_graph().control_dependencies(layer.updates):
                outputs = raw.Identity(outputs)
        return _finished(outputs, activation_fn, None, None, outputs_collections, sc.name)


@add_arg_scope
def layer_norm(inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None, reuse: Any = None,
               variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
               begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: Any = None) -> Tensor:
    """Normalizes each example to its own mean and variance.

    Args:
      inputs: a float tensor; its dimensions known from the axes on.
      center, scale: whether there is a `beta`, a `gamma`.
      activation_fn: a function, or None.
      reuse, variables_collections, outputs_collections, trainable, scope: as in `fully_connected`.
      begin_norm_axis: the first of the dimensions that are normalized together.
      begin_params_axis: the first of the dimensions of beta and gamma.
    Returns: a tensor of the inputs' shape.
    Raises: ValueError for axes out of range, or whose size is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.layer_norm`; Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    >>> sess.run(layer_norm(tf.constant([[1.0, 3.0]]), center=False, scale=False))
    array([[-1.,  1.]], dtype=float32)
    """
    with variable_scope(scope, "LayerNorm", reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None or max(begin_norm_axis, begin_params_axis) >= rank:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be "
                             f"< rank(inputs) ({rank}).\n  Built at {user_source(2)}")
        shape = inputs.shape.as_list()[begin_params_axis % rank :]
        if None in shape:
            raise ValueError(f"Inputs {inputs.name}: shape[begin_params_axis:] is not fully defined: {inputs.shape}.\n"
                             f"  Built at {user_source(2)}\n  Fix: set_shape")
        dtype = inputs.dtype
        beta = model_variable("beta", shape, dtype, Zeros(), trainable=trainable) if center else None
        gamma = model_variable("gamma", shape, dtype, Ones(), trainable=trainable) if scale else None
        _add_variables(variables_collections, beta=beta, gamma=gamma)
        mean, variance = moments(inputs, list(range(begin_norm_axis % rank, rank)), keepdims=True)
        outputs = normalized(inputs, mean, variance, beta, gamma, 1e-3 if dtype.size == 2 else 1e-12)
        outputs.set_shape(inputs.shape)
        return _finished(outputs, activation_fn, None, None, outputs_collections, sc.name)


# -- layers without variables ----------------------------------------------------------


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: Any = None) -> Tensor:
    """Sets elements of the inputs to zero while training, all but the fraction `keep_prob`.

    Args:
      inputs: a float tensor.
      keep_prob: the fraction to keep; kept elements are divided by it.
      noise_shape: the shape of the random choice, broadcast to the inputs'; theirs by default.
      is_training: a bool, or a boolean tensor; the inputs are returned unchanged if false.
      outputs_collections, scope: as in `fully_connected`.
      seed: an int for a repeatable sequence.
    Returns: a tensor of the inputs' shape.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.dropout`.

    >>> sess.run(dropout(tf.ones([2]), is_training=False))
    array([1., 1.], dtype=float32)
    """
    with variable_scope(scope, "Dropout") as sc:
        layer = dense.Dropout(1 - keep_prob, noise_shape, seed, name=sc.name, _scope=sc)
        return collect_named_outputs(outputs_collections, sc.name, layer.apply(inputs, training=is_training))


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Flattens all dimensions but the first.

    Args:
      inputs: (N, ...).
      outputs_collections, scope: as in `fully_connected`.
    Returns: (N, the product of the others).
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.flatten`.

    >>> flatten(tf.ones([2, 3, 4])).shape.as_list()
    [2, 12]
    """
    with variable_scope(scope, "Flatten") as sc:
        outputs = dense.Flatten().call(convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _pooled(kind: Any, default: str, inputs: Any, kernel_size: Any, stride: Any, padding: Any, data_format: Any,
            outputs_collections: Any, scope: Any) -> Any:
    with variable_scope(scope, default) as sc:
        layer = kind(kernel_size, stride, padding, _layout(data_format), _scope=sc)
        return collect_named_outputs(outputs_collections, sc.name, layer.apply(inputs))


@add_arg_scope
def max_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: Any = "VALID", data_format: Any = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Computes the maximum of each window; see `tf.layers.max_pooling2d`."""
    return _pooled(pool_layers.MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: Any = "VALID", data_format: Any = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Computes the mean of each window; see `tf.layers.average_pooling2d`."""
    return _pooled(pool_layers.AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Any = None, initializer: Any = _ZEROS, regularizer: Any = None,
             reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: Any = "NHWC", scope: Any = None) -> Tensor:
    """Adds `biases`, one for each channel.

    Args:
      inputs: (N, ..., C), or (N, C, ...) for a data_format "NC...".
      activation_fn: a function, or None.
      initializer, regularizer: of the biases.
      reuse, variables_collections, outputs_collections, trainable, scope: as in `fully_connected`.
      data_format: "NHWC" or "NCHW".
    Returns: a tensor of the inputs' shape.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.bias_add`.
    """
    from graphgrad.ops.nn.bias import bias_add as add

    with variable_scope(scope, "BiasAdd", reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        axis = 1 if _layout(data_format) == "channels_first" else -1
        biases = model_variable("biases", [inputs.shape.as_list()[axis]], inputs.dtype, initializer, regularizer,
                                trainable)
        _add_variables(variables_collections, biases=biases)
        outputs = add(inputs, biases, data_format=data_format)
        return _finished(outputs, activation_fn, None, None, outputs_collections, sc.name)


# -- several layers --------------------------------------------------------------------


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """Applies a layer several times, in scopes numbered from 1.

    Args:
      inputs: the inputs of the first layer.
      repetitions: the number of repetitions.
      layer: a function of inputs, with an argument `scope`.
      *args, **kwargs: further arguments of the layer.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat"):
        base = scope or getattr(layer, "__name__", "layer")
        for i in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{base}_{i + 1}", **kwargs)
        return inputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Tensor:
    """Applies a layer once for each of `stack_args`, in scopes numbered from 1.

    Args:
      inputs: the inputs of the first layer.
      layer: a function of inputs and one of stack_args (or its elements), with an argument `scope`.
      stack_args: the arguments.
      **kwargs: further arguments of all.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Stack"):
        base = scope or getattr(layer, "__name__", "layer")
        for i, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *given, scope=f"{base}_{i + 1}", **kwargs)
        return inputs


conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_transpose = convolution2d_transpose
relu = functools.partial(fully_connected, activation_fn=relu_function)
relu6 = functools.partial(fully_connected, activation_fn=relu6_function)
linear = functools.partial(fully_connected, activation_fn=None)
