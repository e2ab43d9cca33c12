"""Glimpses: windows of images at positions known only to the run."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import part, shape_of
from graphgrad.ops.random import philox
from graphgrad.ops.random.seeds import start

_FLAGS = ("stateful", "random", "sized")  # pixels outside of the image are noise


def _start(xp, offsets, shape, size, centered, normalized, version):
    """Returns the first row and column of each glimpse."""
    found = []
    for axis in (0, 1):
        n, width = np.float32(shape[1 + axis]), np.float32(size[axis])
        at = offsets[:, axis]
        if normalized:
            at = at * n
        if version == 1:
            at = (at / 2 + n / 2 if centered else at) - width / 2
        elif centered:
            at = at / 2 + n / 2 - width / 2 if normalized else at + n / 2
        found.append(xp.trunc(at).astype(np.int32))
    return found


def _places(xp, offsets, shape, size, **options):
    rows, columns = _start(xp, offsets, shape, size, **options)
    rows = rows[:, None] + np.arange(size[0], dtype=np.int32)
    columns = columns[:, None] + np.arange(size[1], dtype=np.int32)
    inside = ((rows >= 0) & (rows < shape[1]))[:, :, None] & ((columns >= 0) & (columns < shape[2]))[:, None, :]
    rows, columns = xp.clip(rows, 0, max(shape[1] - 1, 0)), xp.clip(columns, 0, max(shape[2] - 1, 0))
    return np.arange(shape[0])[:, None, None], rows[:, :, None], columns[:, None, :], inside[..., None]


def _noise(xp, x, shape, noise, seeds):
    """Returns the values outside: numbers like those of the image."""
    if noise == "zero":
        return np.float32(0)
    kind = philox.UniformFloats(float32) if noise == "uniform" else philox.NormalDeviates(float32)
    numbers = philox.sample(xp, start(xp, "ExtractGlimpse", *seeds, math.prod(shape)), shape, kind)
    low, high = xp.min(x), xp.max(x)
    if noise == "uniform":
        return low + numbers * (high - low)
    return xp.clip(xp.mean(x) + numbers * xp.std(x), low, high)


def _glimpse(version):
    def kernel(xp, x, size, offsets, *, centered=True, normalized=True, uniform_noise=True, noise="uniform", seed=0,
               seed2=0, rng=0):
        """Returns a window of each image."""
        size = tuple(int(n) for n in size)
        options = {"centered": centered, "normalized": normalized, "version": version}
        *where, inside = _places(xp, offsets, x.shape, size, **options)
        outside = _noise(xp, x, (x.shape[0], *size, x.shape[3]), noise, (rng, seed, seed2))
        return xp.where(inside, xp.asarray(x)[tuple(where)], outside).astype(np.float32)

    return kernel


def _shape(x, size, offsets, uniform_noise, noise):
    if uniform_noise and noise in ("gaussian", "zero"):
        raise Complaint("The uniform_noise and noise could not be specified at the same time", "uniform_noise=False")
    if noise not in ("uniform", "gaussian", "zero"):
        raise Complaint(f"unknown noise {noise!r}", "use 'uniform', 'gaussian' or 'zero'")
    x = with_rank(x, 4, "input")
    if size is not None and any(d is not None and d < 0 for d in size):
        raise Complaint(f"glimpse sizes must not be negative, but are {list(size)}", "give a height and a width")
    n, two = with_rank(offsets, 2, "offsets")
    if two not in (2, None):
        raise Complaint(f"offsets must have 2 columns, y and x, but have {two}", "give [y, x] for each image")
    if n is not None and x[0] is not None and n != x[0]:
        raise Complaint(f"there are {n} offsets but {x[0]} images", "give one [y, x] for each image")
    if size is None:
        return n if x[0] is None else x[0], None, None, x[3]
    if len(size) != 2:
        raise Complaint(f"size must have 2 elements, height and width, but has {len(size)}", "give [height, width]")
    return n if x[0] is None else x[0], *size, x[3]


def _grad(version):
    def rule(op, dy):
        x, _, offsets = op.inputs
        options = {k: op._attr(k) for k in ("centered", "normalized")}
        return raw.ExtractGlimpseGrad(shape_of(x), offsets, dy, version=version, **options), None, None

    return rule


for _version, _name in ((1, "ExtractGlimpse"), (2, "ExtractGlimpseV2")):
    op(_name, "input: float32, size: int32, offsets: float32 -> glimpse: float32", host=("size",), flags=_FLAGS,
       shape=_shape)(_glimpse(_version)).grad(_grad(_version))


@op("ExtractGlimpseGrad", "input_sizes: int32, offsets: float32, grads: float32 -> output: float32",
    host=("input_sizes",))
def glimpse_grad(xp, input_sizes, offsets, dy, *, centered=True, normalized=True, version=2):
    """Adds each glimpse's gradient at the position of the glimpse."""
    shape = tuple(int(n) for n in input_sizes)
    options = {"centered": centered, "normalized": normalized, "version": version}
    *where, inside = _places(xp, offsets, shape, dy.shape[1:3], **options)
    dy = xp.where(inside, dy, np.float32(0))
    total = xp.zeros(shape, np.float32)
    if xp is np:
        np.add.at(total, tuple(where), dy)
        return total
    return total.at[tuple(where)].add(dy)


