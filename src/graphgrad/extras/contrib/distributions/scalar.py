"""More of `tf.distributions` of 1.x: distributions of numbers.

Samples of `FULLY_REPARAMETERIZED` distributions have gradients with respect to the parameters.

Reference: TensorFlow 2.21 `tf.compat.v1.distributions`; `tf.contrib.distributions` of TensorFlow 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.broadcast_to import broadcast_to
from graphgrad.ops.math.special import betainc, digamma, igamma, lbeta, lgamma
from graphgrad.ops.random.gamma_poisson import random_gamma
from graphgrad.ops.random.random import random_normal, random_uniform

from .distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL


def _floats(*values: Any) -> list[Any]:
    """Converts parameters to one dtype: that of the first tensor, or float32."""
    dtype = next((convert_to_tensor(v).dtype for v in values if hasattr(v, "dtype")), float32)
    return [convert_to_tensor(v, dtype) for v in values]


def _zeros(*tensors: Any) -> Any:
    total = raw.ZerosLike(tensors[0])
    for t in tensors[1:]:
        total = total + raw.ZerosLike(t)
    return total


def _where(condition: Any, t: Any, other: float) -> Any:
    return raw.SelectV2(condition, t, convert_to_tensor(other, t.dtype))


class Gamma(Distribution):
    """Gamma distributions.

    Args:
      concentration, rate: positive numbers; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> sess.run(ds.Gamma(2.0, 1.0).log_prob(1.0))
    np.float32(-1.0)
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Gamma"):
        self.concentration, self.rate = _floats(concentration, rate)
        super().__init__(self.rate.dtype, FULLY_REPARAMETERIZED, name, _zeros(self.concentration, self.rate))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return random_gamma([], broadcast_to(self.concentration, size), self.rate, self.dtype, seed)

    def _log_prob(self, value: Any) -> Any:
        c, r = self.concentration, self.rate
        return (c - 1.0) * raw.Log(value) - r * value - (lgamma(c) - c * raw.Log(r))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return igamma(self.concentration + raw.ZerosLike(self._like), self.rate * self._converted(value))

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        c = self.concentration
        return c - raw.Log(self.rate) + lgamma(c) + (1.0 - c) * digamma(c)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.concentration / self.rate

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return self.concentration / raw.Square(self.rate)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value; NaN where there is none."""
        mode = (self.concentration - 1.0) / self.rate
        return _where(raw.Greater(self.concentration + self._like, 1.0), mode, math.nan)


@RegisterKL(Gamma, Gamma)
def _kl_gamma(a: Any, b: Any) -> Any:
    ca, cb = a.concentration, b.concentration
    return ((ca - cb) * digamma(ca) + lgamma(cb) - lgamma(ca) + cb * raw.Log(a.rate) - cb * raw.Log(b.rate)
            + ca * (b.rate / a.rate - 1.0))


class Exponential(Gamma):
    """Exponential distributions.

    Args:
      rate: positive numbers.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Exponential"):
        (rate,) = _floats(rate)
        super().__init__(raw.OnesLike(rate), rate, name=name)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        tiny = np.finfo(self.dtype.np_dtype).tiny
        return -raw.Log(random_uniform(size, tiny, 1.0, self.dtype, seed)) / self.rate

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return -raw.Expm1(-self.rate * self._converted(value))


