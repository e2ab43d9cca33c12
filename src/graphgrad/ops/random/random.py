"""Stateful random ops, with TensorFlow's numbers.

The numbers of a stateful op follow from its two seeds and from how often it has run before;
the session (or eager mode) counts, and passes the count to the kernel as `rng`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import (
    ANY,
    FLOATING,
    INDEX,
    REAL,
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
)
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape, with_rank
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.attribute_values import whole_array
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.control.assertions import after_check

from . import philox
from .seeds import GUMBEL_SOFTMAX, SET_ASIDE, known_sizes, seed_attrs, sizes, start

_FLAGS = ("stateful", "random")

@op("RandomUniform", "shape: T -> output: dtype", T=INDEX, dtype=FLOATING, host=("shape",), flags=_FLAGS,
    shape=known_sizes, eager_seconds=1.1e-8, keyed="StatelessRandomUniformV2")
def random_uniform_op(xp, shape, *, seed=0, seed2=0, dtype, rng=0):
    """Draws numbers from [0, 1)."""
    shape = sizes(shape)
    stream = start(xp, "RandomUniform", rng, seed, seed2, math.prod(shape) * SET_ASIDE)
    return philox.sample(xp, stream, shape, philox.UniformFloats(dtype))


random_uniform_op.grad(NOT_DIFFERENTIABLE)


@op("RandomUniformInt", "shape: T, minval: Tout, maxval: Tout -> output: Tout", T=INDEX, Tout=INDEX, host=("shape",),
    flags=_FLAGS, eager_seconds=1.1e-8, keyed="StatelessRandomUniformIntV2")
def random_uniform_int_op(xp, shape, minval, maxval, *, seed=0, seed2=0, Tout, rng=0):
    """Draws integers from [minval, maxval)."""
    shape = sizes(shape)
    check_range(minval, maxval)
    stream = start(xp, "RandomUniformInt", rng, seed, seed2, math.prod(shape) * SET_ASIDE)
    return philox.sample(xp, stream, shape, philox.UniformInt(Tout, minval, maxval))


def check_range(minval: Any, maxval: Any) -> None:
    """Raises a Complaint if the range is known and empty."""
    if isinstance(minval, np.ndarray) and isinstance(maxval, np.ndarray) and not minval < maxval:
        raise Complaint(f"Need minval < maxval, got {minval} >= {maxval}", "give a range that is not empty")


@random_uniform_int_op.refuses("minval", "maxval")
def _random_uniform_int_refuses(xp, shape, minval, maxval):
    return [minval >= maxval]


@random_uniform_int_op.shape
def _random_uniform_int_shape(shape, minval, maxval):
    with_rank(minval, 0, "minval")
    with_rank(maxval, 0, "maxval")
    return known_sizes(shape)


random_uniform_int_op.grad(NOT_DIFFERENTIABLE)


@op("RandomStandardNormal", "shape: T -> output: dtype", T=INDEX, dtype=FLOATING, host=("shape",), flags=_FLAGS,
    shape=known_sizes, eager_seconds=1.4e-8, keyed="StatelessRandomNormalV2")
def random_standard_normal_op(xp, shape, *, seed=0, seed2=0, dtype, rng=0):
    """Draws normal deviates of mean 0 and standard deviation 1."""
    shape = sizes(shape)
    stream = start(xp, "RandomStandardNormal", rng, seed, seed2, math.prod(shape) * SET_ASIDE)
    return philox.sample(xp, stream, shape, philox.NormalDeviates(dtype))


random_standard_normal_op.grad(NOT_DIFFERENTIABLE)


@op("TruncatedNormal", "shape: T -> output: dtype", T=INDEX, dtype=FLOATING, host=("shape",), flags=_FLAGS,
    shape=known_sizes, eager_seconds=4.4e-8, keyed="StatelessTruncatedNormalV2")
def truncated_normal_op(xp, shape, *, seed=0, seed2=0, dtype, rng=0):
    """Draws normal deviates, and those of magnitude 2 and more again."""
    shape = sizes(shape)
    stream = start(xp, "TruncatedNormal", rng, seed, seed2, math.prod(shape) * SET_ASIDE)
    return philox.truncated_normal(xp, stream, shape, dtype)


truncated_normal_op.grad(NOT_DIFFERENTIABLE)


@op("RandomShuffle", "value: T -> output: T", T=ANY, flags=(*_FLAGS, "host"))
def random_shuffle_op(xp, value, *, seed=0, seed2=0, rng=0):
    """Shuffles the slices along the first axis (Fisher and Yates)."""
    value = np.asarray(value)
    if value.ndim == 0 or value.size <= 1 or value.shape[0] <= 1:
        return value
    blocks = -(-(value.shape[0] - 1) // 4)
    return shuffled(value, start(np, "RandomShuffle", rng, seed, seed2, blocks))


@random_shuffle_op.shape
def _random_shuffle_shape(value):
    return value


random_shuffle_op.grad(NOT_DIFFERENTIABLE)


def shuffled(value: Any, stream: philox.Stream) -> Any:
    """Shuffles the slices along the first axis with numbers from a stream."""
    if value.ndim == 0 or value.size <= 1 or value.shape[0] <= 1:
        return value
    n = value.shape[0]
    blocks = -(-(n - 1) // 4)
    words = np.stack(philox.host_blocks(stream, np.arange(blocks, dtype=np.uint64)), 1).reshape(-1)[: n - 1]
    steps = (words % np.arange(n, 1, -1, dtype=np.uint32)).tolist()
    order = list(range(n))
    for i, step in enumerate(steps):
        order[i], order[i + step] = order[i + step], order[i]
    return value[order]


@op("Multinomial", "logits: T, num_samples: int32 -> output: output_dtype", T=REAL, output_dtype=INDEX,
    host=("num_samples",), flags=_FLAGS, gradient_advice=GUMBEL_SOFTMAX)
def multinomial_op(xp, logits, num_samples, *, seed=0, seed2=0, output_dtype=int64, rng=0):
    """Draws classes with probabilities softmax(logits) in each row.

    The numbers are TensorFlow's on one thread; on several threads TensorFlow starts each thread's rows
    elsewhere in the stream.
    """
    num_samples = draws(num_samples)
    blocks = logits.shape[0] * (-(-num_samples // 4) * 4 * 2) * SET_ASIDE
    stream = start(xp, "Multinomial", rng, seed, seed2, blocks)
    return categorical_draw(xp, stream, logits, num_samples, output_dtype)


def draws(num_samples: Any) -> int:
    """Returns the number of samples; raises a Complaint if it is negative."""
    n = whole(num_samples)
    if n < 0:
        raise Complaint(f"num_samples should be non-negative, got {n}", "give a number >= 0")
    return n


_LOGITS = 1 << 17  # that the host turns into probabilities at a time: they stay within the cache


def categorical_draw(xp: Any, stream: philox.Stream, logits: Any, n: int, dtype: Any) -> Any:
    """Draws `n` classes for each row of logits (rows, classes), by inverting the cumulative distribution."""
    rows, classes = logits.shape
    uniform = philox.sample(xp, stream, (rows, n), philox.UniformFloats(float64))
    if rows == 0 or n == 0:
        return xp.zeros((rows, n), dtype.np_dtype)
    if classes == 0:
        raise Complaint("num_classes should be positive, got 0", "give logits of at least one class")
    if xp is np:
        return _drawn_on_host(np.asarray(logits), uniform).astype(dtype.np_dtype)
    x = xp.asarray(logits).astype(xp.float64)
    finite = xp.isfinite(x)
    top = xp.max(xp.where(finite, x, -xp.inf), axis=1, keepdims=True)
    mass = xp.where(finite, xp.exp(x - top), 0.0)
    cumulative = xp.cumsum(mass, axis=1)
    wanted = uniform * cumulative[:, -1:]
    if n <= 64:
        found = xp.sum(cumulative[:, None, :] <= wanted[:, :, None], axis=2)
    else:
        if hasattr(xp, "written_lax"):
            return xp.searchsorted(cumulative, wanted, side="right").astype(dtype.np_dtype)
        import jax

        found = jax.vmap(lambda c, w: xp.searchsorted(c, w, side="right"))(cumulative, wanted)
    return found.astype(dtype.np_dtype)


def _drawn_on_host(logits: Any, uniform: Any) -> Any:
    """Does the same for numbers in [0, 1), (rows, n), some rows at a time."""
    found = np.empty(uniform.shape, np.int64)
    at_once = max(1, _LOGITS // logits.shape[1])
    for begin in range(0, len(found), at_once):
        rows = slice(begin, begin + at_once)
        x = logits[rows].astype(np.float64)
        finite = np.isfinite(x)
        if not finite.all():
            x[~finite] = -np.inf
        top = x.max(1, keepdims=True)
        x -= np.where(top == -np.inf, 0, top)
        cumulative = np.exp(x, out=x).cumsum(1)
        wanted = uniform[rows] * cumulative[:, -1:]
        for row, (masses, mass) in enumerate(zip(cumulative, wanted, strict=True), begin):
            found[row] = masses.searchsorted(mass, side="right")
    return found


def categorical_shape(logits, num_samples, *_):
    """Returns the shape (rows, samples): the rule of the categorical ops."""
    logits = with_rank(logits, 2, "logits")
    if isinstance(num_samples, tuple):
        raise Complaint("num_samples must be a scalar, but has rank 1 or more", "give one number")
    if num_samples is not None:
        draws(num_samples)
    return logits[0], num_samples


multinomial_op.shape(categorical_shape)
multinomial_op.grad(NOT_DIFFERENTIABLE)


# -- public functions --------------------------------------------------------------------------


def shape_tensor(shape: Any) -> Any:
    """Converts a `shape` argument to a tensor: a list of sizes (or tensors), a `TensorShape`, a tensor."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, (list, tuple)) and not any(is_tensor_like(d) for d in shape):
        if any(isinstance(d, (list, tuple)) for d in shape):
            raise ValueError(f"shape must have rank 1, but is {shape}. Fix: give one list of sizes")
        shape = [d if isinstance(d, (float, np.floating)) else int(d) for d in shape]
        shape = whole_array(shape, "shape", np.int64 if any(d > 2**31 - 1 for d in shape) else np.int32)
    elif isinstance(shape, (list, tuple)):
        return convert_to_tensor(shape, int32, name="shape")
    return convert_to_tensor(shape, name="shape")


