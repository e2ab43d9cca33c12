"""`convert_variables_to_constants`: what is frozen gives what the session gave, wherever variables are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as v2
import graphgrad.compat.v1 as tf
from graphgrad.extras.import_v1.frozen_functions import convert_variables_to_constants_v2

_X = np.array([[0.5, -0.2, 0.1], [1.0, 0.3, -0.7]], np.float32)


_Weight = Callable[..., Any]  # makes a variable, of a name and sizes


def _weight(name: str = "w", *shape: int) -> Any:
    value = np.linspace(-0.6, 0.9, int(np.prod(shape or (3,)))).reshape(shape or (3,)).astype(np.float32)
    return tf.get_variable(name, initializer=tf.constant(value), use_resource=True)


def _nested(x: Any, weight: _Weight) -> Any:
    w, table = weight(), weight("table", 4, 3)

    def body(i: Any, t: Any) -> Any:
        row = tf.nn.embedding_lookup(table, i)
        return i + 1, tf.cond(tf.reduce_sum(t) > 0.0, lambda: tf.tanh(t * w) + row, lambda: t - w)

    return tf.while_loop(lambda i, t: i < tf.shape(table)[0] - 1, body, (0, x))[1]


def _twice(x: Any, weight: _Weight) -> Any:
    function = v2.function(lambda t, w: t * w)
    return function(x, weight("a")) + function(x, weight("b"))


def _recurrent(x: Any, weight: _Weight) -> Any:
    kernel = weight("kernel", 6, 3)

    def step(state: Any, row: Any) -> Any:
        return tf.tanh(tf.matmul(tf.concat([row[tf.newaxis], state], 1), kernel))

    return tf.reshape(tf.scan(step, x, initializer=tf.zeros([1, 3])), [-1, 3])


_PIECES: dict[str, Callable[[Any, _Weight], Any]] = {
    "plain": lambda x, weight: x * weight(),
    "rows": lambda x, weight: x + tf.nn.embedding_lookup(weight("t", 4, 3), [3, 0]),
    "cells": lambda x, weight: x * tf.gather_nd(weight("t", 4, 3), [[1, 2]]),
    "size": lambda x, weight: x * tf.cast(tf.shape(weight("t", 4, 3))[0], tf.float32),
    "cond": lambda x, weight: (lambda w: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * w, lambda: x))(weight()),
    "case": lambda x, weight: (lambda w: tf.switch_case(tf.size(x) % 2, [lambda: x * w, lambda: x - w]))(weight()),
    "while": lambda x, weight: (lambda w: tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, tf.tanh(t * w)),
                                                (0, x))[1])(weight()),
    "map_fn": lambda x, weight: (lambda w: tf.map_fn(lambda r: r * w, x))(weight()),
    "vectorized_map": lambda x, weight: (lambda w: v2.vectorized_map(lambda r: tf.tanh(r * w), x))(weight()),
    "function": lambda x, weight: (lambda w: v2.function(lambda t: t * w)(x))(weight()),
    "gradient": lambda x, weight: (lambda w: tf.gradients(tf.while_loop(
        lambda i, t: i < 2, lambda i, t: (i + 1, tf.sin(t * w)), (0, x))[1], x)[0])(weight()),
    "nested": _nested,
    "twice": _twice,
    "recurrent": _recurrent,
}


@pytest.mark.parametrize("training", [False, True], ids=["", "without training nodes"])
@pytest.mark.parametrize("name", _PIECES)
def test_gives_what_the_session_gave(name: str, training: bool) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.identity(_PIECES[name](x, _weight), name="y")
        sess.run(tf.global_variables_initializer())
        wanted = sess.run([y, tf.gradients(y, x)[0]], {x: _X})
        definition = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    if training:
        definition = tf.graph_util.remove_training_nodes(definition, protected_nodes=["y"])
    reached = {n.op for n in definition.node} | {n.op for f in definition.library.function
                                                 if "_frozen" in f.signature.name for n in f.node_def}
    assert not reached & {"VarHandleOp", "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"}
    for text in (definition.SerializeToString(), tf.GraphDef.FromString(definition.SerializeToString())):
        read = tf.GraphDef.FromString(text) if isinstance(text, bytes) else text
        with tf.Graph().as_default(), tf.Session() as sess:
            fed = tf.placeholder(tf.float32, [None, 3])
            y, = tf.import_graph_def(read, {"x": fed}, ["y:0"])
            for _ in range(3):
                found = sess.run([y, tf.gradients(y, fed)[0]], {fed: _X})
                for f, w in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(f, w, rtol=1e-5, atol=1e-6)


def test_variables_that_are_left() -> None:
    """What is on the black list, or not on the white one, stays a variable, in branches too."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        a, b = _weight("a"), _weight("b")
        tf.identity(tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * a * b, lambda: x + b), name="y")
        sess.run(tf.global_variables_initializer())
        one = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"], ["a"])
        other = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"],
                                                             variable_names_blacklist=["b"])
    assert [n.name for n in one.node if n.op == "VarHandleOp"] == ["b"]
    assert [n.name for n in other.node if n.op == "VarHandleOp"] == ["b"]


@pytest.mark.parametrize("name", _PIECES)
def test_functions(name: str) -> None:
    """A function without its variables: numbers and gradients stay when the variables change."""
    made: dict[str, Any] = {}

    def weight(key: str = "w", *shape: int) -> Any:
        if key not in made:
            value = np.linspace(-0.6, 0.9, int(np.prod(shape or (3,)))).reshape(shape or (3,)).astype(np.float32)
            made[key] = v2.Variable(value)
        return made[key]

    function = v2.function(lambda x: _PIECES[name](x, weight), autograph=False)
    function = function.get_concrete_function(v2.TensorSpec([None, 3]))
    x = v2.constant(_X)

    def results(f: Any) -> list[Any]:
        with v2.GradientTape() as tape:
            tape.watch(x)
            (y,) = v2.nest.flatten(f(x))
        return [y.numpy(), tape.gradient(y, x).numpy()]

    wanted = results(function)
    fixed = convert_variables_to_constants_v2(function)
    assert len(made) > 0 and [t.shape.as_list() for t in fixed.inputs] == [[None, 3]]
    for v in made.values():
        v.assign(v2.zeros_like(v))
    for _ in range(3):
        for f, w in zip(results(fixed), wanted, strict=True):
            np.testing.assert_allclose(f, w, rtol=1e-5, atol=1e-6)


def test_without_a_value() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.identity(_weight() * 2.0, name="y")
        with pytest.raises(tf.errors.FailedPreconditionError, match="Variable w has no value"):
            tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
