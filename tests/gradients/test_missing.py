"""An op without a gradient is told of in one text, with op, path and line, wherever somebody differentiates it.

In TensorFlow 2.21 the error is a LookupError in each of these places, too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as v1
from graphgrad.compat.contrib import eager
from graphgrad.gradients import get_gradient_function
from graphgrad.gradients.core.missing import MissingGradientError
from graphgrad.ir import context
from tests.support.sessions import without_gradient

_X = np.float32([1, 2])


def _lost(x: Any) -> Any:
    return without_gradient(tf.tanh(x), name="lost")


def _f(x: Any) -> Any:
    return tf.exp(_lost(x))


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, _lost(a)), [0, x])[1]


def _branch(x: Any) -> Any:
    return tf.cond(x[0] > 0, lambda: _lost(x), lambda: x)


def _branch_in_loop(x: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, _branch(a)), [0, x])[1]


def _map(x: Any) -> Any:
    return tf.vectorized_map(_lost, x)


def _tape(f: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _rows(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = _f(x)
    return tape.jacobian(y, x)


def _forward(f: Callable[[Any], Any], x: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


def _in_graph(differentiate: Callable[[Any], Any]) -> None:
    with tf.Graph().as_default():
        differentiate(v1.placeholder(tf.float32, [2], name="x"))


def _at_once(differentiate: Callable[[Any], Any]) -> None:
    with context.use(context.EAGER):
        differentiate(tf.constant(_X))


def _in_function(differentiate: Callable[[Any], Any]) -> None:
    with context.use(context.EAGER):
        tf.function(differentiate)(tf.constant(_X))


_GRAPH = "Exp <- WithoutGradient <- Tanh <- Placeholder"
_RECORDS = "Exp <- WithoutGradient <- Tanh"  # what an eager tensor is has no name
_LOOP = "Identity <- While <- WithoutGradient <- Tanh <- TensorListGetItem <- Placeholder"
_BRANCH = "Identity <- If <- WithoutGradient <- Tanh <- Placeholder <- Placeholder"  # the branch's, then x
_MAP = "VectorizedMap <- WithoutGradient <- Tanh <- Placeholder"

# Where it arises; how; the types of the operations on the path.
_PLACES = {
    "gradients": (_in_graph, lambda x: v1.gradients(_f(x), x), _GRAPH),
    "gradients in a function": (_in_function, lambda x: tf.gradients(_f(x), x), _GRAPH),
    "a function, inlined": (_in_graph, lambda x: tf.gradients(tf.function(_f)(x), x),
                            "Exp <- WithoutGradient <- Tanh <- Identity <- Placeholder"),
    "jacobian": (_in_graph, lambda x: tf.jacobian(_f(x), x), _GRAPH),
    "hessians": (_in_graph, lambda x: tf.hessians(_f(x), x), _GRAPH),
    "jvp": (_in_graph, lambda x: tf.jvp(_f(x), x, tf.ones([2])), _GRAPH),
    "a tape": (_at_once, lambda x: _tape(_f, x), _RECORDS),
    "a tape's Jacobian": (_at_once, _rows, _RECORDS),
    "a tape in a graph": (_in_graph, lambda x: _tape(_f, x), _GRAPH),
    "a tape in a function": (_in_function, lambda x: _tape(_f, x), _GRAPH),
    "a function under a tape": (_at_once, lambda x: _tape(tf.function(_f), x), _GRAPH),
    "forward mode": (_at_once, lambda x: _forward(_f, x), "WithoutGradient <- Tanh"),
    "forward mode in a graph": (_in_graph, lambda x: _forward(_f, x), _GRAPH),
    "forward mode in a function": (_in_function, lambda x: _forward(_f, x), _GRAPH),
    "a function in forward mode": (_at_once, lambda x: _forward(tf.function(_f), x), _GRAPH),
    "gradients_function": (_at_once, lambda x: eager.gradients_function(_f)(x), _RECORDS),
    "a loop": (_in_graph, lambda x: tf.gradients(_loop(x), x), _LOOP),
    "a loop under a tape": (_in_graph, lambda x: _tape(_loop, x), _LOOP),
    "a loop in a function": (_at_once, lambda x: _tape(tf.function(_loop), x), _LOOP),
    "a branch": (_in_graph, lambda x: tf.gradients(_branch(x), x), _BRANCH),
    "a branch in a function": (_at_once, lambda x: _tape(tf.function(_branch), x), _BRANCH),
    "a branch in a loop": (_in_graph, lambda x: tf.gradients(_branch_in_loop(x), x), "Identity <- While <- Identity <- "
                           "If <- WithoutGradient <- Tanh <- Placeholder <- TensorListGetItem <- Placeholder"),
    "a map": (_in_graph, lambda x: tf.gradients(_map(x), x), _MAP + " <- Placeholder"),
    "a map under a tape": (_at_once, lambda x: _tape(_map, x), _MAP),
    "an optimizer": (_in_graph, lambda x: v1.train.GradientDescentOptimizer(0.1).compute_gradients(_f(x), [x]), _GRAPH),
}


@pytest.mark.parametrize("place", _PLACES)
def test_one_text_everywhere(place: str) -> None:
    """The text is the same but for the operation's name and the path; the line is that of the user's op."""
    run, differentiate, path = _PLACES[place]
    with pytest.raises(LookupError) as caught:
        run(differentiate)
    error = caught.value
    assert type(error) is MissingGradientError
    assert " <- ".join(op.type for op in error.path) == path
    assert error.op in error.path
    names = " <- ".join(f"{op.name} ({op.type})" for op in error.path)
    said = re.sub(r"\n    called at .*", "", str(error))  # each place calls it from lines of its own
    assert said == (
        f"No gradient defined for operation '{error.op.name}' (op type: WithoutGradient). It lies between the ys and "
        f"the xs: {names}.\n"
        f"  Built at test_missing.py:{_line()}:  return without_gradient(tf.tanh(x), name=\"lost\")\n"
        "  Fix: register one with @tf.RegisterGradient('WithoutGradient'), treat it as a constant with "
        "tf.stop_gradient, or leave that x out"
    )


def _line() -> int:
    return inspect.getsourcelines(_lost)[1] + 1


@pytest.mark.parametrize("f", [_f, _loop, _branch, _map])
def test_explanations_say_the_same(f: Callable[[Any], Any]) -> None:
    """`explain_gradient` has the sentence, the remedy and the line."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2])
        y, n = f(x), graph.version
        why = tf.explain_gradient(y, x)
        assert graph.version == n and why.verdict == "raises"
        (cut,) = [cut for cut in why.cuts if cut.kind == "no gradient"]
        with pytest.raises(LookupError) as caught:
            tf.gradients(y, x)
    sentence, fix = str(caught.value).split(". ")[0], str(caught.value).split("Fix: ")[1]
    assert re.search(r"'\w+/lost'|'lost'", sentence)
    assert cut.why.startswith(sentence) and cut.fix == fix
    assert f"test_missing.py:{_line()}" in str(why)


def test_asking_for_the_function() -> None:
    """`get_gradient_function` knows no path."""
    with tf.Graph().as_default():
        op = _f(tf.constant(_X)).op.inputs[0].op
        said = r"No gradient defined for operation 'lost' \(op type: WithoutGradient\)\.\n  Built at test_missing.py"
        with pytest.raises(MissingGradientError, match=said):
            get_gradient_function(op)


def test_long_paths_are_shortened() -> None:
    """Of a long path the text shows both ends; the error has all of it."""
    with tf.Graph().as_default():
        x = y = v1.placeholder(tf.float32, [2], name="x")
        for _ in range(20):
            y = tf.sin(y)
        with pytest.raises(MissingGradientError) as caught:
            tf.gradients(_f(y), x)
    assert len(caught.value.path) == 24 and str(caught.value).count(" <- ") == 11 and " <- ... <- " in str(caught.value)
