"""`tf.compat.v1.wrap_function`: what is expected, TensorFlow 2.21 gives."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context

v1 = tf.compat.v1
_VECTOR = [tf.TensorSpec([2], tf.float32)]


@pytest.fixture(autouse=True)
def _eagerly() -> Any:
    with context.use(context.EAGER):
        yield


def _scaled(x: Any) -> Any:
    v = v1.get_variable("v", initializer=3.0)
    w = v1.Variable(2.0, name="w", trainable=False)
    return {"y": x * v + w, "z": (x, v.read_value())}


def test_a_function_of_tensors() -> None:
    """Results in their structure, variables, collections of its own graph, gradients; inside of functions, too."""
    f, x = v1.wrap_function(_scaled, _VECTOR), tf.constant([1.0, 2.0])
    assert [(v.name, float(v)) for v in f.variables] == [("v:0", 3.0), ("w:0", 2.0)]
    assert [v.name for v in f.trainable_variables] == ["v:0"] and f.graph.variables == f.variables
    assert [v.name for v in f.graph.get_collection("variables")] == ["v:0", "w:0"]
    found = f(x)
    assert found["y"].numpy().tolist() == [5.0, 8.0] and found["z"][0].numpy().tolist() == [1.0, 2.0]
    assert float(found["z"][1]) == 3.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.function(lambda x: f(x)["y"] ** 2)(x))
    dx, dv, dw = tape.gradient(y, [x, *f.variables])
    assert dx.numpy().tolist() == [30.0, 48.0] and float(dv) == 42.0 and dw is None
    other = v1.wrap_function(_scaled, _VECTOR)  # with variables of its own, of the same names
    assert [v.name for v in other.variables] == ["v:0", "w:0"] and other.variables[0] is not f.variables[0]


def test_scopes_and_collections() -> None:
    """Variable scopes, reuse, regularizers and layers are as in a graph."""
    def net(x: Any) -> Any:
        with v1.variable_scope("net", reuse=v1.AUTO_REUSE), v1.variable_scope("a"):
            w = v1.get_variable("w", [3, 4], initializer=v1.ones_initializer(),
                                regularizer=lambda w: 0.1 * tf.reduce_sum(w))
        with v1.variable_scope("net/a", reuse=True):
            assert v1.get_variable("w", [3, 4]) is w and not tf.executing_eagerly()
        y = v1.layers.dense(tf.matmul(x, w), 2, kernel_initializer=v1.ones_initializer())
        for _ in range(2):
            with v1.variable_scope(None, "d"):
                y = y + v1.get_variable("b", [2], initializer=v1.zeros_initializer())
        return tf.reduce_sum(y) + tf.add_n(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES))

    for _ in range(2):
        f = v1.wrap_function(net, [tf.TensorSpec([None, 3], tf.float32)])
        assert [v.name for v in f.variables] == ["net/a/w:0", "dense/kernel:0", "dense/bias:0", "d/b:0", "d_1/b:0"]
        assert float(f(tf.ones([1, 3]))) == pytest.approx(24.0 + 1.2)
    assert not v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)

    @tf.function
    def named(kept: Any = []) -> Any:  # noqa: B006  # the variable is made once
        with v1.variable_scope("net"):
            kept += [] if kept else [v1.get_variable("w", [2], initializer=v1.zeros_initializer())]
        return kept[0] + 0.0

    named()
    assert [v.name for v in named.get_concrete_function().variables] == ["net/w:0"]


def test_effects() -> None:
    """What results do not need is not run; without results all is."""
    count = v1.wrap_function(lambda: v1.assign_add(v1.get_variable("c", initializer=1.0), 1.0), [])
    assert [float(count()), float(count()), float(count.variables[0])] == [2.0, 3.0, 3.0]

    def aside(x: Any) -> Any:
        v1.assign_add(v1.get_variable("s", initializer=1.0), 1.0)
        return x

    f = v1.wrap_function(aside, [tf.TensorSpec([], tf.float32)])
    assert float(f(1.0)) == 1.0 and float(f.variables[0]) == 1.0

    def train() -> Any:
        v = v1.get_variable("v", initializer=4.0)
        with tf.control_dependencies([v1.train.GradientDescentOptimizer(0.1).minimize(v * v)]):
            return v.read_value()

    trained = v1.wrap_function(train, [])
    np.testing.assert_allclose([trained(), trained()], [3.2, 2.56], 1e-6)


def test_parts() -> None:
    """`prune` makes functions of tensors, names and operations, which share the variables."""
    def many() -> None:
        a = v1.get_variable("a", initializer=1.0)
        v1.assign_add(a, 5.0)
        tf.identity(a * 2.0, name="twice")

    m = v1.wrap_function(many, [])
    m()
    assert float(m.variables[0]) == 6.0
    (add,) = [op for op in m.graph.get_operations() if "AssignAdd" in op.type]
    both = m.prune([], ("twice:0", add))
    assert m.prune([], add)() is None and float(m.variables[0]) == 11.0
    found = both()
    assert float(found[0]) == 32.0 and found[1] is None and float(m.variables[0]) == 16.0
    assert float(m.prune([], "twice:0")()) == 32.0 and float(m.variables[0]) == 16.0
    f = v1.wrap_function(_scaled, _VECTOR)
    part = f.prune([f.inputs[0].name], {"a": f.outputs[0]}, name="part")
    with tf.GradientTape() as tape:
        y = part(tf.constant([1.0, 2.0]))["a"]
    assert y.numpy().tolist() == [5.0, 8.0] and float(tape.gradient(y, f.variables[0])) == 3.0
    sparse = v1.wrap_function(lambda s: (tf.sparse.to_dense(s), s), [tf.SparseTensorSpec([None, 3], tf.float32)])
    dense, given = sparse.structured_outputs
    value = tf.sparse.from_dense([[1.0, 0.0, 2.0]])
    assert sparse.prune(given, dense)(value).numpy().tolist() == [[1.0, 0.0, 2.0]]
    assert sparse(value)[0].numpy().tolist() == [[1.0, 0.0, 2.0]]


def test_frozen_graph() -> None:
    """The use that guides show: a graph of 1.x as a function, differentiated; variables in it are shared by parts."""
    with v1.Graph().as_default() as graph:
        a = v1.placeholder(tf.float32, [None, 2], name="in")
        tf.nn.softmax(tf.matmul(a, [[1.0, 2.0], [3.0, 4.0]]), name="out")
        v = v1.get_variable("v", initializer=4.0, use_resource=True)
        tf.multiply(v, v1.placeholder(tf.float32, [], name="p"), name="o")
        ready = v1.global_variables_initializer().name
    message = graph.as_graph_def()
    whole = v1.wrap_function(lambda: v1.import_graph_def(message, name=""), [])
    found = tf.nest.map_structure(whole.graph.as_graph_element, (["in:0"], ["out:0"]))
    frozen, x = whole.prune(*found), tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = frozen(x)
        first = y[0, 0]
    np.testing.assert_allclose(y, [[0.04742587, 0.95257413]], 1e-5)
    np.testing.assert_allclose(tape.gradient(first, x), [[-0.04517666, -0.04517666]], 1e-5)
    scaled = whole.prune("p:0", "o:0")
    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)uninitialized"):
        scaled(2.0)
    whole.prune([], whole.graph.get_operation_by_name(ready))()
    assert float(scaled(2.0)) == 8.0


def test_data_loops_and_files(tmp_path: pathlib.Path) -> None:
    """A one-shot iterator, a loop with its gradient, streaming metrics, and a saved model."""
    data = v1.wrap_function(lambda: v1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next(), [])
    assert [int(data()), int(data())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        data()

    def loop(x: Any) -> Any:
        v = v1.get_variable("v", initializer=2.0)
        return v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), (0, x))[1]

    f, x = v1.wrap_function(loop, [tf.TensorSpec([], tf.float32)]), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert [float(g) for g in tape.gradient(y, [x, *f.variables])] == [8.0, 12.0]
    inside = v1.wrap_function(lambda x: tf.gradients(x * x * v1.get_variable("u", initializer=2.0), [x])[0],
                              [tf.TensorSpec([], tf.float32)])
    assert float(inside(3.0)) == 12.0
    mean = v1.wrap_function(lambda x: v1.metrics.mean(x)[1], [tf.TensorSpec([None], tf.float32)])
    assert [float(mean(tf.constant([1.0, 3.0]))), float(mean(tf.constant([5.0])))] == [2.0, 3.0]
    module = tf.Module()
    module.f = v1.wrap_function(_scaled, _VECTOR)
    module.held = module.f.variables
    tf.saved_model.save(module, str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).f(tf.constant([1.0, 2.0]))["y"].numpy().tolist() == [5.0, 8.0]


_F = v1.wrap_function


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: _F(lambda x: x, _VECTOR)(x=tf.zeros(2)), NotImplementedError, "Keyword arguments are not supported.*Fix:"),
    (lambda: _F(lambda x: x, _VECTOR)(), TypeError, "takes 1 tensors, not 0. Fix:"),
    (lambda: _F(lambda x: x, _VECTOR[0]), TypeError, "must be a sequence of specs.*Fix:"),
    (lambda: _F(lambda: v1.group(v1.no_op()), []), TypeError, "returns the operation.*Fix:"),
    (lambda: _F(lambda x: x * 2.0, _VECTOR).prune([], "mul:0"), ValueError, "argument that is not fed. Fix:"),
    (lambda: _F(lambda x: x * 2.0, _VECTOR).prune("nothing:0", "mul:0"), KeyError, "nothing:0.*does not exist"),
    (lambda: _F(lambda x: v1.Variable(x) + 0.0, _VECTOR), tf.errors.FailedPreconditionError, "depends on an arg.*Fix:"),
])
def test_what_cannot_be(make: Any, error: Any, text: str) -> None:
    """Errors of TensorFlow's classes."""
    with pytest.raises(error, match=f"(?s){text}"):
        make()
