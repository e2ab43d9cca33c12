"""Gradients of one's own, recomputation, functions of NumPy."""

import numpy as np

import graphgrad as tf


@tf.custom_gradient
def log1pexp(x: tf.Tensor):
    e = tf.exp(x)

    def grad(upstream: tf.Tensor) -> tf.Tensor:
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


class Straight:
    @tf.custom_gradient
    def through(self, x: tf.Tensor) -> tuple[tf.Tensor, object]:
        return tf.round(x), lambda dy: dy


@tf.recompute_grad
def block(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
    return tf.tanh(x @ w)


x = tf.constant([[0.5, 1.5]])
w = tf.ones([2, 2])
with tf.GradientTape(persistent=True) as tape:
    tape.watch([x, w])
    y = log1pexp(x) + Straight().through(x)
    z = block(x, w)
    s = tf.py_function(lambda t: t * t, inp=[x], Tout=tf.float32)
n = tf.numpy_function(np.sin, [x], tf.float32)
assert tape.gradient(y, x).shape == [1, 2] and tape.gradient(z, w).shape == (2, 2)
print(tape.gradient(s, x).numpy(), n.numpy() + 1.0, log1pexp(x).numpy().max(), block(x, w)[0] * 2)
