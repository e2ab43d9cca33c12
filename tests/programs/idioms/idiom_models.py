"""Random models of 1.x as programs write them: variables of all kinds, layers by hand, wrappers around pieces.

A `Model` is built in the current graph, by a variable scope that is its own. `grow` adds pieces to its output; which
ones, the generator draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH = 3
_PIECES = ("dense", "dense", "shared", "dropped", "normal", "branch", "loop", "rows", "scanned", "function", "custom",
           "recomputed", "python", "counted", "overridden", "held", "parts", "embedded", "unpacked", "partitioned",
           "penalized", "summed", "taped", "case", "array_of", "moving", "gated", "noise", "checked", "sliced",
           "cloned", "mapped", "einsum", "quiet", "nested", "printed", "cast", "switched")


class Model:
    """A model in the current graph.

    Args:
      tf: the module of TensorFlow 1, or graphgrad's.
      v2: that of TensorFlow 2.
      rng: draws the model.
      scope: the name of its variable scope.

    Attributes:
      x: the placeholder [batch, WIDTH].
      y: the output [batch, WIDTH].
      loss: a scalar, once `close` was called.
      pieces: the names of what it has.
    """

    def __init__(self, tf: Any, v2: Any, rng: np.random.Generator, scope: str):
        self.tf, self.v2, self.rng, self.scope = tf, v2, rng, scope
        self.number = 0
        self.pieces: list[str] = []
        batch = None if rng.random() < 0.6 else 4
        with tf.variable_scope(scope):
            self.x = tf.placeholder(tf.float32, [batch, WIDTH], name="x")
            self.counter = tf.get_variable("counter", [], tf.int32, tf.zeros_initializer(), trainable=False,
                                           use_resource=True)
        self.y = self.x
        self.extra: list[Any] = []
        self.loss: Any = None

    # -- helpers ---------------------------------------------------------------------------

    def array(self, *shape: int) -> np.ndarray:
        return np.round(self.rng.normal(size=shape), 2).astype(np.float32)

    def weight(self, name: str, *shape: int, **options: Any) -> Any:
        """A variable in the current scope, made in one of the ways."""
        tf, value = self.tf, self.array(*shape)
        way = int(self.rng.integers(4))
        if way == 0:
            return tf.get_variable(name, initializer=tf.constant(value), use_resource=True, **options)
        if way == 1:
            made = tf.constant_initializer(value)
            return tf.get_variable(name, shape, tf.float32, made, use_resource=True, **options)
        if way == 2:
            return tf.Variable(value, name=name, use_resource=True)
        return tf.Variable(lambda: tf.constant(value), name=name, dtype=tf.float32, use_resource=True)

    def small(self, t: Any) -> Any:
        """Some element-wise operation, drawn."""
        tf = self.tf
        return (tf.tanh, tf.nn.sigmoid, tf.nn.softplus, lambda u: u * 0.5 + tf.sin(u), tf.nn.elu, tf.nn.relu,
                lambda u: tf.square(u) * 0.3 - u)[int(self.rng.integers(7))](t)

    def grow(self, count: int) -> None:
        """Adds pieces, each in a name scope of its own."""
        with self.tf.variable_scope(self.scope, reuse=self.tf.AUTO_REUSE):
            for _ in range(count):
                piece = str(self.rng.choice(_PIECES))
                self.pieces.append(piece)
                self.number += 1
                with self.tf.variable_scope(f"{piece}_{self.number}"):
                    self.y = self.tf.identity(getattr(self, piece)(self.y), name="out")

    def close(self) -> None:
        """Makes the loss."""
        tf = self.tf
        with tf.variable_scope(self.scope, reuse=tf.AUTO_REUSE):
            loss = tf.reduce_mean(tf.square(self.y - 0.2 * self.x)) + 0.1 * tf.reduce_sum(self.y[:1])
            for t in self.extra:
                loss += t
            self.loss = tf.identity(loss, name="loss")

    # -- pieces: from [batch, WIDTH] to the same -------------------------------------------

    def dense(self, h: Any) -> Any:
        w, b = self.weight("w", WIDTH, WIDTH), self.weight("b", WIDTH)
        return self.small(self.tf.matmul(h, w) + b)

    def shared(self, h: Any) -> Any:
        tf = self.tf
        first = self.array(WIDTH, WIDTH)

        def layer(t: Any) -> Any:
            w = tf.get_variable("w", initializer=tf.constant(first), use_resource=True)
            return tf.tanh(tf.matmul(t, w))

        with tf.variable_scope("layer"):
            h = layer(h)
        with tf.variable_scope("layer", reuse=True):
            return layer(h)

    def dropped(self, h: Any) -> Any:
        tf, seed = self.tf, int(self.rng.integers(1000))
        keep = tf.placeholder_with_default(0.7, [], name="keep")
        return tf.nn.dropout(h, rate=1 - keep, seed=seed)

    def normal(self, h: Any) -> Any:
        tf = self.tf
        mean, variance = tf.nn.moments(h, [0])
        offset, scale = self.weight("beta", WIDTH), self.weight("gamma", WIDTH)
        return tf.nn.batch_normalization(h, mean, variance, offset, scale, 1e-2)

    def branch(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)
        pred = tf.reduce_sum(h) > float(np.round(self.rng.normal(), 1))
        return tf.cond(pred, lambda: tf.tanh(h * w), lambda: h - w)

    def loop(self, h: Any) -> Any:
        tf, w, n = self.tf, self.weight("w", WIDTH), int(self.rng.integers(1, 4))
        limit = tf.constant(n) if self.rng.random() < 0.5 else tf.minimum(tf.shape(h)[0], n)
        options = {} if self.rng.random() < 0.6 else {"maximum_iterations": 2}
        return tf.while_loop(lambda i, t: i < limit, lambda i, t: (i + 1, tf.tanh(t * w + 0.1)), (0, h), **options)[1]

    def rows(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)
        return tf.reshape(tf.map_fn(lambda row: self.tf.tanh(row * w) + tf.reduce_sum(row), h), tf.shape(h))

    def scanned(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)
        return tf.scan(lambda s, row: tf.tanh(s * 0.5 + row * w), h, initializer=tf.zeros([WIDTH]))

    def function(self, h: Any) -> Any:
        w = self.weight("w", WIDTH)
        piece = self.v2.function(lambda t: self.tf.tanh(t * w) + 0.1 * t, autograph=bool(self.rng.integers(2)))
        return piece(h)

    def custom(self, h: Any) -> Any:
        tf = self.tf

        @tf.custom_gradient
        def straight(t: Any) -> Any:
            return tf.round(t * 4.0) * 0.25, lambda dy: dy * 0.9

        return straight(h) + 0.1 * h

    def recomputed(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)
        return self.v2.recompute_grad(lambda t: tf.tanh(t * 0.7) * tf.sin(t))(h) * w

    def python(self, h: Any) -> Any:
        tf = self.tf
        found = tf.py_func(lambda a: (a * 0.5).astype(np.float32), [h], tf.float32)
        found.set_shape(h.shape)
        return h + found

    def counted(self, h: Any) -> Any:
        tf = self.tf
        with tf.control_dependencies([self.counter.assign_add(1)]):
            return tf.identity(h) * (1.0 + 0.0 * tf.cast(self.counter.read_value(), tf.float32))

    def overridden(self, h: Any) -> Any:
        tf = self.tf
        with tf.get_default_graph().gradient_override_map({"Tanh": "IdiomTanh", "Relu": "IdiomTanh"}):
            return tf.tanh(h) + tf.nn.relu(h * 0.5)

    def held(self, h: Any) -> Any:
        return self.tf.stop_gradient(self.tf.sin(h)) * 0.3 + h

    def parts(self, h: Any) -> Any:
        tf = self.tf
        a, b, c = tf.unstack(h, axis=1, num=3) if self.rng.random() < 0.5 else [
            tf.squeeze(t, 1) for t in tf.split(h, 3, axis=1)]
        return tf.stack([a * b, tf.tanh(c), a + 0.1], axis=1)

    def embedded(self, h: Any) -> Any:
        tf, table = self.tf, self.weight("table", 5, WIDTH)
        ids = tf.cast(tf.clip_by_value(tf.abs(h[:, 0]) * 2.0, 0.0, 4.0), tf.int32)
        return h + tf.nn.embedding_lookup(table, ids)

    def unpacked(self, h: Any) -> Any:
        tf = self.tf
        q, r = tf.linalg.qr(self.weight("w", WIDTH, WIDTH) + 3.0 * tf.eye(WIDTH))
        del q
        return tf.matmul(h, r) * 0.2

    def partitioned(self, h: Any) -> Any:
        tf, value = self.tf, self.array(4, WIDTH)
        table = tf.get_variable("p", initializer=tf.constant(value), partitioner=tf.fixed_size_partitioner(2),
                                use_resource=True)
        return h * tf.reduce_mean(tf.convert_to_tensor(table), 0) + tf.nn.embedding_lookup(table, [0, 3, 1])[2]

    def penalized(self, h: Any) -> Any:
        tf = self.tf
        w = tf.get_variable("w", initializer=tf.constant(self.array(WIDTH)), use_resource=True,
                            regularizer=lambda t: 0.01 * tf.reduce_sum(tf.abs(t)))
        y = tf.tanh(h * w)
        g = tf.gradients(y, h)[0]
        self.extra.append(0.1 * tf.reduce_mean(tf.square(tf.norm(g + 1e-3, axis=1) - 1.0)))
        return y

    def summed(self, h: Any) -> Any:
        tf = self.tf
        return tf.add_n([tf.tanh(h * float(k)) for k in range(1, 4)]) / 3.0 + tf.reduce_max(h, axis=1, keepdims=True)

    def taped(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)

        def piece(t: Any) -> Any:
            with self.v2.GradientTape() as tape:
                tape.watch(t)
                y = tf.tanh(t * w) * t
            return tape.gradient(y, t)

        return self.v2.function(piece)(h) if self.rng.random() < 0.5 else piece(h)

    def case(self, h: Any) -> Any:
        tf, k = self.tf, int(self.rng.integers(3))
        index = tf.cast(tf.abs(tf.reduce_sum(h)), tf.int32) % 3 + (k - 1)
        w = self.weight("w", WIDTH)
        return tf.switch_case(index, [lambda: h * w, lambda: tf.sin(h), lambda: h + w])

    def array_of(self, h: Any) -> Any:
        tf = self.tf
        out = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(tf.transpose(h))
        return tf.transpose(tf.stack([out.read(0) * out.read(1), out.read(2), tf.tanh(out.read(0))]))

    def moving(self, h: Any) -> Any:
        tf = self.tf
        mean = tf.get_variable("mean", [WIDTH], tf.float32, tf.zeros_initializer(), trainable=False, use_resource=True)
        before = tf.identity(mean.read_value())
        with tf.control_dependencies([before]):
            update = tf.assign(mean, 0.9 * before + 0.1 * tf.reduce_mean(h, 0))
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update.op if hasattr(update, "op") else update)
        return h - before

    def gated(self, h: Any) -> Any:
        tf = self.tf
        training = tf.placeholder_with_default(bool(self.rng.integers(2)), [], name="training")
        return tf.cond(training, lambda: tf.tanh(h), lambda: h * 0.5)

    def noise(self, h: Any) -> Any:
        tf, seed = self.tf, int(self.rng.integers(1000))
        return h + 0.1 * tf.random_normal(tf.shape(h), seed=seed)

    def checked(self, h: Any) -> Any:
        tf = self.tf
        with tf.control_dependencies([tf.debugging.assert_less(tf.abs(h), 1e6)]):
            return tf.debugging.check_numerics(tf.identity(h), "not finite")

    def sliced(self, h: Any) -> Any:
        tf = self.tf
        return tf.concat([h[:, 1:], h[:, :1]], 1) * h[..., ::-1] + h[0, tf.newaxis]

    def cloned(self, h: Any) -> Any:
        tf = self.tf
        template = tf.make_template("t", lambda t: tf.tanh(t * tf.get_variable(
            "w", [WIDTH], initializer=tf.constant_initializer([0.5, -0.3, 0.9]), use_resource=True)))
        return template(template(h))

    def mapped(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH, WIDTH)
        return self.v2.vectorized_map(lambda row: tf.linalg.matvec(w, tf.tanh(row)), h)

    def einsum(self, h: Any) -> Any:
        return self.tf.tanh(self.tf.einsum("bi,ij,bj->bj", h, self.weight("w", WIDTH, WIDTH), h))

    def quiet(self, h: Any) -> Any:
        tf = self.tf
        with tf.name_scope("quiet"), tf.device("/cpu:0"):
            return tf.nn.l2_normalize(h, 1) + tf.zeros_like(h)

    def nested(self, h: Any) -> Any:
        tf, w = self.tf, self.weight("w", WIDTH)

        def body(i: Any, t: Any) -> Any:
            return i + 1, tf.cond(tf.reduce_mean(t) > 0.0, lambda: tf.sin(t * w), lambda: t + 0.3)

        return tf.while_loop(lambda i, t: i < 2, body, (tf.constant(0), h))[1]

    def printed(self, h: Any) -> Any:
        tf = self.tf
        with tf.control_dependencies([tf.print("h", tf.shape(h), output_stream="file:///dev/null")]):
            return tf.identity(h) * 0.9

    def cast(self, h: Any) -> Any:
        tf = self.tf
        return tf.cast(tf.tanh(tf.cast(h, tf.float64) * 0.3), tf.float32)

    def switched(self, h: Any) -> Any:
        tf = self.tf
        return tf.where(h > 0.1, tf.sqrt(tf.maximum(h, 0.1)), tf.nn.softmax(h))


def overridden_gradient(op: Any, dy: Any) -> Any:
    """What `overridden` uses: registered once in each process as "IdiomTanh"."""
    return 0.5 * dy + 0.0 * op.outputs[0]


def register(tf: Any, done: list[Any]) -> None:
    """Registers the gradients that models use.

    Args:
      tf: the module of TensorFlow 1.
      done: the modules that have them; extended.
    """
    if tf not in done:
        done.append(tf)
        make: Callable[[Any], Any] = tf.RegisterGradient("IdiomTanh")
        make(overridden_gradient)
