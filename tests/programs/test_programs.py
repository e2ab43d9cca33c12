"""Random programs, built twice: as a graph here and in jax.numpy. First and second derivatives agree.

JAX differentiates by means of its own, so it is an oracle for what finite differences cannot tell: `stop_gradient`,
`stop_gradients`, gradients of one's own, integers in between. Where none of these occurs, finite differences are a
second one. How the gradient is asked for (aggregation, gating, colocation) is drawn too, and must not matter.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import ALL
from tests.support.table import generator

settings.register_profile("programs", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True,
                          suppress_health_check=list(HealthCheck))
_PROFILE = settings.get_profile("programs")

N = 3  # all tensors are (N, N), which leaves the wiring free


class Step(NamedTuple):
    """One kind of step: from tensors a and b to a list of tensors, in both languages.

    Attributes:
      graph: `f(a, b)` in graphgrad.
      jax: `f(jnp, a, b)` in JAX.
      smooth: whether finite differences tell its derivative.
    """

    graph: Callable[..., Any]
    jax: Callable[..., Any]
    smooth: bool = True


def _stop(jnp: Any, a: Any) -> Any:
    import jax

    return jax.lax.stop_gradient(a)


# -- gradients of one's own: what they say is not the derivative, and has a derivative itself -------------


@tf.custom_gradient
def _own(x: Any, y: Any) -> Any:
    return tf.sin(x) * y, lambda dz: (dz * y * y, dz * 0.5 * tf.cos(x))


def _own_in_jax(jnp: Any, a: Any, b: Any) -> Any:
    import jax

    @jax.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda kept, dz: (dz * kept[1] * kept[1], dz * 0.5 * jnp.cos(kept[0])))
    return f(a, b)


@tf2.function
def _called(x: Any, y: Any) -> Any:
    return x * tf.sigmoid(y), tf.sin(x - y)


def _chosen(a: Any, b: Any) -> Any:
    return tf.cond(tf.reduce_sum(a) > 0.1234, lambda: [tf.sin(a) * b, b], lambda: [a, tf.sigmoid(a + b)])


def _chosen_in_jax(jnp: Any, a: Any, b: Any) -> Any:
    import jax

    return jax.lax.cond(jnp.sum(a) > 0.1234, lambda: [jnp.sin(a) * b, b], lambda: [a, jax.nn.sigmoid(a + b)])


def _moments(jnp: Any, a: Any, b: Any) -> Any:
    # TensorFlow takes the mean inside the variance for constant, which only shows in second derivatives.
    mean = jnp.mean(a, 0, keepdims=True)
    return [a - mean, b + jnp.mean((a - _stop(jnp, mean)) ** 2, 0, keepdims=True)]


def _moments_in_graph(a: Any, b: Any) -> Any:
    mean, variance = tf.nn.moments(a, [0], keep_dims=True)
    return [a - mean, b + variance]


def _taken(jnp: Any, a: Any, b: Any) -> Any:
    return a[jnp.array([2, 0, 2])] * b[jnp.array([1, 1, 0])]


def _largest(jnp: Any, a: Any, b: Any) -> Any:
    ordered = jnp.sort(a + 0.01 * jnp.arange(N * N).reshape(N, N), -1)[:, ::-1]
    return [ordered, ordered[:, :1] * b]


def _largest_in_graph(a: Any, b: Any) -> Any:
    ordered, _ = tf.nn.top_k(a + 0.01 * np.arange(N * N).reshape(N, N), N)
    return [ordered, ordered[:, :1] * b]


def _sigmoid(jnp: Any, a: Any) -> Any:
    return 1.0 / (1.0 + jnp.exp(-a))


STEPS: dict[str, Step] = {
    "sin": Step(lambda a, b: tf.sin(a), lambda np, a, b: np.sin(a)),
    "tanh": Step(lambda a, b: tf.tanh(a) * 2.0, lambda np, a, b: np.tanh(a) * 2.0),
    "sigmoid": Step(lambda a, b: tf.sigmoid(a), lambda np, a, b: _sigmoid(np, a)),
    "add": Step(lambda a, b: a + b, lambda np, a, b: a + b),
    "subtract": Step(lambda a, b: a - b, lambda np, a, b: a - b),
    "multiply": Step(lambda a, b: a * b, lambda np, a, b: a * b),
    "divide": Step(lambda a, b: a / (1.0 + b * b), lambda np, a, b: a / (1.0 + b * b)),
    "row": Step(lambda a, b: a * b[0], lambda np, a, b: a * b[0]),
    "column": Step(lambda a, b: a + b[:, 1:2], lambda np, a, b: a + b[:, 1:2]),
    "relu": Step(lambda a, b: tf.nn.relu(a + 0.0437), lambda np, a, b: np.where(a > -0.0437, a + 0.0437, 0.0)),
    "matmul": Step(lambda a, b: tf.matmul(a, b, transpose_b=True) / 3.0, lambda np, a, b: a @ b.T / 3.0),
    "transpose": Step(lambda a, b: tf.transpose(a), lambda np, a, b: a.T),
    "add_n": Step(lambda a, b: tf.add_n([a, b, a]), lambda np, a, b: a + b + a),
    "cumsum": Step(lambda a, b: tf.cumsum(a, 1), lambda np, a, b: np.cumsum(a, 1)),
    "mean": Step(lambda a, b: a - tf.reduce_mean(b), lambda np, a, b: a - np.mean(b)),
    "softmax": Step(lambda a, b: tf.nn.softmax(a), lambda np, a, b: np.exp(a) / np.sum(np.exp(a), -1, keepdims=True)),
    "logsumexp": Step(lambda a, b: a * tf.reduce_logsumexp(b), lambda np, a, b: a * np.log(np.sum(np.exp(b)))),
    "select": Step(lambda a, b: tf.where(a > 0.1234, a, tf.sin(b)),
                   lambda np, a, b: np.where(a > 0.1234, a, np.sin(b))),
    # several outputs, of which some may not matter
    "unstack": Step(lambda a, b: [t * b for t in tf.unstack(a, axis=1)[:2]],
                    lambda np, a, b: [a[:, 0] * b, a[:, 1] * b]),
    "split": Step(lambda a, b: [tf.concat([t, b[:, :2]], 1) for t in tf.split(a, [1, 1, 1], 1)][::2],
                  lambda np, a, b: [np.concatenate([a[:, k : k + 1], b[:, :2]], 1) for k in (0, 2)]),
    "identity_n": Step(lambda a, b: tf.identity_n([a, b]), lambda np, a, b: [a, b]),
    "moments": Step(_moments_in_graph, _moments, False),
    "top_k": Step(_largest_in_graph, _largest),
    # sparse gradients
    "gather": Step(lambda a, b: tf.gather(a, [2, 0, 2]) * tf.gather(b, [1, 1, 0]), _taken),
    "gather_gather": Step(lambda a, b: tf.gather(tf.gather(a, [0, 2, 2]), [1, 0, 1]),
                          lambda np, a, b: a[np.array([2, 0, 2])]),
    "gather_negative": Step(lambda a, b: tf.gather(-(a - b), [1, 1, 2]),
                            lambda np, a, b: -(a - b)[np.array([1, 1, 2])]),
    "gather_concat": Step(lambda a, b: tf.gather(tf.concat([a, b], 0), [4, 1, 4]),
                          lambda np, a, b: np.concatenate([a, b])[np.array([4, 1, 4])]),
    # functions, loops and branches
    "function": Step(_called, lambda np, a, b: [a * _sigmoid(np, b), np.sin(a - b)]),
    "loop": Step(lambda a, b: tf.while_loop(lambda i, t: i < 3, lambda i, t: [i + 1, tf.sin(t) * b], [0, a])[1],
                 lambda np, a, b: np.sin(np.sin(np.sin(a) * b) * b) * b),
    "cond": Step(_chosen, _chosen_in_jax),
    # what finite differences cannot follow
    "stop": Step(lambda a, b: a * tf.stop_gradient(b), lambda np, a, b: a * _stop(np, b), False),
    "integers": Step(lambda a, b: b * tf.cast(tf.cast(a * 3.0, tf.int32), tf.float64),
                     lambda np, a, b: b * (a * 3.0).astype("int32").astype("float64"), False),
    "argmax": Step(lambda a, b: b * tf.cast(tf.argmax(a, 1), tf.float64),
                   lambda np, a, b: b * np.argmax(a, 1).astype("float64"), False),
    "own": Step(_own, _own_in_jax, False),
    "recomputed": Step(tf.recompute_grad(lambda a, b: tf.sin(a * b)), lambda np, a, b: np.sin(a * b)),
    "passed_through": Step(lambda a, b: b + tf.grad_pass_through(tf.round)(a),
                           lambda np, a, b: b + a + _stop(np, np.round(a) - a), False),
}


class Program(NamedTuple):
    """A random program: steps on two operands each, counted from the latest tensor."""

    inputs: int
    steps: list[tuple[str, int, int]]
    ys: list[int]
    stopped: list[int]  # steps whose results are in `stop_gradients`
    method: int
    gate: bool
    colocate: bool

    def run(self, xs: list[Any], build: Callable[[Step, Any, Any], Any], after: Callable[[int, list[Any]], list[Any]],
            bounded: list[bool], tanh: Callable[[Any], Any]) -> list[Any]:
        """The ys; what `bounded` says for a step goes through tanh, so that numbers stay small."""
        tensors = list(xs)
        for k, (name, i, j) in enumerate(self.steps):
            a, b = (tensors[-1 - n % len(tensors)] for n in (i, j))
            made = build(STEPS[name], a, b)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            tensors.extend(after(k, [tanh(t) for t in made] if bounded[k] else made))
        return [tensors[-1 - n % len(tensors)] for n in self.ys]

    @property
    def smooth(self) -> bool:
        """Whether finite differences tell all of its derivatives."""
        return not self.stopped and all(STEPS[name].smooth for name, _, _ in self.steps)


_STEP = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9))
_PROGRAM = st.builds(
    Program, st.integers(1, 3), st.lists(_STEP, min_size=1, max_size=9),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
    st.lists(st.integers(0, 8), max_size=1), st.sampled_from([0, 1, 2]), st.booleans(), st.booleans())


def _in_jax(program: Program, values: list[Any], cts: list[Any], seconds: list[Any]) -> tuple[list[Any], Any, Any]:
    """Values, first derivatives, and the derivatives of the first ones weighted by `seconds`, by JAX."""
    import jax
    import jax.numpy as jnp

    def after(k: int, made: list[Any]) -> list[Any]:
        return [jax.lax.stop_gradient(t) for t in made] if k in program.stopped else made

    def build(step: Step, a: Any, b: Any) -> Any:
        return step.jax(jnp, a, b)

    with jax.enable_x64(True):
        bounded: list[bool] = []
        tensors = [jnp.asarray(v) for v in values]
        for name, i, j in program.steps:
            a, b = (tensors[-1 - n % len(tensors)] for n in (i, j))
            made = build(STEPS[name], a, b)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            bounded.append(max(float(jnp.max(jnp.abs(t))) for t in made) > 3)
            tensors.extend(jnp.tanh(t) for t in made) if bounded[-1] else tensors.extend(made)

        def loss(xs: list[Any]) -> Any:
            ys = program.run(xs, build, after, bounded, jnp.tanh)
            return sum(jnp.sum(c * y) for c, y in zip(cts, ys, strict=True)), ys

        def slope(xs: list[Any]) -> Any:
            grads = jax.grad(lambda x: loss(x)[0])(xs)
            return sum(jnp.sum(s * g) for s, g in zip(seconds, grads, strict=True)), grads

        xs = [jnp.asarray(v) for v in values]
        second, grads = jax.grad(slope, has_aux=True)(xs)
        return bounded, grads, second


@settings(_PROFILE, max_examples=200 if ALL else 3)  # JAX compiles each; `test_each_step` has every step anyway
@given(_PROGRAM)
@example(Program(1, [("gather_concat", 0, 0), ("cond", 0, 1), ("own", 0, 2)], [0, 1], [], 1, True, True))
@example(Program(2, [("unstack", 0, 1), ("gather_negative", 0, 3), ("function", 0, 1)], [0, 2], [1], 0, False, True))
def test_derivatives(program: Program) -> None:
    """First and second derivatives are JAX's, and those of finite differences."""
    rng = generator("programs", program)
    values = [rng.uniform(-1.2, 1.2, (N, N)) for _ in range(program.inputs)]
    cts = [rng.uniform(-1, 1, (N, N)) for _ in program.ys]
    seconds = [rng.uniform(-1, 1, (N, N)) for _ in values]
    bounded, want, want_second = _in_jax(program, values, cts, seconds)
    stops: list[Any] = []

    def after(k: int, made: list[Any]) -> list[Any]:
        stops.extend(made if k in program.stopped else [])
        return made

    with tf.Graph().as_default() as graph, HostSession(graph=graph) as sess:
        xs = [tf.placeholder(tf.float64, [N, N]) for _ in values]
        feeds = dict(zip(xs, values, strict=True))
        ys = program.run(xs, lambda step, a, b: step.graph(a, b), after, bounded, tf.tanh)
        asked = {"aggregation_method": program.method, "gate_gradients": program.gate,
                 "colocate_gradients_with_ops": program.colocate, "stop_gradients": stops}
        first = tf.gradients(ys, xs, [tf.constant(c) for c in cts], **asked)
        pairs = [(g, s) for g, s in zip(first, seconds, strict=True) if g is not None]
        weighted = [tf.reduce_sum(tf.convert_to_tensor(g) * s) for g, s in pairs]
        second = tf.gradients(weighted, xs, **asked) if weighted else [None] * len(xs)
        fetches = [None if g is None else tf.convert_to_tensor(g) for g in (*first, *second)]
        live = [g for g in fetches if g is not None]
        got = iter(sess.run([*ys, *weighted, *live], feeds)[len(ys) + len(weighted) :])
        found = [np.zeros((N, N)) if g is None else next(got) for g in fetches]
        for what, g, w in zip(["first"] * len(xs) + ["second"] * len(xs), found, [*want, *want_second], strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-8, atol=1e-9 * (1 + np.max(np.abs(w))), err_msg=what)
        if program.smooth:
            _check_differences(sess, ys, weighted, feeds, cts, found, rng)


