"""Products of transposed matrices that are computed in another order, against NumPy's in double precision."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.rewrite import transposed_products
from tests.support.effort import part

from .rewritten import rewritten

_rewritten = functools.partial(rewritten, transposed_products.rewrite)


def _drawn(*shapes, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def _check(got, want, terms):
    np.testing.assert_allclose(got, want, rtol=0, atol=8 * np.finfo(got.dtype).eps * (terms + 8))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape, form", [
    ((1024, 512, 128), "exchanged"), ((128, 512, 10), "exchanged"), ((4096, 256, 2), "exchanged"),
    ((4, 512, 512, 64), "exchanged"), ((128, 512, 512), "copied"), ((64, 1024, 256), "copied"),
    ((8, 512, 640), "as it is"), ((64, 3136, 512), "as it is"), ((128, 768, 512), "copied"),
    ((128, 784, 512), "as it is"), ((1024, 128, 512), "as it is"), ((16, 128, 10), "as it is"),
    ((4096, 256, 1), "as it is"), ((64, 64, 64, 32), "as it is")])
def test_gradients_of_weights(shape, form, dtype):
    """The form of aᵀ b, by (stack, rows, width of a, width of b); the transposition may be an operation of its own."""
    *stack, k, m, n = shape
    a, b = _drawn((*stack, k, m), (*stack, k, n), dtype=dtype)
    (got, same), text = _rewritten(lambda a, b: (jnp.einsum("...km,...kn->...mn", a, b),
                                                 jnp.swapaxes(a, -1, -2) @ b), a, b)
    assert text.count("optimization_barrier") == (0 if form == "as it is" else 2)
    both = ", ".join([f"tensor<{'x'.join(map(str, (*stack, k, w)))}xf{8 * a.itemsize}>" for w in (n, m)])
    assert text.count(f"({both})") == (2 if form == "exchanged" else 0)
    want = np.swapaxes(a, -1, -2).astype(np.float64) @ b
    for found in (got, same):
        _check(found, want, k)


@pytest.mark.parametrize("shape, form", [((512, 10, 128), "exchanged"), ((128, 512, 10), "exchanged"),
                                         ((64, 512, 256), "copied"), ((10, 128, 512), "as it is"),
                                         ((8, 16, 16), "as it is")])
def test_both_transposed(shape, form):
    """The form of aᵀ bᵀ, by the length of the sums and the widths."""
    k, m, n = shape
    a, b = _drawn((k, m), (n, k))
    (got,), text = _rewritten(lambda a, b: jax.lax.dot_general(a, b, (((0,), (1,)), ((), ()))), a, b)
    assert ("optimization_barrier" in text) is (form != "as it is")
    assert (f"(tensor<{n}x{k}xf32>, tensor<{k}x{m}xf32>)" in text) is (form == "exchanged")
    assert (f"(tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>)" in text) is (form == "copied")
    _check(got, a.T.astype(np.float64) @ b.T, k)


@pytest.mark.parametrize("equation, shapes, dtype", [
    ("km,kn->mn", ((128, 512), (128, 10)), np.int32), ("km,kn->mn", ((128, 512), (128, 10)), np.complex64),
    ("mk,kn->mn", ((512, 128), (128, 10)), np.float32), ("mk,nk->mn", ((512, 128), (10, 128)), np.float32),
    ("kqm,kqn->mn", ((64, 8, 512), (64, 8, 10)), np.float32), ("km,k->m", ((4096, 512), (4096,)), np.float32),
    ("kmb,kbn->bmn", ((128, 256, 8), (128, 8, 16)), np.float32), ("b,k->bk", ((512,), (512,)), np.float32)])
def test_others_stay(equation, shapes, dtype):
    a, b = _drawn(*shapes)
    a, b = (3 * a).astype(dtype), (3 * b).astype(dtype)
    (got,), text = _rewritten(lambda a, b: jnp.einsum(equation, a, b), a, b)
    assert "optimization_barrier" not in text
    np.testing.assert_allclose(got, np.einsum(equation, a, b), rtol=1e-4, atol=1e-2)


def test_precision_is_kept():
    def product(a, b):
        return jax.lax.dot_general(a, b, (((0,), (0,)), ((), ())), precision="highest")

    _, text = _rewritten(product, *_drawn((128, 512), (128, 10)))
    assert "optimization_barrier" in text and "precision = [HIGHEST, HIGHEST]" in text


@pytest.mark.parametrize("seed", part(range(60), 3))
def test_random_products(seed):
    """Any axes, transposed before or not, also with values that are not finite."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 4))
    k, m, n = (int(v) for v in rng.choice([2, 7, 10, 64, 130, 256, 512], 3))
    stack = [3] * (rank - 2)
    summed = rng.integers(0, 2, 2)
    shapes = [(*stack, *((w, k) if axis == 1 else (k, w))) for w, axis in zip((m, n), summed, strict=True)]
    a, b = _drawn(*shapes, seed=seed)
    if seed % 4 == 0:
        a[(0,) * rank], b[(-1,) * rank] = np.inf, np.nan
    turned = rng.random(2) < 0.5

    def function(a, b):
        values, axes = [a, b], [rank - 2 + int(axis) for axis in summed]
        for i in np.flatnonzero(turned):
            values[i], axes[i] = jnp.swapaxes(values[i], -1, -2), 2 * rank - 3 - axes[i]
        batch = tuple(range(rank - 2))
        return jax.lax.dot_general(*values, (((axes[0],), (axes[1],)), (batch, batch)))

    (got,), _ = _rewritten(function, a, b)
    x, y = (np.swapaxes(v, -1, -2) if axis != want else v for v, axis, want in zip((a, b), summed, (1, 0), strict=True))
    with np.errstate(invalid="ignore"):
        _check(got, x.astype(np.float64) @ y, k)


def test_a_net_of_classes():
    """A step's gradients, with products of all three forms, are those of double precision."""
    data, first, second = _drawn((128, 784), (784, 512), (512, 10))
    first, second = first / 28, second / 22

    def gradients(dtype):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, w, v = (tf.placeholder(dtype, a.shape) for a in (data, first, second))
            loss = tf.reduce_mean(tf.square(tf.nn.log_softmax(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v))))
            feed = {x: data.astype(dtype), w: first.astype(dtype), v: second.astype(dtype)}
            return sess.run(tf.gradients(loss, [w, v, x]), feed)

    for got, want in zip(gradients(np.float32), gradients(np.float64), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-6 * abs(want).max())
