"""Stateless truncated normals, binomials, permutations and other functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import (
    ANY,
    FLOATING,
    INDEX,
    as_dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.lax_functions import special_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.math import special_numpy

from . import gamma_poisson_numpy, philox
from .random import crop_limit, shape_tensor, shuffled
from .seeds import known_sizes, sizes, start
from .stateless import algorithm, keyed, seed_shape, stateless_uniform

_NORMAL = frozenset({float16, float32, float64})
_COUNTS = _NORMAL | {int32, int64}
_WORDS = frozenset({int32, int64, uint32, uint64})

# -- normal deviates between bounds --------------------------------------------------------


@op("StatelessParameterizedTruncatedNormal",
    "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype", S=INDEX,
    Tseed=INDEX, dtype=_NORMAL, host=("shape",))
def truncated_op(xp, shape, seed, means, stddevs, minvals, maxvals):
    """Draws normal deviates between bounds, by inverting the distribution function.

    TensorFlow rejects deviates out of bounds, so its numbers differ.
    """
    return between(xp, philox.stateless(xp, seed), sizes(shape), means, stddevs, minvals, maxvals)


def between(xp, stream, shape, means, stddevs, minvals, maxvals):
    """Draws normal deviates between bounds, from a stream. For kernels."""
    special = special_numpy if xp is np else special_of(xp)
    erfc, ndtri = special.erfc, special.ndtri

    u = philox.sample(xp, stream, shape, philox.UniformFloats(float64))
    mean, scale, low, high = (xp.asarray(p).astype(xp.float64) for p in (means, stddevs, minvals, maxvals))
    a, b = (low - mean) / scale, (high - mean) / scale
    # Where more than half of the interval lies above the mean, its mirror image keeps more digits.
    sign = xp.where(a + b > 0, -1.0, xp.ones_like(a))
    below = erfc(-xp.where(sign > 0, a, -b) * math.sqrt(0.5)) / 2
    above = erfc(-xp.where(sign > 0, b, -a) * math.sqrt(0.5)) / 2
    part = xp.where(sign > 0, u, 1 - u)
    with np.errstate(all="ignore"):
        z = sign * ndtri(below + part * (above - below))
        x = xp.clip(mean + scale * z, low, high)
    return xp.broadcast_to(xp.where((scale > 0) & (low < high), x, math.nan), shape).astype(means.dtype)


@op("ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype", T=INDEX, dtype=_NORMAL,
    host=("shape",), flags=("stateful", "random"))
def parameterized_op(xp, shape, means, stdevs, minvals, maxvals, *, seed=0, seed2=0, rng=0):
    """Draws normal deviates between bounds, with one set of parameters or one for each slice along the first axis.

    TensorFlow rejects deviates out of bounds, so its numbers differ.
    """
    shape = sizes(shape)
    stream = start(xp, "ParameterizedTruncatedNormal", rng, seed, seed2, math.prod(shape) * 256)
    of_slices = [xp.asarray(p).reshape((-1,) + (1,) * (len(shape) - 1)) if shape else p
                 for p in (means, stdevs, minvals, maxvals)]
    return between(xp, stream, shape, *of_slices)


@parameterized_op.shape
def _parameterized_shape(shape, means, stdevs, minvals, maxvals):
    shape = known_sizes(shape)
    for what, own in (("means", means), ("stdevs", stdevs), ("minvals", minvals), ("maxvals", maxvals)):
        if own is not None and (len(own) > 1 or (shape and own and None not in (shape[0], own[0])
                                and own[0] not in (1, shape[0]))):
            raise Complaint(f"{what} must be a scalar or a vector of as many elements as shape[0], not {own}",
                            "give one number for each slice along the first axis")
    return shape


parameterized_op.grad(NOT_DIFFERENTIABLE)


@truncated_op.shape
def _truncated_shape(shape, seed, means, stddevs, minvals, maxvals):
    seed_shape(seed)
    shape = known_sizes(shape)
    if shape is not None:
        whole = broadcast(shape, means, stddevs, minvals, maxvals)
        if whole is not None and len(whole) > len(shape):
            raise Complaint(f"the parameters have more dimensions than shape={list(shape)}",
                            "let shape end in the shape of the parameters")
    return shape


@truncated_op.grad
def _truncated_grad(op, dy):
    """Differentiates at a fixed quantile u, for z = (x - mean) / stddev between a and b, with the normal density p.

    x moves by (1 - u) p(a) / p(z) with the lower bound and by u p(b) / p(z) with the upper one; the rest follows
    because x moves along when everything is shifted, or scaled. (TensorFlow gives 1 and z for mean and stddev, which is
    how x moves when the bounds do too.)
    """
    _, _, mean, scale, low, high = op.inputs
    x = op.outputs[0]
    kind = float64 if x.dtype is float64 else float32
    if x.dtype is not kind:
        mean, scale, low, high, x = (raw.Cast(t, DstT=kind) for t in (mean, scale, low, high, x))
    a, b, z = (raw.RealDiv(raw.Sub(t, mean), scale) for t in (low, high, x))
    mirrored = raw.Greater(raw.AddV2(a, b), 0)

    def chance(left, right):
        """Computes the probability of a normal deviate between two bounds, on the side where it has most digits."""
        root = math.sqrt(0.5)
        start = raw.SelectV2(mirrored, raw.Neg(right), left)
        end = raw.SelectV2(mirrored, raw.Neg(left), right)
        return raw.Mul(0.5, raw.Sub(raw.Erfc(raw.Mul(raw.Neg(end), root)), raw.Erfc(raw.Mul(raw.Neg(start), root))))

    def density(edge):
        """Computes p(edge) / p(z); 0 for an infinite edge."""
        return raw.Exp(raw.Mul(0.5, raw.Sub(raw.Square(z), raw.Square(edge))))

    whole = chance(a, b)
    by_low = raw.Mul(raw.RealDiv(chance(z, b), whole), density(a))
    by_high = raw.Mul(raw.RealDiv(chance(a, z), whole), density(b))
    by_mean = raw.Sub(raw.Sub(1, by_low), by_high)
    by_scale = raw.Sub(z, raw.AddV2(raw.MulNoNan(a, by_low), raw.MulNoNan(b, by_high)))
    grads = []
    for slope, t in zip((by_mean, by_scale, by_low, by_high), op.inputs[2:], strict=True):
        slope = slope if slope.dtype is dy.dtype else raw.Cast(slope, DstT=dy.dtype)
        grads.append(unbroadcast(None, raw.Mul(slope, dy), op.outputs[0], t)[1])
    return None, None, *grads


def stateless_parameterized_truncated_normal(shape: ShapeLike, seed: Any, means: Any = 0.0, stddevs: Any = 1.0,
                                             minvals: Any = -2.0, maxvals: Any = 2.0,
                                             name: str | None = None) -> Tensor:
    """Draws numbers from normal distributions between bounds, as a function of `seed`.

    Args:
      shape: the shape of the result; it ends in the shape of the parameters.
      seed: (2,), integers.
      means, stddevs: of the normal distributions.
      minvals, maxvals: the bounds; they may be infinite.
      name: a name for the operation.
    Returns: `shape`, dtype of `means`; NaN for invalid bounds or deviations.
    Raises: ValueError if the parameters have more dimensions than `shape`.
    Gradient: for the four parameters, at a fixed quantile.
    Reference: TensorFlow 2.21 StatelessParameterizedTruncatedNormal, whose numbers differ.

    >>> x = sess.run(tf.random.stateless_parameterized_truncated_normal([100], [1, 2], minvals=0.0))
    >>> x.min() > 0 and x.max() < 2
    np.True_
    """
    with name_scope(name, "stateless_parameterized_truncated_normal"):
        means = convert_to_tensor(means, dtype_hint=float32, name="means")
        rest = [convert_to_tensor(p, means.dtype) for p in (stddevs, minvals, maxvals)]
        return raw.StatelessParameterizedTruncatedNormal(shape_tensor(shape), seed, means, *rest)


# -- gamma deviates from a key -------------------------------------------------------------


@op("StatelessRandomGammaV3",
    "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype",
    shape_dtype=INDEX, dtype=FLOATING, host=("shape",), flags=("host",))
def stateless_gamma_v3_op(xp, shape, key, counter, alg, alpha):
    """Draws gamma deviates of scale 1; `shape` is that of the whole result."""
    shape = sizes(shape)
    lead = shape[: len(shape) - alpha.ndim]
    alpha = np.broadcast_to(alpha, shape[len(lead) :])
    return gamma_poisson_numpy.gamma(philox.from_key_counter(np, key, counter), lead, alpha)


@stateless_gamma_v3_op.shape
def _stateless_gamma_v3_shape(shape, key, counter, alg, alpha):
    return known_sizes(shape)


@stateless_gamma_v3_op.grad
def _stateless_gamma_v3_grad(op, dy):
    alpha, sample = op.inputs[4], op.outputs[0]
    d_alpha, _ = unbroadcast(raw.Mul(dy, raw.RandomGammaGrad(alpha, sample)), None, alpha, sample)
    return None, None, None, None, d_alpha


# -- binomial deviates ---------------------------------------------------------------------


@op("StatelessRandomBinomial", "shape: S, seed: Tseed, counts: T, probs: T -> output: dtype", S=INDEX, Tseed=INDEX,
    T=_COUNTS, dtype=_COUNTS, host=("shape",), flags=("host",))
def stateless_binomial_op(xp, shape, seed, counts, probs, *, dtype=int64):
    """Draws numbers of successes: sums of geometric deviates; from 10 expected on by Hörmann's rejection (1993)."""
    return successes(philox.stateless(np, np.asarray(seed)), sizes(shape), counts, probs, dtype)


