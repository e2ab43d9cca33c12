"""Gamma and Poisson deviates with TensorFlow's numbers, drawn on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, INDEX, DType, as_dtype, float32, int32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor
from graphgrad.op_traits import Cost
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.math import special_numpy, special_parameter_gradients

from . import gamma_poisson_numpy, philox
from .random import shape_tensor
from .seeds import known_sizes, seed_attrs, sizes, start
from .stateless import keyed, seed_shape

_SET_ASIDE = 256  # blocks that a run reserves for each number it returns
_FLAGS = ("stateful", "random", "host")


@op("RandomGamma", "shape: S, alpha: T -> output: T", S=INDEX, T=FLOATING, host=("shape",), flags=_FLAGS)
def random_gamma_op(xp, shape, alpha, *, seed=0, seed2=0, rng=0):
    """Draws gamma deviates of scale 1 for the shape parameters `alpha` (Marsaglia and Tsang, 2000)."""
    shape = sizes(shape)
    stream = start(np, "RandomGamma", rng, seed, seed2, math.prod(shape) * alpha.size * _SET_ASIDE)
    return gamma_poisson_numpy.gamma(stream, shape, np.asarray(alpha))


@random_gamma_op.shape
def _random_gamma_shape(shape, alpha):
    shape = known_sizes(shape)
    return None if shape is None or alpha is None else tuple(shape) + alpha


@random_gamma_op.grad
def _random_gamma_grad(op, dy):
    """Differentiates by implicit reparameterisation (Figurnov et al., 2018)."""
    alpha, sample = op.inputs[1], op.outputs[0]
    d_alpha, _ = unbroadcast(raw.Mul(dy, raw.RandomGammaGrad(alpha, sample)), None, alpha, sample)
    return None, d_alpha


@op("RandomGammaGrad", "alpha: T, sample: T -> output: T", T=FLOATING, cost=Cost.SERIES)
def random_gamma_grad_op(xp, alpha, sample):
    """Computes the derivative of a gamma deviate by its shape parameter, at a fixed quantile."""
    a, x = np.broadcast_arrays(np.asarray(alpha, np.float64), np.asarray(sample, np.float64))
    density = np.exp((a - 1) * np.log(x) - x - special_numpy.lgamma(a))
    return (-special_numpy.igamma_grad_a(a, x) / density).astype(alpha.dtype)


@random_gamma_grad_op.on_device
def _random_gamma_grad_device(xp, alpha, sample):
    from jax import lax

    a, x = xp.broadcast_arrays(xp.asarray(alpha), xp.asarray(sample))
    return lax.random_gamma_grad(a.astype(xp.float64), x.astype(xp.float64)).astype(alpha.dtype)


@random_gamma_grad_op.shape
def _random_gamma_grad_shape(alpha, sample):
    return broadcast(alpha, sample)


@random_gamma_grad_op.grad
def _random_gamma_grad_grad(op, dy):
    alpha, sample = op.inputs
    by_alpha, by_sample = special_parameter_gradients.random_gamma_grad_slopes(alpha, sample, op.outputs[0])
    return unbroadcast(raw.Mul(by_alpha, dy), raw.Mul(by_sample, dy), alpha, sample)


@op("RandomPoissonV2", "shape: S, rate: R -> output: dtype", S=INDEX, R=FLOATING | INDEX,
    dtype=FLOATING | INDEX, host=("shape",), flags=_FLAGS)
def random_poisson_op(xp, shape, rate, *, seed=0, seed2=0, dtype=int64, rng=0):
    """Draws Poisson deviates: products of uniform numbers; from rate 10 on by Hörmann's rejection (1993)."""
    shape = sizes(shape)
    stream = start(np, "RandomPoissonV2", rng, seed, seed2, math.prod(shape) * rate.size * _SET_ASIDE)
    return gamma_poisson_numpy.poisson(stream, shape, np.asarray(rate)).astype(dtype.np_dtype)


random_poisson_op.shape(_random_gamma_shape)


