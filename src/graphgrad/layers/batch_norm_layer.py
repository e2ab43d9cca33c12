"""`tf.layers.batch_normalization`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import smart_cond
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.nn.norm.moments import batch_normalization as normalized
from graphgrad.ops.nn.norm.moments import fused_batch_norm, moments

from .layer import InputSpec, Layer, known_size


class BatchNormalization(Layer):
    """A layer that normalizes to the mean and variance of the batch, or to those of training.

    In training, inputs are normalized to the batch; the updates of the moving averages are in the collection
    UPDATE_OPS, and the training step has to depend on them.

    Args:
      axis: the axis, or axes, of the features.
      momentum: the weight of the old value in the moving averages.
      epsilon: a small number that is added to the variance.
      center, scale: whether there is a `beta`, a `gamma`.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: of the variables.
      beta_regularizer, gamma_regularizer: functions of a variable that give a loss, or None.
      beta_constraint, gamma_constraint: functions that optimizers apply to updated values, or None.
      renorm, renorm_clipping, renorm_momentum: batch renormalization is not implemented.
      fused: whether to use one op; by default where that is possible.
      trainable: whether optimizers update the variables.
      virtual_batch_size, adjustment: not implemented.
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Raises: ValueError for invalid axes; NotImplementedError for unsupported options.
    Reference: TensorFlow 1.15 `tf.layers.BatchNormalization`; Ioffe and Szegedy 2015, arXiv:1502.03167.
    """

    def __init__(self, axis: Any = -1, momentum: Any = 0.99, epsilon: Any = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = "zeros", gamma_initializer: Any = "ones",
                 moving_mean_initializer: Any = "zeros", moving_variance_initializer: Any = "ones",
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
                 renorm_momentum: Any = 0.99, fused: Any = None, trainable: bool = True, virtual_batch_size: Any = None,
                 adjustment: Any = None, name: str | None = None, **kwargs: Any):
        super().__init__(trainable, name, **kwargs)
        for what, value in (("renorm", renorm), ("virtual_batch_size", virtual_batch_size), ("adjustment", adjustment)):
            if value:
                raise NotImplementedError(f"batch_normalization: {what}={value!r} is not implemented.\n"
                                          f"  Asked for at {user_source(2)}\n  Fix: leave it out")
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.fused = fused
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None
        self._axes: list[int] = []

    def build(self, input_shape: Any) -> None:
        """Makes gamma, beta and the moving averages."""
        self._set_scope(None)
        rank = TensorShape(input_shape).rank
        if rank is None:
            raise ValueError(f"Input has undefined rank.\n  Built at {user_source(2)}\n  Fix: set_shape")
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        if any(not -rank <= a < rank for a in axes):
            raise ValueError(f"Invalid axis: {self.axis}; the input has {rank} dimensions.\n  Built at {user_source(2)}"
                             f"\n  Fix: give one from {-rank} to {rank - 1}")
        self._axes = sorted({a % rank for a in axes})
        if len(self._axes) != len(axes):
            raise ValueError(f"Duplicate axis: {self.axis}\n  Built at {user_source(2)}")
        possible = rank == 4 and self._axes in ([1], [3])
        if self.fused and not possible:
            raise ValueError("Batch normalization layers with fused=True only support 4D input tensors with features "
                             f"along axis 1 or 3; axis={self.axis}, {rank} dimensions.\n  Built at {user_source(2)}\n"
                             "  Fix: leave fused out")
        self.fused = possible if self.fused is None else bool(self.fused)
        features = [known_size(input_shape, a, "BatchNormalization", "axis") for a in self._axes]
        self.input_spec = InputSpec(ndim=rank, axes=dict(zip(self._axes, features, strict=True)))
        shape = features
        if len(features) > 1:
            shape = [features[self._axes.index(i)] if i in self._axes else 1 for i in range(rank)]
        dtype = self._dtype if self._dtype is not None and self._dtype.size > 2 else float32
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, dtype, self.gamma_initializer, self.gamma_regularizer,
                                         constraint=self.gamma_constraint)
        if self.center:
            self.beta = self.add_weight("beta", shape, dtype, self.beta_initializer, self.beta_regularizer,
                                        constraint=self.beta_constraint)
        # The scope's partitioner and regularizer are not for these.
        partitioner = self._scope.partitioner
        self._scope.set_partitioner(None)
        try:
            self.moving_mean = self.add_weight("moving_mean", shape, dtype, self.moving_mean_initializer, _none,
                                               trainable=False)
            self.moving_variance = self.add_weight("moving_variance", shape, dtype, self.moving_variance_initializer,
                                                   _none, trainable=False)
        finally:
            self._scope.set_partitioner(partitioner)
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Computes the normalized inputs; `training` is a bool, or a boolean tensor that is read at run time."""
        training = False if training is None else training
        outputs, mean, variance = (self._fused if self.fused else self._plain)(inputs, training)
        known = _known(training)
        if known is False:
            return outputs
        dtype = self.moving_mean.dtype.np_dtype
        rate: Any = np.asarray(1.0 - self.momentum, dtype)
        if known is None:
            rate = _either(training, rate, np.zeros((), dtype))
        self.add_update([_move(self.moving_mean, mean, rate), _move(self.moving_variance, variance, rate)], inputs)
        return outputs

    def _fused(self, inputs: Any, training: Any) -> tuple[Any, Any, Any]:
        shape = self.moving_mean.shape.as_list()
        dtype = self.moving_mean.dtype.np_dtype
        gamma = self.gamma if self.scale else np.ones(shape, dtype)
        beta = self.beta if self.center else np.zeros(shape, dtype)
        layout = "NCHW" if self._axes == [1] else "NHWC"

        def of_batch() -> Any:
            return fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=layout)

        def of_training() -> Any:
            return fused_batch_norm(inputs, gamma, beta, self.moving_mean, self.moving_variance, self.epsilon, layout,
                                    False)

        outputs, mean, variance = smart_cond(training, of_batch, of_training)
        return outputs, mean, variance

    def _plain(self, inputs: Any, training: Any) -> tuple[Any, Any, Any]:
        rank = inputs.shape.rank
        wide = inputs.dtype.size > 2
        x = inputs if wide else raw.Cast(inputs, DstT=float32)
        others = [i for i in range(rank) if i not in self._axes]
        mean, variance = self.moving_mean.value(), self.moving_variance.value()
        if _known(training) is not False:
            batch = moments(x, others, keepdims=len(self._axes) > 1)
            mean, variance = _either(training, batch[0], mean), _either(training, batch[1], variance)
        shape = [inputs.shape.as_list()[i] if i in self._axes else 1 for i in range(rank)]
        plain = len(self._axes) == 1 and self._axes != [rank - 1]

        def across(v: Any) -> Any:
            return raw.Reshape(v, np.array(shape, np.int32)) if plain and v is not None else v

        beta, gamma = (self.beta if self.center else None), (self.gamma if self.scale else None)
        outputs = normalized(x, across(mean), across(variance), across(beta), across(gamma), self.epsilon)
        outputs.set_shape(inputs.shape)
        return (outputs if wide else raw.Cast(outputs, DstT=inputs.dtype)), mean, variance

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        return TensorShape(input_shape)


