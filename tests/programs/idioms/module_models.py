"""Random models of 2.x as programs write them: modules with variables, loops that AutoGraph converts, tapes inside.

`make(tf, rng)` gives a module; its pieces are drawn when it is made, and each is a method `piece(h, k)` from
[batch, WIDTH] to the same. What a piece draws is fixed then, so that a second module from the same seed is equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH = 3
PIECES = ("dense", "dense", "residual", "normal", "convolved", "ranged", "scanned", "whiled", "branch", "case",
          "mapped", "vectorized", "embedded", "attention", "custom", "host", "counted", "recomputed", "clipped",
          "segments", "ragged", "sparse", "array_of", "stopped", "factored", "spectrum", "sorted", "taped", "broken",
          "gathered", "dropped", "unpacked", "lazily", "nested", "python", "stateful", "listed", "updated",
          "assigned", "folded")


def make(tf: Any, rng: np.random.Generator, names: list[str] | None = None) -> Any:
    """A module with a few pieces.

    Args:
      tf: the module of TensorFlow 2, or graphgrad's.
      rng: draws it.
      names: its pieces; drawn if missing.
    """
    if names is None:
        names = [str(n) for n in rng.choice(PIECES, int(rng.integers(1, 5)))]

    def array(*shape: int) -> np.ndarray:
        return np.round(rng.normal(size=shape), 2).astype(np.float32)

    activations = (tf.tanh, tf.nn.sigmoid, tf.nn.softplus, lambda u: u * 0.5 + tf.sin(u), tf.nn.elu, tf.nn.relu)

    class Net(tf.Module):  # type: ignore[misc]  # `tf` is untyped
        def __init__(self) -> None:
            super().__init__(name="net")
            self.names = names
            self.weights = [tf.Variable(array(WIDTH, WIDTH), name=f"w{k}") for k in range(len(names))]
            self.biases = {f"b{k}": tf.Variable(array(WIDTH), name=f"b{k}") for k in range(len(names))}
            self.averages = [tf.Variable(array(WIDTH), trainable=False, name=f"a{k}") for k in range(len(names))]
            self.steps = tf.Variable(0, trainable=False, name="steps", dtype=tf.int64)
            self.choices = [int(rng.integers(1000)) for _ in names]
            self.later: Any = None

        def __call__(self, x: Any, training: bool = False) -> Any:
            h = x
            for k, name in enumerate(self.names):
                h = getattr(self, name)(h, k, training)
            return h

        def small(self, k: int, h: Any) -> Any:
            return activations[self.choices[k] % len(activations)](h)

        def dense(self, h: Any, k: int, training: bool) -> Any:
            return self.small(k, h @ self.weights[k] + self.biases[f"b{k}"])

        def residual(self, h: Any, k: int, training: bool) -> Any:
            return h + 0.5 * self.dense(h, k, training)

        def normal(self, h: Any, k: int, training: bool) -> Any:
            mean, variance = tf.nn.moments(h, [0])
            if training:
                self.averages[k].assign(0.9 * self.averages[k] + 0.1 * mean)
            else:
                mean = self.averages[k]
            return tf.nn.batch_normalization(h, mean, variance, self.biases[f"b{k}"], self.weights[k][0], 1e-3)

        def convolved(self, h: Any, k: int, training: bool) -> Any:
            kernel = tf.reshape(self.weights[k], [WIDTH, 1, WIDTH])
            found = tf.nn.conv1d(h[:, :, None], kernel, stride=1, padding="SAME")
            return tf.reduce_mean(self.small(k, found), axis=-1)

        def ranged(self, h: Any, k: int, training: bool) -> Any:
            state = tf.zeros_like(h)
            for i in tf.range(1 + self.choices[k] % 4):
                state = tf.tanh(h @ self.weights[k] + state * tf.cast(i + 1, tf.float32) * 0.3)
                if tf.reduce_sum(state) > 3.0:
                    break
            return state

        def scanned(self, h: Any, k: int, training: bool) -> Any:
            w = self.weights[k]
            found = tf.scan(lambda s, row: tf.tanh(s + tf.linalg.matvec(w, row)), h, initializer=self.biases[f"b{k}"])
            return found + h

        def whiled(self, h: Any, k: int, training: bool) -> Any:
            def body(i: Any, t: Any) -> Any:
                return i + 1, self.small(k, t @ self.weights[k]) + h

            return tf.while_loop(lambda i, t: i < self.choices[k] % 4, body, [tf.constant(0), h])[1]

        def branch(self, h: Any, k: int, training: bool) -> Any:
            if tf.reduce_mean(h) > 0.1 * (self.choices[k] % 5 - 2):
                found = h @ self.weights[k]
            else:
                found = h * self.biases[f"b{k}"]
            return found

        def case(self, h: Any, k: int, training: bool) -> Any:
            w, b = self.weights[k], self.biases[f"b{k}"]
            index = tf.cast(self.steps, tf.int32) % 3 if self.choices[k] % 2 else tf.argmax(h[0], output_type=tf.int32)
            return tf.switch_case(index, [lambda: h @ w, lambda: h + b, lambda: tf.sin(h)])

        def mapped(self, h: Any, k: int, training: bool) -> Any:
            w = self.weights[k]
            return tf.map_fn(lambda row: self.small(k, tf.linalg.matvec(w, row)) * row, h)

        def vectorized(self, h: Any, k: int, training: bool) -> Any:
            w = self.weights[k]
            return tf.vectorized_map(lambda row: self.small(k, tf.linalg.matvec(w, row)) + tf.reduce_max(row), h)

        def embedded(self, h: Any, k: int, training: bool) -> Any:
            return h + tf.nn.embedding_lookup(self.weights[k], tf.argmax(h, axis=1))

        def attention(self, h: Any, k: int, training: bool) -> Any:
            q = tf.einsum("nd,de->ne", h, self.weights[k])
            return tf.einsum("nm,md->nd", tf.nn.softmax(tf.einsum("nd,md->nm", q, h)), h) + self.biases[f"b{k}"]

        def custom(self, h: Any, k: int, training: bool) -> Any:
            factor = 0.5 + self.choices[k] % 3

            @tf.custom_gradient
            def scaled(t: Any) -> Any:
                y = tf.sin(t)
                return y, lambda dy: dy * factor * tf.cos(t) * y

            return scaled(h @ self.weights[k]) + h

        def host(self, h: Any, k: int, training: bool) -> Any:
            found = tf.numpy_function(lambda a: np.sign(a).astype(np.float32), [h], tf.float32)
            found.set_shape(h.shape)
            return h * found + self.biases[f"b{k}"]

        def python(self, h: Any, k: int, training: bool) -> Any:
            found = tf.py_function(lambda a, w: tf.tanh(a @ w), [h, self.weights[k]], tf.float32)
            found.set_shape(h.shape)
            return found

        def counted(self, h: Any, k: int, training: bool) -> Any:
            self.steps.assign_add(1)
            return h * (1 + 0.1 * tf.cast(self.steps, tf.float32)) + self.biases[f"b{k}"]

        def recomputed(self, h: Any, k: int, training: bool) -> Any:
            return tf.recompute_grad(lambda t: self.small(k, t @ self.weights[k]) + tf.square(t) * 0.1)(h)

        def clipped(self, h: Any, k: int, training: bool) -> Any:
            return tf.clip_by_norm(tf.clip_by_value(h, -1.0, 1.0) + self.biases[f"b{k}"], 2.0, axes=[1])

        def segments(self, h: Any, k: int, training: bool) -> Any:
            sums = tf.math.unsorted_segment_sum(h, tf.argmax(h, axis=1), WIDTH)
            return h + tf.gather(sums @ self.weights[k], tf.argmin(h, axis=1)) * 0.2

        def ragged(self, h: Any, k: int, training: bool) -> Any:
            kept = tf.ragged.boolean_mask(h * self.biases[f"b{k}"], h > 0)
            return h + tf.reduce_sum(tf.square(kept), axis=1)[:, None]

        def sparse(self, h: Any, k: int, training: bool) -> Any:
            found = tf.sparse.from_dense(tf.nn.relu(h))
            return tf.sparse.sparse_dense_matmul(found, self.weights[k]) + h * 0.1

        def array_of(self, h: Any, k: int, training: bool) -> Any:
            found = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[None, WIDTH])
            for i in tf.range(3):
                found = found.write(i, h * tf.cast(i, tf.float32) + self.biases[f"b{k}"])
            return tf.reduce_sum(self.small(k, found.stack()), axis=0)

        def listed(self, h: Any, k: int, training: bool) -> Any:
            parts = []
            for i in range(WIDTH):
                parts.append(h[:, i] * self.biases[f"b{k}"][i])
            parts.reverse()
            return self.small(k, tf.stack(parts, axis=1))

        def stopped(self, h: Any, k: int, training: bool) -> Any:
            return tf.stop_gradient(h) * self.weights[k][1] + 0.5 * h

        def factored(self, h: Any, k: int, training: bool) -> Any:
            w = self.weights[k]
            lower = tf.linalg.cholesky(w @ tf.transpose(w) + 2.0 * tf.eye(WIDTH))
            return tf.transpose(tf.linalg.triangular_solve(lower, tf.transpose(h)))

        def spectrum(self, h: Any, k: int, training: bool) -> Any:
            found = tf.signal.fft(tf.cast(h + self.biases[f"b{k}"], tf.complex64))
            return tf.math.real(found) * 0.5 + tf.abs(found) * 0.1

        def sorted(self, h: Any, k: int, training: bool) -> Any:
            return tf.sort(h * self.biases[f"b{k}"], axis=1) + tf.math.top_k(h, k=1).values

        def taped(self, h: Any, k: int, training: bool) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(h)
                energy = tf.reduce_sum(self.small(k, h @ self.weights[k]) ** 2)
            return h - 0.1 * tape.gradient(energy, h)

        def broken(self, h: Any, k: int, training: bool) -> Any:
            total = tf.zeros_like(h)
            i = tf.constant(0)
            while i < 5:
                i += 1
                if i == 2:
                    continue
                total += self.small(k, h * tf.cast(i, tf.float32) * self.biases[f"b{k}"])
                if i > self.choices[k] % 6:
                    break
            return total

        def gathered(self, h: Any, k: int, training: bool) -> Any:
            index = tf.stack([tf.range(tf.shape(h)[0]), tf.argmax(h, axis=1, output_type=tf.int32)], axis=1)
            best = tf.gather_nd(h, index)
            return tf.tensor_scatter_nd_add(h @ self.weights[k], index, tf.square(best))

        def dropped(self, h: Any, k: int, training: bool) -> Any:
            if not training:
                return h
            return tf.nn.experimental.stateless_dropout(h, 0.4, seed=[self.choices[k], 7])

        def unpacked(self, h: Any, k: int, training: bool) -> Any:
            a, b, c = tf.unstack(h, axis=1)
            return tf.stack([a * b, b + c, tf.maximum(a, c)], axis=1) @ self.weights[k]

        def lazily(self, h: Any, k: int, training: bool) -> Any:
            if self.later is None:
                with tf.init_scope():
                    self.later = tf.Variable(tf.ones([WIDTH]) * 0.3, name="later")
            return h * self.later + self.biases[f"b{k}"]

        @tf.function
        def nested(self, h: Any, k: int, training: bool) -> Any:
            return self.small(k, h @ self.weights[k]) * self.inner(h, tf.constant(0.3))

        @tf.function(reduce_retracing=True)
        def inner(self, h: Any, scale: Any) -> Any:
            return tf.nn.sigmoid(h) * scale

        def stateful(self, h: Any, k: int, training: bool) -> Any:
            for _ in tf.range(2):
                self.averages[k].assign(tf.tanh(self.averages[k] + tf.reduce_mean(h, axis=0)))
                h += self.averages[k] * self.biases[f"b{k}"]
            return h

        def updated(self, h: Any, k: int, training: bool) -> Any:
            before = h * self.averages[k]
            self.averages[k][0].assign(tf.reduce_mean(h))
            self.averages[k].scatter_nd_add([[1]], [0.25])
            return before + self.averages[k] * h

        def assigned(self, h: Any, k: int, training: bool) -> Any:
            if training and tf.reduce_sum(h) > 0.0:
                self.averages[k].assign_sub(0.1 * self.biases[f"b{k}"])
            return h + self.averages[k] * self.biases[f"b{k}"]

        def folded(self, h: Any, k: int, training: bool) -> Any:
            def step(i: Any, total: Any, log: Any) -> Any:
                total = total + self.small(k, h[:, i][:, None] * self.weights[k][i])
                return i + 1, total, log.write(i, tf.reduce_sum(total))

            log = tf.TensorArray(tf.float32, WIDTH)
            _, total, log = tf.while_loop(lambda i, *_: i < WIDTH, step, (0, tf.zeros_like(h), log),
                                          maximum_iterations=5)
            return total + tf.reduce_mean(log.stack())

    return Net()
