import tensorflow as tf

# `stop_gradient` at work, 2: contrastive divergence training of a Boltzmann machine.
#
# A restricted Boltzmann machine gives a low free energy to what resembles its data.
# Contrastive divergence lowers the energy of the data and raises that of samples which the
# model makes from them. The samples depend on the parameters too, but differentiation must
# not go through the sampling: `stop_gradient` holds them fixed.
#
# The data are the 1,797 handwritten digits that scikit-learn ships (sklearn.datasets.load_digits;
# UCI Machine Learning Repository, CC BY 4.0), made black and white.
#
# Run it with: graphgrad run examples/boltzmann_machine.py

import numpy as np
from sklearn.datasets import load_digits

images = (load_digits().data >= 8).astype(np.float32)  # (1797, 64), zeros and ones
generator = np.random.RandomState(0)
VISIBLE, HIDDEN, BATCH = 64, 48, 100

v_data = tf.placeholder(tf.float32, [BATCH, VISIBLE])
noise_h = tf.placeholder(tf.float32, [BATCH, HIDDEN])  # uniform in [0, 1)
noise_v = tf.placeholder(tf.float32, [BATCH, VISIBLE])

W = tf.Variable(generator.normal(0.0, 0.05, [VISIBLE, HIDDEN]).astype(np.float32))
b_visible = tf.Variable(tf.zeros([VISIBLE]))
b_hidden = tf.Variable(tf.zeros([HIDDEN]))
parameters = [W, b_visible, b_hidden]


def free_energy(v):
    """-log of the unnormalised probability of v, the hidden units summed out."""
    return -tf.reduce_sum(v * b_visible, axis=1) - tf.reduce_sum(tf.nn.softplus(tf.matmul(v, W) + b_hidden), axis=1)


# One step of Gibbs sampling, from the data.
p_hidden = tf.sigmoid(tf.matmul(v_data, W) + b_hidden)
hidden = tf.cast(noise_h < p_hidden, tf.float32)
p_visible = tf.sigmoid(tf.matmul(hidden, W, transpose_b=True) + b_visible)
v_model = tf.stop_gradient(tf.cast(noise_v < p_visible, tf.float32))

loss = tf.reduce_mean(free_energy(v_data)) - tf.reduce_mean(free_energy(v_model))
gradients = tf.gradients(loss, parameters)

# What the gradient must be: differences of correlations.
p_hidden_model = tf.sigmoid(tf.matmul(v_model, W) + b_hidden)
by_hand = (tf.matmul(v_model, p_hidden_model, transpose_a=True) - tf.matmul(v_data, p_hidden, transpose_a=True)) / BATCH

train = tf.train.MomentumOptimizer(0.1, 0.5).apply_gradients(zip(gradients, parameters))
reconstruction_error = tf.reduce_mean(tf.square(v_data - p_visible))


def feed():
    rows = generator.permutation(len(images))[:BATCH]
    return {
        v_data: images[rows],
        noise_h: generator.uniform(size=[BATCH, HIDDEN]),
        noise_v: generator.uniform(size=[BATCH, VISIBLE]),
    }


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    automatic, correlations = sess.run([gradients[0], by_hand], feed())
    print("gradient of W is the difference of correlations:", bool(np.allclose(automatic, correlations, atol=1e-6)))
    errors = []
    for step in range(1, 1001):
        _, e = sess.run([train, reconstruction_error], feed())
        errors.append(e)
        if step % 200 == 0:
            print("step %4d: reconstruction error %.3f" % (step, np.mean(errors[-100:])))
    # The energy tells digits from noise of the same brightness.
    shuffled = np.array([generator.permutation(image) for image in images[:BATCH]])
    energy = free_energy(v_data)
    digits, noise = (sess.run(energy, {v_data: v}) for v in (images[:BATCH], shuffled))
    print("digits with less energy than their shuffled pixels: %d of %d" % (sum(digits < noise), BATCH))
