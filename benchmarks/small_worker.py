"""Runs the smallest programs of one system, as told by JSON lines on its standard input.

    python small_worker.py graphgrad|tensorflow|torch|numpy

Two programs, each in several ways: `x * 2.0` of three numbers, and a step of gradient descent (a linear regression on
eight examples, two variables; some twenty operations with the gradient).
"""

from __future__ import annotations

import time

import numpy as np
import worker

_now = time.thread_time
_CALLS = 200  # a time is that of so many calls, divided

Z = np.array([1, 2, 3], np.float32)
X = np.linspace(0, 1, 24, dtype=np.float32).reshape(8, 3)
Y = 1 + X.sum(1, keepdims=True)
W = np.ones((3, 1), np.float32)
B = np.zeros(1, np.float32)
RATE = 0.1


class Graphs:
    """TensorFlow's API: sessions, functions, tapes."""

    def __init__(self):
        import os

        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import tensorflow

        self.tf = tensorflow

    def version(self):
        """The version of the system."""
        return self.tf.__version__

    def programs(self):
        """Name -> a function without arguments that runs it and returns a number."""
        tf, tf1 = self.tf, self.tf.compat.v1
        graph = tf1.Graph()
        with graph.as_default():
            z = tf1.placeholder(tf.float32, [3])
            double = z * 2.0
            x, y = tf1.placeholder(tf.float32, [8, 3]), tf1.placeholder(tf.float32, [8, 1])
            w, b = tf1.Variable(W, use_resource=True), tf1.Variable(B, use_resource=True)
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            step = [loss, tf1.train.GradientDescentOptimizer(RATE).minimize(loss)]
            session = tf1.Session(graph=graph)
            session.run(tf1.global_variables_initializer())
            call, update = session.make_callable(double, [z]), session.make_callable(step, [x, y])
        run = session.run
        return {
            "x * 2: Session.run": lambda: run(double, {z: Z}),
            "x * 2: make_callable": lambda: call(Z),
            "x * 2: tf.function": self._function(),
            "x * 2: tf.function, its gradient": self._gradient(),
            "x * 2: eager": self._eager(),
            "step: Session.run": lambda: run(step, {x: X, y: Y})[0],
            "step: make_callable": lambda: update(X, Y)[0],
            "step: tf.function": self._step(),
            "step: eager, GradientDescentOptimizer": self._eager_step(),
        }

    def _function(self):
        double, z = self.tf.function(lambda z: z * 2.0), self.tf.constant(Z)
        return lambda: double(z)

    def _gradient(self):
        tf = self.tf
        double, z = tf.function(lambda z: z * 2.0), tf.constant(Z)

        def gradient():
            with tf.GradientTape() as tape:
                tape.watch(z)
                doubled = double(z)
            return tape.gradient(doubled, z)

        return gradient

    def _eager(self):
        z = self.tf.constant(Z)
        return lambda: z * 2.0

    def _step(self):
        tf = self.tf
        w, b, x, y = tf.Variable(W), tf.Variable(B), tf.constant(X), tf.constant(Y)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(RATE * dw)
            b.assign_sub(RATE * db)
            return loss

        return lambda: step(x, y)

    def _eager_step(self):
        tf = self.tf
        w, b, x, y = tf.Variable(W), tf.Variable(B), tf.constant(X), tf.constant(Y)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(RATE)

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))
            return loss

        return step


class Graphgrad(Graphs):
    """graphgrad."""

    def __init__(self):
        import graphgrad

        self.tf = graphgrad

    def version(self):
        return worker.own_version()


class Torch:
    """PyTorch, eager."""

    def __init__(self):
        import torch

        self.torch = torch

    def version(self):
        """The version of the system."""
        return self.torch.__version__

    def programs(self):
        """As above."""
        torch = self.torch
        z = torch.from_numpy(Z)

        def handed_over():
            return (torch.from_numpy(Z) * 2.0).numpy()

        return {"x * 2: arrays handed over": handed_over, "x * 2: operation alone": lambda: z * 2.0,
                "step: autograd and SGD": self._automatic(), "step: by hand": self._by_hand()}

    def _automatic(self):
        torch = self.torch
        w, b = (torch.tensor(a, requires_grad=True) for a in (W, B))
        optimizer = torch.optim.SGD([w, b], lr=RATE)

        def step():
            loss = torch.mean(torch.square(torch.from_numpy(X) @ w + b - torch.from_numpy(Y)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()

        return step

    def _by_hand(self):
        torch = self.torch
        held = [torch.tensor(W), torch.tensor(B)]

        def step():
            with torch.no_grad():
                x, (w, b) = torch.from_numpy(X), held
                error = x @ w + b - torch.from_numpy(Y)
                loss = torch.mean(torch.square(error))
                d = error * 2.0 * 0.125
                held[:] = w - RATE * (x.t() @ d), b - RATE * d.sum(0)
                return loss.item()

        return step


class Numpy:
    """NumPy's functions alone, with arrays in the place of Python's numbers."""

    def version(self):
        """The version of the system."""
        return np.__version__

    def programs(self):
        """As above."""
        two, eighth, rate = np.float32([2, 0.125, RATE]).reshape(3, 1)
        held = [W, B]

        def step():
            w, b = held
            error = np.subtract(np.add(np.matmul(X, w), b), Y)
            loss = np.add.reduce(np.square(error), axis=(0, 1)) / np.float32(8)
            d = np.multiply(np.multiply(error, two), eighth)
            held[:] = (np.subtract(w, np.multiply(rate, np.matmul(X.T, d))),
                       np.subtract(b, np.multiply(rate, np.add.reduce(d, axis=0))))
            return loss

        return {"x * 2": lambda: np.multiply(Z, two), "step": step}


class SmallWorker:
    """What can be asked: the programs, and the times of one."""

    def __init__(self, system):
        self.system = system

    def prepare(self):
        """Makes the programs and calls each a few times; returns what the tenth call of each gives, as one number."""
        self.programs = self.system.programs()
        for _ in range(9):
            for program in self.programs.values():
                program()
        return {name: float(np.sum(np.asarray(program()))) for name, program in self.programs.items()}

    def times(self, name, seconds=0.1):
        """Calls a program until the time is over; returns the thread's seconds for each call."""
        program, found = self.programs[name], []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(found) < 3:
            start = _now()
            for _ in range(_CALLS):
                program()
            found.append((_now() - start) / _CALLS)
        return {"times": found}

    def version(self):
        """The versions of the system and of NumPy."""
        return {"system": self.system.version(), "numpy": np.__version__}


if __name__ == "__main__":
    worker.serve(SmallWorker, {"graphgrad": Graphgrad, "tensorflow": Graphs, "torch": Torch, "numpy": Numpy})
