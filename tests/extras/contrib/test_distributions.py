"""`tf.distributions`: beside what TensorFlow 2.21 computes (the numbers), and samples beside their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import distributions as ds
from graphgrad.executor.runtime.session import HostSession


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        graph.seed = 1
        yield session


def _check(sess: Any, found: list[Any], expected: list[Any]) -> None:
    for i, (a, b) in enumerate(zip(sess.run(found), expected, strict=True)):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6, err_msg=str(i))


def test_normal(sess: Any) -> None:
    """Densities, statistics and divergence of normal distributions."""
    n, m = ds.Normal([0.0, 1.0], [1.0, 2.0]), ds.Normal(0.5, 3.0)
    x = [0.5, 0.5]
    _check(sess, [n.log_prob(x), n.prob(x), n.cdf(x), n.entropy(), ds.kl_divergence(n, m), n.mean(), n.variance()],
           [[-1.0439385, -1.6433357], [0.35206532, 0.19333406], [0.69146246, 0.4012937], [1.4189385, 2.1120858],
            [0.6680568, 0.1415762], [0.0, 1.0], [1.0, 4.0]])
    assert n.batch_shape.as_list() == [2] and n.event_shape.as_list() == [] and n.sample(5).shape.as_list() == [5, 2]
    _check(sess, [n.cross_entropy(m), n.stddev(), m.mode()], [[2.0869953, 2.253662], [1.0, 2.0], 0.5])


def test_bernoulli(sess: Any) -> None:
    """Probabilities, statistics and divergence over 0 and 1."""
    b, c = ds.Bernoulli(logits=[0.5, -1.0]), ds.Bernoulli(probs=[0.2, 0.9])
    _check(sess, [b.log_prob([1, 0]), b.entropy(), b.kl_divergence(c), b.mean(), b.variance(), b.mode(), c.logits],
           [[-0.474077, -0.3132617], [0.6628473, 0.58220303], [0.42320815, 1.129457], [0.62245935, 0.26894143],
            [0.23500371, 0.19661194], [1, 0], [-1.3862944, 2.1972244]])
    with pytest.raises(ValueError, match="probs or logits, but not both"):
        ds.Bernoulli()


def test_categorical(sess: Any) -> None:
    """Probabilities, statistics and divergence over several."""
    c = ds.Categorical(logits=[[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
    d = ds.Categorical(probs=[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    _check(sess, [c.log_prob([1, 2]), c.entropy(), ds.kl_divergence(c, d), c.mode(), c.probs[0], c.event_size],
           [[-1.4076059, -0.6041306], [0.83239555, 0.95280755], [0.06825939, 0.21326001], [2, 2],
            [0.09003057, 0.24472848, 0.66524094], 3])
    assert c.sample([2, 3]).shape.as_list() == [2, 3, 2]
    several = c.log_prob(np.array([[0, 0], [1, 1]]))
    np.testing.assert_allclose(np.exp(sess.run(several)), sess.run(tf.transpose(c.probs[:, :2])), rtol=1e-5)


def test_uniform(sess: Any) -> None:
    """Densities and statistics of uniform distributions."""
    u = ds.Uniform([0.0, -1.0], 2.0)
    x = [0.5, 3.0]
    _check(sess, [u.log_prob(x), u.prob(x), u.cdf(x), u.entropy(), u.mean(), u.variance()],
           [[-0.6931472, -np.inf], [0.5, 0.0], [0.25, 1.0], [0.6931472, 1.0986123], [1.0, 0.5],
            [0.33333334, 0.75]])


def test_vectors(sess: Any) -> None:
    """Independent components: what `Normal` says of each, summed."""
    loc, scale = np.array([[0.0, 1.0, 2.0]], np.float32), np.array([1.0, 2.0, 0.5], np.float32)
    v, w = ds.MultivariateNormalDiag(loc, scale), ds.MultivariateNormalDiag(scale_diag=[1.0, 1.0, 1.0])
    parts, others = ds.Normal(loc, scale), ds.Normal([0.0, 0.0, 0.0], 1.0)
    x = [0.3, -1.0, 2.0]
    sums = [tf.reduce_sum(t, -1) for t in (parts.log_prob(x), parts.entropy(), ds.kl_divergence(parts, others))]
    _check(sess, [v.log_prob(x), v.entropy(), ds.kl_divergence(v, w), v.mean(), v.stddev()],
           [*sess.run(sums), loc, scale[None]])
    assert v.batch_shape.as_list() == [1] and v.event_shape.as_list() == [3]
    assert v.sample(4).shape.as_list() == [4, 1, 3]
    with pytest.raises(ValueError, match="size of an event"):
        ds.MultivariateNormalDiag()


@pytest.mark.parametrize(("make", "mean", "variance"), [
    (lambda: ds.Normal([1.0, -2.0], [0.5, 2.0]), [1.0, -2.0], [0.25, 4.0]),
    (lambda: ds.Uniform([0.0, -1.0], [1.0, 3.0]), [0.5, 1.0], [1 / 12, 4 / 3]),
    (lambda: ds.Bernoulli(probs=[0.2, 0.7], dtype=tf.float32), [0.2, 0.7], [0.16, 0.21]),
    (lambda: ds.Categorical(probs=[[0.1, 0.6, 0.3], [0.5, 0.0, 0.5]], dtype=tf.int32), [1.2, 1.0], [0.36, 1.0])])
def test_samples(sess: Any, make: Any, mean: Any, variance: Any) -> None:
    """Samples have the mean and the variance that they should."""
    drawn = sess.run(make().sample(20000, seed=3))
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.05)


def test_gradients(sess: Any) -> None:
    """Samples have gradients where the distribution says so, and densities always."""
    loc, scale = tf.constant([0.5, 1.0]), tf.constant([1.0, 2.0])
    n = ds.Normal(loc, scale)
    assert n.reparameterization_type is ds.FULLY_REPARAMETERIZED
    sample = n.sample(seed=1)
    to_loc, to_scale = tf.gradients(sample, [loc, scale])
    values = sess.run([sample, to_loc, to_scale])
    np.testing.assert_allclose(values[1], [1.0, 1.0])
    np.testing.assert_allclose(values[2], (values[0] - [0.5, 1.0]) / [1.0, 2.0], rtol=1e-5)
    logits = tf.constant([[0.1, 0.2]])
    c = ds.Categorical(logits)
    assert c.reparameterization_type is ds.NOT_REPARAMETERIZED
    grad, = tf.gradients(c.log_prob([1]), logits)
    p = np.exp([0.1, 0.2]) / np.exp([0.1, 0.2]).sum()
    np.testing.assert_allclose(sess.run(grad), [[-p[0], 1 - p[1]]], rtol=1e-5)


def test_divergences_of_others(sess: Any) -> None:
    """A pair of kinds needs a function, which can be registered once."""
    class Own(ds.Normal):
        pass

    assert ds.kl_divergence(Own(0.0, 1.0), ds.Normal(0.0, 1.0)) is not None
    with pytest.raises(NotImplementedError, match="type Normal and distribution_b type Uniform"):
        ds.kl_divergence(ds.Normal(0.0, 1.0), ds.Uniform())
    with pytest.raises(ValueError, match="already been registered"):
        ds.RegisterKL(ds.Normal, ds.Normal)(lambda a, b: None)
    with pytest.raises(NotImplementedError, match="mean is not implemented: Categorical"):
        ds.Categorical([1.0]).mean()


def test_quantiles() -> None:
    """The quantile of a normal distribution is the inverse of its distribution function."""
    with tf.Graph().as_default(), tf.Session() as sess:
        normal = ds.Normal([1.0, -2.0], [0.5, 3.0])
        np.testing.assert_allclose(sess.run(normal.cdf(normal.quantile([0.025, 0.8]))), [0.025, 0.8], rtol=1e-5)


def test_probabilities_of_less_than_a_class(sess: Any) -> None:
    """The cdf of Categorical leaves the value itself out, as TensorFlow's does."""
    one, two = tf.distributions.Categorical(logits=[0.0, 1.0, 2.0]), ds.Categorical(probs=[[0.2, 0.8], [0.5, 0.5]])
    _check(sess, [one.cdf(2), one.cdf([0, 1]), one.cdf(5), one.cdf(-1), one.cdf([0.5, 1.0]), one.log_cdf(2),
                  one.survival_function([[0], [1]]), one.log_survival_function(1), two.cdf([0, 1]),
                  two.cdf([[0], [1]])],
           [0.33475906, [0.0, 0.09003057], 1.0, 0.0, [0.0, 0.09003057], -1.0943443,
            [[1.0], [0.90996945]], -0.09434427, [0.0, 0.5], [[0.0, 0.0], [0.2, 0.5]]])


def test_what_a_distribution_lacks(sess: Any) -> None:
    """TensorFlow raises the same error for each of them."""
    for call in (ds.Beta(1.0, 2.0).quantile, ds.Bernoulli(0.5).cdf):
        with pytest.raises(NotImplementedError, match="is not implemented"):
            call(0.5)
    with pytest.raises(NotImplementedError, match="covariance is not implemented: Normal"):
        ds.Normal(0.0, 1.0).covariance()


def test_parameters() -> None:
    """A distribution has the arguments that it was made with."""
    with tf.Graph().as_default():
        n = ds.Normal(0.0, scale=2.0, allow_nan_stats=False)
        assert not n.allow_nan_stats and not n.validate_args and ds.Beta(1.0, 2.0, validate_args=True).validate_args
        assert ds.Beta(1.0, 2.0).allow_nan_stats
        assert n.parameters == {"loc": 0.0, "scale": 2.0, "validate_args": False, "allow_nan_stats": False,
                                "name": "Normal"}
