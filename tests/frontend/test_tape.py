"""`GradientTape`, in the 2.x face."""

from collections import OrderedDict

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.control_flow import eager_subgraphs
from graphgrad.frontend.function import tape_retention
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager():
    with context.use(context.EAGER):
        yield


def test_watched_tensors_and_variables():
    x, v = tf.constant(3.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.exp(v) * x * x)
    dx, dv = tape.gradient(y, [x, v])
    assert float(dx) == pytest.approx(6 * np.exp([1, 2]).sum(), rel=1e-5)
    np.testing.assert_allclose(dv.numpy(), 9 * np.exp([1, 2]), rtol=1e-5)
    assert tape.watched_variables() == (v,) or tape.watched_variables()[0] is v


def test_what_is_not_watched_is_none_or_zero():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    assert float(tape.gradient(y, x, unconnected_gradients="zero")) == 0.0


def test_higher_orders():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4
        (g,) = inner.gradient(y, [x])
    assert float(g) == 32.0
    assert float(outer.gradient(g, x)) == 48.0


def test_used_twice():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 2.0
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_stop_recording_and_output_gradients():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = x * 100.0
        y = y + z
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=tf.constant([10.0, 1.0])), [20, 4])


def test_gathers_give_slices():
    v = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1, 3]) * 2.0)
    g = tape.gradient(y, v)
    np.testing.assert_array_equal(tf.convert_to_tensor(g).numpy()[:, 0], [0, 4, 0, 2])


def test_functions_and_custom_gradients_under_a_tape():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    @tf.function
    def g(x):
        return f(x) * 2.0

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = g(x)
    assert float(y) == 18.0
    assert float(tape.gradient(y, x)) == 200.0


def test_inside_a_function():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)

    assert float(f(tf.constant(0.0))) == 1.0


def _jacobian(f, x, method="jacobian", persistent=False, **kwargs):
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = f(x)
    return getattr(tape, method)(y, x, **kwargs)


