"""Random programs with tapes: what is watched when, what records, what is asked for.

`TAPE_SEEDS=1000-3000 python -m tests.record.behaviours taped_programs` and the same for the test try others.
"""

from __future__ import annotations

import os
import random
from typing import Any

from ..harness import case

_FIRST, _LAST = map(int, os.environ.get("TAPE_SEEDS", "0-20").split("-"))


class _Program:
    """One program; `results` are the gradients that it asks for, None included.

    Args:
      tf: the TensorFlow module.
      seed: which program.
      x: a scalar tensor.
      variables: two scalars, the second one not trainable.
    """

    def __init__(self, tf: Any, seed: int, x: Any, variables: Any):
        self.tf, self.rng, self.variables = tf, random.Random(seed), variables
        self.values = [x, tf.sin(x)]
        self.tapes: list[Any] = []  # those that may be asked, with whether they are persistent
        self.open: list[Any] = []  # those that record
        self.results: list[Any] = []

    def block(self, steps: int) -> None:
        """Some steps one after another."""
        for _ in range(steps):
            kinds = [self.operate] * 5 + [self.tape] * (len(self.open) < 3) + [self.ask] * 2 * bool(self.tapes)
            kinds += [self.watch, self.watch, self.pause, self.reset] if self.open else []
            self.rng.choice(kinds)()

    def pick(self) -> Any:
        return self.rng.choice(self.values[-6:])

    def operate(self) -> None:
        tf, a, b = self.tf, self.pick(), self.pick()
        v, fixed = self.variables
        kind = self.rng.randrange(14)
        if kind < 3:
            found = a * b
        elif kind == 3:
            found = tf.sin(a) + 0.5 * b
        elif kind == 4:
            found = a * v
        elif kind == 5:
            found = b * fixed + v
        elif kind == 6:
            found = tf.identity(a)
        elif kind == 7:
            found = tf.stop_gradient(a) * b
        elif kind == 8:
            found = tf.cast(tf.cast(a * 10.0, tf.int32), tf.float32) * b
        elif kind == 9:
            found = tf.function(lambda p, q: p * q + tf.cos(p))(a, b)
        elif kind == 10:
            found = tf.cond(a > b, lambda: a * b, lambda: a + v)
        elif kind == 11:
            found = tf.custom_gradient(lambda p: (p * p, lambda dy: dy * 3.0))(a)
        elif kind == 12:
            found = tf.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, p * b), [tf.constant(0), a])[1]
        else:
            found = tf.reduce_sum(tf.stack([a, b]) * tf.stack([b, v]))
        self.values.append(tf.tanh(found))

    def tape(self) -> None:
        persistent = self.rng.random() < 0.7
        tape = self.tf.GradientTape(persistent=persistent, watch_accessed_variables=self.rng.random() < 0.6)
        entry = [tape, persistent, True]  # the last one: whether its `with` block goes on
        with tape:
            self.open.append(entry)
            self.tapes.append(entry)
            for _ in range(self.rng.randint(0, 2)):
                self.watch()
            self.block(self.rng.randint(1, 5))
            self.open = [e for e in self.open if e is not entry]
        entry[2] = False

    def watch(self) -> None:
        tape = self.rng.choice(self.open)[0]
        tape.watch([self.values[0], self.rng.choice([*self.values[-3:], self.rng.choice(self.variables)])])

    def pause(self) -> None:
        entry = self.rng.choice(self.open)
        with entry[0].stop_recording():
            before, self.open = self.open, [e for e in self.open if e is not entry]
            asked = len(self.tapes)
            self.block(self.rng.randint(1, 3))
            self.open = [e for e in before if e in self.tapes] if asked else before
        if entry not in self.tapes:
            self.open = [e for e in self.open if e is not entry]

    def reset(self) -> None:
        if self.rng.random() < 0.3:
            self.rng.choice(self.open)[0].reset()

    def ask(self) -> None:
        paused = [e for e in self.tapes if e[1] or e in self.open or not self.recorded_later(e)]
        if not paused:
            return
        entry = self.rng.choice(paused)
        tape, persistent, _ = entry
        if not persistent:
            self.tapes = [e for e in self.tapes if e is not entry]
            self.open = [e for e in self.open if e is not entry]
        sources = [self.pick(), self.values[0], self.rng.choice(self.variables)]
        target = self.values[-1] if self.rng.random() < 0.5 else [self.pick(), self.pick()]
        weights = self.tf.constant(2.0) if not isinstance(target, list) and self.rng.random() < 0.3 else None
        zeros = "zero" if self.rng.random() < 0.1 else "none"
        found = tape.gradient(target, sources, weights, unconnected_gradients=zeros)
        self.results.append(found)
        self.values += [self.tf.tanh(g) for g in found[:2] if g is not None]

    def recorded_later(self, entry: Any) -> bool:
        """Whether the tape is paused, so that it will record again."""
        return bool(entry[2]) and entry not in self.open


def _run(tf: Any, seed: int, x: Any, variables: Any) -> Any:
    program = _Program(tf, seed, x, variables)
    program.block(14)
    return [program.results, program.values[-1]]


def _variables(tf: Any) -> Any:
    return tf.Variable(0.7), tf.Variable(1.2, trainable=False)


def results(seed: int, v1: Any, v2: Any) -> Any:
    """What the program of a seed gives eagerly, in a function called twice, and in three runs of a session.

    Args:
      seed: which program.
      v1, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
    """
    x, variables = v2.constant(0.8), _variables(v2)
    function = v2.function(lambda x: _run(v2, seed, x, variables), autograph=False)
    found = [_numbers(v2, _run(v2, seed, x, variables)), _numbers(v2, function(x)), _numbers(v2, function(x))]
    with v1.Graph().as_default():
        x, variables = v1.placeholder_with_default(0.8, []), _variables(v1)
        built = _run(v1, seed, x, variables)
        tensors = [t for t in v1.nest.flatten(built) if t is not None]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            found += [sess.run(tensors) for _ in range(3)]
    return found


def _numbers(tf: Any, structure: Any) -> Any:
    return [None if t is None else t.numpy() for t in tf.nest.flatten(structure)]


@case("eager", rtol=1e-4, atol=1e-5)
def at_once_and_as_functions(tf: Any) -> Any:
    x, variables = tf.constant(0.8), _variables(tf)
    function = tf.function(lambda x: [_run(tf, seed, x, variables) for seed in range(_FIRST, _LAST)], autograph=False)
    return [_run(tf, seed, x, variables) for seed in range(_FIRST, _LAST)], function(x), function(x)


@case("graph", rtol=1e-4, atol=1e-5)
def in_a_graph(tf: Any) -> Any:
    x, variables = tf.placeholder_with_default(0.8, []), _variables(tf)
    built = [_run(tf, seed, x, variables) for seed in range(_FIRST, _LAST)]
    leaves = tf.nest.flatten(built)
    tensors = [t for t in leaves if t is not None]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = [iter(sess.run(tensors)) for _ in range(3)]
    return [tf.nest.pack_sequence_as(built, [None if t is None else next(run) for t in leaves]) for run in values]
