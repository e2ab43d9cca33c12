"""Random problems with a parameter, and derivatives along a direction, for the tests of `tf.implicit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import graphgrad.compat.v1 as tf
from tests.support.effort import ALL
from tests.support.sessions import run, run_in_numpy

SHAPES = [(), (1,), (3,), (2, 2), (1, 3, 2)]


class Problem(NamedTuple):
    """A system f(x, p) = 0.

    Attributes:
      f: takes tensors x and p, returns one of the shape of x.
      p: the parameter's value.
      start: where to start.
      v: a direction in the parameter's space.
      w: weights of the components of x.
    """

    f: Callable[[Any, Any], Any]
    p: np.ndarray
    start: np.ndarray
    v: np.ndarray
    w: np.ndarray


def system(seed: int) -> Problem:
    """Draws a system A x + sin(B x) * (C p) = D p^2 with a dominant diagonal; the shapes of x and p vary."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    n, m = int(np.prod(shape)), 1 + seed % 3
    a = rng.normal(size=(n, n)) * 0.3 + np.diag(rng.choice([-2.0, 2.0], n))
    b, c, d = rng.normal(size=(n, n)) * 0.3, rng.normal(size=(n, m)) * 0.5, rng.normal(size=(n, m))

    def f(x: Any, p: Any) -> Any:
        column, p = tf.reshape(x, [n, 1]), tf.reshape(p, [m, 1])
        y = a @ column + tf.sin(b @ column) * (c @ p) - d @ (p * p)
        return tf.reshape(y, shape)

    return Problem(f, rng.uniform(0.5, 1.5, m), np.zeros(shape), rng.normal(size=m), rng.normal(size=shape))


def compute(fetches: Any) -> Any:
    """Runs the default graph: in NumPy, which takes a fraction of what compiling does, unless all is to be tested."""
    return run(fetches) if ALL else run_in_numpy(fetches)


def along(y: Any, p: Any, v: Any, orders: int) -> list[Any]:
    """Returns a scalar and its derivatives along v, by reverse mode."""
    found = [y]
    for _ in range(orders):
        found.append(tf.reduce_sum(tf.gradients(found[-1], p)[0] * v))
    return found


def pushed(y: Any, p: Any, v: Any, orders: int) -> list[Any]:
    """Returns a scalar and its derivatives along v, by forward mode."""
    found = [y]
    for _ in range(orders):
        found.append(tf.jvp(found[-1], p, v))
    return found


def unrolled(problem: Problem, x: np.ndarray, p: Any, steps: int) -> Any:
    """Returns x(p) as an iteration that autodiff unrolls: `steps` steps with the inverse Jacobian at the solution.

    It begins at the solution x, so each step makes one more order of derivatives exact.
    """
    n = x.size
    with tf.Graph().as_default():
        at = tf.constant(x)
        (slope,) = compute([tf.jacobian(problem.f(at, tf.constant(problem.p)), at)])
    inverse = np.linalg.inv(np.reshape(slope, (n, n)))
    found: Any = tf.constant(x)
    for _ in range(steps):
        found = found - tf.reshape(inverse @ tf.reshape(problem.f(found, p), [n, 1]), x.shape)
    return found


def close(got: Sequence[Any], wanted: Sequence[Any], rtol: float = 1e-12) -> None:
    """Asserts that numbers agree, relative to the largest of them."""
    size = max(1.0, *(float(np.max(np.abs(t), initial=0.0)) for t in wanted))
    for i, (one, other) in enumerate(zip(got, wanted, strict=True)):
        np.testing.assert_allclose(one, other, rtol=0, atol=rtol * size, err_msg=f"order {i}")
