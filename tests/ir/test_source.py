"""The user's lines: the one that built an operation, and those from which it was called."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as v1
from graphgrad.ir.source import Source, is_internal, is_library, source_of_operation, user_source


def _truth() -> list[tuple[str, int]]:
    """Python's own account of the caller's stack, the user's frames alone, the nearest first, up to a module."""
    found = []
    for frame, line in traceback.walk_stack(sys._getframe(1)):
        file = frame.f_code.co_filename
        if not is_internal(file):
            found += [(file, line)] * (not is_library(file))
            if frame.f_code.co_name == "<module>":
                break
    return found


def _found(source: Source | None) -> list[tuple[str, int]]:
    assert source is not None
    return [(place.filename, place.lineno) for place in source.chain if not is_library(place.filename)]


def _check() -> None:
    assert _found(source_of_operation()) == _truth()


def _first(rest: list[int]) -> None:
    if not rest:
        _check()
        return
    _FUNCTIONS[rest[0]](rest[1:])
    _FUNCTIONS[rest[0]](rest[1:])  # once more, from another line


def _second(rest: list[int]) -> None:
    _check()
    for times in range(2):
        _FUNCTIONS[rest[0] if rest else 0](rest[1:] if times else [])


def _generator(rest: list[int]) -> Iterator[None]:
    _check()
    yield
    _first(rest)
    yield


def _third(rest: list[int]) -> None:
    """Goes on with a generator from several lines."""
    steps = _generator(rest)
    next(steps)
    next(steps)


def _traced(rest: list[int]) -> None:
    """Calls while something traces, as debuggers do."""
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: None)
    try:
        _first(rest)
    finally:
        sys.settrace(before)


_FUNCTIONS: list[Callable[[list[int]], None]] = [_first, _second, _third, _traced]


@hypothesis.given(st.lists(st.integers(0, 3), max_size=4))
@hypothesis.settings(max_examples=40, deadline=None, database=None)
def test_callers_are_those_of_python(calls: list[int]) -> None:
    """Whatever calls what: the chain is the stack that Python has, each time anew."""
    _first(calls)


def _helper(x: Any) -> Any:
    return tf.tanh(x, name="made")


def test_operations_know_their_callers() -> None:
    """The line in the helper, and each line that called it; equal chains are kept once."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])
        for _ in range(2):
            _helper(x)
        other = _helper(x)
    first, second = (graph.get_operation_by_name(name).source for name in ("made", "made_1"))
    assert first is second
    assert str(first).splitlines()[0].endswith('return tf.tanh(x, name="made")')
    assert str(first).splitlines()[1].startswith("    called at test_source.py:")
    assert str(first).splitlines()[1].endswith("_helper(x)")
    assert str(other.op.source).splitlines()[1].endswith("other = _helper(x)")
    assert [place.lineno for place in other.op.traceback][-2:] == [p.lineno for p in other.op.source.chain[1::-1]]
    assert str(user_source()).count("\n") == 0


def test_recursions_are_told_once() -> None:
    """A line that calls itself is told with the number of times, and a long chain by its ends."""

    def deeper(x: Any, n: int) -> Any:
        return _helper(x) if n == 0 else deeper(x, n - 1)

    with tf.Graph().as_default():
        made = deeper(v1.placeholder(tf.float32, []), 200)
    lines = str(made.op.source).splitlines()
    assert lines[1].endswith("(201 times)") and len(lines) <= 8


def test_run_time_errors_tell_the_chain() -> None:
    """What fails when it runs, fails far from where it was built."""

    def product(a: Any) -> Any:
        return tf.matmul(a, tf.ones([3, 4]))

    with tf.Graph().as_default(), v1.Session() as sess:
        a = v1.placeholder(tf.float32, [None, None])
        y = product(a)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Built at [^\n]*return tf.matmul[^\n]*\n"
                           r"    called at test_source.py:\d+:  y = product\(a\)\n.*Fix: "):
            sess.run(y, {a: [[1.0, 2.0]]})


def test_debuggers_find_their_place_free() -> None:
    """A debugger that begins later sets its own function, as if there were none."""
    with tf.Graph().as_default():
        _helper(v1.placeholder(tf.float32, []))
        frame = sys._getframe()
        assert not frame.f_trace
        seen = []

        def trace(_frame: Any, event: str, _arg: Any) -> Any:
            seen.append(event)
            return trace

        frame.f_trace = trace
        before = sys.gettrace()
        sys.settrace(trace)
        _helper(v1.placeholder(tf.float32, []))
        sys.settrace(before)
        frame.f_trace = None
    assert "line" in seen and "call" in seen


def _in_another_graph(x: Any) -> Any:
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.constant(1.0)
        return sess.run(x)


def test_a_tensor_that_left_its_function() -> None:
    """Every way to use it says: return it."""
    kept = []

    @tf.function
    def f(x: Any) -> Any:
        kept.append(x * 2.0)
        return x

    @tf.function
    def g(x: Any) -> Any:
        return x + kept[0]

    f(tf.constant(1.0))
    uses: list[Callable[[], Any]] = [lambda: kept[0] + 1.0, lambda: g(tf.constant(1.0)), lambda: kept[0].numpy(),
                                     lambda: _in_another_graph(kept[0])]
    for use in uses:
        with pytest.raises((TypeError, ValueError, AttributeError), match=r"(?s)kept.append.*Fix: .*return it"):
            use()
    assert not hasattr(kept[0], "numpy")


def test_gradients_that_are_none() -> None:
    """Where None turns up, `explain_gradient` is named."""
    with tf.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", [])
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        wrong: list[Callable[[], Any]] = [
            lambda: sess.run(tf.gradients(tf.constant(1.0), v)), lambda: optimizer.apply_gradients([(None, v)]),
            lambda: optimizer.minimize(tf.constant(1.0))]
        for use in wrong:
            with pytest.raises((TypeError, ValueError), match=r"Fix: .*print\(tf.explain_gradient\("):
                use()
