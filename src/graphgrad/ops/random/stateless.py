"""Stateless random ops: numbers as a function of a seed.

The op types of both TensorFlow 1 (a `seed` of two integers) and 2 (a key and a counter made
from it) are here; they give the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import (
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
    uint32,
    uint64,
)
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks

from . import philox
from .random import (
    categorical_draw,
    categorical_shape,
    check_range,
    class_dtype,
    draws,
    scaled,
    shape_tensor,
)
from .seeds import GUMBEL_SOFTMAX, known_sizes, sizes

_SEEDED = "shape: T, seed: Tseed"
_KEYED = "shape: Tshape, key: uint64, counter: uint64, alg: int32"
_INT = frozenset({int32, int64})
_FULL = frozenset({int32, int64, uint32, uint64})


def seed_shape(seed: Any) -> None:
    """Checks the static shape of a `seed` input. For shape rules."""
    if seed is not None and seed != (2,) and seed != (None,):
        raise Complaint(f"seed must have shape [2], not {seed}", "give two integers")


@op("StatelessRandomGetKeyCounter", "seed: Tseed -> key: uint64, counter: uint64", Tseed=INDEX)
def get_key_counter(xp, seed):
    """Derives the key and the first counter from two integers."""
    stream = philox.stateless(xp, seed)
    if xp is np:
        return np.array([stream.key], np.uint64), np.array([stream.low, stream.high], np.uint64)
    return xp.reshape(stream.key, (1,)), xp.stack([stream.low, stream.high])


@get_key_counter.shape
def _get_key_counter_shape(seed):
    seed_shape(seed)
    return [(1,), (2,)]


get_key_counter.grad(NOT_DIFFERENTIABLE)


@op("StatelessRandomGetAlg", "-> alg: int32")
def get_alg(xp):
    """Returns the number of the algorithm chosen: Philox."""
    return xp.asarray(1, np.int32)


@get_alg.shape
def _get_alg_shape():
    return ()


get_alg.grad(NOT_DIFFERENTIABLE)


@op("StatelessRandomGetKeyCounterAlg", "seed: Tseed -> key: uint64, counter: uint64, alg: int32", Tseed=INDEX)
def get_key_counter_alg(xp, seed):
    """Derives the key and the first counter from two integers, and returns the algorithm: Philox."""
    return *get_key_counter.kernel(xp, seed), xp.asarray(1, np.int32)


@get_key_counter_alg.shape
def _get_key_counter_alg_shape(seed):
    return [*_get_key_counter_shape(seed), ()]


get_key_counter_alg.grad(NOT_DIFFERENTIABLE)


def _ops(name: str, inputs: str, output: str, make: Any, seconds: float, **allowed: Any) -> None:
    """Declares `<name>` (with a seed) and `<name>V2` (with key and counter).

    `make(xp, stream, shape, dtype, *rest)` draws; the rest are the inputs named in `inputs`. `seconds` is what NumPy
    takes for each number.
    """
    summary = f"Draws the numbers of {name}, as a function of the seed."

    def seeded(xp, shape, seed, *rest, dtype):
        return make(xp, philox.stateless(xp, seed), sizes(shape), dtype, *rest)

    def keyed(xp, shape, key, counter, alg, *rest, dtype):
        return make(xp, stream_of(xp, key, counter), sizes(shape), dtype, *rest)

    def seeded_shape(shape, seed, *rest):
        seed_shape(seed)
        for r in rest:
            with_rank(r, 0, "minval and maxval")
        return known_sizes(shape)

    def keyed_shape(shape, key, counter, alg, *rest):
        return known_sizes(shape)

    for kernel, signature, rule, suffix, indices in (
        (seeded, _SEEDED, seeded_shape, "", {"T": INDEX, "Tseed": INDEX}),
        (keyed, _KEYED, keyed_shape, "V2", {"Tshape": INDEX}),
    ):
        kernel.__doc__ = summary
        declared = op(name + suffix, f"{signature}{inputs} -> output: {output}", host=("shape",), shape=rule,
                      eager_seconds=seconds, **indices, **allowed)(kernel)
        declared.grad(NOT_DIFFERENTIABLE)
        if make is _uniform_int:
            declared.refuses("minval", "maxval")(_empty_range)


def _empty_range(xp, *inputs):
    minval, maxval = inputs[-2:]
    return [minval >= maxval]


def _uniform(xp, stream, shape, dtype):
    return philox.sample(xp, stream, shape, philox.UniformFloats(dtype))


def _normal(xp, stream, shape, dtype):
    return philox.sample(xp, stream, shape, philox.NormalDeviates(dtype))


def _full_int(xp, stream, shape, dtype):
    return philox.sample(xp, stream, shape, philox.UniformInt(dtype))


def _uniform_int(xp, stream, shape, dtype, minval, maxval):
    check_range(minval, maxval)
    return philox.sample(xp, stream, shape, philox.UniformInt(dtype, minval, maxval))


_ops("StatelessRandomUniform", "", "dtype", _uniform, 1.1e-8, dtype=FLOATING)
_ops("StatelessRandomNormal", "", "dtype", _normal, 1.4e-8, dtype=FLOATING)
_ops("StatelessTruncatedNormal", "", "dtype", philox.truncated_normal, 4.4e-8, dtype=FLOATING)
_ops("StatelessRandomUniformFullInt", "", "dtype", _full_int, 1.1e-8, dtype=_FULL)
_ops("StatelessRandomUniformInt", ", minval: dtype, maxval: dtype", "dtype", _uniform_int, 1.1e-8, dtype=_INT)


@op("StatelessMultinomial", "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype", T=REAL, Tseed=INDEX,
    output_dtype=INDEX, host=("num_samples",), gradient_advice=GUMBEL_SOFTMAX)
def stateless_multinomial_op(xp, logits, num_samples, seed, *, output_dtype=int64):
    """Draws classes with probabilities softmax(logits) in each row."""
    return categorical_draw(xp, philox.stateless(xp, seed), logits, draws(num_samples), output_dtype)


@stateless_multinomial_op.shape
def _stateless_multinomial_shape(logits, num_samples, seed):
    seed_shape(seed)
    return categorical_shape(logits, num_samples)


stateless_multinomial_op.grad(NOT_DIFFERENTIABLE)


# -- public functions ----------------------------------------------------------------------------

_PHILOX, _THREEFRY, _AUTO = 1, 2, 3
_ALGORITHMS = {"philox": _PHILOX, "threefry": _THREEFRY, "autoselect": _AUTO}


def algorithm(alg: Any) -> int:
    """Returns the number of an algorithm, given as that, by its name, or as a `tf.random.Algorithm`.

    Raises: ValueError for another one; TypeError for anything else.
    """
    number = getattr(alg, "value", alg)
    if isinstance(number, str):
        number = _ALGORITHMS.get(number.strip().lower().replace("-", "").replace("_", ""), 0)
    elif not isinstance(number, (int, np.integer)):
        raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.\n"
                        "  Fix: 'philox', 'threefry' or 'auto_select'")
    if number not in (_PHILOX, _THREEFRY, _AUTO):
        raise ValueError(f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox "
                         "algorithm, threefry for the ThreeFry algorithm, and auto_select for auto-selection.\n"
                         "  Fix: use 'philox' or 'auto_select', which is the same here")
    return int(number)


def stream_of(xp: Any, key: Any, counter: Any) -> Any:
    """Returns the stream of a key and a counter: one integer for ThreeFry, two for Philox. For kernels."""
    if counter.shape[0] == 1:
        from . import threefry

        return threefry.from_key_counter(xp, key, counter)
    return philox.from_key_counter(xp, key, counter)


def keyed(seed: Any, alg: Any = _PHILOX) -> tuple[Any, Any, Any]:
    """Derives key, counter and algorithm from a seed."""
    if algorithm(alg) == _THREEFRY:
        low, high = raw.Unpack(raw.Cast(raw.Cast(seed, DstT=uint32), DstT=uint64), num=2)
        key = raw.BitwiseOr(low, raw.LeftShift(high, np.uint64(32)))
        return raw.Reshape(key, [1]), np.zeros(1, np.uint64), np.int32(_THREEFRY)
    key, counter = raw.StatelessRandomGetKeyCounter(seed)
    return key, counter, np.int32(_PHILOX)


def stateless_uniform(shape: ShapeLike, seed: Any, minval: Any = 0, maxval: Any = None, dtype: DTypeLike = float32,
                      name: str | None = None, alg: Any = "auto_select") -> Tensor:
    """Draws numbers from a uniform distribution over [minval, maxval), as a function of `seed`.

    Args:
      shape: the shape of the result.
      seed: (2,), integers.
      minval, maxval: the ends of the range; None for both draws from all integers of the type.
      dtype: a floating type, int32, int64, uint32 or uint64 (the latter two in full range).
      name: a name for the operation.
      alg: "philox", "auto_select" (the same), or "threefry" (whose numbers are those of XLA in TensorFlow).
    Returns: `shape`, dtype `dtype`.
    Raises: ValueError for another dtype or an incomplete range.
    Gradient: for minval and maxval of floating types.
    Reference: TensorFlow 2.21 StatelessRandomUniformV2.

    >>> print(sess.run(tf.random.stateless_uniform([3], [1, 2], 0, 10, tf.int32)))
    [0 9 4]
    """
    dtype = as_dtype(dtype)
    accepted = (float16, bfloat16, float32, float64, int32, int64, uint32, uint64)
    if dtype not in accepted:
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {accepted}.")
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both "
                             f"None or not None. Got `minval`={minval} and `maxval`={maxval}.")
        if minval is not None and dtype.is_unsigned:
            raise ValueError(f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. Please "
                             "don't use unsigned integers in this case.")
    elif maxval is None:
        maxval = 1
    algorithm(alg)
    with name_scope(name, "stateless_random_uniform") as scope:
        shape = shape_tensor(shape)
        if minval is None:
            return raw.StatelessRandomUniformFullIntV2(shape, *keyed(seed, alg), dtype=dtype, name=scope)
        minval = convert_to_tensor(minval, dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return raw.StatelessRandomUniformIntV2(shape, *keyed(seed, alg), minval, maxval, name=scope)
        drawn = raw.StatelessRandomUniformV2(shape, *keyed(seed, alg), dtype=dtype)
        return raw.AddV2(raw.Mul(drawn, raw.Sub(maxval, minval, name="sub"), name="mul"), minval, name=scope)


def _scaled(op_type: str, default: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: str | None,
            alg: Any) -> Any:
    algorithm(alg)

    def draw(shape: Any, dtype: DType) -> Any:
        return getattr(raw, op_type)(shape, *keyed(seed, alg), dtype=dtype)

    return scaled(name, default, shape, mean, stddev, dtype, draw)


def stateless_normal(shape: ShapeLike, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike = float32,
                     name: str | None = None, alg: Any = "auto_select") -> Tensor:
    """Draws numbers from a normal distribution, as a function of `seed`.

    Args:
      shape: the shape of the result.
      seed: (2,), integers.
      mean, stddev: of the distribution; broadcast.
      dtype: a floating type.
      name: a name for the operation.
      alg: "philox", "auto_select" (the same), or "threefry" (whose numbers are those of XLA in TensorFlow).
    Returns: `shape`, dtype `dtype`.
    Raises: TypeError for another dtype.
    Gradient: for mean and stddev.
    Reference: TensorFlow 2.21 StatelessRandomNormalV2.

    >>> print(sess.run(tf.random.stateless_normal([2], [1, 2])))
    [0.5441101  0.20738031]
    """
    return _scaled("StatelessRandomNormalV2", "stateless_random_normal", shape, seed, mean, stddev, dtype, name, alg)


def stateless_truncated_normal(shape: ShapeLike, seed: Any, mean: Any = 0.0, stddev: Any = 1.0,
                               dtype: DTypeLike = float32, name: str | None = None, alg: Any = "auto_select") -> Tensor:
    """Draws numbers from a normal distribution truncated at two standard deviations, as a function of `seed`.

    Args:
      shape, seed, mean, stddev, dtype, name, alg: as in `random.stateless_normal`.
    Returns: `shape`, dtype `dtype`.
    Raises: TypeError for another dtype.
    Gradient: for mean and stddev.
    Reference: TensorFlow 2.21 StatelessTruncatedNormalV2.

    >>> print(sess.run(tf.random.stateless_truncated_normal([2], [1, 2])))
    [0.5441101  0.20738031]
    """
    return _scaled("StatelessTruncatedNormalV2", "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name,
                   alg)


def stateless_categorical(logits: TensorLike, num_samples: Any, seed: Any, dtype: DTypeLike = int64,
                          name: str | None = None) -> Tensor:
    """Draws classes with probabilities softmax(logits), as a function of `seed`.

    Args:
      logits: (rows, classes).
      num_samples: the number of samples for each row.
      seed: (2,), integers.
      dtype: int32 or int64.
      name: a name for the scope.
    Returns: (rows, num_samples).
    Raises: ValueError if logits is not a matrix, or for another dtype.
    Gradient: none; indices are integers.
    Reference: TensorFlow 2.21 StatelessMultinomial.

    >>> print(sess.run(tf.random.stateless_categorical([[0.0, 100.0]], 3, [1, 2])))
    [[1 1 1]]
    """
    with name_scope(name, "stateless_categorical"):
        return _categorical(logits, num_samples, seed, dtype)


def stateless_multinomial(logits: TensorLike, num_samples: Any, seed: Any, output_dtype: DTypeLike = int64,
                          name: str | None = None) -> Tensor:
    """Draws classes with probabilities softmax(logits); see `random.stateless_categorical`.

    >>> print(sess.run(tf.random.stateless_multinomial([[0.0, 100.0]], 3, [1, 2])))
    [[1 1 1]]
    """
    with name_scope(name, "stateless_multinomial"):
        return _categorical(logits, num_samples, seed, output_dtype)


def _categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Any:
    logits = convert_to_tensor(logits, name="logits")
    return raw.StatelessMultinomial(logits, num_samples, seed, output_dtype=class_dtype(dtype))


def split(seed: Any, num: int = 2, alg: Any = "auto_select") -> Tensor:
    """Derives `num` new seeds from one.

    Args:
      seed: (2,), int32 or int64.
      num: how many.
      alg: "philox", "auto_select" (the same), or "threefry" (whose numbers are those of XLA in TensorFlow).
    Returns: (num, 2), dtype of `seed`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.random.split`.

    >>> sess.run(tf.random.split([1, 2], 3)).shape
    (3, 2)
    """
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: Any, data: TensorLike, alg: Any = "auto_select") -> Tensor:
    """Derives a new seed from one and a number.

    Args:
      seed: (2,), int32 or int64.
      data: a scalar, int32 or int64.
      alg: "philox", "auto_select" (the same), or "threefry" (whose numbers are those of XLA in TensorFlow).
    Returns: (2,), dtype of `data`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.random.fold_in`.

    >>> sess.run(tf.random.fold_in([1, 2], 3)).shape
    (2,)
    """
    data = convert_to_tensor(data)
    return raw.Pack([stateless_uniform([], seed, None, None, data.dtype, alg=alg), data], axis=0)


limit_ranks(
    vectors="""
        StatelessRandomNormal.shape StatelessRandomNormalV2.shape StatelessRandomUniform.shape
        StatelessRandomUniformFullInt.shape StatelessRandomUniformFullIntV2.shape StatelessRandomUniformInt.shape
        StatelessRandomUniformIntV2.shape StatelessRandomUniformV2.shape StatelessTruncatedNormal.shape
        StatelessTruncatedNormalV2.shape""",
)

__all__ = ["fold_in", "seed_shape", "split", "stateless_categorical", "stateless_multinomial", "stateless_normal",
           "stateless_truncated_normal", "stateless_uniform"]
