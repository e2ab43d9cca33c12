"""How several terms of a gradient are summed.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


METHODS = {
    tf.AggregationMethod.DEFAULT: ["AddN"],
    tf.AggregationMethod.ADD_N: ["AddN"],
    tf.AggregationMethod.EXPERIMENTAL_TREE: ["AddN", "AddN", "AddN"],
    tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N: ["AddN", "AddN", "AddN"],  # as in TensorFlow 2
}


@pytest.mark.parametrize("method", METHODS)
def test_aggregation_methods(graph, method):
    x = tf.placeholder(tf.float32, [2], name="x")
    z = tf.add_n([tf.tanh(x) for _ in range(4)])
    count = len(graph.get_operations())
    (g,) = tf.gradients(z, x, aggregation_method=method)
    sums = [op for op in graph.get_operations()[count:] if op.type in ("AddN", "AccumulateNV2")]
    assert [op.type for op in sums] == METHODS[method]
    if method != tf.AggregationMethod.ADD_N:
        assert sums[0].name == "gradients/x_gradient_sum/AddN"
    np.testing.assert_allclose(run(g, {x: [0.5, 1.0]}), 4 * (1 - np.tanh([0.5, 1.0]) ** 2), rtol=1e-5)


def test_one_term_stays_itself(graph):
    x = tf.placeholder(tf.float32, [2])
    (g,) = tf.gradients(tf.tanh(x), x)
    assert g.op.type == "TanhGrad"


def test_unknown_aggregation_method():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"Invalid `aggregation_method` specified 7. Accepted values are \[0, 1, 2\]"):
        tf.gradients(x + x, x, aggregation_method=7)


def _peak(graph, fetch):
    """The most bytes at one time, when what `fetch` needs runs in the order of the graph and is freed after use."""
    needed, waiting = set(), [fetch.op]
    while waiting:
        op = waiting.pop()
        if op.index not in needed:
            needed.add(op.index)
            waiting.extend(t.op for t in op.inputs)
    ops = [op for op in graph.get_operations() if op.index in needed]
    last = {id(t): k for k, op in enumerate(ops) for t in op.inputs}
    last[id(fetch)] = len(ops)
    now = peak = 0
    for k, op in enumerate(ops):
        now += sum(t.shape.num_elements() * t.dtype.size for t in op.outputs)
        peak = max(peak, now)
        now -= sum(t.shape.num_elements() * t.dtype.size for t in {id(t): t for t in (*op.inputs, *op.outputs)}.values()
                   if last.get(id(t), -1) <= k)
    return peak


def test_a_tree_frees_each_term_when_it_has_been_added(graph):
    """A weight shared by 32 steps: not all of its 32 gradients are there at one time."""
    w = tf.placeholder(tf.float32, [64, 64])
    h = start = tf.placeholder(tf.float32, [2, 64])
    for _ in range(32):
        h = tf.tanh(tf.matmul(h, w))
    peaks, grads = {}, {}
    for method in METHODS:
        (grads[method],) = tf.gradients(h, w, aggregation_method=method)
        peaks[method] = _peak(graph, grads[method])
    assert peaks[tf.AggregationMethod.ADD_N] > 32 * 64 * 64 * 4
    for method in (tf.AggregationMethod.EXPERIMENTAL_TREE, tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N):
        assert peaks[method] < 8 * 64 * 64 * 4
    feeds = {w: np.random.default_rng(0).normal(size=(64, 64)) / 8, start: np.ones((2, 64))}
    one, *others = run(list(grads.values()), feeds)
    for other in others:
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_dense_terms_mixed_with_sparse_ones(graph, method):
    p = tf.placeholder(tf.float32, [5, 2])
    ys = [tf.gather(p, [1, 1, 3]), p * p, tf.gather(p, [0]), 3.0 * p]
    (g,) = tf.gradients([tf.reduce_sum(y) for y in ys], p, aggregation_method=method)
    assert g.op.type == "AddN"
    assert run(g, {p: np.ones((5, 2))})[:, 0].tolist() == [6, 7, 5, 6, 5]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_y_several_times(method):
    x = tf.constant([1.0, 2.0])
    y = x * x
    assert run(tf.gradients([y, y, y], [x, y], aggregation_method=method))[0].tolist() == [6, 12]


def test_the_operations_of_each_method(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    terms = [f"TanhGrad:{i}" for i in range(3)]
    for method, expected in [
        (tf.AggregationMethod.ADD_N, {"gradients/AddN": terms}),
        (tf.AggregationMethod.EXPERIMENTAL_TREE, {
            "gradients_1/x_gradient_sum/AddN": terms[:2],
            "gradients_1/x_gradient_sum/AddN_1": ["gradients_1/x_gradient_sum/AddN", terms[2]]}),
    ]:
        z = tf.add_n([tf.tanh(x) for _ in range(3)])
        count = graph.version
        tf.gradients(z, x, aggregation_method=method)
        new = graph.get_operations()[count:]
        number = {o.name: f"TanhGrad:{i}" for i, o in enumerate(o for o in new if o.type == "TanhGrad")}
        sums = {o.name: [number.get(t.op.name, t.op.name) for t in o.inputs] for o in new if o.type == "AddN"}
        assert sums == expected


def test_broadcasting_is_reversed_without_shapes_where_they_are_known(graph):
    x, y = tf.placeholder(tf.float32, [3, 1]), tf.placeholder(tf.float32, [4])
    for known, other in ((x, y), (tf.placeholder(tf.float32, [None, 1]), y)):
        count = graph.version
        grads = tf.gradients(known * other, [known, other])
        types = [o.type for o in graph.get_operations()[count:] if "_grad/" in o.name]
        assert types.count("Sum") == 2 and "BroadcastGradientArgs" not in types
        assert [g.shape.as_list()[-1] for g in grads] == [1, 4]
    unknown = tf.placeholder(tf.float32, None)
    count = graph.version
    grads = tf.gradients(unknown * y, [unknown, y])
    assert "BroadcastGradientArgs" in [o.type for o in graph.get_operations()[count:]]
    for value, dx, dy in [(np.ones((2, 1, 4)), (2, 1, 4), [2, 2, 2, 2]), (np.ones((3, 1)), (3, 1), [3, 3, 3, 3])]:
        gx, gy = run(grads, {unknown: value, y: np.ones(4)})
        assert gx.shape == dx and gy.tolist() == dy
