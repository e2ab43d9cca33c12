"""Distributions composed of others: transformed, mixed, independent parts of one event.

Reference: Dillon et al. 2017, TensorFlow Distributions; TensorFlow 1.15 `tf.contrib.distributions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.extras.contrib.bijectors.bijector import IdentityBijector
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.softmax import log_softmax_v1 as log_softmax

from .distribution import Distribution, RegisterKL, kl_divergence


class TransformedDistribution(Distribution):
    """The distribution of samples of another one, transformed by a bijector.

    Args:
      distribution: the other one.
      bijector: the bijector; the identity by default.
      batch_shape, event_shape: of independent copies, where the other distribution has none.
      kwargs_split_fn: accepted.
      validate_args: accepted.
      name: its name.
    Gradient: samples have gradients if those of the other distribution have.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> log_normal = ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp())
    >>> sess.run(log_normal.log_prob(2.0))
    np.float32(-1.8523122)
    """

    def __init__(self, distribution: Any, bijector: Any = None, batch_shape: Any = None, event_shape: Any = None,
                 kwargs_split_fn: Any = None, validate_args: bool = False, name: str | None = None):
        self._distribution = distribution
        self._bijector = bijector if bijector is not None else IdentityBijector()
        name = name or self._bijector.name + distribution.name
        super().__init__(distribution.dtype, distribution.reparameterization_type, name, distribution._like)
        self._batch = None if batch_shape is None else [int(n) for n in np.atleast_1d(batch_shape)]
        self._event = None if event_shape is None else [int(n) for n in np.atleast_1d(event_shape)]
        if self._batch is not None and distribution.batch_shape.rank != 0:
            raise ValueError(f"base distribution is not scalar: batch_shape={distribution.batch_shape}\n"
                             f"  Asked for at {user_source(2)}\n  Fix: leave batch_shape out")
        if self._event is not None and distribution.event_shape.rank != 0:
            raise ValueError(f"base distribution is not scalar: event_shape={distribution.event_shape}\n"
                             f"  Asked for at {user_source(2)}\n  Fix: leave event_shape out")

    @property
    def distribution(self) -> Any:
        """The other distribution."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The bijector."""
        return self._bijector

    @property
    def batch_shape(self) -> Any:
        """The static shape of the batch."""
        return self._distribution.batch_shape if self._batch is None else TensorShape(self._batch)

    @property
    def _base_event(self) -> Any:
        return self._distribution.event_shape if self._event is None else TensorShape(self._event)

    @property
    def event_shape(self) -> Any:
        """The static shape of one sample."""
        return self._bijector.forward_event_shape(self._base_event)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Returns the shape of the batch, as a tensor."""
        if self._batch is None:
            return self._distribution.batch_shape_tensor()
        return convert_to_tensor(np.array(self._batch, np.int32))

    def _event_ndims(self) -> int:
        """Returns the number of dimensions of one event of y."""
        change = self._bijector.inverse_min_event_ndims - self._bijector.forward_min_event_ndims
        return int(self._base_event.rank) + change

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **kwargs: Any) -> Any:
        """Draws random samples; see `Distribution.sample`."""
        with name_scope(f"{self.name}/{name}"):
            if not hasattr(sample_shape, "op"):
                sample_shape = np.atleast_1d(np.asarray(sample_shape, np.int32))
            more = [*(self._batch or []), *(self._event or [])]
            before = sample_shape
            if more:
                before = raw.ConcatV2([sample_shape, np.array(more, np.int32)], 0)
                if isinstance(sample_shape, np.ndarray):
                    before = np.array([*sample_shape, *more], np.int32)
            x = self._distribution.sample(before, seed)
            rank = self._distribution.batch_shape.rank
            if self._event is not None and rank:
                x = _moved(x, len(self._event), rank, True)
            return self._bijector.forward(x, **kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **kwargs: Any) -> Any:
        """Computes the log density of a value, by the inverse of the bijector.

        Args:
          value: broadcasts with the batch.
          name: a name for the operations.
          **kwargs: conditions of the bijector.
        """
        with name_scope(f"{self.name}/{name}"):
            y = self._converted(value)
            x = self._bijector.inverse(y, **kwargs)
            change = self._bijector.inverse_log_det_jacobian(y, self._event_ndims(), **kwargs)
            return self._base_log_prob(x) + change

    def _base_log_prob(self, x: Any) -> Any:
        if self._event is None:
            return self._distribution.log_prob(x)
        rank = self._distribution.batch_shape.rank or 0
        n = len(self._event)
        if rank:
            x = _moved(x, n, rank, False)
        logs = self._distribution.log_prob(x)
        return reduce_sum(logs, list(range(-rank - n, -rank)))

    def prob(self, value: Any, name: str = "prob", **kwargs: Any) -> Any:
        """Computes the density of a value."""
        return raw.Exp(self.log_prob(value, name, **kwargs))

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value, for increasing bijectors of numbers."""
        return self._distribution.cdf(self._bijector.inverse(self._converted(value)))

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean, for linear bijectors."""
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError(f"mean is not implemented for non-affine bijectors: {self._bijector.name}. "
                                      "Fix: take the mean of samples")
        x = self._distribution.mean()
        more = [*(self._batch or []), *(self._event or [])]
        if more:
            x = raw.BroadcastTo(raw.Reshape(x, raw.ConcatV2([shape(x), np.ones(len(self._event or []), np.int32)], 0)),
                                raw.ConcatV2([self.batch_shape_tensor(), np.array(self._event or [], np.int32)], 0))
        return self._bijector.forward(x)

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy, for linear bijectors."""
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented for bijectors whose Jacobian is not constant: "
                                      f"{self._bijector.name}. Fix: take the mean of -log_prob of samples")
        entropy = self._distribution.entropy()
        if self._event is not None:
            entropy = entropy * float(np.prod(self._event))
        if self._batch is not None:
            entropy = raw.BroadcastTo(entropy, np.array(self._batch, np.int32))
        sizes = [*(n or 1 for n in self.batch_shape.as_list()), *(n or 1 for n in self.event_shape.as_list())]
        dummy = raw.Fill(np.array(sizes, np.int32), convert_to_tensor(0.0, self.dtype))
        return entropy - self._bijector.inverse_log_det_jacobian(dummy, self._event_ndims())


