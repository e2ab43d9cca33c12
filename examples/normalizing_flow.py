import tensorflow as tf

# A flow of affine couplings fitted to two half moons by maximum likelihood, and run backwards; the log-determinant is
# checked against the Jacobian that tf.gradients gives. (Dinh, Sohl-Dickstein and Bengio, 2016.)

import numpy as np
from sklearn.datasets import make_moons

rng = np.random.RandomState(2)
points = make_moons(1000, noise=0.05, random_state=0)[0].astype(np.float32)
points = (points - points.mean(0)) / points.std(0)

couplings = []
for i in range(4):
    couplings.append([tf.Variable((rng.randn(*s) * 0.3).astype(np.float32)) for s in ((1, 16), (16,), (16, 2), (2,))])


def scale_and_shift(h, coupling):
    """What one half says about the other."""
    W1, b1, W2, b2 = coupling
    scale, shift = tf.split(tf.matmul(tf.tanh(tf.matmul(h, W1) + b1), W2) + b2, 2, axis=1)
    return tf.tanh(scale), shift


def forward(x):
    """From data to noise, with the logarithm of the determinant."""
    a, b = tf.split(x, 2, axis=1)
    log_determinant = tf.zeros_like(a)
    for coupling in couplings:
        scale, shift = scale_and_shift(a, coupling)
        a, b = b * tf.exp(scale) + shift, a
        log_determinant += scale
    return tf.concat([a, b], 1), tf.squeeze(log_determinant, 1)


def backward(z):
    """From noise to data."""
    a, b = tf.split(z, 2, axis=1)
    for coupling in reversed(couplings):
        scale, shift = scale_and_shift(b, coupling)
        a, b = b, (a - shift) * tf.exp(-scale)
    return tf.concat([a, b], 1)


x = tf.placeholder(tf.float32, [None, 2])
z, log_determinant = forward(x)
log_likelihood = -0.5 * tf.reduce_sum(tf.square(z), 1) - np.log(2 * np.pi) + log_determinant
loss = -tf.reduce_mean(log_likelihood)
train = tf.train.AdamOptimizer(0.01).minimize(loss)
rows = tf.stack([tf.gradients(z[:, i], x)[0] for i in range(2)], 1)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(101):
        value, _ = sess.run([loss, train], {x: points[rng.choice(1000, 200)]})
        if step % 20 == 0:
            print("step %3d: negative log-likelihood %.4f" % (step, value))
    jacobian, told = sess.run([rows, log_determinant], {x: points[:5]})
    print("the determinants agree:", bool(np.allclose(np.log(np.abs(np.linalg.det(jacobian))), told, atol=1e-4)))
    there_and_back = sess.run(backward(z), {x: points[:5]})
    print("backward undoes forward:", bool(np.allclose(there_and_back, points[:5], atol=1e-3)))
