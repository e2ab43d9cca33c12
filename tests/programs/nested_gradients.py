"""Random programs of nested branches, loops and maps, which ask for gradients at any depth of what stands at any depth.

A program is built twice: nested, and flat, where a branch is a choice between two values, a loop is unrolled, and a map
is a list. In the flat one all is one graph, so its gradients need not leave any; loop variables, where a sweep that
begins inside of the loop ends, are among its `stop_gradients`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

Block = list[tuple[Any, ...]]
_KINDS = {"op": 8, "grad": 4, "cond": 2, "while": 2, "map": 2, "variable": 1}


class Program:
    """A random program.

    Args:
      seed: which one.
      deepest: how many levels of sub-graphs there are at most.
    """

    def __init__(self, seed: int, deepest: int = 3):
        self._rng = random.Random(seed)
        self._deepest = deepest
        self.start = [self._rng.uniform(-1.5, 1.5) for _ in range(3)]
        self.block = self._block(len(self.start), 0, 7)

    def _block(self, known: int, depth: int, size: int) -> Block:
        """Statements that each add a value to those known; the block's own value is the sum of its last two."""
        rng, block = self._rng, []
        kinds = list(_KINDS) if depth < self._deepest else ["op", "grad", "variable"]
        for _ in range(rng.randint(2, size)):
            kind = rng.choices(kinds, [_KINDS[k] for k in kinds])[0]
            a, b = (self._pick(known) for _ in range(2))
            inner = max(2, size - 2)
            if kind == "op":
                block.append((kind, rng.choice(list(_OPS)), a, b))
            elif kind == "variable":
                block.append((kind, a))
            elif kind == "grad":
                stops = [self._pick(known)] if rng.random() < 0.2 else []
                weight = self._pick(known) if rng.random() < 0.2 else None
                xs = rng.sample(range(known), min(known, rng.randint(1, 2)))
                ys = [a, b][: rng.randint(1, 2)]
                block.append((kind, ys, xs, stops, weight, rng.random() < 0.2))
            elif kind == "cond":
                block.append((kind, a, rng.uniform(-1, 1), self._block(known, depth + 1, inner),
                              self._block(known, depth + 1, inner)))
            elif kind == "while":
                counted = rng.random() < 0.7
                block.append((kind, a, rng.randint(0, 3), counted, self._block(known + 1, depth + 1, inner)))
            else:
                block.append((kind, [a, b], self._block(known + 1, depth + 1, inner)))
            known += 1
        return block

    def _pick(self, known: int) -> int:
        return min(known - 1, int(known * self._rng.random() ** 0.7))

    def build(self, nested: bool, orders: int) -> list[Any]:
        """Builds it in the current graph: its value, that one's gradients, and with 2 `orders` those of the first."""
        x = [tf.constant(v, tf.float64) for v in self.start]
        with tf.variable_scope("program", reuse=tf.AUTO_REUSE, use_resource=True):
            v = tf.get_variable("v", [], tf.float64, tf.constant_initializer(0.7))
        run = _Run(v, _Nested() if nested else _Flat())
        y = run.block(self.block, x)
        found = [y, *tf.gradients(y, [*x, v], unconnected_gradients="zero")]
        if orders > 1:
            found += tf.gradients(found[1], [*x, v], unconnected_gradients="zero")
        return found


_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + 0.5 * b,
    "mul": lambda a, b: a * b,
    "sin": lambda a, b: tf.sin(a + b),
    "tanh": lambda a, b: tf.tanh(a) - b,
    "square": lambda a, b: a * a * 0.5,
    "where": lambda a, b: tf.where(a > b, a * b, a - b),
    "stack": lambda a, b: tf.reduce_sum(tf.stack([a, b]) * tf.stack([b, b])),
    "stop": lambda a, b: a * tf.stop_gradient(b),
}


