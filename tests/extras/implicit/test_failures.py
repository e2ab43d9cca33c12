"""What cannot be solved: the class and text of the error, its residual and remedy; warnings and NaN instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.effort import ALL
from tests.support.sessions import run, run_in_numpy

_TWO = np.array([1.0, 2.0])
_NOT_A_FUNCTION: Any = "cos"


def _root(f: Any, start: Any = _TWO, **options: Any) -> Any:
    return tf.implicit.root(f, start, **options)


def _linear(a: Any, b: Any = _TWO, **options: Any) -> Any:
    return tf.implicit.linear_solve(a, b, **options)


def _gradient_at_a_double_root() -> Any:
    p = tf.constant([1.0, 0.0], tf.float64)
    return tf.gradients(_root(lambda x: x * x - 2 * x * p + p, np.array([1.0, 0.0])), p)


def _gradient_of_nan() -> Any:
    b = tf.constant(_TWO)
    return tf.gradients(_linear(np.eye(2), b) * np.nan, b)


# What runs, but fails -> a pattern of the message.
_FAILING: dict[str, tuple[Callable[[], Any], str]] = {
    "no root": (lambda: _root(lambda x: x * x + 1),
                "'root' .*singular Jacobian.*residual is 1[.](?s:.*)Fix: check that"),
    "flat start": (lambda: _root(lambda x: x * x - 4, np.zeros(2)), "singular Jacobian.*iteration 1.*residual is 4"),
    "double root": (lambda: _root(lambda x: (x - 1) ** 2, 3 * _TWO), "multiple solution after .*residual is"),
    "gradient at a double root": (_gradient_at_a_double_root, "(?s)Jacobian of tf.implicit.root 'root' is singular"),
    "few steps": (lambda: _root(lambda x: tf.exp(x) - 9, max_iterations=2),
                  "not converged after 2 iter(?s:.*)raise max"),
    "nan": (lambda: _root(lambda x: tf.log(x - 5)), "not finite in iteration 0(?s:.*)start elsewhere"),
    "matrix-free root": (lambda: _root(lambda x: x * x + 1, linear_solver="gmres"), "(?s)residual is.*Fix: "),
    "dependent equations": (lambda: _root(lambda x: tf.stack([x[0] + x[1], x[0] + x[1]]) - _TWO), "singular Jacobian"),
    "expansion": (lambda: tf.implicit.fixed_point(lambda x: 2 * x + 1, _TWO),
                  "(?s)'fixed_point' has not converged after 1000.*residual is.*tf.implicit.root"),
    "accelerated": (lambda: tf.implicit.fixed_point(lambda x: x + 1, _TWO, anderson=2), "(?s)1000 iter.*residual is 1"),
    "few repetitions": (lambda: tf.implicit.fixed_point(tf.cos, _TWO, max_iterations=5), "after 5 iterations"),
    "singular": (lambda: _linear(np.array([[0.1, 0.3], [0.2, 0.6]])),
                 "'linear_solve': the matrix is singular to the precision.*residual [0-9.e-]+;(?s:.*)regularize"),
    "nearly singular": (lambda: _linear(np.array([[1.0, 1.0], [1.0, 1.0 + 2.3e-16]])), "condition number is at least"),
    "one of a stack": (lambda: _linear(np.stack([np.eye(2), np.ones((2, 2))]), np.ones((2, 2))), "singular"),
    "nan in b": (lambda: _linear(np.eye(2), np.array([1.0, np.nan])),
                 "(?s)right side that is not finite.*residual.*check_numerics"),
    "infinity in one b of a stack": (lambda: _linear(np.stack([np.eye(2)] * 2), np.array([[1.0, 2.0], [np.inf, 1.0]])),
                                     "(?s)right side that is not finite.*residual"),
    "nan in a": (lambda: _linear(np.array([[1.0, np.nan], [0.0, 1.0]])), "(?s)elements that are not finite.*residual"),
    "nan in a gradient": (_gradient_of_nan, "(?s)right side that is not finite"),
    "large x": (lambda: _linear(np.ones((2, 2), np.float32), _TWO.astype(np.float32), method="cg"), "residual is"),
    "small one of a stack": (lambda: _linear(np.stack([1e12 * np.eye(2), np.ones((2, 2))]),
                                             np.array([[1e13, 1e13], [1.0, 2.0]]), method="gmres"), "residual is"),
    "crossing bounds": (lambda: tf.implicit.argmin(lambda x: tf.reduce_sum(x * x), _TWO,
                                                   bounds=(1, np.array([2.0, 0.5]))),
                        "(?s)lower bound above the upper.*residual is.*upper - lower"),
    "bound that is none": (lambda: tf.implicit.argmin(lambda x: tf.reduce_sum(x * x), _TWO, bounds=(np.nan, None)),
                           "(?s)not a number.*residual is"),
    "zero operator": (lambda: _linear(lambda x: 0 * x), "(?s)singular.*residual is 2.24"),
    "singular operator": (lambda: _linear(lambda x: tf.stack([x[0] + x[1]] * 2)), "(?s)residual is.*Fix: "),
    "few products": (lambda: _linear(lambda x: x * np.linspace(1, 9, 50), np.ones(50), max_iterations=3, restart=3),
                     "(?s)not converged after [34] iter.*wanted is at most.*method='lu'"),
    "affine": (lambda: _linear(lambda x: 2 * x + 1), "not linear: it maps zeros"),
    "indefinite": (lambda: _linear(lambda x: x * [1.0, -1.0], method="cg"), "(?s)p . A p <= 0.*method='gmres'"),
}


_COMPILED = ("few steps", "one of a stack", "affine")  # of each kind of check one, unless all is to be tested


@pytest.mark.parametrize(("name", "engine"), [(name, engine) for name in _FAILING for engine in ("numpy", "xla")
                                              if ALL or engine == "numpy" or name in _COMPILED])
def test_failures(name: str, engine: str) -> None:
    """A run without a solution is an InvalidArgumentError with the residual, the user's line and a remedy."""
    build, text = _FAILING[name]
    with tf.Graph().as_default():
        y = build()
        with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
            run(y) if engine == "xla" else run_in_numpy(y)
    assert "Built at test_failures.py" in str(caught.value)


