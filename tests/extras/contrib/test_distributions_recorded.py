"""More distributions: beside what TensorFlow 2.21 computes; samples beside moments; gradients of samples."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import distributions as ds
from graphgrad.executor.runtime.session import HostSession

from .distribution_cases import CASES, answers

_RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "recorded" / "distributions.json").read_text())


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        graph.seed = 1
        yield session


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str, sess: Any) -> None:
    """What is asked has TensorFlow's answers."""
    for asked, found in sess.run(answers(tf, ds, name)).items():
        np.testing.assert_allclose(found, _RECORDED[name][asked], rtol=2e-5, atol=2e-6, err_msg=asked)


@pytest.mark.parametrize("name", CASES)
def test_samples(name: str, sess: Any) -> None:
    """Samples have the mean, the variance and the shape that they should."""
    kind, arguments, *_ = CASES[name]
    d = getattr(ds, kind)(**{k: np.array(v, np.float32) for k, v in arguments.items()})
    sample = d.sample(20000, seed=5)
    assert sample.shape.as_list() == [20000, *d.batch_shape.as_list(), *d.event_shape.as_list()]
    assert sess.run([d.batch_shape_tensor(), d.event_shape_tensor()])[0].tolist() == d.batch_shape.as_list()
    if name == "student":  # of these only one has a variance, which samples show slowly
        drawn = sess.run(sample)
        np.testing.assert_allclose(np.median(drawn, 0), 0.5, atol=0.1)
        return
    drawn, mean, variance = sess.run([sample, d.mean(), d.variance()])
    np.testing.assert_allclose(drawn.mean(0), np.broadcast_to(mean, drawn.shape[1:]), rtol=0.05, atol=0.02)
    np.testing.assert_allclose(drawn.var(0), np.broadcast_to(variance, drawn.shape[1:]), rtol=0.1, atol=0.02)
    if "multinomial" in name:
        assert (drawn.sum(-1) == 4).all()


def test_gradients_of_samples(sess: Any) -> None:
    """The mean of x^2 over samples changes with the parameters as it should."""
    def second(make: Any, value: float) -> tuple[Any, Any]:
        p = tf.constant(value)
        return p, tf.reduce_mean(tf.square(make(p).sample(40000, seed=3)))

    cases = [(lambda p: ds.Gamma(p, 2.0), 3.0, (2 * 3.0 + 1) / 4), (lambda p: ds.Exponential(p), 2.0, -4 / 8.0),
             (lambda p: ds.Laplace(0.0, p), 1.5, 4 * 1.5), (lambda p: ds.Logistic(0.0, p), 1.5, 2 * np.pi**2 / 3 * 1.5),
             (lambda p: ds.Beta(p, 2.0), 2.0, (3 * 4 - 6) / 20 - 6 * 9 / 400 + 0.0)]
    pairs = [second(make, value) for make, value, _ in cases]
    grads = [tf.gradients(loss, p)[0] for p, loss in pairs]
    found = sess.run(grads)
    # E x^2 of Beta(p, 2) is p (p + 1) / ((p + 2) (p + 3)).
    p = 2.0
    beta = ((2 * p + 1) * (p + 2) * (p + 3) - p * (p + 1) * (2 * p + 5)) / ((p + 2) * (p + 3)) ** 2
    expected = [*(e for _, _, e in cases[:4]), beta]
    np.testing.assert_allclose(found, expected, rtol=0.05)
    relaxed = ds.RelaxedOneHotCategorical(0.5, logits=tf.constant([0.5, 0.1, -1.0]))
    sample = relaxed.sample(4, seed=1)
    assert tf.gradients(sample[..., 0], relaxed.logits)[0] is not None
    np.testing.assert_allclose(sess.run(tf.reduce_sum(sample, -1)), 1.0, rtol=1e-5)


