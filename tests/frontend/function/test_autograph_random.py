"""Random Python programs of branches, loops and jumps: a trace gives what Python gives, and so do its derivatives."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


class _Writer:
    """Writes one program; `x` is a tensor, `a` to `c` are numbers at first."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _number(self, depth: int = 2) -> str:
        kind = self.rng.randrange(7 if depth else 3)
        if kind < 2:
            return self.rng.choice("abcx")
        if kind == 2:
            return str(self.rng.randrange(-3, 4))
        left, right = self._number(depth - 1), self._number(depth - 1)
        if kind == 6:
            return f"({left} + 0 * x if {self._test(depth - 1)} else {right} + 0 * x)"
        return f"({left} {'+-*'[kind - 3]} {right}) % 11"

    def _test(self, depth: int = 1) -> str:
        kind = self.rng.randrange(5 if depth else 2)
        compare = self.rng.choice(["<", ">", "<=", "==", "!="])
        if kind < 2:
            return f"{self._number(1)} {compare} {self._number(1)}"
        if kind == 2:
            return f"not ({self._test(depth - 1)})"
        if kind == 3:
            return f"{self._number(0)} < {self._number(0)} <= {self._number(0)}"
        return f"({self._test(depth - 1)} {self.rng.choice(['and', 'or'])} {self._test(depth - 1)})"

    def _block(self, depth: int, nesting: int, in_loop: bool) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            kind = self.rng.randrange(9)
            if kind < 4 or nesting == 0:
                self._line(depth, f"{self.rng.choice('abc')} {self.rng.choice(['=', '+='])} {self._number()} + 0 * x")
            elif kind < 6:
                self._line(depth, f"if {self._test()}:")
                self._block(depth + 1, nesting - 1, in_loop)
                if self.rng.random() < 0.6:
                    self._line(depth, "else:")
                    self._block(depth + 1, nesting - 1, in_loop)
            elif kind == 6:
                self.loops += 1
                i = f"i{self.loops}"
                rows = self.rng.choice(["tf.range(3)", "tf.range(4)", "range(3)", "tf.stack([x, x + 1])"])
                self._line(depth, f"for {i} in {rows}:")
                self._line(depth + 1, f"a = (a + {i}) % 7 + 0 * x")
                self._block(depth + 1, nesting - 1, True)
            elif kind == 7:
                self.loops += 1
                i = f"n{self.loops}"
                self._line(depth, f"{i} = 0 * x")
                self._line(depth, f"while {i} < 4 and {self._test()}:")
                self._line(depth + 1, f"{i} += 1")
                self._block(depth + 1, nesting - 1, True)
            elif in_loop and self.rng.random() < 0.7:
                self._line(depth, f"if {self._test()}:")
                self._line(depth + 1, self.rng.choice(["break", "continue"]))
            else:
                self._line(depth, f"if {self._test()}:")
                self._line(depth + 1, f"return {self._number()} + 0 * x")

    def program(self, name: str) -> Callable[..., Any]:
        """The program, with a file of its own that Python can find."""
        self._line(0, "def program(x):")
        self._line(1, "a, b, c = 1 + 0 * x, 2 + 0 * x, x")
        for _ in range(2):
            self._block(1, 3, False)
        self._line(1, "return (a + 13 * b + 101 * c) % 997")
        text = "\n".join(self.lines) + "\n"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        scope: dict[str, Any] = {"tf": tf}
        exec(compile(text, name, "exec"), scope)
        program: Callable[..., Any] = scope["program"]
        return program


@pytest.mark.parametrize("seed", range(14))
def test_jumps_and_nesting(seed: int) -> None:
    """One trace serves all inputs."""
    program = _Writer(seed).program(f"<random program {seed}>")
    traced = Function(program, engine="numpy")
    for value in (-4, -1, 0, 1, 2, 5):
        assert int(traced(tf.constant(value))) == int(program(tf.constant(value))), "".join(
            linecache.getlines(f"<random program {seed}>"))
    assert traced.experimental_get_tracing_count() == 1


class _Smooth:
    """Draws smooth expressions over Python control flow on tensors, functions in functions included."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def make(self, depth: int) -> Callable[[Any, Any], Any]:
        """A function of two vectors."""
        kind = int(self.rng.integers(6)) if depth else 0
        f, g = (self.make(depth - 1), self.make(depth - 1)) if depth else (None, None)
        n = int(self.rng.integers(1, 4))

        def plain(x: Any, y: Any) -> Any:
            return tf.sin(x * (n * 0.5)) + y * x * 0.3

        def branch(x: Any, y: Any) -> Any:
            if tf.reduce_sum(x) < 0.4 * n:
                z = f(x, y)
            else:
                z = g(y, x)
            return z * 0.5

        def loop(x: Any, y: Any) -> Any:
            for i in tf.range(n + 2):
                if i == 2:
                    continue
                x = tf.tanh(f(x, y)) + tf.cast(i, tf.float64) * 0.1
            return x

        def until(x: Any, y: Any) -> Any:
            k = 0
            while tf.reduce_sum(x) < 2.0:
                x = x * 0.9 + tf.tanh(f(x, y)) * 0.3 + 0.4
                k += 1
                if k > 4:
                    break
            return g(x, y)

        def mapped(x: Any, y: Any) -> Any:
            return tf.map_fn(lambda r: tf.reduce_sum(f(x * r, y)), y) * 0.3

        def function(x: Any, y: Any) -> Any:
            return inner(x, y) + inner(y, x) * 0.2

        inner = Function(f, engine="numpy") if f is not None else None
        made: Callable[[Any, Any], Any] = (plain, branch, loop, until, mapped, function)[kind]
        return made


@pytest.mark.parametrize("seed", range(8))
def test_derivatives(seed: int) -> None:
    """Values are Python's; first and second derivatives, by tapes around the function, are differences."""
    program = _Smooth(seed).make(3)
    f = Function(lambda x: tf.reduce_sum(tf.sin(program(x, x * x))), engine="numpy")
    start, direction = np.array([0.3, -0.2, 0.6]), np.array([1.0, -0.5, 0.8])

    def derivatives(e: float) -> tuple[float, float, float]:
        x = tf.constant(start + e * direction)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tf.reduce_sum(tape.gradient(y, x, unconnected_gradients="zero") * direction)
        second = outer.gradient(first, x, unconnected_gradients="zero")
        return float(y), float(first), float(tf.reduce_sum(tf.convert_to_tensor(second) * direction))

    y, first, second = derivatives(0.0)
    (up, up_first, _), (down, down_first, _) = derivatives(1e-6), derivatives(-1e-6)
    np.testing.assert_allclose(y, tf.reduce_sum(tf.sin(program(tf.constant(start), tf.constant(start**2)))), rtol=1e-12)
    np.testing.assert_allclose(first, (up - down) / 2e-6, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(second, (up_first - down_first) / 2e-6, rtol=1e-6, atol=1e-8)
