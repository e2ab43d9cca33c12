"""Random programs of 1.x in which state meets sub-graphs, and the ways in which sessions run them.

A program has a vector of unknown length, variables, an optimizer, a table, an iterator, arrays and composites, in and
around branches, loops, maps and functions. Effects and reads have the order of the text, by control dependencies. A
script runs it: whole, in part, with intermediate tensors fed, by a callable, in two parts, in another session, after
saving and restoring, after `load`. `run` gives what all calls gave.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

_PIECES = ("array", "sparse", "ragged", "descend", "rows", "element", "table", "python", "gradient", "function",
           "loop", "scan", "branch", "counter", "slices", "choose", "custom", "fold", "low", "mixed")
_CALLS = ("all", "all", "some", "some", "fed", "callable", "parts", "other", "restore", "load", "targets")


class _Program:
    """A program that is built in the current graph.

    Args:
      tf: the module of TensorFlow 1, or graphgrad's.
      v2: that of TensorFlow 2.
      rng: draws the program.
    """

    def __init__(self, tf: Any, v2: Any, rng: np.random.Generator):
        self.tf, self.v2, self.rng = tf, v2, rng
        self.x = tf.placeholder(tf.float64, [None] if rng.random() < 0.7 else None)
        vector = self.x if self.x.shape.rank == 1 else tf.reshape(self.x, [-1])
        self.v = tf.Variable(np.array([0.5, -0.8]), use_resource=True)
        self.embedding = tf.Variable(np.linspace(-1, 1, 8).reshape(4, 2), use_resource=True)
        self.n = tf.Variable(0, use_resource=True)
        self.held = v2.lookup.experimental.MutableHashTable(tf.int64, tf.float64, 0.25)
        data = v2.data.Dataset.range(1, 7).map(lambda i: 0.1 * tf.cast(i, tf.float64)).repeat()
        self.iterator = tf.data.make_initializable_iterator(data)
        self.last: list[Any] = []
        self.deep = 0
        self.values = [tf.reduce_sum(tf.tanh(vector)), self.effect(lambda: tf.reduce_sum(vector * self.v[0]))]
        self.vector = vector
        for _ in range(int(rng.integers(3, 8))):
            self.add()

    def add(self) -> None:
        """Adds a piece."""
        piece = str(self.rng.choice(_PIECES))
        self.values.append(0.7 * self.tf.tanh(getattr(self, piece)()))

    def pick(self) -> Any:
        return self.values[int(self.rng.integers(len(self.values)))]

    def effect(self, make: Callable[[], Any]) -> Any:
        with self.tf.control_dependencies(self.last):
            t = self.tf.identity(make())
        self.last = [t.op]
        return t

    def after(self, t: Any) -> Any:
        with self.tf.control_dependencies(self.last):
            return self.tf.identity(t)

    def block(self, count: int) -> Callable[[], Any]:
        """Some pieces for a sub-graph, drawn now: how often it is traced is TensorFlow's affair."""
        seed = int(self.rng.integers(1 << 30))
        return lambda: self.inside(count, seed)

    def inside(self, count: int, seed: int) -> Any:
        """Builds pieces in a sub-graph."""
        before = self.last, self.values
        around, self.rng = self.rng, np.random.default_rng(seed)
        self.last, self.values, self.deep = [], list(self.values), self.deep + 1
        for _ in range(count):
            if self.deep < 3:
                self.add()
            else:
                self.values.append(self.counter())
        result = self.after(self.values[-1])
        self.last, self.values = before
        self.rng, self.deep = around, self.deep - 1
        return result

    # -- pieces: each gives a scalar -------------------------------------------------------

    def array(self) -> Any:
        tf, a, k = self.tf, self.pick(), int(self.rng.integers(1, 4))

        def body(i: Any, y: Any, out: Any) -> Any:
            y = tf.tanh(y * self.after(self.v.read_value())[0] + a)
            return i + 1, y, out.write(i, y)

        def loop() -> Any:
            out = tf.TensorArray(tf.float64, k)
            return tf.reduce_sum(tf.while_loop(lambda i, *_: i < k, body, (0, a, out))[2].stack())

        return self.effect(loop)

    def sparse(self) -> Any:
        tf, a, b = self.tf, self.pick(), self.pick()

        def of(t: Any) -> Any:
            return tf.SparseTensor([[0, 0], [1, 2]], tf.stack([t, a]), [2, 3])

        chosen = tf.cond(self.after(a) > 0.1, lambda: of(b), lambda: of(a * b))
        return tf.reduce_sum(tf.sparse_tensor_dense_matmul(chosen, tf.ones([3, 1], tf.float64) * b))

    def ragged(self) -> Any:
        tf, a, n = self.tf, self.pick(), self.tf.size(self.vector)
        rows = self.v2.RaggedTensor.from_row_splits(self.vector, tf.stack([0, n // 2, n]))
        chosen = tf.cond(self.after(a) > 0.0, lambda: rows * a, lambda: rows + 1.0)
        return tf.reduce_sum(tf.tanh(self.v2.reduce_sum(chosen, axis=1)) * tf.stack([a, 0.5 + a]))

    def descend(self) -> Any:
        tf, a = self.tf, self.pick()
        made = tf.train.GradientDescentOptimizer(0.1)

        def step() -> Any:
            loss = tf.reduce_sum(tf.square(self.v * a - 0.3))
            with tf.control_dependencies([made.minimize(loss, var_list=[self.v])]):
                return tf.reduce_sum(self.v.read_value())

        if self.rng.random() < 0.5:
            return self.effect(step)
        pred = self.after(a) > 0.05
        return self.effect(lambda: tf.cond(pred, step, lambda: tf.constant(0.3, tf.float64)))

    def rows_loss(self, at: Any) -> Any:
        return self.tf.reduce_sum(self.tf.square(self.tf.gather(self.embedding, at) - 0.2))

    def slices(self) -> Any:
        tf, k = self.tf, int(self.rng.integers(4))
        a = self.pick()
        if self.deep or self.rng.random() < 0.5:
            made: Any = tf.train.GradientDescentOptimizer(0.2)
        else:
            made = (tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9), tf.train.AdagradOptimizer(0.1),
                    tf.train.RMSPropOptimizer(0.05))[k]

        def step() -> Any:
            loss = self.rows_loss([k, 1, k]) * (1.0 + a * a)
            with tf.control_dependencies([made.minimize(loss, var_list=[self.embedding])]):
                return tf.reduce_sum(self.embedding.read_value()[k])

        return self.effect(step)

    def element(self) -> Any:
        tf, a = self.tf, self.pick()
        if self.rng.random() < 0.5:
            return self.effect(lambda: tf.stop_gradient(self.iterator.get_next())) * a
        pred = self.after(a) > 0.0
        return self.effect(lambda: tf.cond(pred, lambda: a * tf.stop_gradient(self.iterator.get_next()), lambda: a))

    def lookup(self, key: Any) -> Any:
        return self.tf.reduce_sum(self.held.lookup(key))

    def rows(self) -> Any:
        k, a = int(self.rng.integers(4)), self.pick()
        return self.effect(lambda: self.tf.reduce_sum(self.tf.nn.embedding_lookup(self.embedding, [k, k, 0])) * a)

    def table(self) -> Any:
        tf, a, k = self.tf, self.pick(), int(self.rng.integers(3))
        key = tf.constant([k], tf.int64)

        def insert() -> Any:
            with tf.control_dependencies([self.held.insert(key, tf.reshape(a, [1]))]):
                return self.lookup(tf.constant([k, 1], tf.int64))

        pred = self.after(a) > 0.0
        return self.effect(lambda: tf.cond(pred, insert, lambda: self.lookup(key))) * a

    def python(self) -> Any:
        a = self.pick()

        def call() -> Any:
            t = self.tf.py_func(lambda u: u * 0.5 + 0.1, [a], self.tf.float64)
            t.set_shape([])
            return t

        return self.effect(call) * a

    def gradient(self) -> Any:
        tf, y = self.tf, self.pick()
        g, dv = tf.gradients(y, [self.x, self.v], unconnected_gradients="zero")
        return tf.reduce_sum(tf.reshape(tf.convert_to_tensor(g), [-1])) + 0.5 * tf.reduce_sum(dv)

    def function(self) -> Any:
        a = self.pick()
        function = self.v2.function(lambda t: t * self.tf.tanh(self.v[1]) + 0.1, autograph=False)
        return self.effect(lambda: function(a))

    def loop(self) -> Any:
        tf, k = self.tf, int(self.rng.integers(4))
        start, block = [self.after(0), self.after(self.pick())], self.block(1)

        def body(i: Any, y: Any) -> Any:
            self.values = [*self.values, y]
            found = block()
            self.values = self.values[:-1]
            return i + 1, tf.tanh(found + 0.5 * y)

        return self.effect(lambda: tf.while_loop(lambda i, y: i < k, body, start, parallel_iterations=1)[1])

    def scan(self) -> Any:
        tf, a = self.tf, self.pick()
        return tf.reduce_sum(tf.scan(lambda t, e: tf.tanh(t * e + a), self.after(self.vector), self.after(a)))

    def fold(self) -> Any:
        tf, a = self.tf, self.pick()
        return tf.reduce_sum(tf.map_fn(lambda e: tf.foldl(lambda t, u: t * 0.5 + u * e, self.vector, a), self.vector))

    def branch(self) -> Any:
        pred = self.after(self.pick()) > 0.0
        then, other = self.block(2), self.block(1)
        return self.effect(lambda: self.tf.cond(pred, then, other))

    def choose(self) -> Any:
        tf, k = self.tf, self.rng.integers(3)
        index = self.after(tf.cast(3.0 * tf.abs(self.pick()), tf.int32)) + int(k) - 1
        blocks = [self.block(1), self.block(1)]
        return self.effect(lambda: tf.switch_case(index, blocks))

    def counter(self) -> Any:
        tf = self.tf
        return self.effect(lambda: tf.cast(self.n.assign_add(1), tf.float64)) * 0.05

    def custom(self) -> Any:
        a = self.pick()
        return self.tf.custom_gradient(lambda p: (p * p, lambda dy: dy * 3.0 * p))(a)

    def low(self) -> Any:
        tf, a = self.tf, self.pick()
        kind = (tf.float16, tf.bfloat16)[int(self.rng.integers(2))]
        return tf.cast(tf.round(tf.cast(a * 4.0, kind)) * tf.constant(0.25, kind), tf.float64) + 0.1 * a

    def mixed(self) -> Any:
        tf, a, b = self.tf, self.pick(), self.pick()
        z = tf.complex(a, b)
        return tf.real(z * tf.conj(z)) + tf.imag(z * z)


class _Script:
    """The calls of sessions on a program."""

    def __init__(self, tf: Any, program: _Program, rng: np.random.Generator):
        self.tf, self.p, self.rng = tf, program, rng
        y = program.values[-1]
        loss = y + 0.3 * program.values[-2]
        grads = tf.gradients(loss, [program.x, program.v, program.embedding], unconnected_gradients="zero")
        self.fetches = [loss, *map(tf.convert_to_tensor, grads), *program.values]
        with tf.control_dependencies([*program.last, *[t.op for t in self.fetches]]):
            held = [program.v.read_value(), program.embedding.read_value(), program.n.read_value()]
        self.state = [*map(tf.identity, held)]
        self.start = [tf.global_variables_initializer(), program.iterator.initializer]
        self.saver = tf.train.Saver([program.v, program.embedding, program.n])

    def feed(self) -> np.ndarray:
        return self.rng.normal(size=int(self.rng.choice([0, 1, 2, 3, 5]))) if self.rng.random() < 0.8 else \
            np.array([0.6, -0.4])

    def run(self) -> list[Any]:
        """What each call gave."""
        with self.tf.Session() as sess:
            sess.run(self.start)
            found = [sess.run([*self.fetches, *self.state], {self.p.x: np.array([0.6, -0.4, 1.1])})]
            for _ in range(int(self.rng.integers(3, 7))):
                call = str(self.rng.choice(_CALLS))
                try:
                    found.append([call, getattr(self, f"_{call}")(sess)])
                except (ValueError, self.tf.errors.OpError) as e:
                    found.append([call, type(e).__name__])
            return found

    def _all(self, sess: Any) -> Any:
        return sess.run([*self.fetches, *self.state], {self.p.x: self.feed()})

    def _some(self, sess: Any) -> Any:
        chosen = [self.fetches[int(i)] for i in self.rng.integers(len(self.fetches), size=2)]
        return sess.run(chosen, {self.p.x: self.feed()})

    def _fed(self, sess: Any) -> Any:
        at = self.p.values[int(self.rng.integers(2, len(self.p.values)))]
        return sess.run(self.fetches, {self.p.x: self.feed(), at: 0.37})

    def _callable(self, sess: Any) -> Any:
        function = sess.make_callable([*self.fetches, *self.state], feed_list=[self.p.x])
        return [function(self.feed()) for _ in range(3)]

    def _parts(self, sess: Any) -> Any:
        one, two = self.p.values[0], self.fetches[0]
        handle = sess.partial_run_setup([one, two], [self.p.x])
        return [sess.partial_run(handle, one, {self.p.x: self.feed()}), sess.partial_run(handle, two)]

    def _other(self, sess: Any) -> Any:
        with self.tf.Session() as other:
            other.run(self.start)
            found = self._all(other), self._all(sess), self._all(other)
        return found

    def _restore(self, sess: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = self.saver.save(sess, os.path.join(folder, "m"))
            found = self._all(sess)
            self.saver.restore(sess, path)
        return found, self._all(sess)

    def _load(self, sess: Any) -> Any:
        self.p.v.load(np.array([0.2, 0.4]), sess)
        return self._all(sess)

    def _targets(self, sess: Any) -> Any:
        sess.run([t.op for t in self.p.values[2:]], {self.p.x: self.feed()})
        return self._all(sess)


def run(seed: int, v1: Any, v2: Any) -> list[Any]:
    """What the calls of a program's script give.

    Args:
      seed: which program.
      v1, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
    """
    rng = np.random.default_rng([seed, 77])
    with v1.Graph().as_default():
        program = _Program(v1, v2, rng)
        return _Script(v1, program, rng).run()
