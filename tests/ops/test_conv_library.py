"""Convolutions by the library in XLA:CPU against NumPy's, over random geometries."""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import raw_ops as raw
from graphgrad.executor.backend import library_calls, xla
from graphgrad.executor.runtime import executable
from graphgrad.ops.nn.conv import conv_library

pytestmark = pytest.mark.skipif(not library_calls.available(), reason="jaxlib has it on Linux with x86-64 only")


def _draw(rng):
    """Draws the geometry of a convolution whose window fits."""
    while True:
        k, s, d = (rng.integers(1, most, 2) for most in (6, 4, 3))
        n = rng.integers(1, 13, 2)
        padding = rng.choice(["SAME", "VALID", "EXPLICIT"])
        pads = rng.integers(0, 4, (2, 2)) if padding == "EXPLICIT" else np.zeros((2, 2), int)
        if rng.random() < 0.6:
            d = np.ones(2, int)
        if padding == "SAME" or (n + pads.sum(1) >= (k - 1) * d + 1).all():
            break
    batch, channels, out = rng.integers(1, 6), rng.choice([1, 2, 3, 16, 34]), rng.choice([1, 2, 5, 16, 17])
    paddings = [0, 0, *pads.ravel(), 0, 0] if padding == "EXPLICIT" else []
    attrs = {"strides": [1, *s, 1], "dilations": [1, *d, 1], "padding": str(padding), "explicit_paddings": paddings}
    attrs = {name: [int(i) for i in value] if name != "padding" else value for name, value in attrs.items()}
    return attrs, (int(batch), *map(int, n), int(channels)), (*map(int, k), int(channels), int(out))


def _run(library, arguments, sizes, attrs):
    made = library.program(tuple(a.shape for a in arguments), sizes, attrs | {"data_format": "NHWC"})
    if made is None:
        return None
    text, shape = made
    device = xla.device()
    program = device.compile(text.encode(), [xla.ArraySpec(shape, np.dtype(np.float32))], frozenset())
    (result,) = program([device.put(a) for a in arguments])
    return xla.to_numpy(result)


@pytest.mark.parametrize("seed", [*range(16), 95, 464, 477, 499])  # the last ones: wrong elements of one channel
def test_agrees_with_numpy(seed):
    rng = np.random.default_rng(seed)
    attrs, of_x, of_f = _draw(rng)
    x, f = (rng.standard_normal(shape).astype(np.float32) for shape in (of_x, of_f))
    y = raw.Conv2D(input=x, filter=f, **attrs).numpy()
    dy = rng.standard_normal(y.shape).astype(np.float32)
    dx = raw.Conv2DBackpropInput(input_sizes=of_x, filter=f, out_backprop=dy, **attrs).numpy()
    df = raw.Conv2DBackpropFilter(input=x, filter_sizes=of_f, out_backprop=dy, **attrs).numpy()
    here = {
        "result": (_run(conv_library.forward, (x, f), None, attrs), y),
        "input": (_run(conv_library.to_input, (f, dy), of_x, attrs), dx),
        "filter": (_run(conv_library.to_filter, (x, dy), of_f, attrs), df),
    }
    assert (here["result"][0] is None) == (of_x[3] == 1 and (of_f[3] == 1 or max(attrs["strides"]) > 1))
    for name, (found, expected) in here.items():
        if found is None:  # what it does not take is dilated, or padded by more than the filter
            assert name != "filter" or max(attrs["dilations"]) > 1 or of_x[0] == of_f[3] == 1
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * max(1, np.abs(expected).max()), err_msg=name)


def test_takes_only_what_fits():
    attrs = {"strides": [1, 1, 1, 1], "dilations": [1, 1, 1, 1], "padding": "VALID", "explicit_paddings": []}
    for x, f, more in [((2, 8, 8, 4), (3, 3, 2, 4), {}), ((0, 8, 8, 4), (3, 3, 4, 4), {}),
                       ((2, 2, 2, 4), (3, 3, 4, 4), {}), ((2, 8, 8, 4), (3, 3, 4, 4), {"data_format": "NCHW"})]:
        assert conv_library.forward.program((x, f), None, {"data_format": "NHWC"} | attrs | more) is None


def _losses(steps=4):
    """Trains a small CNN; returns losses and filters."""
    with tf.Graph().as_default():
        rng = np.random.default_rng(0)
        x = tf.placeholder(tf.float32, [None, 16, 16, 3])
        filters = [tf.Variable(0.1 * rng.standard_normal(s).astype(np.float32)) for s in
                   ((3, 3, 3, 32), (3, 3, 32, 32))]
        h = tf.nn.relu(tf.nn.conv2d(x, filters[0], [1, 1, 1, 1], "SAME"))
        h = tf.nn.relu(tf.nn.conv2d(h, filters[1], [1, 2, 2, 1], "SAME"))
        loss = tf.reduce_mean(tf.square(h - 0.5))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            sizes = [32, 32, 8, 32]
            losses = [session.run([loss, train], {x: rng.standard_normal((n, 16, 16, 3)).astype(np.float32)})[0]
                      for n in sizes[:steps]]
            return losses, session.run(filters)


def test_training_agrees_with_xla(monkeypatch):
    taken = []
    program = library_calls.program
    monkeypatch.setattr(library_calls, "program", lambda *args: taken.append(made := program(*args)) or made)
    losses, filters = _losses()
    assert len([t for t in taken if t is not None]) >= 5  # two convolutions, two filters, one input
    monkeypatch.setattr(library_calls, "takes", lambda instruction: False)
    of_xla, filters_of_xla = _losses()
    np.testing.assert_allclose(losses, of_xla, rtol=1e-5)
    for a, b in zip(filters, filters_of_xla, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("first", ["forward", "input", "filter"])
def test_operations_may_be_run_for_nothing(monkeypatch, first):
    monkeypatch.setattr(executable, "tiered", False)
    monkeypatch.setattr(executable, "first_in_numpy", False)
    with tf.Graph().as_default(), tf.Session() as session:
        x, f = (tf.Variable(np.ones(shape, np.float32)) for shape in ((8, 14, 14, 32), (5, 5, 32, 32)))
        y = tf.nn.conv2d(x, f, 1, "SAME")
        found = {"forward": y, **dict(zip(("input", "filter"), tf.gradients(y, [x, f]), strict=True))}[first]
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            assert session.run(found.op) is None
            assert session.run([found.op, tf.reduce_max(found)])[1] > 0
