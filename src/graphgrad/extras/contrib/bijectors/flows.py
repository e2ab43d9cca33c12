"""Bijectors with networks inside: masked autoregressive flows.

Reference: Papamakarios et al. 2017, Masked Autoregressive Flow for Density Estimation; Germain et al. 2015, MADE;
TensorFlow 1.15 `tf.contrib.distributions.bijectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.variables.scaling_initializers import GlorotNormal
from graphgrad.frontend.variables.template import Template, make_template
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.layers.dense import Dense
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.clip import clip_by_value
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.activations import relu

from .bijector import Bijector


def _scaled(x: Any, shift: Any, log_scale: Any) -> Any:
    y = x if log_scale is None else x * raw.Exp(log_scale)
    return y if shift is None else y + shift


def _unscaled(y: Any, shift: Any, log_scale: Any) -> Any:
    x = y if shift is None else y - shift
    return x if log_scale is None else x * raw.Exp(-log_scale)


class MaskedAutoregressiveFlow(Bijector):
    """A bijector that shifts and scales each element by a function of the previous ones.

    The inverse takes one call of the function; forward takes one for each element, in a loop.

    Args:
      shift_and_log_scale_fn: a function of y that gives shift and log scale (or None), each element of which depends
        on the elements of y before it only.
      is_constant_jacobian: whether there is no scale.
      validate_args: accepted.
      unroll_loop: whether the loop's steps are built one by one; needs a known size.
      name: its name.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> flow = ds.bijectors.MaskedAutoregressiveFlow(ds.bijectors.masked_autoregressive_default_template([16]))
    >>> x = tf.constant([[0.3, -1.0, 2.0]])
    >>> y = tf.identity(flow.forward(x))
    >>> sess.run(tf.global_variables_initializer())
    >>> np.abs(np.subtract(*sess.run([flow.inverse(y), x]))).max() < 1e-5
    np.True_
    """

    def __init__(self, shift_and_log_scale_fn: Any, is_constant_jacobian: bool = False, validate_args: bool = False,
                 unroll_loop: bool = False, name: str | None = None):
        super().__init__(None, is_constant_jacobian, validate_args, None, 1, None,
                         name or "masked_autoregressive_flow")
        self._fn = shift_and_log_scale_fn
        self._unroll = unroll_loop

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        size = x.shape.as_list()[-1]
        start = raw.ZerosLike(x)
        if self._unroll:
            if size is None:
                raise ValueError(f"The final dimension of {x.name} must be known to unroll the loop\n"
                                 f"  Built at {user_source(3)}\n  Fix: set_shape")
            y = start
            for _ in range(size):
                y = _scaled(x, *self._fn(y, **kwargs))
            return y
        self._fn(start, **kwargs)  # makes the variables, outside of the loop
        count = shape(x)[-1] if size is None else np.int32(size)

        def body(i: Any, y: Any) -> Any:
            after = _scaled(x, *self._fn(y, **kwargs))
            after.set_shape(x.shape)
            return i + 1, after

        _, y = while_loop(_Below(count), body, (convert_to_tensor(0, int32), start), maximum_iterations=size)
        return y

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return _unscaled(y, *self._fn(y, **kwargs))

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        _, log_scale = self._fn(y, **kwargs)
        return convert_to_tensor(0.0, y.dtype) if log_scale is None else -reduce_sum(log_scale, -1)


class _Below:
    def __init__(self, count: Any):
        self.count = count

    def __call__(self, i: Any, *_: Any) -> Any:
        return raw.Less(i, self.count)


def _mask(blocks: int, n_in: int, n_out: int, exclusive: bool) -> Any:
    """Returns 1 where an output of (n_in, n_out) may depend on an input: of earlier blocks, or of its own too."""
    of_in = np.minimum(np.arange(n_in) // max(n_in // blocks, 1), blocks - 1)
    of_out = np.minimum(np.arange(n_out) // max(n_out // blocks, 1), blocks - 1)
    allowed = of_in[:, None] < of_out if exclusive else of_in[:, None] <= of_out
    return allowed.astype(np.float32)


class _Masked:
    """Values multiplied by a mask: an initializer, and a constraint."""

    def __init__(self, mask: Any, initializer: Any = None):
        self.mask = mask
        self.initializer = initializer

    def __call__(self, what: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        values = what
        if self.initializer is not None:
            values = self.initializer(what, dtype=dtype, partition_info=partition_info)
        return values * convert_to_tensor(self.mask, values.dtype)


def masked_dense(inputs: TensorLike, units: int, num_blocks: Any = None, exclusive: bool = False,
                 kernel_initializer: Any = None, reuse: Any = None, name: str | None = None, *args: Any,
                 **kwargs: Any) -> Tensor:
    """Adds a dense layer whose outputs depend only on part of the inputs, for autoregressive networks.

    Args:
      inputs: (..., n), of known size.
      units: the number of outputs.
      num_blocks: the number of blocks of inputs and of outputs; an output depends on the blocks up to its own.
      exclusive: whether it does not depend on its own block.
      kernel_initializer: Glorot's normal by default.
      reuse: whether to reuse existing variables.
      name: the name of the layer.
      *args, **kwargs: further arguments of `tf.layers.dense`.
    Raises: NotImplementedError if the size is not known.
    """
    inputs = convert_to_tensor(inputs)
    size = inputs.shape.with_rank_at_least(1).as_list()[-1]
    if size is None:  # the weights' mask has that size; TensorFlow's class of error
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.\n"
                                  f"  Asked for at {user_source(2)}\n  Fix: set_shape")
    if num_blocks is not None and num_blocks < 1:
        raise ValueError(f"num_blocks is {num_blocks}. Fix: give the number of inputs, or a divisor of it")
    mask = _mask(num_blocks or 1, size, units, exclusive)
    make: Any = Dense
    layer = make(units, *args, kernel_initializer=_Masked(mask, kernel_initializer or GlorotNormal()),
                 kernel_constraint=_Masked(mask), name=name, _scope=name, _reuse=reuse, **kwargs)
    return layer.apply(inputs)


def masked_autoregressive_default_template(hidden_layers: Any, shift_only: bool = False, activation: Any = relu,
                                           log_scale_min_clip: float = -5.0, log_scale_max_clip: float = 3.0,
                                           log_scale_clip_gradient: bool = False, name: str | None = None, *args: Any,
                                           **kwargs: Any) -> Template:
    """Makes a masked network (MADE) for `MaskedAutoregressiveFlow`.

    Args:
      hidden_layers: the sizes of hidden layers, not smaller than that of events.
      shift_only: whether there is no scale.
      activation: of hidden layers.
      log_scale_min_clip, log_scale_max_clip: bounds of the log scale.
      log_scale_clip_gradient: whether gradients are clipped there too.
      name: the name of the operations.
      *args, **kwargs: further arguments of `tf.layers.dense`.
    Returns: a template: a function whose variables are made once.
    """

    def network(x: Any, **_: Any) -> Any:
        x = convert_to_tensor(x)
        depth, whole = x.shape.as_list()[-1], shape(x)
        if x.shape.rank == 1:
            x = raw.ExpandDims(x, 0)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
        x = masked_dense(x, (1 if shift_only else 2) * depth, depth, not hidden_layers, *args, activation=None,
                         **kwargs)
        if shift_only:
            return raw.Reshape(x, whole), None
        x = raw.Reshape(x, raw.ConcatV2([whole, np.array([2], np.int32)], 0))
        shift, log_scale = x[..., 0], x[..., 1]
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + raw.StopGradient(clipped - log_scale)
        return shift, clipped

    with name_scope(name, "masked_autoregressive_default_template"):
        return make_template("masked_autoregressive_default_template", network)
