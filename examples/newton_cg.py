import tensorflow as tf

# Truncated Newton: conjugate gradients on products of the Hessian with vectors, each the gradient of a gradient times
# a vector (Pearlmutter, 1994), for a small net that fits the diabetes data of scikit-learn.

import numpy as np
from sklearn.datasets import load_diabetes

data = load_diabetes()
inputs = (data.data * 20).astype(np.float64)
outputs = ((data.target - data.target.mean()) / data.target.std())[:, np.newaxis]

rng = np.random.RandomState(0)
shapes = [(10, 12), (12,), (12, 1)]
count = sum(int(np.prod(s)) for s in shapes)
x, y = tf.placeholder(tf.float64, [None, 10]), tf.placeholder(tf.float64, [None, 1])
theta = tf.Variable(rng.randn(count) * 0.3, dtype=tf.float64)
parts = tf.split(theta, [int(np.prod(s)) for s in shapes])
W1, b1, W2 = [tf.reshape(p, s) for p, s in zip(parts, shapes)]
loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, W1) + b1), W2) - y)) + 1e-3 * tf.reduce_sum(theta**2)
gradient = tf.gradients(loss, theta)[0]
vector = tf.placeholder(tf.float64, [count])
product = tf.gradients(tf.reduce_sum(gradient * vector), theta)[0] + 0.05 * vector
step = tf.placeholder(tf.float64, [count])
move = theta.assign_add(step)

feed = {x: inputs, y: outputs}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for iteration in range(8):
        value, g = sess.run([loss, gradient], feed)
        print("iteration %d: loss %.6f, gradient %.6f" % (iteration, value, np.linalg.norm(g)))
        d, r = np.zeros(count), -g
        p, rr = r, r @ r
        for _ in range(12):
            Hp = sess.run(product, {**feed, vector: p})
            curvature = p @ Hp
            if curvature <= 0:
                break
            alpha = rr / curvature
            d, r = d + alpha * p, r - alpha * Hp
            rr, before = r @ r, rr
            p = r + rr / before * p
        length = 1.0
        sess.run(move, {step: d})
        while sess.run(loss, feed) > value and length > 1e-3:
            length /= 2
            sess.run(move, {step: -length * d})
    print("mean square error: %.4f" % sess.run(loss, feed))
