"""Dropout."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import shape_of
from graphgrad.ops.random.seeds import seed_attrs


def _noise_sizes(x, noise_shape):
    """Returns the shape of the random numbers; a size of None is that of x."""
    if noise_shape is None:
        return shape_of(x)
    if hasattr(noise_shape, "_spec"):
        return noise_shape
    sizes = list(noise_shape)
    if None in sizes:
        shape = x._spec.shape
        if shape is not None and len(shape) == len(sizes):
            sizes = [d if n is None else n for n, d in zip(sizes, shape, strict=True)]
        if None in sizes:
            whole = raw.Shape(x)
            sizes = [raw.StridedSlice(whole, [i], [i + 1], [1], shrink_axis_mask=1) if n is None else n
                     for i, n in enumerate(sizes)]
    if any(hasattr(n, "_spec") for n in sizes):
        return raw.Pack([convert_to_tensor(n, int32) for n in sizes], axis=0)
    return np.asarray(sizes, np.int32)


def _drop(x, rate, noise_shape, uniform, name):
    """Sets elements to 0 with probability `rate` and scales the others; `uniform(shape, dtype)` draws."""
    given = isinstance(rate, numbers.Real)
    if given and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    with name_scope(name, "dropout"):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. "
                             f"Received: x_dtype={x.dtype}. Fix: tf.cast(x, tf.float32)")
        if given and rate == 0:
            uniform(np.zeros(0, np.int32), x.dtype)  # counts as a draw, so that other ops' seeds stay the same
            return x
        if given:
            scaled = raw.Mul(x, float(1 / (1 - rate)))
        else:
            rate = convert_to_tensor(rate, dtype_hint=x.dtype, name="rate")
            if rate.dtype is not x.dtype:
                raise ValueError("`x.dtype` must be compatible with `rate.dtype`. "
                                 f"Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}. Fix: tf.cast one of them")
            scaled = raw.RealDiv(x, raw.Sub(1.0, rate))
        kept = raw.GreaterEqual(uniform(_noise_sizes(x, noise_shape), x.dtype), rate)
        return raw.SelectV2(kept, scaled, np.zeros((), x.dtype.np_dtype))


def dropout(x: TensorLike, rate: TensorLike, noise_shape: ShapeLike | None = None, seed: int | None = None,
            name: str | None = None) -> Tensor:
    """Sets elements to 0 at random and scales the others so that the expected sum stays.

    Args:
      x: a float tensor.
      rate: the probability that an element is dropped, in [0, 1).
      noise_shape: the shape of the random choice, which broadcasts to that of x; x's own by default.
      seed: an integer, or None.
      name: a name for the scope of the operations.
    Returns: a tensor like x.
    Raises: ValueError for a rate out of range or an x that is not floating.
    Gradient: dy scaled where the element was kept, else 0.
    Reference: TensorFlow 2.21 `tf.nn.dropout`; Srivastava et al. 2014.

    >>> y = sess.run(tf.nn.dropout(np.ones(1000), rate=0.25))
    >>> sorted(set(y.tolist())) == [0, 1 / 0.75]
    True
    """

    def uniform(shape, dtype):
        with name_scope(None, "random_uniform"):
            return raw.RandomUniform(shape, dtype=dtype, **seed_attrs(seed))

    return _drop(x, rate, noise_shape, uniform, name)


def dropout_v1(x: TensorLike, keep_prob: TensorLike = None, noise_shape: ShapeLike | None = None,
               seed: int | None = None, name: str | None = None, rate: TensorLike = None) -> Tensor:
    """Sets elements to 0 at random and scales the others: `dropout` with TensorFlow 1's arguments.

    Args:
      x: a float tensor.
      keep_prob: the probability that an element is kept; 1 - rate.
      noise_shape: the shape of the random choice, which broadcasts to that of x; x's own by default.
      seed: an integer, or None.
      name: a name for the scope of the operations.
      rate: the probability that an element is dropped, in [0, 1).
    Returns: a tensor like x.
    Raises: ValueError if none or both of `keep_prob` and `rate` are given, or out of range.
    Gradient: dy scaled where the element was kept, else 0.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.dropout`.

    >>> sess.run(tf.nn.dropout([1.0, 2.0], keep_prob=1.0))
    array([1., 2.], dtype=float32)
    """
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'. Fix: drop 'keep_prob', the older name")
        try:
            rate = 1.0 - keep_prob if isinstance(keep_prob, numbers.Real) else raw.Sub(1.0, keep_prob)
        except TypeError as e:
            raise ValueError("`keep_prob` must be a floating point number or Tensor. "
                             f"Received: keep_prob={keep_prob}") from e
    if rate is None:
        raise ValueError("`rate` must be provided. Received: rate=None. Fix: dropout(x, rate=0.5)")
    return dropout(x, rate, noise_shape, seed, name)


def stateless_dropout(x: TensorLike, rate: TensorLike, seed: TensorLike, rng_alg: str | None = None,
                      noise_shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """Sets elements to 0 at random and scales the others, as a function of the seed alone.

    Args:
      x: a float tensor.
      rate: the probability that an element is dropped, in [0, 1).
      seed: a pair of integers.
      rng_alg: accepted as TensorFlow does; not used.
      noise_shape: the shape of the random choice, which broadcasts to that of x; x's own by default.
      name: a name for the scope of the operations.
    Returns: a tensor like x.
    Raises: ValueError for a rate out of range or an x that is not floating.
    Gradient: dy scaled where the element was kept, else 0.
    Reference: TensorFlow 2.21 `tf.nn.experimental.stateless_dropout`.

    >>> x = np.ones(100)
    >>> a, b = sess.run([tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2]) for _ in range(2)])
    >>> bool((a == b).all())
    True
    """
    from graphgrad.ops.random.stateless import stateless_uniform

    def uniform(shape, dtype):
        return stateless_uniform(shape, seed, dtype=dtype)

    return _drop(x, rate, noise_shape, uniform, name)


def general_dropout(x: TensorLike, rate: TensorLike, uniform_sampler: Callable[..., Any],
                    noise_shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """Sets elements to 0 at random and scales the others; a function gives the random numbers.

    Args:
      x: a float tensor.
      rate: the probability that an element is dropped, in [0, 1).
      uniform_sampler: called as f(shape, dtype), returns numbers from [0, 1).
      noise_shape: the shape of the random choice, which broadcasts to that of x; x's own by default.
      name: a name for the scope of the operations.
    Returns: a tensor like x.
    Raises: ValueError for a rate out of range or an x that is not floating.
    Gradient: dy scaled where the element was kept, else 0.
    Reference: TensorFlow 2.21 `tf.nn.experimental.general_dropout`.
    """

    def uniform(shape, dtype):
        return uniform_sampler(shape=shape, dtype=dtype)

    return _drop(x, rate, noise_shape, uniform, name)
