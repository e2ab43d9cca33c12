"""How several terms of a gradient are summed.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from sessions import run

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
