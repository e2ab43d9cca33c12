"""Runs single operations of one system, as told by JSON lines on its standard input.

    python op_worker.py graphgrad|tensorflow

Arguments are variables, and results are assigned to variables: no time goes into handing over arrays.
"""

from __future__ import annotations

import time

import numpy as np
from op_cases import CASES, Given
from worker import Worker, serve

_now = time.perf_counter


class OpWorker(Worker):
    """The state between commands: a case, and its forward and its gradient as operations to run."""

    def __init__(self, system):
        super().__init__(system)
        self.tf = system.tf

    def prepare(self, name):
        """Builds a case and runs it three times.

        Returns: for each that there is to run, the sum of the results' magnitudes.
        """
        tf, case = self.system.tf, next(c for c in CASES if c.name == name)
        self.session = None  # frees what the case before it needed
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            self.session = tf.Session()
            xs = [self._variable(given, i) for i, given in enumerate(case.given)]
            self.results = {}
            if case.update:
                step = case.function(tf, *xs)
                self.session.run(tf.variables_initializer([v for v in tf.global_variables() if v not in xs]))
                self.runs, self.results = {"forward": step}, {"forward": xs[:1]}
            else:
                xs = [tf.convert_to_tensor(x) for x in xs]
                result = case.function(tf, *xs)
                ys = list(result) if isinstance(result, (list, tuple)) else [result]
                self.runs = {"forward": self._keep("forward", ys)}
            if case.gradient:
                shapes = [y.shape for y in self.session.run(ys)]
                seeds = [self._variable(Given(shape), 100 + i, y.dtype)
                         for i, (y, shape) in enumerate(zip(ys, shapes, strict=True))]
                seeds = [tf.convert_to_tensor(seed) for seed in seeds]
                grads = tf.gradients(ys, [x for x in xs if x.dtype.is_floating], seeds)
                # What merely hands on the seed, or is the same tensor again, has nothing to be measured.
                grads = {id(g): g for g in grads if g is not None and not _is_any(g, seeds)}
                if grads:
                    self.runs["gradient"] = self._keep("gradient", list(map(tf.convert_to_tensor, grads.values())))
            for _ in range(3):
                for run in self.runs.values():
                    self.session.run(run)
            return {what: float(sum(np.abs(self.session.run(v)).sum(dtype=np.float64) for v in kept))
                    for what, kept in self.results.items()}

    def _variable(self, given, number, dtype=np.float32):
        value = given.value(number)
        if value.dtype == np.float32:
            value = value.astype(getattr(dtype, "as_numpy_dtype", dtype))
        return self._holding(value)

    def _holding(self, value):
        """A variable with a value that is not in the graph."""
        start = self.system.tf.placeholder(value.dtype, value.shape)
        variable = self.system.tf.Variable(start, trainable=False, use_resource=True)
        self.session.run(variable.initializer, {start: value})
        return variable

    def _keep(self, what, tensors):
        """An operation that assigns tensors to variables."""
        self.results[what] = [self._holding(np.zeros_like(value)) for value in self.session.run(tensors)]
        pairs = zip(self.results[what], tensors, strict=True)
        return self.system.tf.group(*[v.assign(t, read_value=False) for v, t in pairs])

    def times(self, what, seconds=0.1, at_most=200):
        """Runs the forward or the gradient until one of the limits.

        Returns: the seconds of each run, and those of the processor, which all threads together took.
        """
        call, run = self.session.run, self.runs[what]
        call(run)
        times, processor, end = [], [], _now() + seconds
        while len(times) < at_most and (_now() < end or len(times) < 3):
            before, start = time.process_time(), _now()
            call(run)
            times.append(_now() - start)
            processor.append(time.process_time() - before)
        return {"times": times, "processor": processor}


def _is_any(tensor, others):
    """Whether a tensor is one of the others, or the identity of one."""
    while not any(tensor is other for other in others):
        if not (hasattr(tensor, "op") and tensor.op.type == "Identity"):
            return False
        tensor = tensor.op.inputs[0]
    return True


if __name__ == "__main__":
    serve(OpWorker)