def successes(stream, shape, counts, probs, dtype):
    """Draws binomial deviates from a stream; the shape ends in that of the parameters. For kernels."""
    counts, probs = np.broadcast_arrays(np.asarray(counts, np.float64), np.asarray(probs, np.float64))
    lead = shape[: len(shape) - counts.ndim]
    counts, probs = (np.broadcast_to(p, shape[len(lead) :]) for p in (counts, probs))
    drawn = gamma_poisson_numpy.binomial(stream, lead, counts, probs)
    if dtype.is_integer:
        drawn = np.where(np.isnan(drawn), -1, drawn)
    return drawn.astype(dtype.np_dtype)


@stateless_binomial_op.shape
def _stateless_binomial_shape(shape, seed, counts, probs):
    seed_shape(seed)
    return known_sizes(shape)


stateless_binomial_op.grad(NOT_DIFFERENTIABLE)


def stateless_binomial(shape: ShapeLike, seed: Any, counts: Any, probs: Any, output_dtype: DTypeLike = int32,
                       name: str | None = None) -> Tensor:
    """Draws numbers of successes in independent trials, as a function of `seed`.

    Args:
      shape: the shape of the result; it ends in the shape of the parameters.
      seed: (2,), integers.
      counts: the numbers of trials.
      probs: the probabilities of success.
      output_dtype: of the result.
      name: a name for the scope.
    Returns: `shape`, dtype `output_dtype`.
    Raises: TypeError for another dtype.
    Gradient: none.
    Reference: TensorFlow 2.21 StatelessRandomBinomial.

    >>> print(sess.run(tf.random.stateless_binomial([2, 1], [1, 2], [100.0], [0.5])).ravel())
    [56 53]
    """
    with name_scope(name, "stateless_random_binomial"):
        probs = convert_to_tensor(probs, dtype_hint=float32, name="probs")
        counts = convert_to_tensor(counts, dtype_hint=probs.dtype, name="counts")
        counts = counts if counts.dtype is probs.dtype else raw.Cast(counts, DstT=probs.dtype)
        return raw.StatelessRandomBinomial(shape_tensor(shape), seed, counts, probs, dtype=as_dtype(output_dtype))