@op("RandomPoisson", "shape: S, rate: dtype -> output: dtype", S=INDEX, dtype=FLOATING, host=("shape",), flags=_FLAGS)
def old_random_poisson_op(xp, shape, rate, *, seed=0, seed2=0, rng=0):
    """Draws Poisson deviates in the dtype of their rates."""
    shape = sizes(shape)
    stream = start(np, "RandomPoisson", rng, seed, seed2, math.prod(shape) * rate.size * _SET_ASIDE)
    return gamma_poisson_numpy.poisson(stream, shape, np.asarray(rate)).astype(rate.dtype)


old_random_poisson_op.shape(_random_gamma_shape)


@op("StatelessRandomGammaV2", "shape: T, seed: Tseed, alpha: dtype -> output: dtype", T=INDEX, Tseed=INDEX,
    dtype=FLOATING, host=("shape",), flags=("host",))
def stateless_gamma_op(xp, shape, seed, alpha):
    """Draws gamma deviates of scale 1; `shape` is that of the whole result."""
    shape = sizes(shape)
    lead = shape[: len(shape) - alpha.ndim]
    alpha = np.broadcast_to(alpha, shape[len(lead) :])
    return gamma_poisson_numpy.gamma(philox.stateless(np, np.asarray(seed)), lead, alpha)


@stateless_gamma_op.shape
def _stateless_gamma_shape(shape, seed, alpha):
    seed_shape(seed)
    return known_sizes(shape)


@stateless_gamma_op.grad
def _stateless_gamma_grad(op, dy):
    alpha, sample = op.inputs[2], op.outputs[0]
    d_alpha, _ = unbroadcast(raw.Mul(dy, raw.RandomGammaGrad(alpha, sample)), None, alpha, sample)
    return None, None, d_alpha


@op("StatelessRandomPoisson", "shape: T, seed: Tseed, lam: Rtype -> output: dtype", T=INDEX, Tseed=INDEX,
    Rtype=FLOATING | INDEX, dtype=FLOATING | INDEX, host=("shape",), flags=("host",))
def stateless_poisson_op(xp, shape, seed, lam, *, dtype):
    """Draws Poisson deviates; `shape` is that of the whole result."""
    shape = sizes(shape)
    lead = shape[: len(shape) - lam.ndim]
    lam = np.broadcast_to(lam, shape[len(lead) :])
    return gamma_poisson_numpy.poisson(philox.stateless(np, np.asarray(seed)), lead, lam).astype(dtype.np_dtype)


stateless_poisson_op.shape(_stateless_gamma_shape)
stateless_poisson_op.grad(NOT_DIFFERENTIABLE)

# -- public functions --------------------------------------------------------------------------


def random_gamma(shape: ShapeLike, alpha: Any, beta: Any = None, dtype: DTypeLike = float32, seed: int | None = None,
                 name: str | None = None) -> Tensor:
    """Draws numbers from gamma distributions.

    Args:
      shape: the shape of the draws for each pair of parameters.
      alpha: the shape parameters, of dtype `dtype`.
      beta: the inverse scales, broadcast with alpha; 1 by default.
      dtype: float16, float32 or float64.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the scope.
    Returns: `shape` followed by the shape of alpha and beta broadcast together.
    Gradient: for beta, and for alpha by implicit reparameterisation.
    Reference: TensorFlow 2.21 RandomGamma; Figurnov et al. (2018) for the gradient.

    >>> sess.run(tf.random_gamma([1000], 3.0, seed=1)).mean().round()
    np.float32(3.0)
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "random_gamma"):
        shape = shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        alpha = broadcast_parameters(alpha, beta)
        drawn = raw.RandomGamma(shape, alpha, **seed_attrs(seed))
        return raw.Maximum(np.asarray(dtype_tiny(dtype), dtype.np_dtype), raw.RealDiv(drawn, beta, name="truediv"))


def broadcast_parameters(a: Any, b: Any) -> Any:
    """Broadcasts `a` to the shape of both."""
    sa, sb = a._spec.shape, b._spec.shape
    if sb == () or (sa == sb and sa is not None and None not in sa):
        return a
    return raw.BroadcastTo(a, raw.BroadcastArgs(raw.Shape(a), raw.Shape(b)))


def dtype_tiny(dtype: DType) -> Any:
    """Returns the smallest positive normal number of a floating dtype."""
    return np.finfo(dtype.np_dtype if dtype.np_dtype.kind == "f" else np.float32).tiny


def random_poisson(lam: Any, shape: ShapeLike, dtype: DTypeLike = float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Draws numbers from Poisson distributions; the order of arguments is TensorFlow 1's.

    Args:
      lam: the rates.
      shape: the shape of the draws for each rate.
      dtype, seed, name: as in `random.poisson`.
    Returns: `shape` followed by the shape of `lam`.
    Gradient: none is declared.
    Reference: TensorFlow 2.21 RandomPoissonV2.

    >>> sess.run(tf.random_poisson([2.0, 30.0], [4], seed=1)).shape
    (4, 2)
    """
    return poisson(shape, lam, dtype, seed, name)