_ACCEPTED = (float16, bfloat16, float32, float64, int32, int64)


def random_uniform(shape: ShapeLike, minval: Any = 0, maxval: Any = None, dtype: DTypeLike = float32,
                   seed: int | None = None, name: str | None = None) -> Tensor:
    """Draws numbers from a uniform distribution over [minval, maxval).

    Args:
      shape: the shape of the result.
      minval, maxval: the ends of the range, of dtype `dtype`; broadcast. maxval is 1 by default
        for floating types; integers need both, as scalars.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the operation.
    Returns: `shape`, dtype `dtype`.
    Raises: ValueError for another dtype, or if an integer range has no end.
    Gradient: for minval and maxval of floating types; the drawn numbers are constants.
    Reference: TensorFlow 2.21 RandomUniform, RandomUniformInt.

    >>> print(sess.run(tf.random_uniform([3], 0, 10, tf.int32, seed=1)))
    [7 9 3]
    """
    dtype = as_dtype(dtype)
    if dtype not in _ACCEPTED:
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {_ACCEPTED}.")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform") as scope:
        shape = shape_tensor(shape)
        from_zero = isinstance(minval, int) and minval == 0
        to_one = isinstance(maxval, int) and maxval == 1
        if not (from_zero and to_one) or dtype.is_integer:
            minval = convert_to_tensor(minval, dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return raw.RandomUniformInt(shape, minval, maxval, **seed_attrs(seed), name=scope)
        result = raw.RandomUniform(shape, dtype=dtype, **seed_attrs(seed))
        if from_zero:
            return result if to_one else raw.Mul(result, maxval, name="Mul")
        return raw.AddV2(raw.Mul(result, raw.Sub(maxval, minval, name="sub"), name="mul"), minval, name=scope)


def scaled(name: str | None, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, draw: Any) -> Any:
    """Builds numbers of a mean and a standard deviation from those that `draw(shape, dtype)` builds, of 0 and 1."""
    dtype = as_dtype(dtype)
    with name_scope(name, default) as scope:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        return raw.AddV2(raw.Mul(draw(shape, dtype), stddev, name="mul"), mean, name=scope)


def random_normal(shape: ShapeLike, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike = float32,
                  seed: int | None = None, name: str | None = None) -> Tensor:
    """Draws numbers from a normal distribution.

    Args:
      shape: the shape of the result.
      mean, stddev: of the distribution, of dtype `dtype`; broadcast.
      dtype: float16, bfloat16, float32 or float64.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the operation.
    Returns: `shape`, dtype `dtype`.
    Raises: TypeError for another dtype.
    Gradient: for mean and stddev; the drawn numbers are constants.
    Reference: TensorFlow 2.21 RandomStandardNormal.

    >>> print(sess.run(tf.random_normal([2], seed=1)))
    [-0.8113182  1.4845988]
    """

    def draw(shape: Any, dtype: DType) -> Any:
        return raw.RandomStandardNormal(shape, dtype=dtype, **seed_attrs(seed))

    return scaled(name, "random_normal", shape, mean, stddev, dtype, draw)


def truncated_normal(shape: ShapeLike, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike = float32,
                     seed: int | None = None, name: str | None = None) -> Tensor:
    """Draws numbers from a normal distribution, and those beyond two standard deviations again.

    Args:
      shape: the shape of the result.
      mean, stddev: of the distribution before truncation, of dtype `dtype`; broadcast.
      dtype: float16, bfloat16, float32 or float64.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the operation.
    Returns: `shape`, dtype `dtype`.
    Raises: TypeError for another dtype.
    Gradient: for mean and stddev; the drawn numbers are constants.
    Reference: TensorFlow 2.21 TruncatedNormal.

    >>> sess.run(tf.truncated_normal([1000], seed=1)).max() < 2
    np.True_
    """

    def draw(shape: Any, dtype: DType) -> Any:
        return raw.TruncatedNormal(shape, dtype=dtype, **seed_attrs(seed))

    return scaled(name, "truncated_normal", shape, mean, stddev, dtype, draw)


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Shuffles the slices along the first axis.

    Args:
      value: (n, *D), any dtype.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the operation.
    Returns: (n, *D), dtype of `value`.
    Gradient: none.
    Reference: TensorFlow 2.21 RandomShuffle.

    >>> print(sess.run(tf.random_shuffle([1, 2, 3, 4], seed=1)))
    [4 1 2 3]
    """
    return raw.RandomShuffle(value, **seed_attrs(seed), name=name)


def _categorical(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Any:
    return raw.Multinomial(convert_to_tensor(logits, name="logits"), num_samples, output_dtype=class_dtype(dtype),
                           **seed_attrs(seed))


def class_dtype(dtype: Any) -> DType:
    """Returns the dtype of sampled classes, int64 by default; raises ValueError if it is not int32 or int64."""
    dtype = int64 if dtype is None else as_dtype(dtype)
    if dtype not in (int32, int64):
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {(int32, int64)}.")
    return dtype


def categorical(logits: TensorLike, num_samples: Any, dtype: DTypeLike | None = None, seed: int | None = None,
                name: str | None = None) -> Tensor:
    """Draws classes with probabilities softmax(logits).

    Args:
      logits: (rows, classes), unnormalised log-probabilities; infinite ones are never drawn.
      num_samples: the number of samples for each row.
      dtype: int32 or int64 (the default).
      seed: the op's seed; see `set_random_seed`.
      name: a name for the scope.
    Returns: (rows, num_samples), indices of classes.
    Raises: ValueError if logits is not a matrix, or for another dtype.
    Gradient: none; indices are integers.
    Reference: TensorFlow 2.21 Multinomial.

    >>> print(sess.run(tf.random.categorical([[0.0, 0.0, 100.0]], 4)))
    [[2 2 2 2]]
    """
    with name_scope(name, "categorical"):
        return _categorical(logits, num_samples, dtype, seed)


def multinomial(logits: TensorLike, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: DTypeLike | None = None) -> Tensor:
    """Draws classes with probabilities softmax(logits); see `random.categorical`.

    Args:
      logits: (rows, classes).
      num_samples: the number of samples for each row.
      seed: the op's seed.
      name: a name for the scope.
      output_dtype: int32 or int64 (the default).
    Returns: (rows, num_samples).
    Raises: ValueError if logits is not a matrix, or for another dtype.
    Gradient: none; indices are integers.
    Reference: TensorFlow 2.21 Multinomial.

    >>> print(sess.run(tf.multinomial([[0.0, 100.0]], 3)))
    [[1 1 1]]
    """
    with name_scope(name, "multinomial"):
        return _categorical(logits, num_samples, output_dtype, seed)


def crop_limit(value: Any, size: Any) -> tuple[Any, Any, Any]:
    """Returns the tensors `value` and `size` of a random crop, and the number of positions along each dimension."""
    value = convert_to_tensor(value, name="value")
    size = convert_to_tensor(size, int32, name="size")
    shape = raw.Shape(value)
    have, want = constant_value(shape), constant_value(size)
    if have is None or want is None:
        fits = raw.All(raw.GreaterEqual(shape, size), [0])
        shape = after_check(shape, fits, ["Need value.shape >= size, got ", shape, size], 1000)
    elif have.shape != want.shape or (have < want).any():
        raise ValueError(f"Need value.shape >= size, got {have.tolist()} {want.tolist()}. "
                         "Fix: crop at most as much as there is in each dimension")
    limit = raw.AddV2(raw.Sub(shape, size, name="sub"), 1, name="add")
    return value, size, limit


def random_crop(value: TensorLike, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Cuts a piece of shape `size` out of `value`, at a random position.

    Args:
      value: a tensor.
      size: the shape of the piece: one number for each dimension of `value`.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the operation.
    Returns: `size`, dtype of `value`.
    Raises: ValueError (while building, if shapes are known) or InvalidArgumentError if the piece
      does not fit.
    Gradient: dy, padded with zeros.
    Reference: TensorFlow 2.21 `tf.image.random_crop`.

    >>> sess.run(tf.random_crop(np.zeros([8, 8]), [2, 3])).shape
    (2, 3)
    """
    with name_scope(name, "random_crop") as scope:
        value, size, limit = crop_limit(value, size)
        offset = random_uniform(raw.Shape(limit), dtype=int32, maxval=int32.max, seed=seed)
        return raw.Slice(value, raw.FloorMod(offset, limit, name="mod"), size, name=scope)


limit_ranks(vectors="RandomStandardNormal.shape RandomUniform.shape RandomUniformInt.shape TruncatedNormal.shape")

__all__ = ["categorical", "categorical_draw", "categorical_shape", "check_range", "class_dtype", "crop_limit", "draws",
           "multinomial", "random_crop", "random_normal", "random_shuffle", "random_uniform", "shape_tensor",
           "truncated_normal"]