def test_normals_with_covariance(sess: Any) -> None:
    """Densities, entropies and divergences are those of the formulas with matrices."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 3, 3)), random.normal(size=(3, 3))
    covariances = [np.einsum("...ij,...kj->...ik", m, m) + np.eye(3) for m in (a, b)]
    locs = [random.normal(size=(2, 3)), random.normal(size=3)]
    p = ds.MultivariateNormalFullCovariance(locs[0], covariances[0])
    q = ds.MultivariateNormalTriL(locs[1], np.linalg.cholesky(covariances[1]))
    x = random.normal(size=(5, 2, 3))
    off = x - locs[0]
    inverse = np.linalg.inv(covariances[0])
    log_prob = -0.5 * (np.einsum("nbi,bij,nbj->nb", off, inverse, off) + np.linalg.slogdet(covariances[0])[1]
                       + 3 * np.log(2 * np.pi))
    entropy = 0.5 * np.linalg.slogdet(covariances[0])[1] + 1.5 * np.log(2 * np.pi * np.e)
    q_inverse, far = np.linalg.inv(covariances[1]), locs[1] - locs[0]
    kl = 0.5 * (np.trace(q_inverse @ covariances[0], axis1=-2, axis2=-1) - 3
                + np.einsum("bi,ij,bj->b", far, q_inverse, far)
                + np.linalg.slogdet(covariances[1])[1] - np.linalg.slogdet(covariances[0])[1])
    found = sess.run([p.log_prob(x), p.entropy(), ds.kl_divergence(p, q), p.covariance(), p.variance(), p.mean()])
    for got, want in zip(found, [log_prob, entropy, kl, covariances[0],
                                 np.diagonal(covariances[0], axis1=-2, axis2=-1), locs[0]], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8)
    drawn = sess.run(q.sample(20000, seed=2))
    np.testing.assert_allclose(np.cov(drawn.T), covariances[1], atol=0.15)
    assert p.batch_shape.as_list() == [2] and p.event_shape.as_list() == [3]
    assert p.sample(4).shape.as_list() == [4, 2, 3]


def test_mixtures(sess: Any) -> None:
    """Densities and moments are weighted sums."""
    weights, locs, scales = np.array([0.2, 0.5, 0.3]), np.array([-2.0, 0.0, 3.0]), np.array([0.5, 1.0, 0.3])
    cat = ds.Categorical(probs=weights)
    several = ds.Mixture(cat, [ds.Normal(m, s) for m, s in zip(locs, scales, strict=True)])
    x = np.linspace(-3, 4, 9)
    density = (weights * np.exp(-0.5 * ((x[:, None] - locs) / scales) ** 2) / scales).sum(1) / np.sqrt(2 * np.pi)
    mean = (weights * locs).sum()
    variance = (weights * (scales**2 + locs**2)).sum() - mean**2
    found = sess.run([several.prob(x), several.mean(), several.variance(), several.sample(30000, seed=4)])
    np.testing.assert_allclose(found[0], density, rtol=1e-6)
    np.testing.assert_allclose(found[1:3], [mean, variance], rtol=1e-6)
    np.testing.assert_allclose([found[3].mean(), found[3].var()], [mean, variance], rtol=0.05)
    assert several.batch_shape.as_list() == several.event_shape.as_list() == []
    cdf, lower = sess.run([several.cdf(100.0), several.entropy_lower_bound()])
    np.testing.assert_allclose([cdf, lower], [1.0, (weights * (0.5 * np.log(2 * np.pi * np.e) + np.log(scales))).sum()])
    vectors = ds.Mixture(ds.Categorical(probs=[0.3, 0.7]),
                         [ds.MultivariateNormalDiag([m, m], [1.0, 2.0]) for m in (-1.0, 1.0)])
    assert vectors.sample(3).shape.as_list() == [3, 2]
    assert vectors.log_prob(np.zeros((5, 2), np.float32)).shape.as_list() == [5]
    for make, kind in ((lambda: ds.Mixture(3, [several]), TypeError), (lambda: ds.Mixture(cat, []), ValueError)):
        with pytest.raises(kind, match="(?s)must be.*Fix:"):
            make()


def test_independent(sess: Any) -> None:
    """Dimensions of the batch become dimensions of the event."""
    parts = ds.Normal(np.zeros((2, 3), np.float32), 1.0)
    d, e = ds.Independent(parts), ds.Independent(ds.Normal(np.ones((2, 3), np.float32), 1.0))
    assert d.batch_shape.as_list() == [2] and d.event_shape.as_list() == [3]
    assert d.sample(4).shape.as_list() == [4, 2, 3]
    x = np.ones((2, 3), np.float32)
    pairs = [(d.log_prob(x), parts.log_prob(x)), (d.entropy(), parts.entropy())]
    for ours, each in sess.run(pairs):
        np.testing.assert_allclose(ours, each.sum(-1), rtol=1e-6)
    np.testing.assert_allclose(sess.run(ds.kl_divergence(d, e)), 1.5)
    with pytest.raises(ValueError, match="(?s)cannot exceed.*Fix:"):
        ds.Independent(parts, 3)


def test_counts_and_classes(sess: Any) -> None:
    """Poisson's counts, one-hot classes."""
    poisson, one_hot = ds.Poisson([1.0, 3.5]), ds.OneHotCategorical(probs=[0.2, 0.8], dtype=tf.float32)
    found = sess.run([poisson.log_prob([2.0, 3.0]), poisson.sample(20000, seed=1), one_hot.log_prob([0.0, 1.0]),
                      one_hot.sample(20000, seed=1), one_hot.mode(), poisson.mode()])
    np.testing.assert_allclose(found[0], [-1 - np.log(2), 3 * np.log(3.5) - 3.5 - np.log(6)], rtol=1e-5)
    np.testing.assert_allclose(found[1].mean(0), [1.0, 3.5], rtol=0.05)
    np.testing.assert_allclose(found[2], np.log(0.8), rtol=1e-5)
    np.testing.assert_allclose(found[3].mean(0), [0.2, 0.8], atol=0.02)
    assert found[4].tolist() == [0, 1] and found[5].tolist() == [1, 3]
    mode = sess.run(ds.Dirichlet([[2.0, 3.0, 5.0], [0.5, 2.0, 2.0]]).mode())
    np.testing.assert_allclose(mode[0], [1 / 7, 2 / 7, 4 / 7], rtol=1e-6)
    assert np.isnan(mode[1]).all()
    with pytest.raises(ValueError, match="exactly one"):
        ds.Poisson()