def _moved(x: Any, event: int, batch: int, back: bool) -> Any:
    """Moves the event's axes behind the batch's, or before them."""
    rank = x.shape.rank
    order = list(range(rank - event - batch))
    first, second = (event, batch) if back else (batch, event)
    order += [*range(rank - second, rank), *range(rank - second - first, rank - second)]
    return raw.Transpose(x, np.array(order, np.int32))


ConditionalTransformedDistribution = TransformedDistribution


class Independent(Distribution):
    """A distribution that treats batch dimensions as dimensions of one event.

    Args:
      distribution: the distribution.
      reinterpreted_batch_ndims: the number of the batch's last dimensions; all but the first by default.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, distribution: Any, reinterpreted_batch_ndims: Any = None, validate_args: bool = False,
                 name: str | None = None):
        self.distribution = distribution
        rank = distribution.batch_shape.rank
        n = max(0, rank - 1) if reinterpreted_batch_ndims is None else whole(reinterpreted_batch_ndims)
        if n > rank:
            raise ValueError(f"reinterpreted_batch_ndims({n}) cannot exceed distribution.batch_ndims({rank})\n"
                             f"  Asked for at {user_source(2)}\n  Fix: at most {rank}")
        self.reinterpreted_batch_ndims = n
        super().__init__(distribution.dtype, distribution.reparameterization_type,
                         name or f"Independent{distribution.name}", distribution._like)

    @property
    def batch_shape(self) -> Any:
        """The static shape of the remaining batch."""
        whole = self.distribution.batch_shape
        return whole[: whole.rank - self.reinterpreted_batch_ndims]

    @property
    def event_shape(self) -> Any:
        """The static shape of one sample."""
        whole = self.distribution.batch_shape
        return whole[whole.rank - self.reinterpreted_batch_ndims :].concatenate(self.distribution.event_shape)

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Draws random samples; see `Distribution.sample`."""
        return self.distribution.sample(sample_shape, seed, name)

    def _sum(self, t: Any) -> Any:
        n = self.reinterpreted_batch_ndims
        return reduce_sum(t, list(range(-n, 0))) if n else t

    def _log_prob(self, value: Any) -> Any:
        return self._sum(self.distribution.log_prob(value))

    def entropy(self, name: str = "entropy") -> Any:
        """Computes the entropy."""
        return self._sum(self.distribution.entropy())

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self.distribution.mean()

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance."""
        return self.distribution.variance()

    def mode(self, name: str = "mode") -> Any:
        """Returns the most likely value."""
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independent(a: Any, b: Any) -> Any:
    return a._sum(kl_divergence(a.distribution, b.distribution))


class Mixture(Distribution):
    """A mixture of several distributions.

    Args:
      cat: the `Categorical` that chooses, with the batch of the components.
      components: the distributions, of one shape and dtype.
      validate_args, allow_nan_stats: accepted.
      use_static_graph: accepted.
      name: its name.
    Raises: TypeError if `cat` cannot choose; ValueError for no components.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> two = ds.Mixture(ds.Categorical(probs=[0.25, 0.75]), [ds.Normal(-1.0, 0.1), ds.Normal(1.0, 0.1)])
    >>> sess.run(two.mean())
    np.float32(0.5)
    """

    def __init__(self, cat: Any, components: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 use_static_graph: bool = False, name: str = "Mixture"):
        if not hasattr(cat, "logits"):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}\n  Asked for at {user_source(2)}\n"
                            "  Fix: Categorical(probs=[...])")
        if not components:
            raise ValueError(f"components must be a non-empty list or tuple\n  Asked for at {user_source(2)}\n"
                             "  Fix: give at least one")
        self.cat = cat
        self.components = list(components)
        first = self.components[0]
        self._event_rank = first.event_shape.rank
        super().__init__(first.dtype, first.reparameterization_type, name, first._like)

    @property
    def num_components(self) -> int:
        """The number of components."""
        return len(self.components)

    @property
    def batch_shape(self) -> Any:
        """The static shape of the batch."""
        return self.cat.batch_shape

    @property
    def event_shape(self) -> Any:
        """The static shape of one sample."""
        return self.components[0].event_shape

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Draws random samples; see `Distribution.sample`."""
        with name_scope(f"{self.name}/{name}"):
            chosen = self.cat.sample(sample_shape, seed)
            drawn = [c.sample(sample_shape, None if seed is None else seed + 1 + i)
                     for i, c in enumerate(self.components)]
            weights = [raw.Cast(raw.Equal(chosen, np.int32(i)), DstT=self.dtype) for i in range(len(drawn))]
            return _total([self._times(w, d) for w, d in zip(weights, drawn, strict=True)])

    def _times(self, weight: Any, t: Any) -> Any:
        for _ in range(self._event_rank):
            weight = raw.ExpandDims(weight, -1)
        return weight * t

    def _log_weights(self) -> list[Any]:
        return raw.Unpack(log_softmax(self.cat.logits), num=len(self.components), axis=-1)

    def _log_prob(self, value: Any) -> Any:
        parts = [w + c.log_prob(value) for w, c in zip(self._log_weights(), self.components, strict=True)]
        return reduce_logsumexp(raw.Pack(parts, axis=0), 0)

    def _weighted(self, values: list[Any]) -> Any:
        return _total([self._times(raw.Exp(w), v) for w, v in zip(self._log_weights(), values, strict=True)])

    def mean(self, name: str = "mean") -> Any:
        """Computes the mean."""
        return self._weighted([c.mean() for c in self.components])

    def variance(self, name: str = "variance") -> Any:
        """Computes the variance: that of the components, plus that of their means."""
        second = self._weighted([c.variance() + raw.Square(c.mean()) for c in self.components])
        return second - raw.Square(self.mean())

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """Computes the probability of at most a value."""
        return self._weighted([c.cdf(value) for c in self.components])

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """Computes the mean of the components' entropies, a lower bound of the entropy."""
        weights = [raw.Exp(w) for w in self._log_weights()]
        return _total([w * c.entropy() for w, c in zip(weights, self.components, strict=True)])


def _total(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
