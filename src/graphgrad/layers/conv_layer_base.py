"""The base class of convolution layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.nn.bias import bias_add
from graphgrad.ops.nn.conv.conv3d_functions import conv3d, conv3d_transpose
from graphgrad.ops.nn.conv.conv_functions import conv1d, conv2d, conv2d_transpose

from .layer import InputSpec, Layer, as_activation, check_padding, known_size, layout, sizes

_CONVOLVE: dict[int, Any] = {1: conv1d, 2: conv2d, 3: conv3d}
_NAMES = {1: "conv1d", 2: "Conv2D", 3: "Conv3D"}


class Convolution(Layer):
    """The base of convolutions; `_n` is the number of spatial dimensions."""

    _n = 2

    def __init__(self, filters: Any, kernel_size: Any, strides: Any, padding: Any, data_format: Any, dilation_rate: Any,
                 activation: Any, use_bias: bool, bias: tuple[Any, Any, Any], activity_regularizer: Any,
                 trainable: bool, name: str | None, kwargs: dict[str, Any]):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank = self._n
        self.filters = filters
        self.kernel_size = sizes(kernel_size, self._n, "kernel_size")
        self.strides = sizes(strides, self._n, "strides")
        self.padding = check_padding(padding)
        if self.padding == "causal" and self._n != 1:
            raise ValueError(f"Causal padding is only supported for `Conv1D`.\n  Asked for at {user_source(2)}")
        self.data_format = data_format.lower() if isinstance(data_format, str) else data_format
        self._layout = layout(data_format, self._n)
        self.dilation_rate = sizes(dilation_rate, self._n, "dilation_rate")
        self.activation = as_activation(activation)
        self.use_bias = use_bias
        self.bias_initializer, self.bias_regularizer, self.bias_constraint = bias
        self.bias: Any = None

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def _channels(self, input_shape: Any) -> int:
        rank = TensorShape(input_shape).rank
        if rank is not None and rank != self._n + 2:
            raise ValueError(f"Input 0 of layer {self.name} is incompatible with the layer: expected ndim="
                             f"{self._n + 2}, found ndim={rank}. Full shape received: "
                             f"{TensorShape(input_shape).as_list()}\n"
                             f"  Built at {user_source(2)}\n  Fix: give it a tensor of {self._n + 2} dimensions")
        size = known_size(input_shape, self._axis, type(self).__name__, "channels")
        self.input_spec = InputSpec(ndim=self._n + 2, axes={self._axis: size})
        return size

    def _build_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.filters], None, self.bias_initializer, self.bias_regularizer,
                                        constraint=self.bias_constraint)
        self.built = True

    def _finished(self, outputs: Any) -> Any:
        """Adds the bias, and applies the activation."""
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, "NCHW" if self._axis == 1 else "NHWC", name="BiasAdd")
        return outputs if self.activation is None else self.activation(outputs)

    def _spatial(self, shape: Any) -> list[int | None]:
        dims = TensorShape(shape).as_list()
        return dims[2:] if self._axis == 1 else dims[1:-1]

    def _shaped(self, batch: Any, space: list[Any]) -> list[Any]:
        return [batch, self.filters, *space] if self._axis == 1 else [batch, *space, self.filters]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        space = []
        for size, k, s, d in zip(self._spatial(input_shape), self.kernel_size, self.strides, self.dilation_rate,
                                 strict=True):
            reach = 0 if self.padding in ("same", "causal") else (k - 1) * d
            space.append(None if size is None else (size - reach + s - 1) // s)
        return TensorShape(self._shaped(TensorShape(input_shape).as_list()[0], space))


class PlainConvolution(Convolution):
    """A convolution with one kernel."""

    def __init__(self, filters: Any, kernel_size: Any, strides: Any, padding: Any, data_format: Any, dilation_rate: Any,
                 activation: Any, use_bias: bool, kernel_initializer: Any, bias_initializer: Any,
                 kernel_regularizer: Any, bias_regularizer: Any, activity_regularizer: Any, kernel_constraint: Any,
                 bias_constraint: Any, trainable: bool, name: str | None, kwargs: dict[str, Any]):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         (bias_initializer, bias_regularizer, bias_constraint), activity_regularizer, trainable, name,
                         kwargs)
        self.kernel_initializer = kernel_initializer
        self.kernel_regularizer = kernel_regularizer
        self.kernel_constraint = kernel_constraint
        self.kernel: Any = None

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        self.kernel = self.add_weight("kernel", self._kernel_shape(self._channels(input_shape)), None,
                                      self.kernel_initializer, self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self._build_bias()

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        padding = self.padding.upper()
        if padding == "CAUSAL":
            pads = np.zeros((3, 2), np.int32)
            pads[2 if self._axis == 1 else 1, 0] = (self.kernel_size[0] - 1) * self.dilation_rate[0]
            inputs, padding = raw.Pad(inputs, pads), "VALID"
        outputs = _CONVOLVE[self._n](inputs, self.kernel, self.strides, padding, self._layout, self.dilation_rate,
                                     name=_NAMES[self._n])
        return self._finished(outputs)


class TransposedConvolution(PlainConvolution):
    """The transpose of a convolution."""

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, self.filters, channels]

    def _grown(self, size: Any, k: int, s: int) -> Any:
        """Returns the size of the output, for a known or unknown size of the input."""
        return size * s if self.padding == "same" else size * s + max(k - s, 0)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        static = inputs.shape.as_list()
        dynamic: Any = None

        def size(axis: int) -> Any:
            nonlocal dynamic
            if static[axis] is not None:
                return np.int32(static[axis])
            if dynamic is None:
                dynamic = raw.Shape(inputs)
            return raw.StridedSlice(dynamic, [axis], [axis + 1], [1], shrink_axis_mask=1)

        first = 2 if self._axis == 1 else 1
        space = [self._grown(size(first + i), self.kernel_size[i], self.strides[i]) for i in range(self._n)]
        wanted = self._shaped(size(0), space)
        if all(not hasattr(w, "_spec") for w in wanted):
            shape: Any = np.array(wanted, np.int32)
        else:
            shape = raw.Pack([w if hasattr(w, "_spec") else np.int32(w) for w in wanted], name="stack")
        transpose: Any = {2: conv2d_transpose, 3: conv3d_transpose}[self._n]
        outputs = transpose(inputs, self.kernel, shape, self.strides, self.padding.upper(), self._layout,
                            name=f"conv{self._n}d_transpose")
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        space = [None if size is None else self._grown(size, k, s) for size, k, s in
                 zip(self._spatial(input_shape), self.kernel_size, self.strides, strict=True)]
        return TensorShape(self._shaped(TensorShape(input_shape).as_list()[0], space))
