import tensorflow as tf

# A variational autoencoder of digits (sklearn.datasets.load_digits): the reparameterization trick with
# tf.random_normal, the Kullback-Leibler divergence in closed form, Adam. (Kingma and Welling, 2013.)

import numpy as np
from sklearn.datasets import load_digits

images = (load_digits().data / 16.0).astype(np.float32)
LATENT = 4

tf.set_random_seed(11)
x = tf.placeholder(tf.float32, [None, 64])


def dense(h, n, m, name, activation=None):
    """A fully connected layer."""
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        W = tf.get_variable("W", [n, m], initializer=tf.random_normal_initializer(stddev=n**-0.5, seed=n + m))
        b = tf.get_variable("b", [m], initializer=tf.constant_initializer(0.0))
        h = tf.nn.xw_plus_b(h, W, b)
        return activation(h) if activation else h


def decode(z):
    """From codes to the logits of pixels."""
    return dense(dense(z, LATENT, 32, "decoder1", tf.nn.softplus), 32, 64, "decoder2")


h = dense(x, 64, 32, "encoder1", tf.nn.softplus)
mean, log_variance = tf.split(dense(h, 32, 2 * LATENT, "encoder2"), 2, axis=1)
noise = tf.random_normal(tf.shape(mean), seed=5)
z = mean + tf.exp(0.5 * log_variance) * noise
logits = decode(z)
reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
mean_divergence = tf.reduce_mean(divergence)
loss = tf.reduce_mean(reconstruction) + mean_divergence
train = tf.train.AdamOptimizer(0.005).minimize(loss)
generated = tf.nn.sigmoid(decode(tf.zeros([1, LATENT])))

shuffle = np.random.RandomState(0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(101):
        rows = shuffle.choice(len(images), 128, replace=False)
        value, kl, _ = sess.run([loss, mean_divergence, train], {x: images[rows]})
        if step % 20 == 0:
            print("step %3d: loss %.3f, divergence %.3f" % (step, value, kl))
    image = sess.run(generated).reshape(8, 8)
    print("brightness of the mean digit's rows:", " ".join("%.2f" % v for v in image.mean(1)))
