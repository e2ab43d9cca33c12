"""Two networks with optimizers of their own: variables by scope, random numbers, feeds."""

import numpy as np

import graphgrad.compat.v1 as tf


def generator(z: tf.Tensor, reuse: bool = False) -> tf.Tensor:
    with tf.variable_scope("generator", reuse=reuse):
        hidden = tf.layers.dense(z, 8, activation=tf.nn.leaky_relu)
        hidden = tf.layers.batch_normalization(hidden, training=True)
        return tf.layers.dense(hidden, 2)


def discriminator(x: tf.Tensor) -> tf.Tensor:
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(x, 8, activation=tf.nn.relu), 1)


z = tf.random_normal([4, 3], seed=1)
real = tf.placeholder(tf.float32, [4, 2])
fake = generator(z)
d_real, d_fake = discriminator(real), discriminator(fake)
d_loss = tf.reduce_mean(
    tf.nn.sigmoid_cross_entropy_with_logits(logits=d_real, labels=tf.ones_like(d_real))
    + tf.nn.sigmoid_cross_entropy_with_logits(logits=d_fake, labels=tf.zeros_like(d_fake)))
g_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=d_fake, labels=tf.ones_like(d_fake)))
epsilon = tf.random_uniform([4, 1])
between = epsilon * real + (1 - epsilon) * fake
slopes = tf.sqrt(tf.reduce_sum(tf.gradients(discriminator(between), between)[0] ** 2, axis=[1]))
d_loss += 10.0 * tf.reduce_mean((slopes - 1.0) ** 2)
t_vars = tf.trainable_variables()
d_vars = [var for var in t_vars if var.name.startswith("discriminator")]
g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    d_step = tf.train.AdamOptimizer(1e-4).minimize(d_loss, var_list=d_vars)
    g_step = tf.train.AdamOptimizer(1e-4).minimize(g_loss, var_list=g_vars)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    samples: np.ndarray = np.zeros((4, 2), np.float32)
    _, d_now = sess.run([d_step, d_loss], feed_dict={real: samples})
    _, g_now = sess.run([g_step, g_loss])
    assert np.isfinite(d_now + g_now)
