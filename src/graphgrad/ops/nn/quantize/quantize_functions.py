"""Public functions of fake quantization."""

from __future__ import annotations

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike


def fake_quant_with_min_max_args(inputs: TensorLike, min: TensorLike = -6, max: TensorLike = 6, num_bits: int = 8,
                                 narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Rounds to the nearest of 2 ** num_bits levels in a range, of which zero is one.

    Args:
      inputs: a float32 tensor.
      min, max: the ends of the range.
      num_bits: from 2 to 16.
      narrow_range: whether to omit the lowest level.
      name: a name for the operation.
    Returns: a tensor like `inputs`.
    Raises: ValueError for an empty range or another number of bits.
    Gradient: straight through: dy in the range, zero outside.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxArgs; Jacob et al. 2017.

    >>> sess.run(tf.fake_quant_with_min_max_args([0.2, 0.9, 7.0], 0.0, 3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgs(inputs, min=float(min), max=float(max), num_bits=whole(num_bits),
                                       narrow_range=bool(narrow_range), name=name)


def fake_quant_with_min_max_args_gradient(gradients: TensorLike, inputs: TensorLike, min: TensorLike = -6,
                                          max: TensorLike = 6, num_bits: int = 8, narrow_range: bool = False,
                                          name: str | None = None) -> Tensor:
    """Computes the gradient of `fake_quant_with_min_max_args`.

    Args:
      gradients: the gradient of its result, float32.
      inputs: its inputs.
      min, max, num_bits, narrow_range: as for `fake_quant_with_min_max_args`.
      name: a name for the operation.
    Returns: a tensor like `inputs`: `gradients` where the inputs are in the range, zero elsewhere.
    Raises: ValueError for shapes that differ.
    Gradient: the same for `gradients`; zero for the inputs.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxArgsGradient.

    >>> sess.run(tf.fake_quant_with_min_max_args_gradient([1.0, 1.0], [0.5, 9.0]))
    array([1., 0.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgsGradient(gradients, inputs, min=float(min), max=float(max),
                                               num_bits=whole(num_bits), narrow_range=bool(narrow_range), name=name)


def fake_quant_with_min_max_vars(inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
                                 narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Rounds to the nearest of 2 ** num_bits levels in a range, of which zero is one.

    Args:
      inputs: a float32 tensor.
      min, max: the ends of the range: scalars, float32.
      num_bits: from 2 to 16.
      narrow_range: whether to omit the lowest level.
      name: a name for the operation.
    Returns: a tensor like `inputs`.
    Raises: ValueError for incompatible shapes, or another number of bits.
    Gradient: straight through: dy in the range, zero outside; for `min` and `max` the sum of dy beyond them.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxVars; Jacob et al. 2017.

    >>> sess.run(tf.fake_quant_with_min_max_vars([0.2, 0.9, 7.0], 0.0, 3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVars(inputs, min, max, num_bits=whole(num_bits), narrow_range=bool(narrow_range),
                                       name=name)


def fake_quant_with_min_max_vars_gradient(gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike,
                                          num_bits: int = 8, narrow_range: bool = False,
                                          name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the gradient of `fake_quant_with_min_max_vars`.

    Args:
      gradients: the gradient of its result, float32.
      inputs, min, max, num_bits, narrow_range: its arguments.
      name: a name for the operation.
    Returns: the gradients for (inputs, min, max).
    Raises: ValueError for incompatible shapes.
    Gradient: linear in `gradients`; zero for the others.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxVarsGradient.

    >>> sess.run(tf.fake_quant_with_min_max_vars_gradient([1.0, 2.0], [0.5, 9.0], -1.0, 3.0))[0]
    array([1., 0.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsGradient(gradients, inputs, min, max, num_bits=whole(num_bits),
                                               narrow_range=bool(narrow_range), name=name)


def fake_quant_with_min_max_vars_per_channel(inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
                                             narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Rounds to the nearest of 2 ** num_bits levels in a range of each channel, of which zero is one.

    Args:
      inputs: (*N, C), float32.
      min, max: the ends of the range: (C), float32, one for each channel.
      num_bits: from 2 to 16.
      narrow_range: whether to omit the lowest level.
      name: a name for the operation.
    Returns: a tensor like `inputs`.
    Raises: ValueError for incompatible shapes, or another number of bits.
    Gradient: straight through: dy in the range, zero outside; for `min` and `max` the sum of dy beyond them.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxVarsPerChannel; Jacob et al. 2017.

    >>> x, low, high = [0.2, 0.9, 7.0], [0.0, 0.0, 0.0], [3.0, 3.0, 6.0]
    >>> sess.run(tf.fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits=2))
    array([0., 1., 6.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannel(inputs, min, max, num_bits=whole(num_bits),
                                                 narrow_range=bool(narrow_range), name=name)


def fake_quant_with_min_max_vars_per_channel_gradient(gradients: TensorLike, inputs: TensorLike, min: TensorLike,
                                                      max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
                                                      name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the gradient of `fake_quant_with_min_max_vars_per_channel`.

    Args:
      gradients: the gradient of its result, float32.
      inputs, min, max, num_bits, narrow_range: its arguments.
      name: a name for the operation.
    Returns: the gradients for (inputs, min, max).
    Raises: ValueError for incompatible shapes.
    Gradient: linear in `gradients`; zero for the others.
    Reference: TensorFlow 2.21 FakeQuantWithMinMaxVarsPerChannelGradient.

    >>> sess.run(tf.fake_quant_with_min_max_vars_per_channel_gradient([1.0, 2.0], [0.5, 9.0], [-1.0] * 2, [3.0] * 2))[0]
    array([1., 0.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannelGradient(gradients, inputs, min, max, num_bits=whole(num_bits),
                                                         narrow_range=bool(narrow_range), name=name)


def quantize_and_dequantize_v2(input: TensorLike, input_min: TensorLike, input_max: TensorLike,
                               signed_input: bool = True, num_bits: int = 8, range_given: bool = False,
                               round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False,
                               axis: TensorLike = None) -> Tensor:
    """Rounds to the nearest of 2 ** num_bits levels in a range.

    Args:
      input: a float tensor.
      input_min, input_max: the ends of the range, scalars, or vectors along `axis`.
      signed_input: whether levels lie on both sides of zero.
      num_bits: the number of bits of a level.
      range_given: whether the range is given; else it is that of the input.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: a name for the operation.
      narrow_range: whether to omit the lowest level.
      axis: the axis along which ranges differ; None for one range.
    Returns: a tensor like `input`.
    Raises: ValueError for incompatible shapes.
    Gradient: straight through: dy in the range, zero outside.
    Reference: TensorFlow 2.21 QuantizeAndDequantizeV4.

    >>> sess.run(tf.quantization.quantize_and_dequantize_v2([0.2, -0.9, 1.0], -1.0, 1.0, num_bits=2, range_given=True))
    array([ 0., -1.,  1.], dtype=float32)
    """
    return _there_and_back(raw.QuantizeAndDequantizeV4, input, input_min, input_max, signed_input, num_bits,
                           range_given, round_mode, name, narrow_range, axis)


def quantize_and_dequantize(input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True,
                            num_bits: int = 8, range_given: bool = False, round_mode: str = "HALF_TO_EVEN",
                            name: str | None = None, narrow_range: bool = False, axis: TensorLike = None) -> Tensor:
    """Rounds to the nearest of 2 ** num_bits levels in a range.

    Args:
      input: a float tensor.
      input_min, input_max: the ends of the range, scalars, or vectors along `axis`.
      signed_input: whether levels lie on both sides of zero.
      num_bits: the number of bits of a level.
      range_given: whether the range is given; else it is that of the input.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: a name for the operation.
      narrow_range: whether to omit the lowest level.
      axis: the axis along which ranges differ; None for one range.
    Returns: a tensor like `input`.
    Raises: ValueError for incompatible shapes.
    Gradient: straight through: dy everywhere; none for the range.
    Reference: TensorFlow 2.21 QuantizeAndDequantizeV2.

    >>> sess.run(tf.quantization.quantize_and_dequantize([0.2, -0.9, 1.0], -1.0, 1.0, num_bits=2, range_given=True))
    array([ 0., -1.,  1.], dtype=float32)
    """
    return _there_and_back(raw.QuantizeAndDequantizeV2, input, input_min, input_max, signed_input, num_bits,
                           range_given, round_mode, name, narrow_range, axis)


def _there_and_back(builder, x, low, high, signed_input, num_bits, range_given, round_mode, name, narrow_range, axis):
    x = convert_to_tensor(x, name="input")
    if axis is None:
        axis = -1
    elif axis < 0:
        if x._spec.shape is None:
            raise ValueError("input should have known rank to use negative axis. Fix: count it from the start")
        axis += len(x._spec.shape)
    return builder(x, convert_to_tensor(low, x.dtype), convert_to_tensor(high, x.dtype), axis=int(axis), name=name,
                   signed_input=bool(signed_input), num_bits=whole(num_bits), range_given=bool(range_given),
                   round_mode=round_mode, narrow_range=bool(narrow_range))
