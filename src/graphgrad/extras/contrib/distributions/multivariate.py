"""More of `tf.distributions` of 1.x: distributions of vectors.

Samples of `FULLY_REPARAMETERIZED` distributions have gradients with respect to the parameters.

Reference: TensorFlow 2.21 `tf.compat.v1.distributions`; `tf.contrib.distributions` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.extras.contrib.bijectors.affine import Affine
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.broadcast_to import broadcast_to
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.linalg.diag_functions import matrix_band_part
from graphgrad.ops.linalg.linalg_functions import cholesky
from graphgrad.ops.math.reduce_functions import reduce_max, reduce_sum
from graphgrad.ops.math.special import digamma, lbeta, lgamma
from graphgrad.ops.nn.softmax import log_softmax_v1 as log_softmax
from graphgrad.ops.nn.softmax import softmax_v1 as softmax
from graphgrad.ops.random.gamma_poisson import random_gamma
from graphgrad.ops.random.random import categorical, random_uniform

from .discrete import parameters_of
from .distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, Normal, RegisterKL
from .scalar import _floats, _where
from .transformed import TransformedDistribution


class Dirichlet(Distribution):
    """Dirichlet distributions, of vectors that sum to 1.

    Args:
      concentration: (..., k), positive numbers.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    _event_rank = 1

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Dirichlet"):
        (self.concentration,) = _floats(concentration)
        self.total_concentration = reduce_sum(self.concentration, -1)
        super().__init__(self.concentration.dtype, FULLY_REPARAMETERIZED, name, self.concentration)

    def _total(self) -> Any:
        return raw.ExpandDims(self.total_concentration, -1)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        gamma = random_gamma([], broadcast_to(self.concentration, size), dtype=self.dtype, seed=seed)
        return gamma / reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum((self.concentration - 1.0) * raw.Log(value), -1) - lbeta(self.concentration)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        k = raw.Cast(shape(self.concentration)[-1], DstT=self.dtype)
        inner = reduce_sum((self.concentration - 1.0) * digamma(self.concentration), -1)
        return lbeta(self.concentration) + (self.total_concentration - k) * digamma(self.total_concentration) - inner

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.concentration / self._total()

    def variance(self, name: str = "variance") -> Any:
        """Computes the variances of the elements."""
        mean = self.mean()
        return mean * (1.0 - mean) / (1.0 + self._total())

    def covariance(self, name: str = "covariance") -> Any:
        """Computes (..., k, k), the covariances of the elements."""
        mean = self.mean()
        outer = raw.ExpandDims(mean, -1) * raw.ExpandDims(mean, -2)
        return (raw.MatrixDiag(mean) - outer) / raw.ExpandDims(1.0 + self._total(), -1)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely vector; NaN where there is none."""
        k = raw.Cast(shape(self.concentration)[-1], DstT=self.dtype)
        all_above = raw.All(raw.Greater(self.concentration, 1.0), np.array([-1], np.int32), keep_dims=True)
        return _where(all_above, (self.concentration - 1.0) / (self._total() - k), math.nan)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet(a: Any, b: Any) -> Any:
    inner = digamma(a.concentration) - digamma(a._total())
    return reduce_sum((a.concentration - b.concentration) * inner, -1) - lbeta(a.concentration) + lbeta(b.concentration)


def _draw_counts(logits: Any, total: Any, size: Any, dtype: Any, seed: Any) -> Any:
    """Draws the counts of each class; `size` is the shape of the result."""
    k = shape(logits)[-1]
    rows = raw.Reshape(broadcast_to(logits, size), raw.Pack([np.int32(-1), k]))
    n = raw.Cast(reduce_max(total), DstT=int32)
    drawn = categorical(rows, n, int32, seed)
    one_hot = raw.OneHot(drawn, k, convert_to_tensor(1, dtype), convert_to_tensor(0, dtype))
    each = raw.Reshape(broadcast_to(raw.ExpandDims(total, -1), raw.ConcatV2([size[:-1], np.array([1], np.int32)], 0)),
                       np.array([-1, 1], np.int32))
    counted = raw.Less(raw.Range(np.int32(0), n, np.int32(1)), raw.Cast(each, DstT=int32))
    kept = one_hot * raw.ExpandDims(raw.Cast(counted, DstT=dtype), -1)
    return raw.Reshape(reduce_sum(kept, 1), size)


def _log_combinations(total: Any, counts: Any) -> Any:
    return lgamma(total + 1.0) - reduce_sum(lgamma(counts + 1.0), -1)


class Multinomial(Distribution):
    """Multinomial distributions: counts of each of k classes in independent draws.

    Args:
      total_count: (...), the numbers of draws.
      logits: (..., k), unnormalized log probabilities; or
      probs: (..., k), the probabilities.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError unless exactly one of the two is given.
    """

    _event_rank = 1

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Multinomial"):
        self.logits, self.probs = parameters_of(logits, probs, softmax, raw.Log)
        self.total_count = convert_to_tensor(total_count, self.probs.dtype)
        self._mean = raw.ExpandDims(self.total_count, -1) * self.probs
        super().__init__(self.probs.dtype, NOT_REPARAMETERIZED, name, self._mean)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return _draw_counts(self.logits, self.total_count, size, self.dtype, seed)

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum(value * log_softmax(self.logits), -1) + _log_combinations(self.total_count, value)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return raw.Identity(self._mean)

    def variance(self, name: str = "variance") -> Any:
        """Computes the variances of the counts."""
        return self._mean * (1.0 - self.probs)

    def covariance(self, name: str = "covariance") -> Any:
        """Computes (..., k, k), the covariances of the counts."""
        return raw.MatrixDiag(self._mean) - raw.ExpandDims(self._mean, -1) * raw.ExpandDims(self.probs, -2)


class DirichletMultinomial(Distribution):
    """Multinomial distributions whose probabilities are drawn from a Dirichlet distribution.

    Args:
      total_count: (...), the numbers of draws.
      concentration: (..., k), positive numbers.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    _event_rank = 1

    def __init__(self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "DirichletMultinomial"):
        (self.concentration,) = _floats(concentration)
        self.total_count = convert_to_tensor(total_count, self.concentration.dtype)
        self.total_concentration = reduce_sum(self.concentration, -1)
        self._mean = raw.ExpandDims(self.total_count / self.total_concentration, -1) * self.concentration
        super().__init__(self.concentration.dtype, NOT_REPARAMETERIZED, name, self._mean)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        gamma = random_gamma([], broadcast_to(self.concentration, size), dtype=self.dtype, seed=seed)
        return _draw_counts(raw.Log(gamma), self.total_count, size, self.dtype, None if seed is None else seed + 1)

    def _log_prob(self, value: Any) -> Any:
        return (lbeta(self.concentration + value) - lbeta(self.concentration + raw.ZerosLike(value))
                + _log_combinations(self.total_count, value))

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return raw.Identity(self._mean)

    def _spread(self) -> Any:
        c0 = raw.ExpandDims(self.total_concentration, -1)
        return (c0 + raw.ExpandDims(self.total_count, -1)) / (1.0 + c0)

    def variance(self, name: str = "variance") -> Any:
        """Computes the variances of the counts."""
        share = self.concentration / raw.ExpandDims(self.total_concentration, -1)
        return self._mean * (1.0 - share) * self._spread()

    def covariance(self, name: str = "covariance") -> Any:
        """Computes (..., k, k), the covariances of the counts."""
        share = self.concentration / raw.ExpandDims(self.total_concentration, -1)
        outer = raw.MatrixDiag(self._mean) - raw.ExpandDims(self._mean, -1) * raw.ExpandDims(share, -2)
        return outer * raw.ExpandDims(self._spread(), -1)