def test_warnings_and_nan() -> None:
    """By strict='warn' the failure is a warning, and by 'nan' the numbers are NaN; nothing else fails in the run."""
    builders: list[Callable[[str], Any]] = [
        lambda s: _root(lambda x: x * x + 1, strict=s),
        lambda s: tf.implicit.fixed_point(lambda x: 2 * x, _TWO, strict=s),
        lambda s: _linear(np.ones((2, 2)), strict=s), lambda s: _linear(lambda x: 0 * x, strict=s)]
    for build in builders:
        engine = run if ALL or build is builders[0] else run_in_numpy
        with tf.Graph().as_default():
            with pytest.warns(RuntimeWarning, match="(?s)residual.*Fix: "):
                engine(build("warn"))
            assert np.all(np.isnan(engine(build("nan"))))


def test_eager_failure() -> None:
    """Eager mode raises the same error."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular Jacobian"):
        tf2.implicit.root(lambda x: x * x + 1, _TWO)


def test_failure_in_a_loop() -> None:
    """A failure in a loop's body ends the run, too."""
    with tf.Graph().as_default():
        y = tf.while_loop(lambda x: x[0] > -5, lambda x: _root(lambda z: z * z - x, tf.ones_like(x)) - 3,
                          [tf.constant(_TWO)])
        with pytest.raises(tf.errors.InvalidArgumentError, match="tf.implicit.root"):
            run(y)


# What cannot be built.
_REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no function": (lambda: _root(3.0), TypeError, "tf.implicit.root: f must be a function"),
    "integers": (lambda: _root(lambda x: x, tf.constant([1, 2])), TypeError, "start has dtype int32"),
    "two dtypes": (lambda: _root(lambda x: x, [tf.ones(2), _TWO]), TypeError, "float32, float64"),
    "nothing": (lambda: _root(lambda x: x, []), ValueError, "start has no tensors"),
    "shape": (lambda: _root(tf.reduce_sum), ValueError, r"f returned shape \(\) for \(2,\)"),
    "number": (lambda: _root(lambda x: [x, x]), ValueError, "f returned 2 tensors for 1"),
    "dtype": (lambda: _root(lambda x: tf.cast(x, tf.float32)), ValueError, "f returned float32 for float64"),
    "constant": (lambda: _root(lambda x: tf.constant(_TWO)), ValueError, "does not depend on the unknown"),
    "random": (lambda: _root(lambda x: x + tf.random.normal([2], dtype=tf.float64)), ValueError, "random numbers"),
    "effect": (lambda: _root(lambda x: tf.py_func(lambda y: y, [x], tf.float64)), ValueError,
               "has an effect: 'root/f/"),
    "solver": (lambda: _root(lambda x: x, linear_solver="qr"), ValueError, "one of None, 'lu', 'cg'"),
    "strict": (lambda: _linear(np.eye(2), strict=True), ValueError, "one of 'error', 'warn', 'nan'"),
    "not square": (lambda: _linear(np.ones((2, 3))), ValueError, r"operator has shape \(2, 3\)"),
    "rows": (lambda: _linear(np.eye(2), np.ones(3)), ValueError, "are 2 and 3"),
    "not linear": (lambda: _linear(lambda x: x * x), ValueError, "operator is not linear"),
    "memory": (lambda: tf.implicit.fixed_point(tf.cos, _TWO, anderson=-1), ValueError, "(?s)anderson=-1.*look back"),
    "fixed point": (lambda: tf.implicit.fixed_point(_NOT_A_FUNCTION, _TWO), TypeError,
                    "tf.implicit.fixed_point: f must be"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refused(name: str) -> None:
    """Arguments that cannot be meant are errors where they are given, and say what to do."""
    build, cls, text = _REFUSED[name]
    with tf.Graph().as_default(), pytest.raises(cls, match=text) as caught:
        build()
    assert "Fix:" in str(caught.value)


def test_graphs_read_from_files() -> None:
    """A graph's file does not say what a result solves: asking for its derivative is an error."""
    with tf.Graph().as_default() as graph:
        p = tf.placeholder(tf.float64, [], name="p")
        tf.identity(tf.implicit.root(lambda x: x * x - p, np.float64(1.0)), name="x")
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph.as_graph_def(), name="")
        x, p = other.get_tensor_by_name("x:0"), other.get_tensor_by_name("p:0")
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(x, {p: 2.0}), 2**0.5)
            with pytest.raises(LookupError, match="ImplicitSolution"):
                tf.gradients(x, p)
