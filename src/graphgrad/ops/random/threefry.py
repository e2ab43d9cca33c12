"""ThreeFry2x32-20 in XLA's layout, and numbers drawn from it.

TensorFlow has this algorithm only on XLA, with the same numbers.

References: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); Box and Muller (1958).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.dtypes import DType, bfloat16, float16, float32, float64
from graphgrad.ops.common.lax_functions import special_of
from graphgrad.ops.math import special_numpy

from . import philox

_PARITY = 0x1BD11BDA
_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)


class WordStream(NamedTuple):
    """A position in the sequence of pairs of words: a 64-bit key and a 64-bit counter, as scalars of `xp`."""

    key: Any
    counter: Any


def from_key_counter(xp: Any, key: Any, counter: Any) -> WordStream:
    """Returns the stream that two tensors describe."""
    return WordStream(xp.asarray(key)[0].astype(xp.uint64), xp.asarray(counter)[0].astype(xp.uint64))


def _halves(xp: Any, x: Any) -> tuple[Any, Any]:
    return x.astype(xp.uint32), (x >> xp.uint64(32)).astype(xp.uint32)


def _pairs(xp: Any, stream: WordStream, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Returns two words for each element of a shape, from counters in row-major order."""
    with np.errstate(over="ignore"):
        index = xp.arange(math.prod(shape), dtype=xp.uint64).reshape(shape) + stream.counter
        x, y = _halves(xp, index)
        first, second = _halves(xp, stream.key)
        keys = first, second, first ^ second ^ xp.uint32(_PARITY)
        x, y = x + keys[0], y + keys[1]
        for group in range(5):
            for turn in _ROTATIONS[group % 2]:
                x = x + y
                y = (y << xp.uint32(turn) | y >> xp.uint32(32 - turn)) ^ x
            x, y = x + keys[(group + 1) % 3], y + keys[(group + 2) % 3] + xp.uint32(group + 1)
    return x, y


def _split(shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Returns the axis along which two halves alternate (the first even one, else the longest), and a half's shape."""
    even = [i for i, n in enumerate(shape) if n % 2 == 0]
    axis = even[0] if even else int(np.argmax(shape))
    return axis, (*shape[:axis], -(-shape[axis] // 2), 1, *shape[axis + 1 :])


def _alternating(xp: Any, first: Any, second: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Joins two halves along the axis behind `axis`, one element of each in turn."""
    whole = xp.concatenate([first, second], axis + 1)
    joined = whole.reshape(whole.shape[:axis] + (-1,) + whole.shape[axis + 2 :])
    return joined[(slice(None),) * axis + (slice(0, shape[axis]),)]


def _bits32(xp: Any, stream: WordStream, shape: tuple[int, ...]) -> Any:
    if not shape:
        return _bits32(xp, stream, (1,)).reshape(())
    axis, half = _split(shape)
    return _alternating(xp, *_pairs(xp, stream, half), axis, shape)


def _bits64(xp: Any, stream: WordStream, shape: tuple[int, ...]) -> Any:
    x, y = _pairs(xp, stream, shape)
    return x.astype(xp.uint64) | y.astype(xp.uint64) << xp.uint64(32)


def _uniform(xp: Any, stream: WordStream, shape: tuple[int, ...], dtype: DType) -> Any:
    """Converts bits to numbers in [0, 1): the upper bits, in half precision the lower ones, are the fraction."""
    if dtype is float64:
        bits = _bits64(xp, stream, shape) >> xp.uint64(12)
        return bits.astype(xp.float64) * xp.float64(2.0**-52)
    if dtype is float16:
        bits = _bits32(xp, stream, shape) & xp.uint32(1023)
        return bits.astype(xp.float16) * xp.float16(2.0**-10)
    return (_bits32(xp, stream, shape) >> xp.uint32(9)).astype(xp.float32) * xp.float32(2.0**-23)


def _normal(xp: Any, stream: WordStream, shape: tuple[int, ...], dtype: DType) -> Any:
    """Computes normal deviates by the method of Box and Muller, sines and cosines in turn."""
    if not shape:
        return _normal(xp, stream, (1,), dtype).reshape(())
    axis, half = _split(shape)
    whole = (*half[: axis + 1], 2, *half[axis + 2 :])
    u = _uniform(xp, stream, whole, dtype)
    at = (slice(None),) * (axis + 1)
    u, v = u[(*at, slice(0, 1))], u[(*at, slice(1, 2))]
    radius = xp.sqrt(u.dtype.type(-2) * xp.log(xp.maximum(u, u.dtype.type(1e-7))))
    angle = u.dtype.type(2 * math.pi) * v
    return _alternating(xp, radius * xp.sin(angle), radius * xp.cos(angle), axis, shape)


def sample(xp: Any, stream: WordStream, shape: tuple[int, ...], distribution: Any) -> Any:
    """Draws a tensor from a distribution of `philox`: `UniformFloats`, `UniformInt` or `NormalDeviates`."""
    dtype = distribution.dtype
    if isinstance(distribution, philox.UniformInt):
        bits = _bits64(xp, stream, shape) if dtype.size == 8 else _bits32(xp, stream, shape)
        return distribution._reduce(xp, bits)
    draw = _normal if isinstance(distribution, philox.NormalDeviates) else _uniform
    return draw(xp, stream, shape, float32 if dtype is bfloat16 else dtype).astype(dtype.np_dtype)


def truncated_normal(xp: Any, stream: WordStream, shape: tuple[int, ...], dtype: DType) -> Any:
    """Draws normal deviates between -2 and 2, by inverting the distribution function."""
    u = _uniform(xp, stream, shape, float32 if dtype is bfloat16 else dtype).astype(xp.float64)
    ndtri = (special_numpy if xp is np else special_of(xp)).ndtri
    below = math.erfc(math.sqrt(2)) / 2
    return ndtri(below + u * (1 - 2 * below)).astype(dtype.np_dtype)