class Laplace(Distribution):
    """Laplace's distributions.

    Args:
      loc, scale: centres and scales; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Laplace"):
        self.loc, self.scale = _floats(loc, scale)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, name, _zeros(self.loc, self.scale))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        lowest = np.nextafter(self.dtype.np_dtype.type(-1.0), self.dtype.np_dtype.type(0.0))
        u = random_uniform(size, lowest, 1.0, self.dtype, seed)
        return self.loc - self.scale * raw.Sign(u) * raw.Log1p(-raw.Abs(u))

    def _log_prob(self, value: Any) -> Any:
        return -raw.Abs((value - self.loc) / self.scale) - math.log(2.0) - raw.Log(self.scale)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        z = (self._converted(value) - self.loc) / self.scale
        return 0.5 - 0.5 * raw.Sign(z) * raw.Expm1(-raw.Abs(z))

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return math.log(2.0) + 1.0 + raw.Log(self.scale) + self._like

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.loc + self._like

    mode = mean

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return 2.0 * raw.Square(self.scale) + self._like


class Logistic(Distribution):
    """Logistic distributions.

    Args:
      loc, scale: centres and scales; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Logistic"):
        self.loc, self.scale = _floats(loc, scale)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, name, _zeros(self.loc, self.scale))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        u = random_uniform(size, np.finfo(self.dtype.np_dtype).tiny, 1.0, self.dtype, seed)
        return self.loc + self.scale * (raw.Log(u) - raw.Log1p(-u))

    def _log_prob(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        return -z - 2.0 * raw.Softplus(-z) - raw.Log(self.scale)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return raw.Sigmoid((self._converted(value) - self.loc) / self.scale)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return 2.0 + raw.Log(self.scale) + self._like

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.loc + self._like

    mode = mean

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return math.pi**2 / 3.0 * raw.Square(self.scale) + self._like


class StudentT(Distribution):
    """Student's distributions.

    Args:
      df, loc, scale: degrees of freedom, centres and scales; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "StudentT"):
        self.df, self.loc, self.scale = _floats(df, loc, scale)
        super().__init__(self.df.dtype, FULLY_REPARAMETERIZED, name, _zeros(self.df, self.loc, self.scale))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        normal = random_normal(size, dtype=self.dtype, seed=seed)
        df = broadcast_to(self.df, size)
        gamma = random_gamma([], 0.5 * df, 0.5, self.dtype, None if seed is None else seed + 1)
        return self.loc + self.scale * normal * raw.Rsqrt(gamma / df)

    def _log_prob(self, value: Any) -> Any:
        z = (value - self.loc) / self.scale
        unnormalized = -0.5 * (self.df + 1.0) * raw.Log1p(raw.Square(z) / self.df)
        return unnormalized - (raw.Log(raw.Abs(self.scale)) + 0.5 * raw.Log(self.df) + 0.5 * math.log(math.pi)
                               + lgamma(0.5 * self.df) - lgamma(0.5 * (self.df + 1.0)))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        z = (self._converted(value) - self.loc) / raw.Abs(self.scale)
        df = self.df + raw.ZerosLike(z)
        below = 0.5 * betainc(0.5 * df, raw.OnesLike(df) * 0.5, df / (raw.Square(z) + df))
        return raw.SelectV2(raw.Less(z, 0.0), below, 1.0 - below)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        half = 0.5 * self.df
        parts = raw.Pack([half, 0.5 * raw.OnesLike(half)], axis=-1)
        return (raw.Log(raw.Abs(self.scale)) + 0.5 * raw.Log(self.df) + lbeta(parts)
                + (half + 0.5) * (digamma(half + 0.5) - digamma(half)) + self._like)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return _where(raw.Greater(self.df + self._like, 1.0), self.loc + self._like, math.nan)

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        df = self.df + self._like
        above = raw.Greater(df, 2.0)
        finite = raw.Square(self.scale) * df / raw.SelectV2(above, df - 2.0, raw.OnesLike(df))
        return _where(raw.Greater(df, 1.0), _where(above, finite, math.inf), math.nan)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value; NaN where there is none."""
        return self.loc + self._like


class Beta(Distribution):
    """Beta distributions, of numbers between 0 and 1.

    Args:
      concentration1, concentration0: positive numbers, for 1 and for 0; 1 by default. They broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Beta"):
        self.concentration1, self.concentration0 = _floats(1.0 if concentration1 is None else concentration1,
                                                           1.0 if concentration0 is None else concentration0)
        self.total_concentration = self.concentration1 + self.concentration0
        super().__init__(self.total_concentration.dtype, FULLY_REPARAMETERIZED, name,
                         raw.ZerosLike(self.total_concentration))

    def _lbeta(self) -> Any:
        return lgamma(self.concentration1) + lgamma(self.concentration0) - lgamma(self.total_concentration)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        one, zero = (random_gamma([], broadcast_to(c, size), dtype=self.dtype, seed=s)
                     for c, s in ((self.concentration1, seed),
                                  (self.concentration0, None if seed is None else seed + 1)))
        return one / (one + zero)

    def _log_prob(self, value: Any) -> Any:
        return ((self.concentration1 - 1.0) * raw.Log(value) + (self.concentration0 - 1.0) * raw.Log1p(-value)
                - self._lbeta())

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        value = self._converted(value) + self._like
        zeros = raw.ZerosLike(value)
        return betainc(self.concentration1 + zeros, self.concentration0 + zeros, value)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        return self._lbeta() - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b) + (total - 2.0) * digamma(total)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.concentration1 / self.total_concentration

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        mean = self.mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value; NaN where there is none."""
        both = raw.LogicalAnd(raw.Greater(self.concentration1, 1.0), raw.Greater(self.concentration0, 1.0))
        return _where(both, (self.concentration1 - 1.0) / (self.total_concentration - 2.0), math.nan)


@RegisterKL(Beta, Beta)
def _kl_beta(a: Any, b: Any) -> Any:
    def part(name: str) -> Any:
        return (getattr(a, name) - getattr(b, name)) * digamma(getattr(a, name))

    return b._lbeta() - a._lbeta() + part("concentration1") + part("concentration0") - part("total_concentration")


class Poisson(Distribution):
    """Poisson's distributions, of counts.

    Args:
      rate: positive numbers; or
      log_rate: their logarithms.
      validate_args, allow_nan_stats: accepted.
      interpolate_nondiscrete: accepted; values need not be whole.
      name: its name.
    Raises: ValueError unless exactly one of the two is given.
    """

    def __init__(self, rate: Any = None, log_rate: Any = None, interpolate_nondiscrete: bool = True,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Poisson"):
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of rate and log_rate. Fix: leave one out")
        (given,) = _floats(rate if log_rate is None else log_rate)
        self.rate = given if log_rate is None else raw.Exp(given)
        self.log_rate = raw.Log(given) if log_rate is None else given
        super().__init__(given.dtype, NOT_REPARAMETERIZED, name, self.rate)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        from graphgrad.ops.random.gamma_poisson import random_poisson

        return random_poisson(broadcast_to(self.rate, size), [], self.dtype, seed)

    def _log_prob(self, value: Any) -> Any:
        return value * self.log_rate - self.rate - lgamma(value + 1.0)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return raw.Identity(self.rate)

    variance = mean

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value; NaN where there is none."""
        return raw.Floor(self.rate)