def _check_differences(sess: Any, ys: list[Any], weighted: list[Any], feeds: dict[Any, Any], cts: list[Any],
                       found: list[Any], rng: Any) -> None:
    """Compares with central differences along a random direction."""
    along = [rng.uniform(-1, 1, (N, N)) for _ in feeds]
    h = 1e-5
    ends = []
    for step in (h, -h):
        moved = {x: v + step * d for (x, v), d in zip(feeds.items(), along, strict=True)}
        values = sess.run([*ys, *weighted], moved)
        ends.append([sum(np.sum(c * y) for c, y in zip(cts, values, strict=False)), sum(values[len(ys) :])])
    for order, grads in enumerate((found[: len(along)], found[len(along) :])):
        got = sum(np.sum(g * d) for g, d in zip(grads, along, strict=True))
        want = (ends[0][order] - ends[1][order]) / (2 * h)
        size = sum(np.sum(np.abs(g * d)) for g, d in zip(grads, along, strict=True))
        assert abs(got - want) <= 1e-6 * max(10.0, size), (order + 1, got, want)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_each_step(name: str) -> None:
    """Each kind of step by itself, so that none goes untested by chance."""
    inner = test_derivatives.hypothesis.inner_test  # type: ignore[attr-defined]  # hypothesis gives it
    inner(Program(2, [(name, 0, 1), ("multiply", 0, 1), ("sin", 0, 0)], [0, 1], [], 0, False, False))
