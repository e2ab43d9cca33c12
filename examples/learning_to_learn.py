import tensorflow as tf

# Learning to learn: a small LSTM, the same for every coordinate, proposes the updates of quadratics, and is trained
# through 20 unrolled steps of its own. As in the paper, the gradients that it sees are cut off.
# (Andrychowicz et al., 2016.)

import numpy as np

rng = np.random.RandomState(0)
SIZE, UNITS, STEPS = 8, 12, 20

A = tf.placeholder(tf.float32, [SIZE, SIZE])
b = tf.placeholder(tf.float32, [SIZE, 1])
start = tf.placeholder(tf.float32, [SIZE, 1])
W = tf.Variable((rng.randn(1 + UNITS, 4 * UNITS) * 0.2).astype(np.float32))
bias = tf.Variable(np.repeat([0.0, 1.0, 0.0, 0.0], UNITS).astype(np.float32))
out = tf.Variable((rng.randn(UNITS, 1) * 0.1).astype(np.float32))


def value(theta):
    """The function that is to be made small."""
    return tf.reduce_sum(tf.square(tf.matmul(A, theta) - b))


theta = start
c, h = tf.zeros([SIZE, UNITS]), tf.zeros([SIZE, UNITS])
losses = []
for _ in range(STEPS):
    gradient = tf.stop_gradient(tf.gradients(value(theta), theta)[0])
    i, f, o, g = tf.split(tf.matmul(tf.concat([gradient * 0.1, h], 1), W) + bias, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    h = tf.sigmoid(o) * tf.tanh(c)
    theta = theta + tf.matmul(h, out)
    losses.append(value(theta))
meta_loss = tf.add_n(losses) / STEPS
train = tf.train.AdamOptimizer(0.01).minimize(meta_loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(61):
        feed = {A: rng.randn(SIZE, SIZE) / np.sqrt(SIZE), b: rng.randn(SIZE, 1), start: rng.randn(SIZE, 1)}
        mean, last, _ = sess.run([meta_loss, losses[-1], train], feed)
        if step % 10 == 0:
            print("step %2d: mean loss %.3f, last %.3f" % (step, mean, last))
