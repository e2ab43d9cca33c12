"""Bijectors: inverses, and logarithms of Jacobians' determinants beside finite differences; flows and densities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import distributions as ds
from graphgrad.executor.runtime.session import HostSession

bj = ds.bijectors
_RANDOM = np.random.default_rng(0)
_TRIL = np.tril(_RANDOM.normal(size=(3, 3))) + 2 * np.eye(3)
_X = _RANDOM.normal(size=(4, 3))
_NET = {"kernel_initializer": tf.random_normal_initializer(seed=1), "bias_initializer": tf.ones_initializer()}


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        graph.seed = 1
        yield session


# A bijector, and rows of what it is tried on. Its Jacobian is that of one row.
_BIJECTORS: dict[str, tuple[Callable[[], Any], Any]] = {
    "identity": (bj.Identity, _X),
    "exp": (bj.Exp, _X),
    "sigmoid": (bj.Sigmoid, _X),
    "softplus": (bj.Softplus, _X),
    "softplus hinge": (lambda: bj.Softplus(0.5), _X),
    "affine": (lambda: bj.Affine(np.ones(3)), _X),
    "affine diag": (lambda: bj.Affine(scale_identity_multiplier=np.float64(2.0), scale_diag=np.array([1.0, 2, 3])), _X),
    "affine multiple": (lambda: bj.Affine(scale_identity_multiplier=np.float64(-2.0)), _X),
    "affine tril": (lambda: bj.Affine(np.ones(3), scale_tril=_TRIL, scale_diag=np.ones(3)), _X),
    "affine perturbed": (lambda: bj.Affine(scale_diag=np.ones(3), scale_perturb_factor=_TRIL[:, :2],
                                           scale_perturb_diag=np.array([1.0, 2.0])), _X),
    "permute": (lambda: bj.Permute([2, 0, 1]), _X),
    "invert": (lambda: bj.Invert(bj.Affine(scale_tril=_TRIL)), _X),
    "chain": (lambda: bj.Chain([bj.Softplus(), bj.Affine(scale_tril=_TRIL), bj.Sigmoid()]), _X),
    "no chain": (bj.Chain, _X),
    "maf": (lambda: bj.MaskedAutoregressiveFlow(
        bj.masked_autoregressive_default_template([6, 6], activation=tf.tanh, **_NET)), 0.3 * _X),
    "maf unrolled": (lambda: bj.MaskedAutoregressiveFlow(
        bj.masked_autoregressive_default_template([6], True, activation=tf.tanh, **_NET), unroll_loop=True), _X),
}


@pytest.mark.parametrize("name", _BIJECTORS)
def test_bijector(name: str, sess: Any) -> None:
    """The inverse inverts; both Jacobians have the determinant that finite differences find."""
    make, rows = _BIJECTORS[name]
    b = make()
    x = tf.placeholder(tf.float64, [None, 3])
    y = b.forward(x)
    again = tf.identity(y)  # a tensor that the bijector has not seen
    x2 = b.inverse(again)
    forward, inverse = b.forward_log_det_jacobian(x, 1), b.inverse_log_det_jacobian(again, 1)
    sess.run(tf.global_variables_initializer())
    got = sess.run([y, x2, forward + tf.zeros([4], tf.float64), inverse + tf.zeros([4], tf.float64)], {x: rows})
    np.testing.assert_allclose(got[1], rows, rtol=1e-6, atol=1e-8)
    step = 1e-6
    moved = np.stack([rows + s * step * np.eye(3)[i] for i in range(3) for s in (1, -1)]).reshape(-1, 3)
    values = sess.run(y, {x: moved}).reshape(3, 2, 4, -1)
    jacobians = np.moveaxis((values[:, 0] - values[:, 1]) / (2 * step), 0, -1)
    determinant = np.linalg.slogdet(jacobians)[1]
    np.testing.assert_allclose(got[2], determinant, atol=1e-5)
    np.testing.assert_allclose(got[3], -determinant, atol=1e-5)
    assert b.inverse(y) is x and b.forward_event_shape([3]).as_list() == [3]


def test_softmax_centered(sess: Any) -> None:
    """Shares that sum to 1; the determinant is that of all but the last."""
    b = bj.SoftmaxCentered()
    x = tf.placeholder(tf.float64, [None, 3])
    y = b.forward(x)
    asked = [y, b.inverse(tf.identity(y)), b.forward_log_det_jacobian(x), b.inverse_log_det_jacobian(y)]
    got = sess.run(asked, {x: _X})
    np.testing.assert_allclose(got[0].sum(-1), 1.0)
    np.testing.assert_allclose(got[1], _X, atol=1e-9)
    np.testing.assert_allclose(got[2], np.log(got[0]).sum(-1))
    np.testing.assert_allclose(got[3], -got[2])
    moved = np.stack([_X[:1] + s * 1e-6 * np.eye(3)[i] for i in range(3) for s in (1, -1)]).reshape(-1, 3)
    values = sess.run(y, {x: moved}).reshape(3, 2, 4)[..., :3]
    np.testing.assert_allclose(np.linalg.slogdet((values[:, 0] - values[:, 1]) / 2e-6)[1], got[2][0], atol=1e-5)
    assert b.forward_event_shape([3]).as_list() == [4] and b.inverse_event_shape([4]).as_list() == [3]


def test_composed(sess: Any) -> None:
    """A chain sums what its parts change, over the dimensions of events that it needs."""
    chain = bj.Chain([bj.Affine(scale_tril=_TRIL), bj.Exp()])
    assert (chain.forward_min_event_ndims, chain.inverse_min_event_ndims) == (1, 1)
    found = sess.run([chain.forward_log_det_jacobian(_X), chain.inverse_log_det_jacobian(chain.forward(_X))])
    want = _X.sum(1) + np.log(np.diagonal(_TRIL)).sum()
    np.testing.assert_allclose(found, [want, -want])
    upper = np.array([[1, 2, 3], [0, 5, 6], [0, 0, 4]])
    assert sess.run(ds.fill_triangular(np.arange(1.0, 7.0), upper=True)).tolist() == upper.tolist()
    with pytest.raises(ValueError, match="(?s)triangular matrix.*Fix:"):
        ds.fill_triangular([1, 2])


def test_masks(sess: Any) -> None:
    """An output depends on its own block of inputs and those before, or on those before only."""
    x = tf.constant(_X.astype(np.float32))
    for exclusive in (False, True):
        y = bj.masked_dense(x, 6, 3, exclusive, kernel_initializer=tf.ones_initializer())
        kernel = tf.trainable_variables()[-2]
        sess.run(tf.global_variables_initializer())
        allowed = [[int(i < o // 2 or (i == o // 2 and not exclusive)) for o in range(6)] for i in range(3)]
        assert sess.run(kernel).tolist() == allowed
        assert y.shape.as_list() == [4, 6] and kernel.constraint is not None
    with pytest.raises(NotImplementedError, match="(?s)must be known.*Fix:"):
        bj.masked_dense(tf.placeholder(tf.float32, [2, None]), 6)


def test_transformed(sess: Any) -> None:
    """Densities integrate to one, samples have them; independent copies of numbers make vectors."""
    log_normal = ds.TransformedDistribution(ds.Normal(np.float64(0.3), 0.5), bj.Exp(), name="LogNormal")
    x = np.linspace(1e-3, 12, 20001)
    density, drawn, cdf = sess.run([log_normal.prob(x), log_normal.sample(20000, seed=1), log_normal.cdf(2.0)])
    np.testing.assert_allclose(density.sum() * (x[1] - x[0]), 1.0, atol=1e-3)
    np.testing.assert_allclose([(drawn < 2.0).mean()], [cdf], atol=0.02)
    assert log_normal.name == "LogNormal" and log_normal.distribution.name == "Normal"
    with pytest.raises(NotImplementedError, match=r"non-affine.*Fix:"):
        log_normal.mean()
    vectors = ds.TransformedDistribution(ds.Normal(np.float64(0.0), 1.0), bj.Affine(np.ones(3), scale_tril=_TRIL),
                                         event_shape=[3])
    same = ds.MultivariateNormalTriL(np.ones(3), _TRIL)
    assert vectors.sample([2, 5]).shape.as_list() == [2, 5, 3] and vectors.event_shape.as_list() == [3]
    found = sess.run([(d.log_prob(_X), d.mean(), d.entropy()) for d in (vectors, same)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    batch = ds.TransformedDistribution(ds.Normal(np.zeros(2), np.ones(2)), bj.Affine(scale_tril=_TRIL), event_shape=[3])
    assert batch.sample(5).shape.as_list() == [5, 2, 3] and batch.batch_shape.as_list() == [2]
    rows = np.stack([_X, 2 * _X], 1)
    want = sess.run(ds.MultivariateNormalTriL(None, _TRIL).log_prob(rows))
    np.testing.assert_allclose(sess.run(batch.log_prob(rows)), want, rtol=1e-8)
    for arguments in ({"event_shape": [3]}, {"batch_shape": [3]}):
        with pytest.raises(ValueError, match="(?s)not scalar.*Fix:"):
            ds.TransformedDistribution(ds.MultivariateNormalDiag([[0.0, 1.0]]), bj.Exp(), **arguments)


def test_training_a_flow(sess: Any) -> None:
    """The likelihood of points on a curve grows when a flow learns; gradients reach all networks."""
    parts = [bj.MaskedAutoregressiveFlow(bj.masked_autoregressive_default_template([16])) for _ in range(2)]
    flow = bj.Chain([parts[0], bj.Permute([1, 0]), parts[1]])
    d = ds.TransformedDistribution(ds.MultivariateNormalDiag([0.0, 0.0]), flow)
    t = _RANDOM.uniform(-1, 1, size=128)
    points = np.stack([2 * t, t**2 + 0.1 * _RANDOM.normal(size=128)], 1).astype(np.float32)
    loss = -tf.reduce_mean(d.log_prob(points))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    assert len(tf.trainable_variables()) == 8
    assert all(g is not None for g in tf.gradients(loss, tf.trainable_variables()))
    sess.run(tf.global_variables_initializer())
    before = sess.run(loss)
    for _ in range(60):
        sess.run(train)
    assert sess.run(loss) < before - 0.5


def test_errors(sess: Any) -> None:
    """Of TensorFlow's classes, with a remedy."""
    class Nothing(bj.Bijector):
        pass

    bad: list[tuple[Any, type[Exception], str]] = [
        (lambda: Nothing().forward([1.0]), NotImplementedError, "forward not implemented: Nothing"),
        (lambda: Nothing().inverse([1.0]), NotImplementedError, "inverse not implemented: Nothing"),
        (lambda: bj.Affine().forward_log_det_jacobian([1.0], 0), ValueError, "at least 1"),
        (lambda: bj.Permute([0, 2]), ValueError, "exactly one of each"),
        (lambda: bj.Affine(scale_perturb_diag=[1.0]), ValueError, "scale_perturb_factor"),
    ]
    for call, kind, text in bad:
        with pytest.raises(kind, match=f"(?s){text}.*Fix:"):
            call()