# -- permutations --------------------------------------------------------------------------


@op("StatelessShuffle", "value: T, key: uint64, counter: uint64, alg: int32 -> output: T", T=ANY, flags=("host",))
def stateless_shuffle_op(xp, value, key, counter, alg):
    """Shuffles the slices along the first axis (Fisher and Yates)."""
    return shuffled(np.asarray(value), philox.from_key_counter(np, key, counter))


@stateless_shuffle_op.shape
def _stateless_shuffle_shape(value, key, counter, alg):
    return value


stateless_shuffle_op.grad(NOT_DIFFERENTIABLE)


def stateless_shuffle(value: TensorLike, seed: Any, alg: Any = "auto_select", name: str | None = None) -> Tensor:
    """Shuffles a tensor along its first axis, by a permutation that is a function of `seed`.

    Args:
      value: (n, *D).
      seed: (2,), integers.
      alg: "philox" or "auto_select".
      name: a name for the scope.
    Returns: (n, *D), dtype of `value`.
    Raises: ValueError for another algorithm.
    Gradient: none.
    Reference: TensorFlow 2.21 StatelessShuffle.

    >>> print(sess.run(tf.random.experimental.stateless_shuffle(tf.range(10), [1, 2])))
    [0 3 8 1 5 4 9 7 6 2]
    """
    if algorithm(alg) == 2:
        raise ValueError("stateless_shuffle: the ThreeFry algorithm does not shuffle.\n  Fix: alg='philox'")
    with name_scope(name, "stateless_shuffle"):
        return raw.StatelessShuffle(convert_to_tensor(value, name="value"), *keyed(seed))


_LOW = 2**64 - 1
_CONSTANTS = 0x7369F885192C0EF5  # bits that distinguish the keys of rounds


