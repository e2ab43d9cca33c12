"""Small programs that are built in one graph and run together."""

from __future__ import annotations

from typing import Any

from .harness import Topics

_RUNS = 3


class Together(Topics):
    """The programs of a module, by topic; called with a topic, a decorator for one.

    A program gets the TensorFlow module and a scalar tensor (2.0); it returns what to fetch, and the variables to look
    at after each run. All programs of a topic are one graph, and one case.
    """

    def declare(self) -> None:
        """Makes a case of each topic."""
        for topic, programs in self._topics.items():
            self._case("graph", topic, _run, programs)


def _run(tf: Any, programs: Any) -> Any:
    x = tf.placeholder_with_default(2.0, [])
    built = {f.__name__: f(tf, x) for f in programs}
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(_RUNS):
            fetched = sess.run({name: fetches for name, (fetches, _) in built.items()})
            found.append((fetched, sess.run({name: variables for name, (_, variables) in built.items() if variables})))
    return found
