"""Batch normalization as one op, with its gradient and the gradient of that."""

from __future__ import annotations

import math
import operator

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import is_fully_defined, merged, with_rank
from graphgrad.op_traits import Cost
from graphgrad.ops.common.host_sums import sum_over
from graphgrad.ops.common.shape_values import join, part, shape_of
from graphgrad.ops.nn.conv.window_geometry import assemble, spatial_axes

_FORMATS = {"data_format": frozenset({"NHWC", "NCHW", "NDHWC", "NCDHW"})}


def _axis(data_format):
    return 1 if data_format.startswith("NC") else -1


def _over(x, data_format):
    """Returns the axes to average over, and the shape in which a vector of channels broadcasts."""
    axis = _axis(data_format) % x.ndim
    return tuple(i for i in range(x.ndim) if i != axis), tuple(-1 if i == axis else 1 for i in range(x.ndim))


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


# -- forward ---------------------------------------------------------------------------


@op("FusedBatchNormV3", "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, "
    "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U", T=FLOATING, U=FLOATING, cost=Cost.HEAVY,
    limits=_FORMATS, eager_seconds=1.5e-9)
def fused_batch_norm_op(xp, x, scale, offset, mean, variance, *, epsilon=0.0001, exponential_avg_factor=1.0,
                        data_format="NHWC", is_training=True):
    """Normalizes each channel to the mean and variance of the batch, or to those given.

    The second and third outputs are for the moving averages (the variance is unbiased), the
    fourth and fifth for the gradient.
    """
    axes, around = _over(x, data_format)
    wide = _wide(x)
    rows = _Rows(wide) if xp is np and axes == tuple(range(x.ndim - 1)) and x.size else None
    spread = rows.spread if rows else operator.methodcaller("reshape", around)
    if is_training:
        n = x.size // max(scale.shape[0], 1)
        if rows:
            batch_mean = rows.mean(np.add.reduce, rows.values)
            centred = rows.values - spread(batch_mean)
            batch_variance = rows.mean(_products, centred, centred)
        else:
            batch_mean = xp.mean(wide, axis=axes)
            centred = wide - spread(batch_mean)
            batch_variance = xp.mean(centred * centred, axis=axes)
        used_mean, used_variance = batch_mean, batch_variance
        moving = batch_variance * xp.asarray(n / max(n - 1, 1), batch_variance.dtype)
        if exponential_avg_factor != 1 and mean.size:
            f = xp.asarray(exponential_avg_factor, wide.dtype)
            batch_mean = mean * (1 - f) + batch_mean * f
            moving = variance * (1 - f) + moving * f
    else:
        batch_mean = used_mean = mean
        moving = used_variance = variance
        centred = (rows.values if rows else wide) - spread(mean)
    factor = scale / xp.sqrt(used_variance + xp.asarray(epsilon, used_variance.dtype))
    if xp is np and centred.dtype == np.result_type(factor, offset):
        centred *= spread(factor)
        centred += spread(offset)
        y = centred
    else:
        y = centred * spread(factor) + spread(offset)
    y = y.reshape(x.shape).astype(x.dtype, copy=xp is not np)
    u = scale.dtype
    return (y, batch_mean.astype(u), moving.astype(u), used_mean.astype(u), used_variance.astype(u),
            xp.zeros((0,), u))


_LONG = 512  # numbers, about, that NumPy's loops are over
_PART = 1 << 14  # numbers that stay in the processor's cache, and whose sums are added up


