"""`tf.layers`: dense, flatten, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import smart_cond
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.linalg.tensordot import tensordot
from graphgrad.ops.nn.bias import bias_add
from graphgrad.ops.nn.dropout import dropout as drop

from .layer import InputSpec, Layer, as_activation, known_size, layout


class Dense(Layer):
    """A fully connected layer: activation(inputs kernel + bias).

    Args:
      units: the number of outputs.
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer: Glorot's, or the scope's, by default.
      bias_initializer: zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Returns: called with (..., n), gives (..., units).
    Reference: TensorFlow 1.15 `tf.layers.Dense`.

    >>> layer = tf.layers.Dense(2, name="out")
    >>> layer(tf.ones([3, 4])).shape.as_list(), [v.name for v in layer.weights]
    ([3, 2], ['out/kernel:0', 'out/bias:0'])
    """

    def __init__(self, units: Any, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = "zeros", kernel_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = whole(units)
        self.activation = as_activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel: Any = None
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        size = known_size(input_shape, -1, "Dense")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight("kernel", [size, self.units], None, self.kernel_initializer,
                                      self.kernel_regularizer, constraint=self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], None, self.bias_initializer, self.bias_regularizer,
                                        constraint=self.bias_constraint)
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is not None and rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            outputs = raw.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, name="BiasAdd")
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        return TensorShape([*TensorShape(input_shape).as_list()[:-1], self.units])


def dense(inputs: TensorLike, units: Any, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
          bias_initializer: Any = "zeros", kernel_regularizer: Any = None, bias_regularizer: Any = None,
          activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
          trainable: bool = True, name: str | None = None, reuse: Any = None) -> Tensor:
    """Adds a fully connected layer: activation(inputs kernel + bias).

    Args:
      inputs: (..., n), n known.
      units: the number of outputs.
      activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint, trainable: as in `Dense`.
      name: the name of the layer and of the scope of its variables.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: (..., units).
    Raises: ValueError if n is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.dense`.

    >>> y = tf.layers.dense(tf.ones([3, 4]), 2, tf.nn.relu, name="first")
    >>> y.name, [v.name for v in tf.trainable_variables()]
    ('first/Relu:0', ['first/kernel:0', 'first/bias:0'])
    """
    layer = Dense(units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
                  bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                  _scope=name, _reuse=reuse)
    return layer.apply(inputs)


fully_connected = dense


class Dropout(Layer):
    """A layer that sets a fraction of the inputs to zero while training, and scales up the others.

    Args:
      rate: the fraction, from 0 to 1.
      noise_shape: the shape of the random choices; 1 where elements share one.
      seed: an int for a repeatable sequence.
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Dropout`.
    """

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: Any = None, name: str | None = None,
                 **kwargs: Any):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Returns the inputs, some of them dropped if `training`, a bool or a boolean tensor, is true."""
        return smart_cond(training, lambda: drop(inputs, self.rate, self.noise_shape, self.seed, "dropout"),
                          lambda: raw.Identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        return TensorShape(input_shape)


def dropout(inputs: TensorLike, rate: Any = 0.5, noise_shape: ShapeLike | None = None, seed: Any = None,
            training: Any = False, name: str | None = None) -> Tensor:
    """Sets a fraction of the inputs to zero while training, and scales up the others.

    Args:
      inputs: a float tensor.
      rate, noise_shape, seed: as in `Dropout`.
      training: a bool, or a boolean tensor that is read at run time.
      name: the name of the layer.
    Returns: a tensor of the inputs' shape.
    Gradient: that of the product with the mask.
    Reference: TensorFlow 1.15 `tf.layers.dropout`.

    >>> sess.run(tf.layers.dropout(tf.ones([3])))
    array([1., 1., 1.], dtype=float32)
    """
    return Dropout(rate, noise_shape, seed, name).apply(inputs, training=training)


class Flatten(Layer):
    """A layer that flattens all dimensions but the first.

    Args:
      data_format: "channels_last", or "channels_first" to move the channels last before.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Flatten`.
    """

    def __init__(self, data_format: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = "channels_last" if data_format is None else data_format
        layout(self.data_format, 1)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Reshapes the inputs."""
        rank = inputs.shape.rank
        if self.data_format.lower() == "channels_first" and rank is not None and rank > 2:
            inputs = raw.Transpose(inputs, np.array([0, *range(2, rank), 1], np.int32))
        dims = self.compute_output_shape(inputs.shape).as_list()
        if dims[0] is None and dims[1] is None:
            first = raw.StridedSlice(raw.Shape(inputs), [0], [1], [1], shrink_axis_mask=1)
            return raw.Reshape(inputs, raw.Pack([first, np.int32(-1)]))
        outputs = raw.Reshape(inputs, np.array([-1, dims[1]] if dims[0] is None else [dims[0], -1], np.int32))
        outputs.set_shape(dims)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        shape = TensorShape(input_shape)
        if shape.rank is None:
            return TensorShape([None, None])
        first, *rest = shape.as_list()
        size: Any = 1
        for d in rest:
            size = None if d is None or size is None else size * d
        return TensorShape([first, size])


def flatten(inputs: TensorLike, name: str | None = None, data_format: Any = "channels_last") -> Tensor:
    """Flattens all dimensions but the first.

    Args:
      inputs: (N, ...).
      name: the name of the layer.
      data_format: "channels_last", or "channels_first" to move the channels last before.
    Returns: (N, n).
    Gradient: that of Reshape.
    Reference: TensorFlow 1.15 `tf.layers.flatten`.

    >>> tf.layers.flatten(tf.placeholder(tf.float32, [None, 4, 5])).shape.as_list()
    [None, 20]
    """
    return Flatten(data_format, name=name).apply(inputs)
