"""A network whose derivatives enter the loss: the heat equation."""

import numpy as np

import graphgrad as tf


class Net(tf.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        init = tf.random_normal_initializer(stddev=0.5, seed=2)
        self.w1: tf.Variable = tf.Variable(init([2, width]))
        self.w2: tf.Variable = tf.Variable(init([width, 1]))

    def u(self, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
        return tf.tanh(tf.concat([x, t], axis=1) @ self.w1) @ self.w2


def residual(net: Net, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = net.u(x, t)
        u_x = first.gradient(u, x)
        u_t = first.gradient(u, t)
    u_xx = second.gradient(u_x, x)
    return u_t - 0.1 * u_xx


net = Net(4)
points = np.random.RandomState(0).rand(6, 2).astype(np.float32)
x, t = tf.constant(points[:, :1]), tf.constant(points[:, 1:])
loss = tf.constant(0.0)
for _ in range(2):
    with tf.GradientTape() as tape:
        start = net.u(x, 0.0 * t) - tf.sin(np.pi * x)
        loss = tf.reduce_mean(residual(net, x, t) ** 2) + tf.reduce_mean(tf.square(start))
    for variable, gradient in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
        variable.assign_sub(0.05 * gradient)
assert np.isfinite(loss.numpy()) and residual(net, x, t).shape == [6, 1]