def _none(_: Any) -> None:
    """Adds no loss: a regularizer."""


def _known(training: Any) -> bool | None:
    if isinstance(training, (bool, int)):
        return bool(training)
    value = constant_value(convert_to_tensor(training))
    return None if value is None else bool(value)


def _either(training: Any, one: Any, other: Any) -> Any:
    return smart_cond(training, lambda: one, lambda: other)


def _move(variable: Any, value: Any, rate: Any) -> Any:
    """Builds the operation that moves a moving average towards `value`."""
    with name_scope(None, "AssignMovingAvg"):
        step = raw.Mul(raw.Sub(variable.value(), value), convert_to_tensor(rate, variable.dtype))
        return variable.assign_sub(step, read_value=False)


def batch_normalization(inputs: TensorLike, axis: Any = -1, momentum: Any = 0.99, epsilon: Any = 1e-3,
                        center: bool = True, scale: bool = True, beta_initializer: Any = "zeros",
                        gamma_initializer: Any = "ones", moving_mean_initializer: Any = "zeros",
                        moving_variance_initializer: Any = "ones", beta_regularizer: Any = None,
                        gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                        training: Any = False, trainable: bool = True, name: str | None = None, reuse: Any = None,
                        renorm: bool = False, renorm_clipping: Any = None, renorm_momentum: Any = 0.99,
                        fused: Any = None, virtual_batch_size: Any = None, adjustment: Any = None) -> Tensor:
    """Normalizes to the mean and variance of the batch, or to those of training.

    Args:
      inputs: a float tensor of known rank.
      axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, trainable,
        renorm, renorm_clipping, renorm_momentum, fused, virtual_batch_size, adjustment: as in `BatchNormalization`.
      training: a bool, or a boolean tensor that is read at run time. The operations that update the moving averages
        are in the collection UPDATE_OPS.
      name: the name of the layer and of the scope of its variables.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' shape.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.batch_normalization`; Ioffe and Szegedy 2015, arXiv:1502.03167.

    >>> y = tf.layers.batch_normalization(tf.ones([4, 3]), training=True)
    >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)), [v.name for v in tf.trainable_variables()]
    (2, ['batch_normalization/gamma:0', 'batch_normalization/beta:0'])
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _reuse=reuse,
        _scope=name)
    return layer.apply(inputs, training=training)


batch_norm = batch_normalization