def poisson(shape: ShapeLike, lam: Any, dtype: DTypeLike = float32, seed: int | None = None,
            name: str | None = None) -> Tensor:
    """Draws numbers from Poisson distributions.

    Args:
      shape: the shape of the draws for each rate.
      lam: the rates.
      dtype: of the result: float16, float32, float64, int32 or int64.
      seed: the op's seed; see `set_random_seed`.
      name: a name for the scope.
    Returns: `shape` followed by the shape of `lam`.
    Gradient: none is declared.
    Reference: TensorFlow 2.21 RandomPoissonV2.

    >>> sess.run(poisson([4], [2.0, 30.0], seed=1)).shape
    (4, 2)
    """
    with name_scope(name, "random_poisson"):
        return raw.RandomPoissonV2(shape_tensor(shape), lam, dtype=as_dtype(dtype), **seed_attrs(seed))


def stateless_gamma(shape: ShapeLike, seed: Any, alpha: Any, beta: Any = None, dtype: DTypeLike = float32,
                    name: str | None = None) -> Tensor:
    """Draws numbers from gamma distributions, as a function of `seed`.

    Args:
      shape: the shape of the whole result; it ends in the shape of the parameters.
      seed: (2,), integers.
      alpha: the shape parameters.
      beta: the inverse scales; 1 by default.
      dtype: a floating type.
      name: a name for the scope.
    Returns: `shape`, dtype `dtype`.
    Gradient: for beta, and for alpha by implicit reparameterisation.
    Reference: TensorFlow 2.21 StatelessRandomGammaV3.

    >>> sess.run(tf.random.stateless_gamma([3, 2], [1, 2], [0.5, 2.0])).shape
    (3, 2)
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "stateless_random_gamma"):
        shape = shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        drawn = raw.StatelessRandomGammaV3(shape, *keyed(seed), broadcast_parameters(alpha, beta))
        return raw.Maximum(np.asarray(dtype_tiny(dtype), dtype.np_dtype), raw.RealDiv(drawn, beta, name="truediv"))


def stateless_poisson(shape: ShapeLike, seed: Any, lam: Any, dtype: DTypeLike = int32,
                      name: str | None = None) -> Tensor:
    """Draws numbers from Poisson distributions, as a function of `seed`.

    Args:
      shape: the shape of the whole result; it ends in the shape of `lam`.
      seed: (2,), integers.
      lam: the rates.
      dtype: of the result.
      name: a name for the operation.
    Returns: `shape`, dtype `dtype`.
    Gradient: none.
    Reference: TensorFlow 2.21 StatelessRandomPoisson.

    >>> sess.run(tf.random.stateless_poisson([3, 2], [1, 2], [0.5, 20.0])).shape
    (3, 2)
    """
    with name_scope(name, "stateless_random_poisson"):
        return raw.StatelessRandomPoisson(shape_tensor(shape), seed, lam, dtype=as_dtype(dtype))


limit_ranks(vectors="RandomGamma.shape RandomPoissonV2.shape StatelessRandomGammaV2.shape StatelessRandomPoisson.shape")

__all__ = ["broadcast_parameters", "poisson", "random_gamma", "random_poisson", "stateless_gamma",
           "stateless_poisson"]