class MultivariateNormalTriL(TransformedDistribution):
    """Normal distributions of vectors with covariance L L^T.

    Args:
      loc: (..., k), the means; zeros by default.
      scale_tril: L, (..., k, k), lower triangular; above the diagonal it counts as zero.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError without L.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> sess.run(ds.MultivariateNormalTriL([0.0, 0.0], [[1.0, 0.0], [1.0, 1.0]]).covariance())
    array([[1., 1.],
           [1., 2.]], dtype=float32)
    """

    def __init__(self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL"):
        if scale_tril is None:
            raise ValueError("scale_tril is needed. Fix: give it, or use MultivariateNormalDiag")
        self.scale_tril = matrix_band_part(convert_to_tensor(scale_tril), -1, 0)
        diagonal = raw.ZerosLike(raw.MatrixDiagPart(self.scale_tril))
        self.loc = diagonal if loc is None else convert_to_tensor(loc, diagonal.dtype) + diagonal
        base = _StandardNormal(self.loc)
        super().__init__(base, Affine(self.loc, scale_tril=self.scale_tril), name=name)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return self._distribution.entropy() + self._bijector.forward_log_det_jacobian(self.loc)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return raw.Identity(self.loc)

    mode = mean

    def covariance(self, name: str = "covariance") -> Any:
        """Computes (..., k, k), the covariances of the elements."""
        return raw.BatchMatMulV2(self.scale_tril, self.scale_tril, adj_y=True)

    def variance(self, name: str = "variance") -> Any:
        """Computes the variances of the elements."""
        return reduce_sum(raw.Square(self.scale_tril), -1) + raw.ZerosLike(self.loc)


class _StandardNormal(Distribution):
    """Vectors of independent standard normal numbers."""

    _event_rank = 1

    def __init__(self, like: Any):
        super().__init__(like.dtype, FULLY_REPARAMETERIZED, "Normal", like)
        self._each = Normal(raw.ZerosLike(like), raw.OnesLike(like))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return self._each._sample_n(size, seed)

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum(self._each._log_prob(value), -1)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return reduce_sum(self._each.entropy(), -1)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal distributions of vectors with a covariance.

    Args:
      loc: (..., k), the means; zeros by default.
      covariance_matrix: (..., k, k), symmetric and positive definite.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance"):
        if covariance_matrix is None:
            raise ValueError("covariance_matrix is needed. Fix: give it, or use MultivariateNormalDiag")
        super().__init__(loc, cholesky(convert_to_tensor(covariance_matrix)), name=name)


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _kl_tril(a: Any, b: Any) -> Any:
    # log det b - log det a, the trace, and the distance of the means, each as seen from b.
    seen = b._bijector
    columns = raw.MatrixTriangularSolve(b.scale_tril + raw.ZerosLike(a.scale_tril), a.scale_tril)
    distance = reduce_sum(raw.Square(seen.inverse(a.loc)), -1)
    k = raw.Cast(shape(a.loc)[-1], DstT=a.dtype)
    logs = seen.forward_log_det_jacobian(b.loc) - a._bijector.forward_log_det_jacobian(a.loc)
    return logs + 0.5 * (reduce_sum(raw.Square(columns), [-2, -1]) + distance - k)


class OneHotCategorical(Distribution):
    """Categorical distributions over k classes, as one-hot vectors.

    Args:
      logits: (..., k), unnormalized log probabilities; or
      probs: (..., k), the probabilities.
      dtype: of samples.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError unless exactly one of the two is given.
    """

    _event_rank = 1

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "OneHotCategorical"):
        self.logits, self.probs = parameters_of(logits, probs, softmax, raw.Log)
        super().__init__(dtype, NOT_REPARAMETERIZED, name, self.logits)

    def _one_hot(self, at: Any) -> Any:
        return raw.OneHot(at, shape(self.logits)[-1], convert_to_tensor(1, self.dtype),
                          convert_to_tensor(0, self.dtype))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        rows = raw.Reshape(broadcast_to(self.logits, size), raw.Pack([np.int32(-1), size[-1]]))
        return self._one_hot(raw.Reshape(categorical(rows, 1, int32, seed), size[:-1]))

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum(raw.Cast(value, DstT=self.logits.dtype) * log_softmax(self.logits), -1)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return -reduce_sum(log_softmax(self.logits) * softmax(self.logits), -1)

    def mean(self, name: str = "mean") -> Any:
        """Returns the probabilities."""
        return raw.Identity(self.probs)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely vector."""
        return self._one_hot(raw.ArgMax(self.logits, np.int32(-1)))


class RelaxedOneHotCategorical(Distribution):
    """Differentiable relaxations of one-hot vectors: softmax((logits + Gumbel noise) / temperature).

    Args:
      temperature: a positive number; the closer to 0, the closer to one-hot.
      logits: (..., k), unnormalized log probabilities; or
      probs: (..., k), the probabilities.
      dtype: accepted; samples have the dtype of the parameters.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Reference: Maddison et al. 2016, The Concrete Distribution; Jang et al. 2016, Categorical Reparameterization with
      Gumbel-Softmax.
    """

    _event_rank = 1

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "RelaxedOneHotCategorical"):
        self.logits, self.probs = parameters_of(logits, probs, softmax, raw.Log)
        self.temperature = convert_to_tensor(temperature, self.logits.dtype)
        super().__init__(self.logits.dtype, FULLY_REPARAMETERIZED, name, self.logits)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        u = random_uniform(size, np.finfo(self.dtype.np_dtype).tiny, 1.0, self.dtype, seed)
        return softmax((self.logits - raw.Log(-raw.Log(u))) / raw.ExpandDims(self.temperature, -1))

    def _log_prob(self, value: Any) -> Any:
        k = raw.Cast(shape(self.logits)[-1], DstT=self.dtype)
        t = raw.ExpandDims(self.temperature, -1)
        logs = raw.Log(value)
        scaled = log_softmax(self.logits - logs * t)
        normal = lgamma(k) + (k - 1.0) * raw.Log(self.temperature)
        return reduce_sum(scaled - logs, -1) + normal


