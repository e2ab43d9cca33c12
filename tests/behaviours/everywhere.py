"""Small programs of a tensor and variables, each run in eager mode, as a function and in a graph."""

from __future__ import annotations

import types
from typing import Any

from .harness import Topics

_RUNS = 3


class Programs(Topics):
    """The programs of a module, by topic; called with a topic, a decorator for one.

    A program gets the TensorFlow module, a scalar tensor (3.0) and variables: `v`, `w`, `p`, `r` and `s` are scalars,
    `nt` and `q` scalars that are not trainable, `rows` is a matrix. It returns a structure of tensors, None and texts.
    """

    def declare(self) -> None:
        """Makes two cases of each topic: eager (one by one, and together as a function), and a graph."""
        for topic, programs in self._topics.items():
            for mode, run in (("eager", _eager), ("graph", _graph)):
                self._case(mode, f"{topic}_{mode}", run, programs)


def _variables(tf: Any) -> Any:
    values = {"v": 2.0, "w": 3.0, "p": 1.5, "r": 3.0, "s": 4.0, "rows": [[1.0], [2.0], [3.0]]}
    fixed = {"nt": 5.0, "q": 2.0}
    return types.SimpleNamespace(**{n: tf.Variable(v, name=n) for n, v in values.items()},
                                 **{n: tf.Variable(v, name=n, trainable=False) for n, v in fixed.items()})


def _eager(tf: Any, programs: Any) -> Any:
    variables = _variables(tf)
    at_once = {f.__name__: f(tf, tf.constant(3.0), variables) for f in programs}

    @tf.function
    def together(x: Any) -> Any:
        return {f.__name__: f(tf, x, variables) for f in programs}

    return at_once, [together(tf.constant(3.0)) for _ in range(_RUNS)]


def _graph(tf: Any, programs: Any) -> Any:
    variables = _variables(tf)
    x = tf.placeholder_with_default(3.0, [])
    structure = {f.__name__: f(tf, x, variables) for f in programs}
    leaves = tf.nest.flatten(structure)
    tensors = [t for t in leaves if hasattr(t, "dtype")]
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(_RUNS):
            values = iter(sess.run(tensors))
            run = [next(values) if hasattr(t, "dtype") else t for t in leaves]
            found.append(tf.nest.pack_sequence_as(structure, run))
    return found
