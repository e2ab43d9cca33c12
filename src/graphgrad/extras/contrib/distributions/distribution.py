"""Probability distributions: `tf.distributions` of 1.x, and the most used of `tf.contrib.distributions`.

Samples of `FULLY_REPARAMETERIZED` distributions have gradients with respect to the parameters.

Reference: TensorFlow 2.21 `tf.compat.v1.distributions`; `tf.contrib.distributions` of TensorFlow 1.15.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.math.special import erf
from graphgrad.ops.random.random import random_normal, random_uniform


class ReparameterizationType:
    """The property whether samples have gradients with respect to the parameters.

    Args:
      rep_type: its name.
    """

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")

_divergences: dict[tuple[type, type], Callable[..., Any]] = {}


class RegisterKL:
    """A decorator that registers a function for the divergence of two classes of distributions.

    Args:
      dist_cls_a, dist_cls_b: their classes.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the function; raises ValueError if there is one."""
        if self._key in _divergences:
            raise ValueError(f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been registered")
        _divergences[self._key] = kl_fn
        return kl_fn


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True,
                  name: str | None = None) -> Tensor:
    """Computes the Kullback-Leibler divergence: the mean, under a, of log a - log b.

    Args:
      distribution_a, distribution_b: the distributions.
      allow_nan_stats: accepted.
      name: a name for the operations.
    Returns: (batch shape).
    Raises: NotImplementedError for kinds of distributions for which nothing is registered.
    """
    for a in type(distribution_a).__mro__:
        for b in type(distribution_b).__mro__:
            if (a, b) in _divergences:
                with name_scope(name or "KullbackLeibler"):
                    return _divergences[a, b](distribution_a, distribution_b)
    raise NotImplementedError(
        f"No KL(distribution_a || distribution_b) registered for distribution_a type {type(distribution_a).__name__} "
        f"and distribution_b type {type(distribution_b).__name__}. Fix: @RegisterKL of a function of the two")


class Distribution:
    """Base of distributions: a subclass has `_log_prob`, `_sample_n` and the statistics that exist.

    Args:
      dtype: of samples.
      reparameterization_type: FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED.
      name: its name.
      like: a tensor of the shape of the batch.
    """

    parameters: dict[str, Any]  # the arguments

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        bound = inspect.signature(cls.__init__).bind_partial(made, *args, **kwargs)
        bound.apply_defaults()
        made.parameters = dict(list(bound.arguments.items())[1:])
        return made

    def __init__(self, dtype: Any, reparameterization_type: Any, name: str, like: Any, **_: Any):
        self.dtype = as_dtype(dtype)
        self.reparameterization_type = reparameterization_type
        self.name = name
        self._like = like

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that do not exist are NaN, as asked for; they are always."""
        return bool(self.parameters.get("allow_nan_stats", True))

    @property
    def validate_args(self) -> bool:
        """Whether the parameters are to be checked, as asked for; they are not."""
        return bool(self.parameters.get("validate_args", False))

    # The number of last dimensions of `_like` that belong to one sample.
    _event_rank = 0

    @property
    def batch_shape(self) -> Any:
        """The static shape of the parameters: one distribution for each."""
        whole = TensorShape(self._like._spec.shape)
        return whole[: -self._event_rank] if self._event_rank else whole

    @property
    def event_shape(self) -> Any:
        """The static shape of one sample."""
        return TensorShape(self._like._spec.shape)[-self._event_rank :] if self._event_rank else TensorShape([])

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Returns the shape of the parameters, as a tensor."""
        whole = shape(self._like)
        return whole[: -self._event_rank] if self._event_rank else whole

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """Returns the shape of one sample, as a tensor."""
        return shape(self._like)[-self._event_rank :] if self._event_rank else convert_to_tensor(np.zeros(0, np.int32))

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Returns whether one sample is a number."""
        return convert_to_tensor(self.event_shape.rank == 0)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Returns whether there is one distribution."""
        return convert_to_tensor(self.batch_shape.rank == 0)

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Draws random samples.

        Args:
          sample_shape: the shape of the samples.
          seed: for the generator.
          name: a name for the operations.
        Returns: (*sample_shape, *batch_shape, *event_shape).
        """
        with name_scope(f"{self.name}/{name}"):
            before = sample_shape
            if not hasattr(sample_shape, "op"):
                before = np.atleast_1d(np.asarray(sample_shape, np.int32))
            drawn = self._sample_n(raw.ConcatV2([before, shape(self._like)], np.int32(0)), seed)
            if isinstance(before, np.ndarray):
                known = self._like._spec.shape
                drawn.set_shape(None if known is None else [*before.tolist(), *known])
            return drawn

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """Computes the log density, or log probability, of a value.

        Args:
          value: broadcasts with the batch.
          name: a name for the operations.
        """
        with name_scope(f"{self.name}/{name}"):
            return self._log_prob(self._converted(value))

    def _converted(self, value: Any) -> Any:
        return convert_to_tensor(value, None if hasattr(value, "dtype") else self.dtype)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """Computes the density, or probability, of a value."""
        return raw.Exp(self.log_prob(value, name))

    def stddev(self, name: str = "stddev") -> Any:
        """Computes the standard deviation."""
        return raw.Sqrt(self.variance())

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """Computes the log probability of at most a value."""
        return raw.Log(self.cdf(value))

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """Computes the probability of more than a value."""
        return 1.0 - self.cdf(value)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """Computes the log probability of more than a value."""
        return raw.Log(self.survival_function(value))

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """Computes `kl_divergence(self, other)`."""
        return kl_divergence(self, other)

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """Computes the entropy plus the divergence from another distribution."""
        return self.entropy() + kl_divergence(self, other)

    # A distribution defines some of these; TensorFlow raises the same error for the rest.

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        raise NotImplementedError(f"cdf is not implemented: {type(self).__name__}")

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """Computes the number whose `cdf` is a value."""
        raise NotImplementedError(f"quantile is not implemented: {type(self).__name__}")  # few define one

    def covariance(self, name: str = "covariance") -> Any:
        """Computes the covariance of the components of a sample."""
        raise NotImplementedError(f"covariance is not implemented: {type(self).__name__}")  # of vectors only

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value."""
        raise NotImplementedError(f"mode is not implemented: {type(self).__name__}")

    def _log_prob(self, value: Any) -> Any:
        raise NotImplementedError(f"log_prob is not implemented: {type(self).__name__}")

    def _sample_n(self, size: Any, seed: Any) -> Any:
        raise NotImplementedError(f"sample is not implemented: {type(self).__name__}")

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        raise NotImplementedError(f"mean is not implemented: {type(self).__name__}")

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        raise NotImplementedError(f"variance is not implemented: {type(self).__name__}")

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        raise NotImplementedError(f"entropy is not implemented: {type(self).__name__}")


class Normal(Distribution):
    """Normal distributions.

    Args:
      loc, scale: means and standard deviations; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.

    >>> from graphgrad.extras.contrib.distributions.distribution import Normal
    >>> sess.run(Normal(0.0, 1.0).log_prob(0.0))
    np.float32(-0.9189385)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Normal"):
        self.loc = convert_to_tensor(loc)
        self.scale = convert_to_tensor(scale, self.loc.dtype)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, name, self.loc + raw.ZerosLike(self.scale))

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return random_normal(size, dtype=self.dtype, seed=seed) * self.scale + self.loc

    def _log_prob(self, value: Any) -> Any:
        return -0.5 * raw.Square((value - self.loc) / self.scale) - (0.5 * math.log(2 * math.pi) + raw.Log(self.scale))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return 0.5 * (1.0 + erf((self._converted(value) - self.loc) / (self.scale * math.sqrt(2.0))))

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """Computes the number whose `cdf` is a value."""
        return raw.Ndtri(self._converted(value)) * self.scale + self.loc

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return 0.5 * math.log(2 * math.pi * math.e) + raw.Log(self.scale) + raw.ZerosLike(self._like)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.loc + raw.ZerosLike(self.scale)

    mode = mean

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return raw.Square(self.scale) + raw.ZerosLike(self.loc)


