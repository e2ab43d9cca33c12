"""Gradient functions of users that read what the function itself does not: variables and tensors from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context

X = np.array([1.0, 0.5, -1.0])
N = 4


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


class Program:
    """y = (sum of 3 x, or of sin x for odd i) squared; the gradient of 3 x is said to be 10 w c dy.

    Args:
      branch: whether what is added depends on i.
      loop: whether N things are added.
      assigns: whether w grows by 0.1 with each.
    """

    def __init__(self, branch: bool, loop: bool, assigns: bool):
        self.branch, self.loop, self.assigns = branch, loop, assigns
        self.w = tf.Variable(2.0, dtype=tf.float64)
        self.c = tf.constant([1.0, 2.0, 3.0], tf.float64)

    def tripled(self, x: Any) -> Any:
        """3 x, with its gradient."""
        @tf.custom_gradient
        def f(x: Any) -> Any:
            return x * 3.0, lambda dy: dy * self.w * 10.0 * self.c

        return f(x)

    def term(self, x: Any, i: Any, y: Any) -> Any:
        """y and one more term."""
        even = tf.equal(i % 2, 0)
        y = y + (tf.cond(even, lambda: self.tripled(x), lambda: tf.sin(x)) if self.branch else self.tripled(x))
        if self.assigns:
            with tf.control_dependencies([y]):
                self.w.assign_add(0.1)
        return y

    def __call__(self, x: Any, n: Any) -> Any:
        """The program, as it is traced."""
        y = tf.zeros_like(x)
        if self.loop:
            return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, self.term(x, i, y)), [0, y])[1] ** 2
        return self.term(x, n, y) ** 2

    def slopes(self, w: float) -> np.ndarray:
        """The gradient by x, where reading gives w."""
        terms = [i % 2 == 0 or not self.branch for i in (range(N) if self.loop else [N])]
        y = sum(3.0 * X if tripled else np.sin(X) for tripled in terms)
        return 2.0 * y * sum(10.0 * w * np.array([1.0, 2.0, 3.0]) if tripled else np.cos(X) for tripled in terms)

    def assigned(self) -> int:
        """How often a call assigns."""
        return self.assigns * (N if self.loop else 1)


def _outer_tape(program: Program) -> Callable[[], Any]:
    f = tf.function(program)

    def call() -> Any:
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(N))
        return tape.gradient(y, x)

    return call


def _inner_tape(program: Program) -> Callable[[], Any]:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(x, n)
        return tape.gradient(y, x)

    return lambda: f(tf.constant(X), tf.constant(N))


def _gradients(program: Program) -> Callable[[], Any]:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        return tf.gradients(program(x, n), x)[0]

    return lambda: f(tf.constant(X), tf.constant(N))


@pytest.mark.parametrize("way", [_outer_tape, _inner_tape, _gradients])
@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.parametrize("loop", [False, True])
def test_numbers(way: Any, branch: bool, loop: bool) -> None:
    """Three calls, with another value of the variable each time."""
    program = Program(branch, loop, assigns=False)
    call = way(program)
    for w in (2.0, 3.0, -1.0):
        program.w.assign(w)
        np.testing.assert_allclose(call().numpy(), program.slopes(w), rtol=1e-12)


@pytest.mark.parametrize("way", [_outer_tape, _inner_tape, _gradients])
@pytest.mark.parametrize("branch", [False, True])
def test_assignments(way: Any, branch: bool) -> None:
    """The gradient function runs after the function, and reads what that assigned."""
    program = Program(branch, False, assigns=True)
    call = way(program)
    for n in range(1, 4):
        np.testing.assert_allclose(call().numpy(), program.slopes(2.0 + 0.1 * n), rtol=1e-12)
    assert np.isclose(program.w.numpy(), 2.0 + 3 * 0.1 * program.assigned())


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("branch", [False, True])
def test_derivative_by_what_the_gradient_reads(branch: bool, loop: bool) -> None:
    """A tape around a tape: the gradient is linear in the variable."""
    program = Program(branch, loop, assigns=False)
    f = tf.function(program)
    x = tf.constant(X)
    for _ in range(2):
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, tf.constant(N))
            slopes = inner.gradient(y, x)
        found = outer.gradient(slopes, program.w)
        assert found is not None
        np.testing.assert_allclose(found.numpy(), (program.slopes(3.0) - program.slopes(2.0)).sum(), rtol=1e-9)
