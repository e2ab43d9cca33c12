"""`tf.__internal__.create_c_op`: operations that a library makes of messages, as Keras's layers of operations do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.compat.internal.eager.execute import record_gradient
from graphgrad.compat.internal.framework.made_operation import create_c_op
from graphgrad.errors import UnimplementedError

v1 = tf.compat.v1


def _again(graph: Any, tensor: Any, inputs: Any) -> Any:
    """Adds an operation like that of a tensor, on other inputs; returns its result."""
    message = v1.NodeDef()
    message.CopyFrom(tensor.op.node_def)
    message.name = graph.unique_name(message.name)
    made = graph._create_op_from_tf_operation(create_c_op(graph, message, inputs, control_inputs=[]))
    made._control_flow_post_processing()
    attrs = [item for a in made.op_def.attr for item in (a.name, made.get_attr(a.name))]
    record_gradient(made.op_def.name, made.inputs, attrs, made.outputs)
    assert made.name == message.name and not made.control_inputs
    return made.outputs[0]


@pytest.mark.parametrize("f", [
    lambda x: tf.tanh(x), lambda x: tf.reduce_sum(x, [1], keepdims=True), lambda x: tf.concat([x, x], 1),
    lambda x: tf.transpose(x, [1, 0]), lambda x: tf.matmul(x, x, transpose_b=True), lambda x: tf.split(x, 2, 1)[0],
    lambda x: tf.nn.relu6(x)])
def test_an_operation_again(f: Any) -> None:
    """The same operation on other inputs gives the same results, and gradients, as the function does."""
    values = np.random.RandomState(0).randn(2, 4).astype(np.float32)
    with tf.Graph().as_default() as graph, v1.Session() as sess, tf.name_scope("scope"):
        x, z = v1.placeholder(tf.float32, [2, 4]), tf.constant(values)
        y = f(x)
        found = _again(graph, y, [z if t is x else t for t in y.op.inputs])
        assert found.op is not y.op and found.dtype is y.dtype
        expected, same = sess.run([f(z), found])
        np.testing.assert_array_equal(same, expected)
        np.testing.assert_allclose(*sess.run([v1.gradients(found, z)[0], v1.gradients(f(z), z)[0]]), 1e-6)


def test_functions_of_the_operation() -> None:
    """A branch is made again with the functions of its graph."""
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        x = v1.placeholder(tf.float32, [])
        y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        branch = y if y.op.type.endswith("If") else y.op.inputs[0]
        again = _again(graph, branch, list(branch.op.inputs))
        assert [sess.run([again, y], {x: v}) for v in (3.0, -3.0)] == [[6.0, 6.0], [-4.0, -4.0]]


def test_what_cannot_be() -> None:
    """An operation with the wrong inputs; a record of what is no operation of the type."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2])
        with pytest.raises(ValueError, match="inputs"):
            _again(graph, tf.tanh(x), [x, x])
        with pytest.raises(UnimplementedError, match="(?s)tensors of a graph.*Fix:"):
            record_gradient("Tanh", [x], [], [tf.identity(x)])