class _Rows:
    """An array with the channels last as rows, each of the channels of one position or more.

    Args:
      x: the array.
    """

    def __init__(self, x):
        channels = x.shape[-1]
        positions = x.size // channels
        self._joined = math.gcd(positions, 1 << max(1, _LONG // channels).bit_length() - 1)
        self._positions = x.dtype.type(positions)
        self.values = np.ascontiguousarray(x).reshape(-1, channels * self._joined)
        height = max(1, _PART // self.values.shape[1])
        self.parts = [slice(start, start + height) for start in range(0, len(self.values), height)]

    def spread(self, vector):
        """Returns a vector of channels that broadcasts with the rows."""
        return np.tile(vector, self._joined)

    def mean(self, summed, *arrays):
        """Computes the mean for each channel.

        Args:
          summed: computes sums over the rows of the arrays, some rows at a time.
          arrays: like `values`.
        """
        sums = [summed(*[array[piece] for array in arrays]) for piece in self.parts]
        return np.sum(np.sum(sums, axis=0).reshape(self._joined, -1), axis=0) / self._positions


def _products(x, y):
    return np.einsum("nc,nc->c", x, y)


@fused_batch_norm_op.shape
def _fused_batch_norm_shape(x, scale, offset, mean, variance, data_format, is_training):
    x = with_rank(x, len(data_format), "x")
    axis = _axis(data_format)
    (channels,) = with_rank(scale, 1, "scale")
    given = {"scale": scale, "offset": offset}
    if not is_training:
        given |= {"mean": mean, "variance": variance}
    for name, shape in given.items():
        (n,) = with_rank(shape, 1, name)
        if n is not None and x[axis] is not None and n != x[axis]:
            raise Complaint(f"{name} has {n} elements but x has {x[axis]} channels",
                            f"give one {name} for each channel")
    channels = channels if x[axis] is None else x[axis]
    full = list(x)
    full[axis] = channels
    return [tuple(full), *[(channels,)] * 4, (0,)]


@fused_batch_norm_op.grad
def _fused_batch_norm_op_grad(op, dy, *unused):
    training = op._attr("is_training")
    attrs = {k: op._attr(k) for k in ("epsilon", "data_format", "is_training")}
    saved = (op.outputs[3], op.outputs[4]) if training else (op.inputs[3], op.inputs[4])
    dx, dscale, doffset, _, _ = raw.FusedBatchNormGradV3(dy, op.inputs[0], op.inputs[1], *saved, op.outputs[5], **attrs)
    return dx, dscale, doffset, None, None


# -- backward --------------------------------------------------------------------------


@op("FusedBatchNormGradV3", "y_backprop: T, x: T, scale: U, reserve_space_1: U, reserve_space_2: U, "
    "reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, "
    "reserve_space_5: U", T=FLOATING, U=FLOATING, cost=Cost.HEAVY,
    limits=_FORMATS, eager_seconds=2.4e-9)
def fused_batch_norm_grad(xp, dy, x, scale, mean, variance, reserve, *, epsilon=0.0001, data_format="NHWC",
                          is_training=True):
    """Computes the gradients of FusedBatchNormV3 for x, scale and offset."""
    axes, around = _over(x, data_format)
    g, wide = _wide(dy), _wide(x)
    if xp is np and is_training and axes == tuple(range(x.ndim - 1)) and x.size:
        return _host_gradients(g, wide, scale, mean, variance, epsilon, x.dtype)
    r = 1 / xp.sqrt(variance + xp.asarray(epsilon, variance.dtype))
    normal = (wide - mean.reshape(around)) * r.reshape(around)
    doffset, dscale = sum_over(xp, g, axes), sum_over(xp, g * normal, axes)
    factor = (scale * r).reshape(around)
    if is_training:
        n = xp.asarray(x.size // max(scale.shape[0], 1), g.dtype)
        dx = factor * (g - (doffset / n).reshape(around) - normal * (dscale / n).reshape(around))
    else:
        dx = factor * g
    u = mean.dtype
    return dx.astype(x.dtype), dscale.astype(u), doffset.astype(u), xp.zeros((0,), u), xp.zeros((0,), u)


def _host_gradients(g, x, scale, mean, variance, epsilon, dtype):
    """Computes the gradients in training with channels last, some rows at a time."""
    u = mean.dtype
    r = (1 / np.sqrt(variance + np.asarray(epsilon, variance.dtype))).astype(x.dtype)
    rows, grads = _Rows(x), _Rows(g).values
    wide_mean = rows.spread(mean.astype(x.dtype))
    # dx = factor (g - share - (x - mean) r slope)
    share = rows.mean(np.add.reduce, grads)
    slope = rows.mean(lambda g, x: _products(g, x - wide_mean), grads, rows.values) * r
    n, factor = x.dtype.type(x.size // len(mean)), scale.astype(x.dtype) * r
    wide_slope, wide_share, wide_factor = map(rows.spread, (-slope * r, share, factor))
    result = np.empty(rows.values.shape, x.dtype)
    for piece in rows.parts:
        out = result[piece]
        np.subtract(rows.values[piece], wide_mean, out=out)
        np.multiply(out, wide_slope, out=out)
        np.add(out, grads[piece], out=out)
        np.subtract(out, wide_share, out=out)
        np.multiply(out, wide_factor, out=out)
    none = np.zeros((0,), u)
    return (result.reshape(x.shape).astype(dtype, copy=False), (slope * n).astype(u), (share * n).astype(u), none,
            none)


@fused_batch_norm_grad.shape
def _fused_batch_norm_grad_shape(dy, x, scale, mean, variance, reserve, data_format):
    x = with_rank(x, len(data_format), "x")
    x = merged(x, with_rank(dy, len(data_format), "y_backprop"))
    (channels,) = merged(with_rank(scale, 1, "scale"), (x[_axis(data_format)],))
    x = assemble(x[0], [x[i] for i in spatial_axes(data_format, len(x) - 2)], channels, data_format)
    return [x, (channels,), (channels,), (0,), (0,)]


class _Channels:
    """Sums over everything but the channels, as ops.

    Args:
      x: the input of the normalization.
      data_format: its layout.
    """

    def __init__(self, x, data_format):
        rank = len(data_format)
        axis = _axis(data_format) % rank
        shape = x._spec.shape
        self.axes = np.asarray([i for i in range(rank) if i != axis], np.int32)
        if is_fully_defined(shape):
            self.n = np.prod([float(shape[i]) for i in self.axes])
        else:
            self.n = raw.Cast(raw.Prod(raw.GatherV2(raw.Shape(x), self.axes, 0), 0), DstT=x.dtype)
        sizes = shape_of(x)
        channels = part(sizes, axis, axis + 1)
        self.around = join([1] * axis, channels, [1] * (rank - 1 - axis))

    def mean(self, t):
        """Computes the mean for each channel, shaped to broadcast."""
        return raw.Mean(t, self.axes, keep_dims=True)

    def sum(self, t):
        """Computes the sum for each channel, a vector."""
        return raw.Sum(t, self.axes)

    def spread(self, vector):
        """Reshapes a vector of channels to broadcast."""
        return raw.Reshape(vector, self.around)


@fused_batch_norm_grad.grad
def _fused_batch_norm_grad_grad(op, u, v, w, *unused):
    dtype, wide = op.inputs[1].dtype, op.inputs[2].dtype
    g, x, scale = op.inputs[0], op.inputs[1], op.inputs[2]
    if dtype is not wide:
        g, x = raw.Cast(g, DstT=wide), raw.Cast(x, DstT=wide)
        u = None if u is None else raw.Cast(u, DstT=wide)
    c = _Channels(x, op._attr("data_format"))
    if op._attr("is_training"):  # from x again: further derivatives need the dependence of mean and variance on x
        centred = raw.Sub(x, c.mean(x))
        r_wide = raw.Rsqrt(raw.AddV2(c.mean(raw.Square(centred)), op._attr("epsilon")))
        r = raw.Reshape(r_wide, [-1])
    else:
        centred = raw.Sub(x, c.spread(op.inputs[3]))
        r = raw.Rsqrt(raw.AddV2(op.inputs[4], op._attr("epsilon")))
        r_wide = c.spread(r)
    normal = raw.Mul(centred, r_wide)
    rule = _training if op._attr("is_training") else _inference
    dg, dx, dscale = rule(c, u, v, g, normal, c.spread(scale), r_wide, r)
    if w is not None:
        dg = _plus(dg, raw.Mul(raw.OnesLike(x), c.spread(w)))
    if dtype is not wide:
        dg, dx = (t if t is None else raw.Cast(t, DstT=dtype) for t in (dg, dx))
    return dg, dx, dscale, None, None, None


def _plus(a, b):
    return b if a is None else a if b is None else raw.AddV2(a, b)


def _training(c, u, v, g, normal, scale, r_wide, r):
    """Computes the derivatives of <u, dx> + <v, dscale>, where mean and variance are those of x."""
    mean_g, q = c.mean(g), c.mean(raw.Mul(g, normal))
    rest_g = raw.Sub(raw.Sub(g, mean_g), raw.Mul(normal, q))
    dg = dx = dscale = None
    if u is not None:
        mean_u, p = c.mean(u), c.mean(raw.Mul(u, normal))
        rest_u = raw.Sub(raw.Sub(u, mean_u), raw.Mul(normal, p))
        factor = raw.Mul(scale, r_wide)
        dg = raw.Mul(factor, rest_u)
        f = c.mean(raw.Mul(u, rest_g))
        inner = raw.AddV2(raw.Mul(normal, f), raw.AddV2(raw.Mul(q, rest_u), raw.Mul(p, rest_g)))
        dx = raw.Neg(raw.Mul(raw.Mul(factor, r_wide), inner))
        dscale = raw.Mul(r, c.sum(raw.Mul(u, rest_g)))
    if v is not None:
        v = c.spread(v)
        dg = _plus(dg, raw.Mul(v, normal))
        dx = _plus(dx, raw.Mul(raw.Mul(v, r_wide), rest_g))
    return dg, dx, dscale


def _inference(c, u, v, g, normal, scale, r_wide, r):
    """Computes the derivatives of <u, dx> + <v, dscale>, where mean and variance are constants."""
    dg = dx = dscale = None
    if u is not None:
        dg = raw.Mul(raw.Mul(scale, r_wide), u)
        dscale = raw.Mul(r, c.sum(raw.Mul(u, g)))
    if v is not None:
        v = c.spread(v)
        dg = _plus(dg, raw.Mul(v, normal))
        dx = raw.Mul(raw.Mul(v, r_wide), g)
    return dg, dx, dscale
