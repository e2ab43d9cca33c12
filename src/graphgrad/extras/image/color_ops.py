"""Colours of images as ops: hue, saturation, contrast."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, bfloat16, float16, float32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.rule_by_composition import pullback
from graphgrad.ir.shape import with_rank, with_rank_at_least

_T = FLOATING
_SOME = frozenset({float16, bfloat16, float32})


def _three_channels(images):
    with_rank_at_least(images, 1, "images")
    if images is not None and images[-1] not in (3, None):
        raise Complaint(f"images have {images[-1]} channels instead of 3", "give RGB images")
    return images if images is None else images[:-1] + (3,)


def _to_hsv(xp, rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    v = xp.max(rgb, axis=-1)
    c = v - xp.min(rgb, axis=-1)
    zero = xp.zeros((), rgb.dtype)
    s = xp.where(v > 0, c / xp.where(v > 0, v, 1), zero)
    sixth = 1 / (6 * xp.where(c > 0, c, 1))
    h = xp.where(r == v, sixth * (g - b), xp.where(g == v, sixth * (b - r) + 2 / 6, sixth * (r - g) + 4 / 6))
    h = xp.where(c > 0, h, zero)
    return xp.stack([xp.where(h < 0, h + 1, h), s, v], axis=-1).astype(rgb.dtype)


def _to_rgb(xp, hsv):
    h, s, v = hsv[..., 0], hsv[..., 1], hsv[..., 2]
    h6 = h * 6
    ramps = [abs(h6 - 3) - 1, 2 - abs(h6 - 2), 2 - abs(h6 - 4)]
    return xp.stack([((xp.clip(d, 0, 1) - 1) * s + 1) * v for d in ramps], axis=-1).astype(hsv.dtype)


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


@op("RGBToHSV", "images: T -> output: T", prefers={"T": "float32"}, T=_T, shape=_three_channels)
def rgb_to_hsv_op(xp, images):
    """Converts RGB to hue, saturation and value, all in [0, 1]."""
    return _to_hsv(xp, _wide(images)).astype(images.dtype)


_NEIGHBOURS = ((0, 1, -1), (-1, 0, 1), (1, -1, 0))  # the hue's numerator, by the largest channel


@rgb_to_hsv_op.grad
def _rgb_to_hsv_grad(op, dy):
    rgb = op.inputs[0]
    last = np.asarray([-1], np.int32)
    dtype = rgb.dtype.np_dtype
    one, zero = np.ones((), dtype), np.zeros((), dtype)
    largest = raw.OneHot(raw.ArgMax(rgb, -1), 3, one, zero)
    smallest = raw.OneHot(raw.ArgMin(rgb, -1), 3, one, zero)
    value = raw.Max(rgb, last, keep_dims=True)
    low = raw.Min(rgb, last, keep_dims=True)
    chroma = raw.Sub(value, low)
    # The hue is a sixth of numerator / chroma, the saturation chroma / value; 0 where these are not defined.
    direction = raw.Einsum([largest, np.asarray(_NEIGHBOURS, dtype)], equation="...i,ij->...j")
    numerator = raw.Sum(raw.Mul(direction, rgb), last, keep_dims=True)
    per_chroma = raw.DivNoNan(raw.OnesLike(chroma), chroma)
    per_value = raw.DivNoNan(raw.OnesLike(value), value)
    # By the largest channel, as in TensorFlow; chroma is computed from the op's results: saturation times value.
    _, saturation, given = raw.Split(-1, op.outputs[0], num_split=3)
    of_given = raw.DivNoNan(raw.OnesLike(chroma), raw.Mul(raw.Square(saturation), raw.Square(given)))
    change = raw.Sub(raw.Mul(of_given, largest), raw.Mul(raw.Square(per_chroma), smallest))
    dh = raw.Mul(1 / 6, raw.Sub(raw.Mul(direction, per_chroma), raw.Mul(numerator, change)))
    ds = raw.Sub(raw.Mul(raw.Mul(low, raw.Square(per_value)), largest), raw.Mul(per_value, smallest))
    by_h, by_s, by_v = raw.Split(-1, dy, num_split=3)
    return raw.AddV2(raw.AddV2(raw.Mul(by_h, dh), raw.Mul(by_s, ds)), raw.Mul(by_v, largest))


@op("HSVToRGB", "images: T -> output: T", prefers={"T": "float32"}, T=_T, shape=_three_channels)
def hsv_to_rgb_op(xp, images):
    """Converts hue, saturation and value, all in [0, 1], to RGB."""
    return _to_rgb(xp, _wide(images)).astype(images.dtype)


# Each colour is ((clip(base + sign |6 hue - centre|, 0, 1) - 1) saturation + 1) value.
_BASES, _SIGNS, _CENTRES = (-1, 2, 2), (1, -1, -1), (3, 2, 4)


@hsv_to_rgb_op.grad
def _hsv_to_rgb_grad(op, dy):
    dtype = op.inputs[0].dtype.np_dtype
    base, sign, centre = (np.asarray(v, dtype) for v in (_BASES, _SIGNS, _CENTRES))
    last = np.asarray([-1], np.int32)
    h, s, v = raw.Split(-1, op.inputs[0], num_split=3)
    off = raw.Sub(raw.Mul(h, np.asarray(6, dtype)), centre)
    ramp = raw.AddV2(raw.Mul(raw.Abs(off), sign), base)
    inside = raw.LogicalAnd(raw.Greater(ramp, np.asarray(0, dtype)), raw.Less(ramp, np.asarray(1, dtype)))
    slope = raw.Mul(raw.Cast(inside, DstT=op.inputs[0].dtype), raw.Mul(raw.Sign(off), np.asarray(6, dtype) * sign))
    less = raw.Sub(raw.Minimum(raw.Maximum(ramp, np.asarray(0, dtype)), np.asarray(1, dtype)), np.asarray(1, dtype))
    by_h = raw.Sum(raw.Mul(dy, raw.Mul(slope, raw.Mul(s, v))), last, keep_dims=True)
    by_s = raw.Sum(raw.Mul(dy, raw.Mul(less, v)), last, keep_dims=True)
    by_v = raw.Sum(raw.Mul(dy, raw.AddV2(raw.Mul(less, s), np.asarray(1, dtype))), last, keep_dims=True)
    return raw.ConcatV2([by_h, by_s, by_v], -1)


def _adjusted(images, amount):
    with_rank(amount, 0, "the amount")
    with_rank_at_least(images, 3, "images")
    return _three_channels(images)


@op("AdjustHue", "images: T, delta: float32 -> output: T", prefers={"T": "float32"}, T=_SOME, shape=_adjusted)
def adjust_hue_op(xp, images, delta):
    """Rotates the hue by `delta`, a fraction of the whole circle; minimum and maximum of each pixel stay."""
    wide = _wide(images)
    hue = ((_to_hsv(xp, wide)[..., :1] + delta) % 1).astype(wide.dtype)
    ones = xp.ones_like(hue)
    low, high = wide.min(axis=-1, keepdims=True), wide.max(axis=-1, keepdims=True)
    return (low + (high - low) * _to_rgb(xp, xp.concatenate([hue, ones, ones], axis=-1))).astype(images.dtype)


def _as(t, dtype):
    return t if t.dtype is dtype else raw.Cast(t, DstT=dtype)


def _hue_turned(images, delta):
    """Builds AdjustHue of ops."""
    h, _, _ = raw.Split(-1, raw.RGBToHSV(images), num_split=3)
    hue = raw.FloorMod(raw.AddV2(h, _as(delta, images.dtype)), np.ones((), images.dtype.np_dtype))
    last, ones = np.asarray([-1], np.int32), raw.OnesLike(hue)
    low, high = raw.Min(images, last, keep_dims=True), raw.Max(images, last, keep_dims=True)
    pure = raw.HSVToRGB(raw.ConcatV2([hue, ones, ones], -1))
    return [raw.AddV2(low, raw.Mul(raw.Sub(high, low), pure))]


@adjust_hue_op.grad
def _adjust_hue_grad(op, dy):
    return pullback(_hue_turned, op.inputs, [dy], (0, 1))


@op("AdjustSaturation", "images: T, scale: float32 -> output: T", prefers={"T": "float32"}, T=_SOME, shape=_adjusted)
def adjust_saturation_op(xp, images, scale):
    """Multiplies the saturation by `scale`, up to 1."""
    hsv = _to_hsv(xp, _wide(images))
    saturation = xp.clip(hsv[..., 1:2] * scale, 0, 1).astype(hsv.dtype)
    return _to_rgb(xp, xp.concatenate([hsv[..., :1], saturation, hsv[..., 2:]], axis=-1)).astype(images.dtype)


def _saturated(images, scale):
    """Builds AdjustSaturation of ops."""
    h, s, v = raw.Split(-1, raw.RGBToHSV(images), num_split=3)
    zero, one = np.zeros((), images.dtype.np_dtype), np.ones((), images.dtype.np_dtype)
    saturation = raw.Minimum(raw.Maximum(raw.Mul(s, _as(scale, images.dtype)), zero), one)
    return [raw.HSVToRGB(raw.ConcatV2([h, saturation, v], -1))]


@adjust_saturation_op.grad
def _adjust_saturation_grad(op, dy):
    return pullback(_saturated, op.inputs, [dy], (0, 1))


@op("AdjustContrastv2", "images: T, contrast_factor: float32 -> output: T", prefers={"T": "float32"}, T=_SOME)
def adjust_contrast_op(xp, images, factor):
    """Stretches each channel about its mean over the image."""
    wide = _wide(images)
    mean = xp.mean(wide, axis=(-3, -2), keepdims=True)
    return ((wide - mean) * factor + mean).astype(images.dtype)


@adjust_contrast_op.shape
def _adjust_contrast_shape(images, factor):
    with_rank(factor, 0, "contrast_factor")
    return with_rank_at_least(images, 3, "images")


@adjust_contrast_op.grad
def _adjust_contrast_grad(op, dy):
    images, factor = op.inputs
    axes = np.asarray([-3, -2], np.int32)
    f = factor if images.dtype is float32 else raw.Cast(factor, DstT=images.dtype)
    stays = raw.Mul(raw.Sub(1.0, f), raw.Mean(dy, axes, keep_dims=True))
    centred = raw.Sub(images, raw.Mean(images, axes, keep_dims=True))
    product = raw.Mul(dy, centred)
    df = raw.Sum(product, raw.Range(0, raw.Rank(product), 1))
    return raw.AddV2(raw.Mul(f, dy), stays), df if images.dtype is float32 else raw.Cast(df, DstT=float32)