class _Run:
    """Builds the statements of a program.

    Args:
      v: a variable.
      form: how sub-graphs are built.
    """

    def __init__(self, v: Any, form: Any):
        self.v, self.form = v, form

    def block(self, block: Block, known: list[Any]) -> Any:
        """The value of a block, of the values that are known before."""
        known = list(known)
        for kind, *parts in block:
            known.append(_tame(getattr(self, f"_{kind}")(known, *parts)))
        return known[-1] + known[-2]

    def _op(self, known: list[Any], name: str, a: int, b: int) -> Any:
        return _OPS[name](known[a], known[b])

    def _variable(self, known: list[Any], a: int) -> Any:
        return self.v * known[a]

    def _grad(self, known: list[Any], ys: list[int], xs: list[int], stops: list[int], weight: int | None,
              of_variable: bool) -> Any:
        sources = [known[i] for i in xs] + ([self.v] if of_variable else [])
        weights = None if weight is None else [known[weight] for _ in ys]
        found = tf.gradients([known[i] for i in ys], sources, weights, unconnected_gradients="zero",
                             stop_gradients=[*self.form.ends, *(known[i] for i in stops)])
        return tf.add_n(found)

    def _cond(self, known: list[Any], a: int, limit: float, then: Block, other: Block) -> Any:
        return self.form.cond(known[a] > limit, lambda: self.block(then, known), lambda: self.block(other, known))

    def _while(self, known: list[Any], a: int, n: int, counted: bool, body: Block) -> Any:
        return self.form.loop(lambda t: _tame(self.block(body, [*known, t])), known[a], n, counted)

    def _map(self, known: list[Any], rows: list[int], body: Block) -> Any:
        return self.form.map(lambda t: self.block(body, [*known, t]), [known[i] for i in rows])


def _tame(t: Any) -> Any:
    """Keeps values, and derivatives, small."""
    return 1.5 * tf.tanh(0.6 * t)


class _Nested:
    ends: tuple[Any, ...] = ()

    def cond(self, pred: Any, then: Any, other: Any) -> Any:
        return tf.cond(pred, then, other)

    def loop(self, body: Any, start: Any, n: int, counted: bool) -> Any:
        most = tf.constant(n) if counted else tf.placeholder_with_default(tf.constant(n), [])
        return tf.while_loop(lambda i, t: i < most, lambda i, t: (i + 1, body(t)), (0, start))[1]

    def map(self, body: Any, rows: list[Any]) -> Any:
        return tf.reduce_sum(tf.map_fn(body, tf.stack(rows)))


class _Flat:
    def __init__(self) -> None:
        self.ends: list[Any] = []  # the loop variables of the iterations that are being built

    def cond(self, pred: Any, then: Any, other: Any) -> Any:
        return tf.where(pred, then(), other())

    def loop(self, body: Any, start: Any, n: int, counted: bool) -> Any:
        for _ in range(n):
            start = tf.identity(start)
            self.ends.append(start)
            start = body(start)
            self.ends.pop()
        return start

    def map(self, body: Any, rows: list[Any]) -> Any:
        stacked = tf.stack(rows)
        return tf.add_n([body(stacked[i]) for i in range(len(rows))])


def difference(seed: int, deepest: int = 3, session: Any = tf.Session, most: int = 1500) -> float | None:
    """How far the two forms of a program are apart, relative to the larger of the result and 1.

    Args:
      seed, deepest: as of `Program`.
      session: the kind of session in which the nested form runs.
      most: how many operations the flat form may have: what is nested takes long to differentiate.
    Returns: the difference in two runs; None for a program that is too large.
    """
    program = Program(seed, deepest)
    for orders in (2, 1):
        with tf.Graph().as_default() as graph, HostSession() as sess:
            fetches = program.build(False, orders)
            if len(graph.get_operations()) > most:
                continue
            sess.run(tf.global_variables_initializer())
            flat = np.array(sess.run(fetches))
        with tf.Graph().as_default(), session() as sess:
            fetches = program.build(True, orders)
            sess.run(tf.global_variables_initializer())
            found = [np.array(sess.run(fetches)) for _ in range(2)]
        return max(float(np.max(np.abs(f - flat) / np.maximum(np.abs(flat), 1.0))) for f in found)
    return None