def _permuted(index: int, seed: tuple[int, ...], last: int, rounds: int) -> int:
    """Permutes `index` within 0 ... last: the block cipher Simon, repeated until the result is in range."""
    half = max(8, -(-max(last - 1, 0).bit_length() // 2))
    mask = (1 << half) - 1

    def turned(x: int, by: int) -> int:
        by %= half
        return (x << by | x >> half - by) & mask

    keys = [k & mask for k in (*seed, 0)[:3]]
    for i in range(max(4, rounds + rounds % 2) - 3):
        bit = _CONSTANTS % 2 ** min(half, 64) >> i & 1
        keys.append(0xFFFFFFFC & mask ^ bit ^ keys[i] ^ turned(keys[-1], -3) ^ turned(keys[-1], -4))
    while True:
        left, right = index >> half & mask, index & mask
        for k in keys:
            left, right = right, left ^ turned(right, 1) & turned(right, 8) ^ turned(right, 2) ^ k
        index = left << half | right
        if index <= last:
            return index


@op("RandomIndexShuffle", "index: dtype, seed: Tseed, max_index: dtype -> output: dtype", dtype=_WORDS, Tseed=_WORDS,
    flags=("host",), limits={"rounds": range(1025)})
def random_index_shuffle_op(xp, index, seed, max_index, *, rounds=4):
    """Maps indices by a random permutation."""
    index, last, _ = np.broadcast_arrays(index, max_index, np.asarray(seed)[..., 0])
    seeds = np.broadcast_to(seed, (*index.shape, np.shape(seed)[-1])).reshape(index.size, -1)
    if np.any((index < 0) | (index > last)):
        raise Complaint("index must be in [0, max_index]", "give an index of the range")
    found = [_permuted(int(i), tuple(int(s) & _LOW for s in key), int(m), rounds)
             for i, key, m in zip(index.ravel(), seeds, last.ravel(), strict=True)]
    return np.asarray(found, index.dtype).reshape(index.shape)


@random_index_shuffle_op.shape
def _random_index_shuffle_shape(index, seed, max_index):
    if seed is not None and (not seed or seed[-1] not in (None, 2, 3)):
        raise Complaint(f"seed must end in a dimension of 3, not be of shape {seed}", "give three integers")
    shapes = [index, None if seed is None else seed[:-1], max_index]
    sizes = {s[0] for s in shapes if s} - {None}
    if len(sizes) > 1:
        raise Complaint(f"index, seed and max_index are for different numbers of indices: {sorted(sizes)}",
                        "give one of each for all, or one for each index")
    if any(shapes):
        return (next(iter(sizes), None),)
    return None if None in shapes else ()


random_index_shuffle_op.grad(NOT_DIFFERENTIABLE)


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """Maps an index by a random permutation of 0, ..., max_index, without computing the whole permutation.

    Args:
      index: scalar or vector, int32, int64, uint32 or uint64.
      seed: (2,) or (3,), integers, or one row for each index.
      max_index: the largest index, of the same dtype.
    Returns: a tensor like `index`; different indices get different results.
    Raises: InvalidArgumentError at run time for an index out of range.
    Gradient: none.
    Reference: TensorFlow 2.21 RandomIndexShuffle; Beaulieu et al., "The Simon and Speck families of lightweight block
      ciphers" (2013).

    >>> sorted(sess.run(tf.random.experimental.index_shuffle(tf.range(5), [1, 2], 4)).tolist())
    [0, 1, 2, 3, 4]
    """
    index = convert_to_tensor(index, name="index")
    seed = convert_to_tensor(seed, name="seed")
    shape = seed._spec.shape
    if shape and shape[-1] == 2:
        filler = np.full((*shape[:-1], 1), 498247692, seed.dtype.np_dtype)
        seed = raw.ConcatV2([filler, seed], len(shape) - 1)
    return raw.RandomIndexShuffle(index, seed, convert_to_tensor(max_index, index.dtype))


def stateless_random_crop(value: TensorLike, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """Cuts a piece of shape `size` out of `value`, at a position chosen by the seed alone.

    Args:
      value: a tensor.
      size: the shape of the piece: one number for each dimension of `value`.
      seed: two integers.
      name: a name for the scope of the operations.
    Returns: `size`, dtype of `value`.
    Raises: ValueError (while building, if shapes are known) or InvalidArgumentError if the piece does not fit.
    Gradient: dy, padded with zeros.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_crop`.

    >>> sess.run(stateless_random_crop(np.arange(24).reshape(4, 6), [2, 3], [1, 2]))
    array([[ 7,  8,  9],
           [13, 14, 15]])
    """
    with name_scope(name, "random_crop"):
        value, size, limit = crop_limit(value, size)
        offset = stateless_uniform(raw.Shape(limit), seed, 0, int32.max, int32)
        return raw.Slice(value, raw.FloorMod(offset, limit), size)


limit_ranks(
    vectors="StatelessParameterizedTruncatedNormal.shape StatelessRandomBinomial.shape StatelessRandomGammaV3.shape",
)
