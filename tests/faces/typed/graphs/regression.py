"""Linear regression with feeds."""

import numpy as np

import graphgrad.compat.v1 as tf

xs = np.linspace(0.0, 1.0, 20).astype(np.float32)
ys = 3.0 * xs + 1.0

x = tf.placeholder(tf.float32, [None], name="x")
y = tf.placeholder(tf.float32, shape=(None,))
w = tf.Variable(0.0)
b = tf.get_variable("b", shape=[], initializer=tf.zeros_initializer())
error = w * x + b - y
loss = tf.reduce_mean(error**2)
rate = tf.train.exponential_decay(0.5, tf.train.get_or_create_global_step(), 50, 0.9, staircase=True)
optimizer = tf.train.GradientDescentOptimizer(rate)
train = optimizer.minimize(loss, global_step=tf.train.get_global_step())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        _, value = sess.run([train, loss], feed_dict={x: xs, y: ys})
        if step % 50 == 0:
            print(f"{step}: {value:.4f}")
    slope, offset = sess.run((w, b))
    assert abs(slope - 3.0) < 0.5 and abs(float(offset) - 1.0) < 0.5