@glimpse_grad.shape
def _glimpse_grad_shape(input_sizes, offsets, dy):
    with_rank(offsets, 2, "offsets")
    with_rank(dy, 4, "grads")
    return (None,) * 4 if input_sizes is None else input_sizes


@glimpse_grad.grad
def _glimpse_grad_grad(op, u):
    _, offsets, dy = op.inputs
    options = {k: op._attr(k) for k in ("centered", "normalized")}
    glimpse = raw.ExtractGlimpse if op._attr("version") == 1 else raw.ExtractGlimpseV2
    size = part(shape_of(dy), 1, 3)
    return None, None, glimpse(u, size, offsets, uniform_noise=False, noise="zero", **options)


# -- public functions --------------------------------------------------------------------


def extract_glimpse_v2(input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = True,
                       normalized: bool = True, noise: str = "uniform", name: str | None = None) -> Tensor:
    """Cuts a window out of each image.

    Args:
      input: (N, H, W, C), float32.
      size: the height and width of the glimpses.
      offsets: (N, 2), float32: y and x of each glimpse.
      centered: whether offsets are relative to the centre of the image: 0 is its centre.
      normalized: whether offsets are in units of the image's size: -1 and 1 are its ends, if centered.
      noise: the values outside of the image: "uniform", "gaussian" (numbers like the image's) or "zero".
      name: a name for the operation.
    Returns: (N, height, width, C), float32.
    Raises: ValueError for incompatible shapes.
    Gradient: dy added at the position of the glimpse; none for offsets, which are rounded.
    Reference: TensorFlow 2.21 ExtractGlimpseV2; Mnih et al. 2014.

    >>> x = np.arange(9.0, dtype=np.float32).reshape(1, 3, 3, 1)
    >>> sess.run(extract_glimpse_v2(x, [2, 2], [[0.0, 1.0]], centered=False, normalized=False)).ravel()
    array([1., 2., 4., 5.], dtype=float32)
    """
    offsets = convert_to_tensor(offsets, float32, name="offsets")
    return raw.ExtractGlimpseV2(input, size, offsets, centered=bool(centered), normalized=bool(normalized),
                                uniform_noise=False, noise=noise, name=name)


def extract_glimpse(input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = True,
                    normalized: bool = True, uniform_noise: bool = True, name: str | None = None) -> Tensor:
    """Cuts a window out of each image; offsets are those of the middle of the glimpse, as in TensorFlow 1.

    Args:
      input: (N, H, W, C), float32.
      size: the height and width of the glimpses.
      offsets: (N, 2), float32: y and x of the middle of each glimpse.
      centered: whether offsets are relative to the centre of the image: 0 is its centre.
      normalized: whether offsets are in units of the image's size: -1 and 1 are its ends, if centered.
      uniform_noise: whether noise outside of the image is uniform, else normal.
      name: a name for the operation.
    Returns: (N, height, width, C), float32.
    Raises: ValueError for incompatible shapes.
    Gradient: dy added at the position of the glimpse; none for offsets, which are rounded.
    Reference: TensorFlow 2.21 ExtractGlimpse; Mnih et al. 2014.

    >>> x = np.arange(9.0, dtype=np.float32).reshape(1, 3, 3, 1)
    >>> sess.run(tf.image.extract_glimpse(x, [1, 1], [[0.0, 0.0]])).ravel()
    array([4.], dtype=float32)
    """
    offsets = convert_to_tensor(offsets, float32, name="offsets")
    return raw.ExtractGlimpse(input, size, offsets, centered=bool(centered), normalized=bool(normalized),
                              uniform_noise=bool(uniform_noise), name=name)


limit_ranks(vectors="ExtractGlimpse.size ExtractGlimpseGrad.input_sizes ExtractGlimpseV2.size")
