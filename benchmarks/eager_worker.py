"""Runs single functions eagerly, as told by JSON lines on its standard input.

    python eager_worker.py graphgrad|tensorflow
"""

from __future__ import annotations

import os
import time

import worker
from eager_cases import CASES

_now = time.perf_counter
LARGE = 100_000  # elements from which on operations that recur may be compiled


class Eager:
    """A system in eager mode, with TensorFlow 1's names."""

    def __init__(self):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import tensorflow

        self.tf2 = tensorflow
        self.tf = tensorflow.compat.v1
        self.tf.logging.set_verbosity(self.tf.logging.ERROR)

    def version(self):
        """The version of the system."""
        return self.tf2.__version__


class EagerGraphgrad(Eager):
    """graphgrad in eager mode."""

    def __init__(self):
        import graphgrad

        self.tf2 = graphgrad
        self.tf = graphgrad.compat.v1

    def version(self):
        return worker.own_version()


class EagerWorker(worker.Worker):
    """The state between commands: a case, and its forward and its gradient as functions to call."""

    def prepare(self, name, size):
        """Makes the arguments of a case and calls it, a few times on small arrays and for some time on large ones.

        Returns: for each that there is to run, the sum of the results' magnitudes.
        """
        tf, tf2 = self.system.tf, self.system.tf2
        case = next(c for c in CASES if c.name == name)
        xs = [tf.constant(given.value(i)) for i, given in enumerate(case.given(size))]
        tf.set_random_seed(1)

        def forward():
            return case.function(tf, *xs)

        self.runs = {"forward": forward}
        if case.gradient:
            sources = [x for x in xs if x.dtype.is_floating]

            def gradient():
                with tf2.GradientTape() as tape:
                    for x in sources:
                        tape.watch(x)
                    y = case.function(tf, *xs)
                return tape.gradient(y, sources)

            self.runs["gradient"] = gradient
        calls, seconds = (300, 0.7) if size >= LARGE else (3, 1)
        for run in self.runs.values():
            end = _now() + seconds
            for i in range(calls):
                if i >= 3 and _now() >= end:
                    break
                run()
        return {what: self._sum(run()) for what, run in self.runs.items()}

    def _sum(self, results):
        tf = self.system.tf
        results = results if isinstance(results, (list, tuple)) else [results]
        results = [tf.convert_to_tensor(r) for r in results if r is not None]
        return float(sum(abs(r.numpy().astype("float64")).sum() for r in results))

    def times(self, what, seconds=0.1, at_most=2000):
        """Calls the forward or the gradient until one of the limits.

        Returns: the seconds of each call, and those of the processor, which all threads together took.
        """
        run = self.runs[what]
        run()
        times, processor, end = [], [], _now() + seconds
        while len(times) < at_most and (_now() < end or len(times) < 3):
            before, start = time.process_time(), _now()
            run()
            times.append(_now() - start)
            processor.append(time.process_time() - before)
        return {"times": times, "processor": processor}


if __name__ == "__main__":
    worker.serve(EagerWorker, {"graphgrad": EagerGraphgrad, "tensorflow": Eager})
