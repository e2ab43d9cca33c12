"""Runs the measurements of one system, as told by JSON lines on its standard input.

    python worker.py graphgrad|tensorflow

It answers each line `{"do": name, ...}` with one line: an object of numbers, or
`{"error": text}`. The first line it writes, unasked, says how long the import took.
"""

from __future__ import annotations

import json
import os
import sys
import time
import tomllib
import traceback
from pathlib import Path

_now = time.perf_counter


def _import(system):
    """The system's 1.x face."""
    if system == "graphgrad":
        import graphgrad.v1 as tf

        return tf
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


class Worker:
    """The state between commands: a model, its graph and its session."""

    def __init__(self, tf):
        self.tf = tf

    def build(self, model, repeat=3):
        """Builds the model `repeat` times, each time in a graph of its own; the last one is kept.

        Returns: seconds and added operations of each phase, one of each for each time.
        """
        from models import MODELS

        phases = {"forward": [], "gradients": [], "update": []}
        for _ in range(repeat):
            self.model = MODELS[model]()
            self.graph = self.tf.Graph()
            with self.graph.as_default():
                for phase, step in zip(phases, (self.model.forward, self.model.differentiate, self.model.update),
                                       strict=True):
                    before, prepared, start = len(self.graph.get_operations()), self.model.preparing, _now()
                    step(self.tf)
                    seconds = _now() - start - (self.model.preparing - prepared)
                    phases[phase].append((seconds, len(self.graph.get_operations()) - before))
        return phases

    def first(self):
        """Makes a session, sets the variables and runs the first step.

        Returns: seconds for the variables and for the step, and the loss.
        """
        start = _now()
        with self.graph.as_default():
            self.session = self.tf.Session(graph=self.graph)
            self.session.run(self.tf.global_variables_initializer())
        initialised = _now()
        loss = self.session.run(self.model.fetches, self.model.feeds)[0]
        return {"initialise": initialised - start, "first": _now() - initialised, "loss": float(loss)}

    def steps(self, at_most=200, seconds=0.5):
        """Runs more steps, until one of the limits.

        Returns: the seconds that each took, and the last loss.
        """
        run, fetches, feeds = self.session.run, self.model.fetches, self.model.feeds
        times = []
        end = _now() + seconds
        while len(times) < at_most and (_now() < end or len(times) < 3):
            start = _now()
            loss = run(fetches, feeds)[0]
            times.append(_now() - start)
        return {"times": times, "loss": float(loss)}

    def dispatch(self):
        """Prepares the smallest graph: one feed, one fetch, two operations."""
        import numpy as np

        with self.tf.Graph().as_default() as self.graph:
            x = self.tf.placeholder(np.float32, [4])
            fetch = x * 2.0 + 1.0
            self.session = self.tf.Session()
        run, feed = self.session.run, np.ones(4, np.float32)
        run(fetch, {x: feed})
        self.call = lambda: run(fetch, {x: feed})
        return {}

    def calls(self, n=1000):
        """Runs the smallest graph `n` times; returns the seconds of one call on average."""
        call = self.call
        start = _now()
        for _ in range(n):
            call()
        return {"mean": (_now() - start) / n}

    def version(self):
        """The versions of the system and what it stands on."""
        import numpy

        own = _own_version() if self.tf.__name__.startswith("graphgrad") else self.tf.__version__
        versions = {"system": own, "python": sys.version.split()[0], "numpy": numpy.__version__}
        if "jaxlib" in sys.modules:
            versions["jaxlib"] = sys.modules["jaxlib"].__version__
        return versions


def _own_version():
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def serve(kind) -> None:
    """Serves commands until the input ends.

    Args:
      kind: the class whose methods are the commands.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the systems print must not get between the answers
    start = _now()
    worker = kind(_import(sys.argv[1]))
    print(json.dumps({"import": _now() - start}), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as e:
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(Worker)
