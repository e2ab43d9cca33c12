"""Distributions over 0 and 1, and over 0, 1, ... k - 1.

Reference: TensorFlow 2.21 `tf.compat.v1.distributions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.broadcast_to import broadcast_to
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.math.trig import sigmoid
from graphgrad.ops.nn.activations import softplus
from graphgrad.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from graphgrad.ops.nn.softmax import log_softmax_v1 as log_softmax
from graphgrad.ops.nn.softmax import softmax_v1 as softmax
from graphgrad.ops.random.random import random_uniform

from .distribution import NOT_REPARAMETERIZED, Distribution, RegisterKL


class Bernoulli(Distribution):
    """Distributions over 0 and 1.

    Args:
      logits: log p / (1 - p); or
      probs: p, the probability of 1.
      dtype: of samples.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError unless exactly one of the two is given.
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Bernoulli"):
        self.logits, self.probs = parameters_of(logits, probs, sigmoid, _logit)
        super().__init__(dtype, NOT_REPARAMETERIZED, name, self.logits)

    def _sample_n(self, size: Any, seed: Any) -> Any:
        drawn = random_uniform(size, dtype=self.probs.dtype, seed=seed)
        return raw.Cast(raw.Less(drawn, self.probs), DstT=self.dtype)

    def _log_prob(self, value: Any) -> Any:
        value = raw.Cast(value, DstT=self.logits.dtype)
        logits = self.logits + raw.ZerosLike(value)
        return -sigmoid_cross_entropy_with_logits(labels=value + raw.ZerosLike(logits), logits=logits)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return -self.logits * (self.probs - 1.0) + softplus(-self.logits)

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.probs

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return self.probs * (1.0 - self.probs)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value."""
        return raw.Cast(raw.Greater(self.probs, convert_to_tensor(0.5, self.probs.dtype)), DstT=self.dtype)


def _logit(probs: Any) -> Any:
    return raw.Log(probs) - raw.Log1p(-probs)


def parameters_of(logits: Any, probs: Any, to_probs: Any, to_logits: Any) -> tuple[Any, Any]:
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if logits is not None:
        logits = convert_to_tensor(logits, None if hasattr(logits, "dtype") else float32)
        return logits, to_probs(logits)
    probs = convert_to_tensor(probs, None if hasattr(probs, "dtype") else float32)
    return to_logits(probs), probs


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli(a: Any, b: Any) -> Any:
    return a.probs * (softplus(-b.logits) - softplus(-a.logits)) + \
        (1.0 - a.probs) * (softplus(b.logits) - softplus(a.logits))


class Categorical(Distribution):
    """Distributions over 0, 1, ... k - 1.

    Args:
      logits: (..., k), unnormalized log probabilities; or
      probs: (..., k), the probabilities.
      dtype: of samples.
      validate_args, allow_nan_stats: accepted.
      name: its name.
    Raises: ValueError unless exactly one of the two is given.
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Categorical"):
        self.logits, self.probs = parameters_of(logits, probs, softmax, raw.Log)
        super().__init__(dtype, NOT_REPARAMETERIZED, name, reduce_sum(self.logits, -1))

    @property
    def event_size(self) -> Any:
        """k."""
        return shape(self.logits)[-1]

    def _sample_n(self, size: Any, seed: Any) -> Any:
        # The largest of the logits plus Gumbel noise has this distribution.
        full = raw.ConcatV2([size, shape(self.logits)[-1:]], np.int32(0))
        noise = random_uniform(full, np.finfo(self.logits.dtype.np_dtype).tiny, 1.0, self.logits.dtype, seed)
        return raw.ArgMax(self.logits - raw.Log(-raw.Log(noise)), np.int32(-1), output_type=self.dtype)

    def _log_prob(self, value: Any) -> Any:
        logs = log_softmax(self.logits)
        chosen = raw.OneHot(raw.Cast(value, DstT=int32), self.event_size, convert_to_tensor(1.0, logs.dtype),
                            convert_to_tensor(0.0, logs.dtype))
        return reduce_sum(broadcast_to(logs, shape(chosen + raw.ZerosLike(logs))) * chosen, -1)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of less than a value: as in TensorFlow, without the value itself."""
        value = raw.ExpandDims(raw.Cast(convert_to_tensor(value), DstT=int32), np.int32(-1))
        classes = raw.Range(np.int32(0), self.event_size, np.int32(1))
        less = raw.Cast(raw.Less(classes, value), DstT=self.probs.dtype)
        sums = reduce_sum(less * self.probs, -1)
        return raw.Minimum(sums, raw.OnesLike(sums))

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return -reduce_sum(log_softmax(self.logits) * softmax(self.logits), -1)

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value."""
        return raw.ArgMax(self.logits, np.int32(-1), output_type=self.dtype)


@RegisterKL(Categorical, Categorical)
def _kl_categorical(a: Any, b: Any) -> Any:
    difference = a.logits - b.logits - reduce_logsumexp(a.logits, -1, keepdims=True) + \
        reduce_logsumexp(b.logits, -1, keepdims=True)
    return reduce_sum(softmax(a.logits) * difference, -1)
