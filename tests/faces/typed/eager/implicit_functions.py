"""Solutions of equations, minima, differential equations, sparse Jacobians."""

import numpy as np

import graphgrad as tf

a = tf.Variable(2.0)
with tf.GradientTape() as tape:
    root = tf.implicit.root(lambda x: x * x - a, tf.constant(1.0))
slope = tape.gradient(root, a)
fixed, info = tf.implicit.fixed_point(lambda x: tf.cos(x), tf.constant(0.5), with_info=True)
least = tf.implicit.argmin(lambda x: tf.reduce_sum((x - a) ** 2), tf.zeros([2]))
path = tf.implicit.odeint(lambda y, t: -y, tf.constant([1.0]), np.array([0.0, 1.0], np.float32))
solved = tf.implicit.linear_solve(lambda v: 2.0 * v, tf.constant([2.0, 4.0]))
jvp = tf.jvp(lambda x: x**3, tf.constant(2.0), tf.constant(1.0))
assert abs(root.numpy() - 2**0.5) < 1e-5 and abs(slope.numpy() - 0.5**1.5) < 1e-4
print(fixed + 1.0, info.iterations, least.numpy(), path.shape, path[-1] * 2.0, solved[0], jvp[1])
