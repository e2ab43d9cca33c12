"""Random programs with state: branches, loops and maps that read, change and count, and what they should give.

A program is a list of statements on a scalar `a`, two variables `v` and `w`, the rows of a third one, and a function
of Python's that counts its calls. It is built with TensorFlow's API (`build`), and interpreted with plain numbers
(`Plain`), whose differences say what the gradients are: variables are changed by constants alone, so a change of what a
variable holds at the beginning is a change of all that is read.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

Statement = tuple[Any, ...]

_ROWS = [0.5, -1.2, 0.8]


def program(seed: int, depth: int = 3, python: bool = True) -> list[Statement]:
    """A random program.

    Args:
      seed: the seed.
      depth: how deep branches, loops and maps are nested.
      python: whether it may call Python.
    """
    draw = random.Random(seed)
    statements = _block(draw, depth, draw.randint(2, 4), python)
    return [*statements, ("read", draw.choice("vw")), ("add", "v", 0.05)]


def _block(draw: random.Random, depth: int, length: int, python: bool) -> list[Statement]:
    return [_statement(draw, depth, python) for _ in range(length)]


def _statement(draw: random.Random, depth: int, python: bool) -> Statement:
    kinds = ["read", "read", "square", "add", "row", "scatter"] + ["call"] * python
    if depth:
        kinds += ["if", "if", "while", "while", "map"]
    kind = draw.choice(kinds)
    if kind in ("read", "square"):
        return kind, draw.choice("vw")
    if kind == "add":
        return kind, draw.choice("vw"), draw.choice([0.06, -0.04, 0.02])
    if kind in ("row", "scatter"):
        return kind, draw.randrange(3)
    if kind == "call":
        return (kind,)
    length = draw.randint(1, 3)
    if kind == "if":
        test = draw.choice(["step", "positive", "never"])
        return kind, test, _block(draw, depth - 1, length, python), _block(draw, depth - 1, draw.randint(0, 2), python)
    if kind == "while":
        return kind, draw.randint(0, 3), draw.choice(["count", "value"]), _block(draw, depth - 1, length, python)
    return kind, _block(draw, 0, length, python)


class Plain:
    """Runs programs with numbers.

    Args:
      v, w, rows: what the variables hold.
    """

    def __init__(self, v: float, w: float, rows: Any):
        self.held = {"v": v, "w": w}
        self.rows = list(rows)
        self.calls = 0

    def run(self, statements: list[Statement], a: float, step: int = 1) -> float:
        """The result for `a`; `step` is the number of the iteration around it."""
        for kind, *rest in statements:
            if kind == "read":
                a = 0.6 * math.sin(a * self.held[rest[0]])
            elif kind == "square":
                a = a * 0.5 + self.held[rest[0]] ** 2 * math.sin(a) * 0.3
            elif kind == "add":
                self.held[rest[0]] += rest[1]
            elif kind == "row":
                a = a * self.rows[rest[0]] + 0.7
            elif kind == "scatter":
                self.rows[rest[0]] += 0.04
            elif kind == "call":
                self.calls += 1
                a = a * (1.0 + 0.2 / self.calls)
            elif kind == "if":
                test = {"step": step % 2 == 0, "positive": a > -9.0, "never": a > 90.0}[rest[0]]
                a = self.run(rest[1] if test else rest[2], a, step)
            elif kind == "while":
                for i in range(rest[0]):
                    a = self.run(rest[2], a, i)
            else:
                a = sum(self.run(rest[0], t, step) for t in (a, 0.5 * a))
        return a


class Built:
    """A program built with TensorFlow's API, in a function or a graph.

    Args:
      tf: the module.
      v, w, rows: the variables.
      calls: gets an element for each call of Python.
      waits: whether changes have to be waited for, so that they happen.
    """

    def __init__(self, tf: Any, v: Any, w: Any, rows: Any, calls: list[int], waits: bool):
        self.tf, self.waits = tf, waits
        self.held, self.rows, self.calls = {"v": v, "w": w}, rows, calls

    def run(self, statements: list[Statement], a: Any, step: Any = 1) -> Any:
        """The result for `a`; `step` is the number of the iteration around it."""
        tf = self.tf
        for kind, *rest in statements:
            effect = None
            if kind == "read":
                a = 0.6 * tf.sin(a * self.held[rest[0]])
            elif kind == "square":
                a = a * 0.5 + self.held[rest[0]] ** 2 * tf.sin(a) * 0.3
            elif kind == "add":
                effect = self.held[rest[0]].assign_add(rest[1])
            elif kind == "row":
                a = a * tf.gather(self.rows, rest[0]) + 0.7
            elif kind == "scatter":
                effect = self.rows.scatter_add(tf.IndexedSlices(tf.constant(0.04, tf.float64), tf.constant(rest[0])))
            elif kind == "call":
                a = a * (self._factor(a))
            elif kind == "if":
                test = {"step": tf.equal(step % 2, 0), "positive": a > -9.0, "never": a > 90.0}[rest[0]]
                a = tf.cond(test, lambda a=a, s=rest[1]: tf.identity(self.run(s, a, step)),
                            lambda a=a, s=rest[2]: tf.identity(self.run(s, a, step)))
            elif kind == "while":
                a = self._loop(*rest, a)
            else:
                ts = tf.stack([a, 0.5 * a])
                a = tf.reduce_sum(tf.map_fn(lambda t, s=rest[0]: tf.identity(self.run(s, t, step)), ts))
            if effect is not None and self.waits:
                with tf.control_dependencies([effect]):
                    a = tf.identity(a)
        return a

    def _factor(self, a: Any) -> Any:
        tf = self.tf

        def factor(_: Any) -> Any:
            self.calls.append(1)
            return np.float64(1.0 + 0.2 / len(self.calls))

        result = tf.numpy_function(factor, [a], tf.float64)
        result.set_shape([])
        return result

    def _loop(self, trips: int, kind: str, statements: list[Statement], a: Any) -> Any:
        tf = self.tf
        limit = tf.constant(trips) if kind == "count" else tf.reduce_sum(tf.ones([trips + 1], tf.int32)) - 1
        return tf.while_loop(lambda i, _: i < limit, lambda i, a: (i + 1, self.run(statements, a, i)),
                             [tf.constant(0), a])[1]


class Expected:
    """What a program gives, by the interpreter and its differences.

    Args:
      statements: the program.
      x: its argument.
      v, w, rows: what the variables hold.
      calls: how often Python has been called.
    """

    def __init__(self, statements: list[Statement], x: float, v: float, w: float, rows: Any, calls: int):
        self._statements, self._calls = statements, calls
        self._at = np.array([x, v, w, *rows], np.float64)
        plain = self._plain(self._at)
        self.value = plain.run(statements, x)
        self.after = plain.held["v"], plain.held["w"], plain.rows
        self.calls = plain.calls

    def _plain(self, at: Any) -> Plain:
        plain = Plain(at[1], at[2], at[3:])
        plain.calls = self._calls
        return plain

    def _value(self, at: Any) -> float:
        return self._plain(at).run(self._statements, at[0])

    def gradient(self) -> Any:
        """With respect to x, v, w and the rows, one after the other."""
        found = []
        for i in range(len(self._at)):
            h = np.zeros_like(self._at)
            h[i] = 1e-4
            one, two = (self._value(self._at + k * h) - self._value(self._at - k * h) for k in (1, 2))
            found.append((8 * one - two) / 12e-4)
        return np.array(found)

    def second(self) -> float:
        """The second derivative with respect to x."""
        h = np.zeros_like(self._at)
        h[0] = 1e-2
        f = {k: self._value(self._at + k * h) for k in (-3, -2, -1, 0, 1, 2, 3)}
        parts = [2 * f[-3], -27 * f[-2], 270 * f[-1], -490 * f[0], 270 * f[1], -27 * f[2], 2 * f[3]]
        return sum(parts) / (180 * 1e-4)


START = 0.6, 1.1, -0.7, _ROWS