@RegisterKL(Normal, Normal)
def _kl_normal(a: Any, b: Any) -> Any:
    ratio = raw.Square(a.scale) / raw.Square(b.scale)
    return raw.Square(a.loc - b.loc) / (2.0 * raw.Square(b.scale)) + 0.5 * (ratio - 1.0 - raw.Log(ratio))


class MultivariateNormalDiag(Distribution):
    """Normal distributions of vectors whose components are independent.

    Args:
      loc: (..., k), the means; zeros by default.
      scale_diag: (..., k), the standard deviations; ones by default.
      scale_identity_multiplier: (...), a factor for all.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError if the size k does not follow from what is given.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiag"):
        if loc is None and scale_diag is None:
            raise ValueError("the size of an event is not known. Fix: give loc or scale_diag")
        first = convert_to_tensor(loc if loc is not None else scale_diag)
        scale = raw.OnesLike(first) if scale_diag is None else convert_to_tensor(scale_diag, first.dtype)
        if scale_identity_multiplier is not None:
            scale = scale * raw.ExpandDims(convert_to_tensor(scale_identity_multiplier, first.dtype), -1)
        self._parts = Normal(raw.ZerosLike(first) if loc is None else first, scale)
        self.loc = self._parts.loc
        super().__init__(first.dtype, FULLY_REPARAMETERIZED, name, self._parts._like)

    _event_rank = 1

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return self._parts._sample_n(size, seed)

    def _log_prob(self, value: Any) -> Any:
        return reduce_sum(self._parts._log_prob(value), -1)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return reduce_sum(self._parts.entropy(), -1)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self._parts.mean()

    mode = mean

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return self._parts.variance()

    def stddev(self, name: str = "stddev") -> Any:
        """Computes the standard deviation."""
        return self._parts.scale + raw.ZerosLike(self._parts.loc)


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_diag(a: Any, b: Any) -> Any:
    return reduce_sum(_kl_normal(a._parts, b._parts), -1)


class Uniform(Distribution):
    """Uniform distributions.

    Args:
      low, high: the bounds; they broadcast.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    """

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Uniform"):
        self.low = convert_to_tensor(low)
        self.high = convert_to_tensor(high, self.low.dtype)
        super().__init__(self.low.dtype, FULLY_REPARAMETERIZED, name, self.low + raw.ZerosLike(self.high))

    def range(self, name: str = "range") -> Any:
        """Computes high - low."""
        return self.high - self.low

    def _sample_n(self, size: Any, seed: Any) -> Any:
        return self.low + self.range() * random_uniform(size, dtype=self.dtype, seed=seed)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """Computes the density, or probability, of a value."""
        value = self._converted(value)
        inside = raw.LogicalAnd(raw.GreaterEqual(value, self.low), raw.Less(value, self.high))
        return raw.Cast(inside, DstT=self.dtype) / self.range()

    def _log_prob(self, value: Any) -> Any:
        return raw.Log(self.prob(value))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return raw.Minimum(raw.Maximum((self._converted(value) - self.low) / self.range(), 0.0), 1.0)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return raw.Log(self.range())

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return (self.low + self.high) / 2.0

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return raw.Square(self.range()) / 12.0
