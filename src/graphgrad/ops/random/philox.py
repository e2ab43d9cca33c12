"""Philox4x32-10, TensorFlow's counter-based generator, and the distributions drawn from it.

The generator is a pure function of a key and a counter, so every element of a tensor is
computed independently, in any order, and a seeded op gives the numbers that it gives in
TensorFlow. One counter value yields a *block* of four 32-bit words; a distribution turns a
block into a *group* of two or four numbers.

On the host, blocks are processed in pieces, side by side. On a device every
element computes its whole block and picks its own part of it: that repeats the arithmetic up
to four times, but it vectorises, and is twice as fast as interleaving four results.

References: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); Box and
Muller, "A note on the generation of random normal deviates" (1958).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.dtypes import DType, bfloat16, float16, float32, float64
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.math.sine import sine_of_reduced
from graphgrad.system.cores import spread

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_LOW = 0xFFFFFFFF
_PIECE = 1 << 16  # blocks that the host processes at a time: so long that threads hardly wait for each other


class Stream(NamedTuple):
    """A position in the sequence of blocks: a 64-bit key and a 128-bit counter, as integers or scalars of `xp`."""

    key: Any
    low: Any
    high: Any


def stateful(xp: Any, rng: Any, seed: int, seed2: int, blocks: int) -> Stream:
    """Returns the position in the stream at which a stateful op starts to draw.

    Args:
      rng: the number of blocks that earlier runs of the op have reserved; or a `RandomState`, whose seeds stand in for
        the attributes (one compiled program serves all seeds).
      seed, seed2: the op's attributes.
      blocks: the number of blocks that a run reserves.
    """
    each = 1
    if hasattr(rng, "take"):
        rng.take(blocks)
        each = 1 if rng.in_blocks else blocks
        rng, seed, seed2 = rng.values
    if xp is np:
        return Stream(int(seed) % 2**64, int(rng) * each % 2**64, int(seed2) % 2**64)
    return Stream(_u64(xp, seed), _u64(xp, rng) * xp.uint64(each), _u64(xp, seed2))


def _u64(xp: Any, x: Any) -> Any:
    return xp.uint64(x % 2**64) if isinstance(x, int) else xp.asarray(x).astype(xp.uint64)


def stateless(xp: Any, seed: Any) -> Stream:
    """Returns the position at which a stateless op starts to draw: a scramble of its `seed` of two integers."""
    if xp is np:
        first, second = (int(s) % 2**64 for s in np.asarray(seed))
    else:
        first, second = (_u64(xp, seed[i]) for i in (0, 1))
    scrambler = Stream(0x02461E293EC8F720, first, second)
    w = [x[0] for x in (_host_blocks(scrambler, np.zeros(1, np.uint64)) if xp is np else
                        device_blocks(xp, Stream(xp.uint64(scrambler.key), first, second), xp.zeros(1, xp.uint64)))]
    if xp is np:
        w = [int(x) for x in w]
        return Stream(w[0] | w[1] << 32, 0, w[2] | w[3] << 32)
    w = [x.astype(xp.uint64) for x in w]
    shift = xp.uint64(32)
    return Stream(w[0] | w[1] << shift, xp.uint64(0), w[2] | w[3] << shift)


def from_key_counter(xp: Any, key: Any, counter: Any) -> Stream:
    """Returns the stream that `StatelessRandomGetKeyCounter` describes by two tensors."""
    if xp is np:
        return Stream(int(key[0]), int(counter[0]), int(counter[1]))
    return Stream(_u64(xp, key[0]), _u64(xp, counter[0]), _u64(xp, counter[1]))


def stream_of_another_kind(stream: Any) -> Any:
    """Returns the module of the algorithm that a stream belongs to."""
    from . import threefry

    if not isinstance(stream, threefry.WordStream):
        raise TypeError(f"{type(stream).__name__} is no stream of random bits")
    return threefry


# -- blocks ------------------------------------------------------------------------------


def _host_blocks(stream: Stream, index: np.ndarray) -> tuple[np.ndarray, ...]:
    """Returns the words of the blocks `index` (uint64) after the start of the stream, as four uint64 arrays."""
    low = index + np.uint64(stream.low)
    high = np.full_like(low, stream.high)
    high += low < index  # the carry
    c0, c1, c2, c3 = low & np.uint64(_LOW), low >> np.uint64(32), high & np.uint64(_LOW), high >> np.uint64(32)
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    m0, m1 = map(np.uint64, _MULTIPLIERS)
    k0, k1 = stream.key & _LOW, stream.key >> 32
    shift, mask = np.uint64(32), np.uint64(_LOW)
    for _ in range(_ROUNDS):
        np.multiply(c0, m0, out=p0)
        np.multiply(c2, m1, out=p1)
        np.right_shift(p1, shift, out=c0)
        c0 ^= c1
        c0 ^= np.uint64(k0)
        np.right_shift(p0, shift, out=c2)
        c2 ^= c3
        c2 ^= np.uint64(k1)
        np.bitwise_and(p1, mask, out=c1)
        np.bitwise_and(p0, mask, out=c3)
        k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
    return c0, c1, c2, c3


def host_blocks(stream: Stream, index: np.ndarray) -> tuple[np.ndarray, ...]:
    """Returns the words of the blocks `index` (uint64), as four uint32 arrays."""
    return tuple(c.astype(np.uint32) for c in _host_blocks(stream, index))


def device_blocks(xp: Any, stream: Stream, index: Any) -> tuple[Any, ...]:
    """Does the same with jax.numpy: `index` is uint64, the words are uint32."""
    u32, u64 = xp.uint32, xp.uint64
    shift = u64(32)
    low = stream.low + index
    high = stream.high + (low < index).astype(u64)
    c0, c1, c2, c3 = low.astype(u32), (low >> shift).astype(u32), high.astype(u32), (high >> shift).astype(u32)
    k0, k1 = stream.key.astype(u32), (stream.key >> shift).astype(u32)
    m0, m1 = map(u64, _MULTIPLIERS)
    for _ in range(_ROUNDS):
        p0, p1 = c0.astype(u64) * m0, c2.astype(u64) * m1
        c0, c1, c2, c3 = ((p1 >> shift).astype(u32) ^ c1 ^ k0, p1.astype(u32),
                          (p0 >> shift).astype(u32) ^ c3 ^ k1, p0.astype(u32))
        k0, k1 = k0 + u32(_WEYL[0]), k1 + u32(_WEYL[1])
    return c0, c1, c2, c3


# -- numbers from bits ---------------------------------------------------------------------

# Format -> (integer type of the same size, bits of the fraction, the bits of 1.0).
_FORMATS: dict[DType, tuple[Any, int, int]] = {
    float16: (np.uint16, 10, 0x3C00), bfloat16: (np.uint16, 7, 0x3F80), float32: (np.uint32, 23, 0x3F800000),
}


def _bitcast(xp: Any, x: Any, dtype: Any) -> Any:
    if xp is np:
        return x.view(dtype)
    return lax_of(xp).bitcast_convert_type(x, dtype)


def unit(xp: Any, dtype: DType, x: Any, more: Any = None) -> Any:
    """Converts random bits to numbers in [0, 1), as their fraction.

    Args:
      dtype: the floating type.
      x: uint32 words; for float64 their low 20 bits are the upper part of the fraction.
      more: for float64, the words of the lower 32 bits.
    """
    if dtype is float64:
        bits = (x & xp.uint32(0xFFFFF)).astype(xp.uint64) << xp.uint64(32) | more.astype(xp.uint64)
        return _bitcast(xp, bits | xp.uint64(1023 << 52), np.float64) - xp.float64(1)
    integer, fraction, one = _FORMATS[dtype]
    bits = x.astype(integer) & integer((1 << fraction) - 1) | integer(one)
    value = _bitcast(xp, bits, dtype.np_dtype)
    return value - xp.asarray(1, value.dtype)


def _pick(xp: Any, lane: Any, options: Any) -> Any:
    """Returns `options[lane]` for every element."""
    if len(options) == 2:
        return xp.where(lane == 0, options[0], options[1])
    half = len(options) // 2
    return xp.where(lane < half, _pick(xp, lane, options[:half]), _pick(xp, lane - half, options[half:]))


class UniformFloats:
    """Floating numbers in [0, 1)."""

    def __init__(self, dtype: DType):
        self.dtype = dtype
        self.width = 2 if dtype is float64 else 4

    def host(self, *w: Any) -> list[Any]:
        """Returns the group that each block makes, as `width` arrays."""
        if self.width == 2:
            return [unit(np, self.dtype, w[0], w[1]), unit(np, self.dtype, w[2], w[3])]
        return [unit(np, self.dtype, x) for x in w]

    def device(self, xp: Any, lane: Any, *w: Any) -> Any:
        """Returns the number at position `lane` of the group that each block makes."""
        if self.width == 2:
            return unit(xp, self.dtype, _pick(xp, lane, w[0::2]), _pick(xp, lane, w[1::2]))
        return unit(xp, self.dtype, _pick(xp, lane, w))


class UniformInt:
    """Integers in [low, high), or all that the type holds where no range is given.

    A word is reduced modulo the size of the range, as in TensorFlow: where that is not a power
    of two, small numbers are more likely by up to size / 2^32.
    """

    def __init__(self, dtype: DType, low: Any = None, high: Any = None):
        self.dtype = dtype
        self.width = 2 if dtype.size == 8 else 4
        self.low, self.high = low, high

    def _reduce(self, xp: Any, bits: Any) -> Any:
        if self.low is not None:
            low = xp.asarray(self.low).astype(bits.dtype)
            size = xp.asarray(self.high).astype(bits.dtype) - low
            bits = bits % size + low
        return _bitcast(xp, bits, self.dtype.np_dtype) if bits.dtype != self.dtype.np_dtype else bits

    def host(self, *w: Any) -> list[Any]:
        """Returns the group that each block makes, as `width` arrays."""
        if self.width == 2:
            w = tuple(a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32) for a, b in (w[:2], w[2:]))
        return [self._reduce(np, x) for x in w]

    def device(self, xp: Any, lane: Any, *w: Any) -> Any:
        """Returns the number at position `lane` of the group that each block makes."""
        if self.width == 2:
            low, high = (_pick(xp, lane, w[i::2]).astype(xp.uint64) for i in (0, 1))
            return self._reduce(xp, low | high << xp.uint64(32))
        return self._reduce(xp, _pick(xp, lane, w))


class NormalDeviates:
    """Normal deviates by the method of Box and Muller; half precision is rounded from single."""

    def __init__(self, dtype: DType):
        self.dtype = dtype
        self.width = 2 if dtype is float64 else 4

    def host(self, *w: Any) -> list[Any]:
        """Returns the group that each block makes, as `width` arrays."""
        if self.width == 2:
            radius = _radius(np, unit(np, float64, w[0], w[1]))
            angle = 2 * math.pi * unit(np, float64, w[2], w[3])
            return [np.sin(angle) * radius, np.cos(angle) * radius]
        group = []
        for x0, x1 in (w[:2], w[2:]):
            radius = _radius(np, unit(np, float32, x0))
            angle = _angle32(np, x1)
            group += [np.sin(angle) * radius, np.cos(angle) * radius]
        return group

    def device(self, xp: Any, lane: Any, *w: Any) -> Any:
        """Returns the number at position `lane` of the group that each block makes."""
        if self.width == 2:
            angle = 2 * math.pi * unit(xp, float64, w[2], w[3]) + lane.astype(xp.float64) * (math.pi / 2)
            return xp.sin(angle) * _radius(xp, unit(xp, float64, w[0], w[1]))
        radius = _radius(xp, unit(xp, float32, xp.where(lane < 2, w[0], w[2])))
        angle = _angle32(xp, xp.where(lane < 2, w[1], w[3]))
        return (_sine(xp, angle, lane & 1) * radius).astype(self.dtype.np_dtype)


def _radius(xp: Any, u: Any) -> Any:
    return xp.sqrt(xp.asarray(-2, u.dtype) * xp.log(xp.maximum(u, xp.asarray(1e-7, u.dtype))))


def _angle32(xp: Any, word: Any) -> Any:
    # The product is rounded once, from double precision.
    return (unit(xp, float32, word).astype(xp.float64) * (2 * math.pi)).astype(xp.float32)


def _sine(xp: Any, angle: Any, quarter: Any) -> Any:
    """Computes sin(angle + quarter * pi / 2) of angles in [0, 2 pi], float32.

    XLA's own sine and cosine reduce arguments of any size, and both would be computed; this
    takes half the time. The angle is reduced to [-pi/4, pi/4] by a multiple of pi/2 in three
    parts.
    """
    f = xp.float32
    turns = xp.floor(angle * f(2 / math.pi) + f(0.5))
    x = angle - turns * f(1.5703125) - turns * f(4.837512969970703125e-4) - turns * f(7.54978995489188e-8)
    return sine_of_reduced(xp, x, turns.astype(xp.uint32) + quarter.astype(xp.uint32))


# -- tensors ---------------------------------------------------------------------------------


def sample(xp: Any, stream: Stream, shape: Any, distribution: Any) -> Any:
    """Draws a tensor from a distribution.

    Args:
      stream: the stream to draw from.
      shape: the shape, as ints.
      distribution: a `UniformFloats`, `UniformInt` or `NormalDeviates`.
    """
    shape = tuple(int(d) for d in shape)
    n = math.prod(shape)
    if n and not isinstance(stream, Stream):
        return stream_of_another_kind(stream).sample(xp, stream, shape, distribution)
    width = distribution.width
    dtype = distribution.dtype.np_dtype
    if n == 0:
        return xp.zeros(shape, dtype)
    if xp is np:
        groups = -(-n // width)
        out = np.empty((groups, width), dtype)

        def draw(start: int, stop: int) -> None:
            words = host_blocks(stream, np.arange(start, stop, dtype=np.uint64))
            for i, column in enumerate(distribution.host(*words)):
                out[start:stop, i] = column

        _piecewise(draw, groups)
        return out.reshape(-1)[:n].reshape(shape)
    element = lax_of(xp).iota(xp.uint32 if n < 2**32 else xp.uint64, n)
    block = (element >> element.dtype.type(width.bit_length() - 1)).astype(xp.uint64)
    lane = element & element.dtype.type(width - 1)
    return distribution.device(xp, lane, *device_blocks(xp, stream, block)).reshape(shape)


def _piecewise(work: Callable[[int, int], None], count: int) -> None:
    """Calls `work(start, stop)` for pieces of a range, in threads where there are many."""

    def part(start: int, stop: int) -> None:
        for begin in range(start, stop, _PIECE):
            work(begin, min(begin + _PIECE, stop))

    spread(part, count, _PIECE)


_BOUND = 2.0  # normal deviates beyond it are drawn again
_ACCEPTED = math.erf(_BOUND / math.sqrt(2))  # the share of those that are not
_SET_ASIDE = 256  # words for each truncated number, so that groups do not depend on each other


def truncated_normal(xp: Any, stream: Stream, shape: Any, dtype: DType) -> Any:
    """Draws normal deviates, and those with |x| >= 2 again; each group has its own part of the stream."""
    shape = tuple(int(d) for d in shape)
    n = math.prod(shape)
    if n == 0:
        return xp.zeros(shape, dtype.np_dtype)
    if not isinstance(stream, Stream):
        return stream_of_another_kind(stream).truncated_normal(xp, stream, shape, dtype)
    normal = NormalDeviates(float64 if dtype is float64 else float32)
    groups = -(-n // normal.width)
    stride = normal.width * _SET_ASIDE // 4
    values = _truncated_host(stream, groups, stride, normal) if xp is np else (
        _truncated_device(xp, stream, groups, stride, normal))
    return values.reshape(-1)[:n].reshape(shape).astype(dtype.np_dtype)


def _truncated_host(stream: Stream, groups: int, stride: int, normal: NormalDeviates) -> np.ndarray:
    out = np.empty((groups, normal.width), normal.dtype.np_dtype)
    incomplete: list[np.ndarray] = []

    def draw(start: int, stop: int) -> None:
        """Draws groups once; five in six are complete then."""
        words = host_blocks(stream, np.arange(start, stop, dtype=np.uint64) * np.uint64(stride))
        complete = np.ones(stop - start, bool)
        for i, column in enumerate(normal.host(*words)):
            out[start:stop, i] = column
            complete &= np.abs(column) < _BOUND
        incomplete.append(np.flatnonzero(~complete) + start)

    _piecewise(draw, groups)
    waiting = np.concatenate(incomplete)
    _piecewise(lambda start, stop: _complete(out, waiting[start:stop], stream, stride, normal), len(waiting))
    return out


def _complete(out: np.ndarray, waiting: np.ndarray, stream: Stream, stride: int, normal: NormalDeviates) -> None:
    """Draws groups, of which the first numbers are there, until they are complete.

    Args:
      out: all groups, (number, width).
      waiting: the indices of those to complete.
    """
    have, drawn, step = np.zeros(len(waiting), np.int64), out[waiting], 0
    while len(waiting):
        valid = np.abs(drawn) < _BOUND
        place = have[:, None] + np.cumsum(valid, 1) - 1
        valid &= place < normal.width
        row, column = np.nonzero(valid)
        out[waiting[row], place[row, column]] = drawn[row, column]
        have += valid.sum(1)
        unfinished = have < normal.width
        waiting, have = waiting[unfinished], have[unfinished]
        step += 1
        words = host_blocks(stream, waiting.astype(np.uint64) * np.uint64(stride) + np.uint64(step))
        drawn = np.stack(normal.host(*words), 1)


_COLUMNS = 1024  # the rows of groups in which incomplete ones are counted
_MANY = 1 << 14  # groups from which on that is worth it


def _truncated_device(xp: Any, stream: Stream, groups: int, stride: int, normal: NormalDeviates) -> Any:
    """Does the same on a device; where groups are many, the one in six that is not complete at once is drawn apart."""
    lax, width = lax_of(xp), normal.width
    if groups < _MANY:
        return _drawn_until_complete(xp, stream, lax.iota(xp.int32, groups), stride, normal)
    rows = -(-groups // _COLUMNS)
    padded = rows * _COLUMNS
    if padded * width >= 2**31:
        return _drawn_until_complete(xp, stream, lax.iota(xp.int64, groups), stride, normal)
    element = lax.iota(xp.uint32, padded * width)
    first = (element // xp.uint32(width)).astype(xp.uint64) * xp.uint64(stride)
    drawn = normal.device(xp, element % xp.uint32(width), *device_blocks(xp, stream, first))

    # A loop over rows of drawn numbers counts faster than `cumsum`, and XLA does not draw a second time for it.
    def count(before: Any, row: Any) -> Any:
        lacking = xp.any((xp.abs(row) >= _BOUND).reshape(_COLUMNS, width), -1)
        return before + lacking.astype(xp.int32), (before, lacking)

    counts, (place, lacking) = lax.scan(count, xp.zeros(_COLUMNS, xp.int32), drawn.reshape(rows, -1))
    place = (place + (xp.cumsum(counts) - counts)).reshape(-1)  # of a group among those that are lacking
    lacking = lacking.reshape(-1)
    total = xp.sum(counts)
    share = 1 - _ACCEPTED**width
    room = int(padded * share + 6 * math.sqrt(padded * share)) + 8  # more, which is very unlikely, take a second pass

    def complete(state: Any) -> Any:
        done, out = state
        taken = lacking & (place >= done) & (place < done + room)
        which = xp.full(room, padded, xp.int32)  # beyond the last one, and dropped
        which = which.at[xp.where(taken, place - done, room)].set(lax.iota(xp.int32, padded), mode="drop")
        values = _drawn_until_complete(xp, stream, which, stride, normal)
        # By element: scattering whole groups takes XLA longer.
        elements = which[:, None] * width + lax.iota(xp.int32, width)
        out = out.at[elements.reshape(-1)].set(values.reshape(-1), mode="drop")
        return done + room, out

    def is_lacking(state: Any) -> Any:
        return state[0] < total

    return lax.while_loop(is_lacking, complete, (xp.int32(0), drawn))[1][: groups * width]


def _drawn_until_complete(xp: Any, stream: Stream, which: Any, stride: int, normal: NormalDeviates) -> Any:
    """Returns the groups `which`, (number, width), each drawn until it is complete."""
    lax = lax_of(xp)
    width, shape = normal.width, (normal.width, len(which))  # the long dimension last, in which XLA vectorises
    first = xp.broadcast_to(which.astype(xp.uint64) * xp.uint64(stride), shape)
    lane = lax.broadcasted_iota(xp.uint32, shape, 0)

    def draw(step: Any) -> Any:
        return normal.device(xp, lane, *device_blocks(xp, stream, first + step))

    def unfinished(state: Any) -> Any:
        return xp.any(state[2] < width)

    def keep(state: Any) -> Any:
        # The numbers to insert were drawn one iteration before: carried, they are computed once, where
        # XLA would repeat it for each of its uses.
        step, drawn, have, kept = state
        for value in drawn:
            valid = xp.abs(value) < _BOUND
            kept = xp.where(valid & (have == lane), value, kept)
            have = have + valid.astype(xp.uint32)
        return step + xp.uint64(1), draw(step), have, kept

    none = xp.zeros(len(which), xp.uint32), xp.zeros(shape, normal.dtype.np_dtype)
    return lax.while_loop(unfinished, keep, (xp.uint64(1), draw(xp.uint64(0)), *none))[3].T


__all__ = ["NormalDeviates", "Stream", "UniformFloats", "UniformInt", "device_blocks", "from_key_counter",
           "host_blocks", "sample", "stateful", "stateless", "truncated_normal", "unit"]
