"""Fake quantization in floating point, with straight-through gradients."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import merged, with_rank
from graphgrad.ops.common.elementwise import times_mask

# -- fake quantization -------------------------------------------------------------------


def _nudged(xp, low, high, num_bits, narrow_range):
    """Returns the range moved so that zero is a level: (low, high, distance of levels)."""
    first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
    scale = (high - low) / (last - first)
    zero = first - low / scale
    zero = xp.clip(xp.floor(zero + np.float32(0.5)), first, last)
    return (first - zero) * scale, (last - zero) * scale, scale


def _faked(xp, x, low, high, num_bits, narrow_range):
    empty = (low == 0) & (high == 0)
    bottom, top, scale = _nudged(xp, xp.where(empty, -1, low), high, num_bits, narrow_range)
    # Times the reciprocal, as TensorFlow does it: quotients round halves to another level.
    y = xp.floor((xp.clip(x, bottom, top) - bottom) * (np.float32(1) / scale) + np.float32(0.5)) * scale + bottom
    return xp.where(empty, 0, y).astype(np.float32)


def _masks(xp, x, low, high, num_bits, narrow_range):
    """Returns where x is below, within and above the range."""
    empty = (low == 0) & (high == 0)
    bottom, top, _ = _nudged(xp, xp.where(empty, -1, low), high, num_bits, narrow_range)
    below, above = (x < bottom) & ~empty, (x > top) & ~empty
    within = (x >= bottom) & (x <= top) | empty  # NaN is in none of the three
    return below, within, above


def _check_bits(num_bits):
    if not 2 <= num_bits <= 16:
        raise Complaint(f"num_bits must be between 2 and 16, inclusive, not {num_bits}", "use 8, say")


def _args_shape(x, min, max, num_bits):
    _check_bits(num_bits)
    if not min < max:
        raise Complaint(f"min has to be smaller than max, was: {min} >= {max}", "give an interval")
    return x


def _options(op, *more):
    return {k: op._attr(k) for k in ("num_bits", "narrow_range", *more)}


def _numbers(xp, *values):
    return [xp.asarray(v, np.float32) for v in values]


@op("FakeQuantWithMinMaxArgs", "inputs: float32 -> outputs: float32", shape=_args_shape)
def fake_quant(xp, x, *, min=-6.0, max=6.0, num_bits=8, narrow_range=False):
    """Rounds x to the levels of a range."""
    return _faked(xp, x, *_numbers(xp, min, max), num_bits, narrow_range)


@fake_quant.grad
def _fake_quant_grad(op, dy):
    return raw.FakeQuantWithMinMaxArgsGradient(dy, op.inputs[0], **_options(op, "min", "max"))


@op("FakeQuantWithMinMaxArgsGradient", "gradients: float32, inputs: float32 -> backprops: float32")
def fake_quant_gradient(xp, dy, x, *, min=-6.0, max=6.0, num_bits=8, narrow_range=False):
    """Returns dy where x is in range, else 0."""
    return times_mask(xp, dy, _masks(xp, x, *_numbers(xp, min, max), num_bits, narrow_range)[1])


@fake_quant_gradient.shape
def _fake_quant_gradient_shape(dy, x, min, max, num_bits):
    return merged(dy, _args_shape(x, min, max, num_bits))


@fake_quant_gradient.grad
def _fake_quant_gradient_grad(op, u):
    x = op.inputs[1]
    return raw.FakeQuantWithMinMaxArgsGradient(u, x, **_options(op, "min", "max")), raw.ZerosLike(x)


def _vars_shape(x, low, high, num_bits):
    _check_bits(num_bits)
    with_rank(low, 0, "min")
    with_rank(high, 0, "max")
    return x


def _channel_shape(x, low, high, num_bits):
    _check_bits(num_bits)
    if x is not None and not x:
        raise Complaint("inputs must have rank at least 1", "give inputs with channels")
    channels = merged(with_rank(low, 1, "min"), with_rank(high, 1, "max"))
    return None if x is None else (*x[:-1], *merged(x[-1:], channels))


def _faked_by(xp, x, low, high, *, num_bits=8, narrow_range=False):
    """Rounds x to the levels of a range."""
    return _faked(xp, x, low, high, num_bits, narrow_range)


def _faked_by_grad(kind):
    def rule(op, dy):
        return getattr(raw, kind + "Gradient")(dy, *op.inputs, **_options(op))

    return rule


def _gradient(xp, dy, x, low, high, *, num_bits=8, narrow_range=False):
    """Returns dy where x is in range, and its sums over the elements below and above."""
    below, within, above = _masks(xp, x, low, high, num_bits, narrow_range)
    others = tuple(range(dy.ndim - low.ndim))
    return (times_mask(xp, dy, within), xp.sum(times_mask(xp, dy, below), axis=others),
            xp.sum(times_mask(xp, dy, above), axis=others))


def _gradient_shapes(rule):
    def shape(dy, x, low, high, num_bits):
        x = merged(dy, rule(x, low, high, num_bits))
        rank = 1 if rule is _channel_shape else 0
        ends = merged(with_rank(low, rank, "min"), with_rank(high, rank, "max"))
        if rank and x is not None:
            ends = merged(ends, x[-1:])
        return [x, ends, ends]

    return shape


def _gradient_grad(op, u, v, w):
    # Linear in dy: each element counts in the range of its x.
    _, x, low, high = op.inputs
    within = getattr(raw, op.type)(u, x, low, high, **_options(op))[0]
    ones = raw.OnesLike(x)
    inside = getattr(raw, op.type)(ones, x, low, high, **_options(op))[0]
    outside = raw.Sub(ones, inside)
    middle = raw.Mul(raw.AddV2(low, high), np.float32(0.5))
    is_above = raw.Cast(raw.Greater(x, middle), DstT=x.dtype)
    ends = raw.AddV2(raw.Mul(raw.Sub(np.float32(1), is_above), v), raw.Mul(is_above, w))
    return raw.AddV2(within, raw.Mul(outside, ends)), raw.ZerosLike(x), raw.ZerosLike(low), raw.ZerosLike(high)


for _kind, _rule in (("FakeQuantWithMinMaxVars", _vars_shape), ("FakeQuantWithMinMaxVarsPerChannel", _channel_shape)):
    op(_kind, "inputs: float32, min: float32, max: float32 -> outputs: float32", shape=_rule)(_faked_by).grad(
        _faked_by_grad(_kind)
    )
    op(_kind + "Gradient", "gradients: float32, inputs: float32, min: float32, max: float32 -> "
       "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
       shape=_gradient_shapes(_rule))(_gradient).grad(_gradient_grad)


# -- quantize and dequantize -------------------------------------------------------------


def _along(xp, x, values, axis):
    return values if axis < 0 or not values.ndim else values.reshape((-1,) + (1,) * (x.ndim - 1 - axis))


def _there_and_back(xp, x, low, high, signed, num_bits, range_given, half_up, narrow, axis):
    if not 1 <= num_bits <= 63 or (signed and num_bits < 2):
        raise Complaint(f"num_bits must be between {1 + signed} and 63, not {num_bits}", "num_bits=8")
    wide = x.astype(np.float32) if x.dtype.itemsize <= 2 else x
    others = tuple(i for i in range(x.ndim) if i != axis)
    if not range_given:
        low, high = xp.min(wide, axis=others), xp.max(wide, axis=others)
    low, high = (_along(xp, x, xp.asarray(v).astype(wide.dtype), axis) for v in (low, high))
    first = (-(2 ** (num_bits - 1)) + int(narrow)) if signed else 0
    last = 2 ** (num_bits - 1) - 1 if signed else 2**num_bits - 1
    most = np.finfo(wide.dtype).max

    def per(level, end):
        usable = level * end > 0
        return xp.where(usable, level / xp.where(usable, end, 1), most)

    by_low, by_high = per(first, low), per(last, high)
    use_low = by_low < by_high
    scale = xp.where(use_low, by_low, by_high).astype(wide.dtype)
    back = xp.where(use_low, low / (first or 1), high / last).astype(wide.dtype)
    low, high = xp.where(use_low, low, first * back), xp.where(use_low, last * back, high)
    scaled = (xp.clip(wide, low, high) if range_given else wide) * scale
    rounded = xp.floor(scaled + xp.asarray(0.5, wide.dtype)) if half_up else xp.rint(scaled)
    return (rounded * back).astype(x.dtype)


def _ranged(x, low, high, axis):
    if axis < -1 or (axis >= 0 and x is not None and axis >= len(x)):
        raise Complaint(f"axis {axis} is not one of the input's", "use -1 for one range")
    for name, shape in (("input_min", low), ("input_max", high)):
        with_rank(shape, 0 if axis == -1 else 1, name)
    return x


def _same(op, dy):
    return (dy, *[None] * (len(op.inputs) - 1))


@op("QuantizeAndDequantizeV2", "input: T, input_min: T, input_max: T -> output: T", T=FLOATING, shape=_ranged)
def there_and_back_v2(xp, x, low, high, *, signed_input=True, num_bits=8, range_given=False, round_mode="HALF_TO_EVEN",
                      narrow_range=False, axis=-1):
    """Rounds x to the levels of a range."""
    return _there_and_back(xp, x, low, high, signed_input, num_bits, range_given, round_mode == "HALF_UP", narrow_range,
                           axis)


there_and_back_v2.grad(_same)


@op("QuantizeAndDequantize", "input: T -> output: T", T=FLOATING, shape=lambda input: input)
def there_and_back(xp, x, *, signed_input=True, num_bits=8, range_given=False, input_min=0.0, input_max=0.0):
    """Rounds x to the levels of a range."""
    ends = (xp.asarray(v, x.dtype) for v in (input_min, input_max))
    return _there_and_back(xp, x, *ends, signed_input, num_bits, range_given, False, False, -1)


there_and_back.grad(_same)


@op("QuantizeAndDequantizeV3", "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T", T=FLOATING,
    host=("num_bits",))
def there_and_back_v3(xp, x, low, high, num_bits, *, signed_input=True, range_given=True, narrow_range=False, axis=-1):
    """Rounds x to the levels of a range."""
    return _there_and_back(xp, x, low, high, signed_input, int(num_bits), range_given, False, narrow_range, axis)


@there_and_back_v3.shape
def _there_and_back_v3_shape(x, low, high, num_bits, axis):
    return _ranged(x, low, high, axis)


there_and_back_v3.grad(_same)


@op("QuantizeAndDequantizeV4", "input: T, input_min: T, input_max: T -> output: T", T=FLOATING, shape=_ranged)
def there_and_back_v4(xp, x, low, high, *, signed_input=True, num_bits=8, range_given=False, round_mode="HALF_TO_EVEN",
                      narrow_range=False, axis=-1):
    """Rounds x to the levels of a range; its gradient is zero outside of it."""
    return _there_and_back(xp, x, low, high, signed_input, num_bits, range_given, round_mode == "HALF_UP", narrow_range,
                           axis)


@there_and_back_v4.grad
def _there_and_back_v4_grad(op, dy):
    return raw.QuantizeAndDequantizeV4Grad(dy, *op.inputs, axis=op._attr("axis"))


@op("QuantizeAndDequantizeV4Grad", "gradients: T, input: T, input_min: T, input_max: T -> input_backprop: T, "
    "input_min_backprop: T, input_max_backprop: T", T=FLOATING)
def there_and_back_v4_grad(xp, dy, x, low, high, *, axis=-1):
    """Returns dy where x is in range; zeros for the range, as in TensorFlow."""
    bottom, top = (_along(xp, x, v, axis) for v in (low, high))
    within = times_mask(xp, dy, (x >= bottom) & (x <= top))
    return within, xp.zeros_like(low), xp.zeros_like(high)


@there_and_back_v4_grad.shape
def _there_and_back_v4_grad_shape(dy, x, low, high, axis):
    x = merged(dy, _ranged(x, low, high, axis))
    rank = 0 if axis == -1 else 1
    ends = merged(with_rank(low, rank, "input_min"), with_rank(high, rank, "input_max"))
    if rank and x is not None:
        ends = merged(ends, x[axis : axis + 1])
    return [x, ends, ends]


@there_and_back_v4_grad.grad
def _there_and_back_v4_grad_grad(op, u, v, w):
    _, x, low, high = op.inputs
    ddy = raw.QuantizeAndDequantizeV4Grad(u, x, low, high, axis=op._attr("axis"))[0]
    return ddy, raw.ZerosLike(x), raw.ZerosLike(low), raw.ZerosLike(high)
