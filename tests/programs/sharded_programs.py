"""Random programs with annotations of how tensors and variables are split over a mesh, for `test_sharded_programs.py`.

A program is built once. With annotations it runs on four devices; a `HostSession` computes the same in NumPy, which
ignores them. Everything is of float64, so that only rounding may differ.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import graphgrad.compat.v1 as tf

_N = 8  # the size of most dimensions: a multiple of each number of parts
_SPECS: list[Any] = [[], ["data"], [None, "model"], ["model", "data"], [("data", "model")], [None, ("model", "data")],
                     ["model"], [None, "data"]]
_OPTIMIZERS: list[Any] = [
    lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1), lambda: tf.train.RMSPropOptimizer(0.1),
]


class Program(NamedTuple):
    """A program: what is fed, fetched and run, in a graph of its own."""

    graph: tf.Graph
    x: Any
    rows: Any
    fetches: list[Any]
    step: Any
    variables: list[Any]


def _square(t: Any) -> Any:
    return tf.tanh(t) * 0.5


def _loop(a: Any, b: Any) -> Any:
    return tf.while_loop(lambda k, _: k < 3, lambda k, v: (k + 1, tf.tanh(tf.matmul(v, b)) + 0.1 * v), (0, a))[1]


def _branch(a: Any, b: Any) -> Any:
    # No sum of what was normalized: rounding decides the sign of that.
    return tf.cond(tf.reduce_sum(a[0] * np.arange(1.0, 9.0)) > 0.0437, lambda: a * b, lambda: tf.matmul(a, b) * 0.1)


def _normalized(a: Any, _: Any) -> Any:
    mean, variance = tf.nn.moments(a, [0], keepdims=True)
    return (a - mean) * tf.rsqrt(variance + 0.1)


_OPS: list[Any] = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: _square(tf.matmul(a, b)),
    lambda a, b: _square(tf.matmul(a, b, transpose_b=True)), lambda a, b: tf.transpose(a),
    lambda a, b: a - tf.reduce_mean(b, axis=0), lambda a, b: a + tf.reduce_max(b, axis=1, keepdims=True),
    lambda a, b: tf.nn.softmax(a) + b, lambda a, b: tf.where(a > b + 0.0137, a, b),
    lambda a, b: tf.cumsum(a, axis=0) * 0.2,
    lambda a, b: tf.concat([a[:4], b[4:]], 0), lambda a, b: tf.reshape(tf.reshape(a, [4, 16]), [_N, _N]),
    lambda a, b: tf.reverse(a, [1]) - b, lambda a, b: tf.einsum("ij,kj->ik", a, b) * 0.1,
    lambda a, b: tf.pad(a[1:, :-1], [[1, 0], [0, 1]]), lambda a, b: tf.stack(tf.unstack(a, axis=1)[::-1], 1),
    lambda a, b: tf.unsorted_segment_sum(a, [0, 3, 3, 5, 7, 0, 1, 2], _N), _loop, _branch, _normalized,
    lambda a, b: tf.stop_gradient(a) * b, lambda a, b: tf.reduce_sum(a) * 0.01 + b,
]


def build(seed: int, annotated: bool = True) -> Program:
    """Builds the program of a number.

    Args:
      seed: the number.
      annotated: whether anything is split.
    """
    rng = np.random.RandomState(seed)
    graph = tf.Graph()
    with graph.as_default(), tf.mesh(data=2, model=2):

        def maybe(t: Any, share: float = 0.5, **more: Any) -> Any:
            spec = _SPECS[rng.randint(len(_SPECS))]
            return tf.shard(t, spec, **more) if rng.rand() < share and annotated else t

        x = tf.placeholder(tf.float64, [_N, _N])
        rows = tf.placeholder(tf.int64, [_N])
        variables = [maybe(tf.get_variable(f"v{i}", initializer=rng.randn(_N, _N)), 0.8) for i in range(3)]
        spec = _SPECS[rng.randint(len(_SPECS))]
        if annotated:
            variables[0] = tf.shard(variables[0], spec, slots=_SPECS[rng.randint(len(_SPECS))])
        bias = tf.get_variable("bias", initializer=rng.randn(_N))
        found = [maybe(x), *[v + 0.0 for v in variables[:2]], maybe(tf.gather(variables[2], rows))]
        for _ in range(rng.randint(4, 12)):
            a, b = (found[rng.randint(len(found))] for _ in range(2))
            found.append(maybe(_OPS[rng.randint(len(_OPS))](a, b)))
        y = found[-1] + tf.nn.bias_add(found[rng.randint(len(found))], bias)
        loss = tf.reduce_mean(tf.square(tf.tanh(y))) + tf.add_n([tf.reduce_mean(tf.square(v)) for v in variables])
        wanted = [*variables, bias, found[-2]]
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, wanted) if g is not None]
        second = tf.gradients(tf.reduce_sum(tf.square(gradients[0])), variables[0])
        step = _OPTIMIZERS[rng.randint(len(_OPTIMIZERS))]().minimize(loss)
        fetches = [loss, y, *gradients, *[tf.convert_to_tensor(g) for g in second if g is not None]]
    return Program(graph, x, rows, fetches, step, [*variables, bias])


def run(program: Program, seed: int, session: Any) -> list[Any]:
    """Runs a program three times; returns everything that it gives.

    Args:
      program: the program.
      seed: decides what is fed.
      session: a session for its graph.
    """
    rng = np.random.RandomState(seed)
    found: list[Any] = []
    with program.graph.as_default():
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            feeds = {program.x: rng.randn(_N, _N), program.rows: rng.randint(0, _N, _N)}
            found += session.run(program.fetches, feeds)
            session.run(program.step, feeds)
        found += session.run(tf.global_variables())
    return found
