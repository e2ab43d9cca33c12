"""Local response normalization."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.shape_values import join, part, shape_of


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


def _window_sum(xp, x, radius):
    """Returns the sum over each channel and its `radius` neighbours on both sides."""
    n = x.shape[-1]
    radius = min(radius, n)  # beyond the channels there are zeros
    padded = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(radius, radius)])
    return sum(padded[..., i : i + n] for i in range(1, 2 * radius + 1)) + padded[..., :n]


def _scale(xp, x, depth_radius, bias, alpha):
    return _window_sum(xp, x * x, depth_radius) * xp.asarray(alpha, x.dtype) + xp.asarray(bias, x.dtype)


def _image(x):
    return with_rank(x, 4, "input")


@op("LRN", "input: T -> output: T", prefers={"T": "float32"}, T=FLOATING, shape=_image, cost=Cost.HEAVY)
def lrn_op(xp, x, *, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    """Computes x / (bias + alpha * sum of the squares of neighbouring channels) ** beta."""
    wide = _wide(x)
    n = _scale(xp, wide, depth_radius, bias, alpha)
    return (wide * n ** xp.asarray(-beta, wide.dtype)).astype(x.dtype)


def _attrs(op):
    return {k: op._attr(k) for k in ("depth_radius", "bias", "alpha", "beta")}


@lrn_op.grad
def _lrn_op_grad(op, dy):
    return raw.LRNGrad(dy, op.inputs[0], op.outputs[0], **_attrs(op))


@op("LRNGrad", "input_grads: T, input_image: T, output_image: T -> output: T", T=FLOATING, cost=Cost.HEAVY)
def lrn_grad(xp, dy, x, y, *, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    """Computes the gradient of LRN from the input; the output image is not used."""
    g, wide = _wide(dy), _wide(x)
    n = _scale(xp, wide, depth_radius, bias, alpha)
    power = n ** xp.asarray(-beta, wide.dtype)
    near = _window_sum(xp, g * wide * power / n, depth_radius)
    return (g * power - xp.asarray(2 * alpha * beta, wide.dtype) * wide * near).astype(x.dtype)


@lrn_grad.shape
def _lrn_grad_shape(dy, x, y):
    return _image(x)


@lrn_grad.grad
def _lrn_grad_grad(op, u):
    g, x, _ = op.inputs
    radius, bias, alpha, beta = (op._attr(k) for k in ("depth_radius", "bias", "alpha", "beta"))
    near = _Neighbours(x, radius)
    # The gradient is g n**-b - 2ab x S(t), with n = bias + a S(x**2), t = g x n**(-b-1), S summing over neighbours.
    n = raw.AddV2(raw.Mul(near(raw.Square(x)), alpha), bias)
    p1 = raw.Pow(n, -beta - 1.0)
    gx = raw.Mul(g, x)
    around = near(raw.Mul(u, x))
    direct = raw.AddV2(raw.Mul(u, near(raw.Mul(gx, p1))), raw.Mul(around, raw.Mul(g, p1)))
    through_n = raw.Sub(raw.Mul(raw.Mul(around, gx), raw.Mul(raw.RealDiv(p1, n), 2 * alpha * (beta + 1))),
                        raw.Mul(raw.Mul(u, g), p1))
    dx = raw.Sub(raw.Mul(raw.Mul(x, near(through_n)), 2 * alpha * beta), raw.Mul(direct, 2 * alpha * beta))
    dg = raw.Mul(p1, raw.Sub(raw.Mul(u, n), raw.Mul(raw.Mul(around, x), 2 * alpha * beta)))
    return dg, dx, None


class _Neighbours:
    """Sums over neighbouring channels, as a product with a banded matrix."""

    def __init__(self, x, radius):
        self.shape = shape_of(x)
        channels = x._spec.shape and x._spec.shape[-1]
        if channels is not None:
            far = np.abs(np.subtract.outer(np.arange(channels), np.arange(channels)))
            self.band = (far <= radius).astype(x.dtype.np_dtype)
            self.rows = np.asarray([-1, channels], np.int32)
        else:
            size = part(self.shape, 3, 4)
            ones = raw.Fill(join(size, size), np.ones((), x.dtype.np_dtype))
            self.band = raw.MatrixBandPart(ones, np.int64(radius), np.int64(radius))
            self.rows = join([-1], size)

    def __call__(self, t):
        return raw.Reshape(raw.MatMul(raw.Reshape(t, self.rows), self.band), self.shape)


def local_response_normalization(input: TensorLike, depth_radius: int = 5, bias: TensorLike = 1, alpha: TensorLike = 1,
                                 beta: TensorLike = 0.5, name: str | None = None) -> Tensor:
    """Divides each element by a power of the sum of squares of neighbouring channels.

    Args:
      input: (N, H, W, C), floating.
      depth_radius: the number of neighbouring channels on either side.
      bias, alpha, beta: numbers; the divisor is (bias + alpha sum(x**2)) ** beta.
      name: a name for the operation.
    Returns: a tensor like `input`.
    Raises: ValueError for another rank.
    Gradient: LRNGrad, differentiable again.
    Reference: TensorFlow 2.21 LRN; Krizhevsky et al. 2012.

    >>> sess.run(tf.nn.lrn([[[[3.0, 4.0]]]], bias=0.0))
    array([[[[0.6, 0.8]]]], dtype=float32)
    """
    return raw.LRN(input, depth_radius=whole(depth_radius), bias=float(bias), alpha=float(alpha), beta=float(beta),
                   name=name)