def test_jacobians():
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.Variable([[1.0, 0.5, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([x * v[0], [tf.reduce_sum(x)]], 0)
    found = tape.jacobian(y, {"x": x, "v": [v]})
    np.testing.assert_array_equal(found["x"], [[1, 0, 0], [0, 0.5, 0], [0, 0, 2], [1, 1, 1]])
    np.testing.assert_array_equal(found["v"][0], [[[1, 0, 0]], [[0, 2, 0]], [[0, 0, 3]], [[0, 0, 0]]])
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.jacobian(y, x)


def test_jacobians_of_jacobians():
    """A tape records the map that computes an inner tape's Jacobian."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        j = _jacobian(lambda t: t**3, x)
    np.testing.assert_allclose(outer.jacobian(j, x), [[[6, 0], [0, 0]], [[0, 0], [0, 12]]], rtol=1e-6)


def test_jacobians_by_xla_are_those_by_numpy():
    """What is large enough is compiled; one row at a time gives the same."""
    rng = np.random.default_rng(0)
    w = tf.constant(rng.normal(size=(60, 40)))
    x = tf.constant(rng.normal(size=(2, 60)))
    large = _jacobian(lambda t: tf.tanh(t @ w), x)
    rows = _jacobian(lambda t: tf.tanh(t @ w), x, persistent=True, experimental_use_pfor=False)
    want = np.zeros((2, 40, 2, 60))
    slope = 1 - np.tanh(x.numpy() @ w.numpy()) ** 2
    for i in range(2):
        want[i, :, i] = slope[i][:, None] * w.numpy().T
    np.testing.assert_allclose(large, want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows, want, rtol=1e-10, atol=1e-12)


def test_batch_jacobians():
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    found = _jacobian(lambda t: tf.stack([t, t * t], -1), x, "batch_jacobian")
    assert found.shape == (2, 3, 2, 3)
    for i in range(2):
        for k in range(3):
            np.testing.assert_array_equal(found[i, k], np.stack([np.eye(3)[k], 2 * x[i, k].numpy() * np.eye(3)[k]]))
    zeros = _jacobian(lambda _: tf.ones([2, 4]), x, "batch_jacobian")
    assert zeros.shape == (2, 4, 3) and not zeros.numpy().any()


def test_jacobians_inside_functions():
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.nn.softmax(x)
        return tape.jacobian(y, x), tape.batch_jacobian(y, x)

    x = tf.constant([[1.0, 2.0], [0.5, 0.1]])
    whole, batch = f(x)
    p = tf.nn.softmax(x).numpy()
    for i in range(2):
        np.testing.assert_allclose(batch[i], np.diag(p[i]) - np.outer(p[i], p[i]), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(whole[i, :, i], batch[i], rtol=1e-5, atol=1e-7)
        assert not whole[i, :, 1 - i].numpy().any()


def test_jacobians_of_what_is_not_connected():
    x = tf.constant([1.0, 2.0])
    assert _jacobian(lambda _: tf.ones([3]), x) is None
    np.testing.assert_array_equal(_jacobian(lambda _: tf.ones([3]), x, unconnected_gradients="zero"), np.zeros((3, 2)))


@pytest.mark.parametrize("call, error, problem", [
    (lambda x: _jacobian(lambda t: t, x, experimental_use_pfor=False), RuntimeError, "must be created with persistent"),
    (lambda x: _jacobian(lambda t: t, x, parallel_iterations=-1), ValueError, "parallel_iterations must be a positive"),
    (lambda x: _jacobian(lambda t: tf.reduce_sum(t, 1), x, "batch_jacobian"), ValueError,
     r"Shape \(2,\) must have rank at least 2.*Fix: tf.expand_dims"),
    (lambda x: _jacobian(lambda t: tf.reshape(t, [3, 2]), x, "batch_jacobian"), ValueError,
     r"Need first dimension of target shape \(\(3, 2\)\) and source shape \(\(2, 3\)\) to match.*Fix:"),
])
def test_jacobians_refused(call, error, problem):
    with pytest.raises(error, match="(?s)" + problem):
        call(tf.ones([2, 3]))


def test_vectorized_maps():
    v = tf.Variable([[1.0], [2.0]])
    x = tf.constant(np.arange(6.0, dtype=np.float32).reshape(3, 1, 2))

    def slope(row):
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum((row @ v) ** 2)
        return inner.gradient(loss, v)

    with tf.GradientTape() as tape:
        each = tf.vectorized_map(slope, x)
    rows = x.numpy()[:, 0]
    want = 2 * (rows @ v.numpy()) * rows
    np.testing.assert_allclose(each.numpy()[..., 0], want, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(each, v), 2 * (rows.T @ rows).sum(0)[:, None], rtol=1e-6)


def test_vectorized_maps_that_assign():
    v = tf.Variable(0.0)
    np.testing.assert_array_equal(tf.vectorized_map(v.assign_add, tf.constant([1.0, 2.0])), [1, 3])
    with pytest.raises(ValueError, match="(?s)No pfor vectorization defined for AssignAddVariableOp.*Fix: assign"):
        tf.vectorized_map(v.assign_add, tf.constant([1.0]), fallback_to_while_loop=False)
    assert float(v) == 3.0


def test_maps_that_come_up_often_are_prepared_once(monkeypatch):
    """What is equal is recognised by what it computes: another constant is another map, another variable is not."""
    made = []
    make = eager_subgraphs._made
    monkeypatch.setattr(eager_subgraphs, "_made", lambda *args: made.append(1) or make(*args))
    monkeypatch.setattr(eager_subgraphs, "_kept", OrderedDict())
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    weights = [tf.Variable([2.0, 3.0]), tf.Variable([5.0, 7.0])]
    for n in range(8):
        k = 10.0 + n // 6
        w = weights[n % 2]
        w.assign_add([1.0, 0.0])
        row = tf.vectorized_map(lambda r, w=w, k=k: tf.reduce_sum(r * w) * k, x)
        np.testing.assert_allclose(row, (x.numpy() @ w.numpy()) * k)
        slope = _jacobian(lambda x, w=w: tf.sin(x) * w, x)
        np.testing.assert_allclose(slope[0, 0, 0, 0], np.cos(1.0) * w.numpy()[0], rtol=1e-6)
    # Compiled at the fourth time, then they are there; the second constant comes up twice only.
    assert len(made) == (4 + 2) + 4
    kept = eager_subgraphs._kept.values()
    assert len(kept) == 3 and sum(k.executable is not None for k in kept) == 2


def test_an_order_that_would_read_again_is_an_error(monkeypatch):
    """What no kept value replaces, and cannot run a second time, is said; it is no wrong number."""
    monkeypatch.setattr(tape_retention, "sources", lambda part, outputs: [])

    @tf.function(autograph=False)
    def f(x):
        z = tf.reshape(tf.numpy_function(lambda a: a, [x], tf.float32), []) + x
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y * x), [0, z])[1]

    x = tf.constant(0.5)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h = tape.gradient(tape.gradient(f(x), x), x)
        with pytest.raises(LookupError, match=r"type: PyFunc\) that the call has not kept(.|\n)*Fix: put"):
            tape.gradient(h, x)


@pytest.mark.parametrize("traced", [False, True])
def test_variables_of_arguments_that_are_used_by_themselves(traced):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return v * x, lambda dy, variables=None: (dy * 5.0, [dy * 7.0 for _ in variables])

    def slope():
        with tf.GradientTape() as tape:
            y = f(tf.convert_to_tensor(v))
        return tape.gradient(y, v)

    assert float(tf.function(slope)() if traced else slope()) == 12.0
