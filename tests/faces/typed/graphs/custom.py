"""Gradients of one's own, functions of NumPy, gradients that are stopped."""

import numpy as np

import graphgrad.compat.v1 as tf


@tf.custom_gradient
def clipped(x: tf.Tensor) -> tuple[tf.Tensor, object]:
    def grad(dy: tf.Tensor) -> tf.Tensor:
        return tf.clip_by_value(dy, -0.5, 0.5)

    return tf.identity(x), grad


@tf.RegisterGradient("TypedProgramRound")
def _round_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return grad * tf.ones_like(op.inputs[0])


def halved(a: np.ndarray) -> np.ndarray:
    return a / np.float32(2.0)


x = tf.constant([1.5, -2.5])
with tf.get_default_graph().gradient_override_map({"Round": "TypedProgramRound"}):
    rounded = tf.round(x)
half = tf.py_func(halved, [x], tf.float32)
half.set_shape(x.shape)
y = clipped(x) * 3.0 + rounded + tf.stop_gradient(half)
first = tf.gradients(y, x, grad_ys=tf.ones_like(y))[0]
second = tf.gradients(tf.reduce_sum(x**3), x)[0]
third = tf.hessians(tf.reduce_sum(x**3), x)[0]
with tf.Session() as sess:
    values = sess.run({"first": first, "second": second, "third": third, "half": half})
    assert np.allclose(values["first"], [1.5, 1.5]) and np.allclose(values["third"], np.diag([9.0, -15.0]))
    print(values["half"].tolist(), sess.run(tf.shape(y))[0])
