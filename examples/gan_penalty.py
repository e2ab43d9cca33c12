import tensorflow as tf

# A Wasserstein GAN with gradient penalty on points around a circle: the critic's loss holds the norm of its gradient
# with respect to its input, so training differentiates a gradient. (Gulrajani et al., 2017.)

import numpy as np

rng = np.random.RandomState(0)
BATCH = 64

real = tf.placeholder(tf.float32, [BATCH, 2])
noise = tf.placeholder(tf.float32, [BATCH, 2])
mixing = tf.placeholder(tf.float32, [BATCH, 1])


def net(h, sizes, name):
    """Dense layers with tanh between them."""
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for i, (n, m) in enumerate(zip(sizes, sizes[1:])):
            W = tf.get_variable("W%d" % i, [n, m], initializer=tf.glorot_uniform_initializer(seed=10 * n + m))
            b = tf.get_variable("b%d" % i, [m], initializer=tf.zeros_initializer())
            h = tf.matmul(h, W) + b
            if i < len(sizes) - 2:
                h = tf.tanh(h)
        return h


def critic(points):
    """How real points look."""
    return net(points, [2, 32, 32, 1], "critic")


fake = net(noise, [2, 32, 2], "generator")
between = mixing * real + (1 - mixing) * fake
slope = tf.gradients(critic(between), between)[0]
penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
distance = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
critic_loss = -distance + 10.0 * penalty
generator_loss = -tf.reduce_mean(critic(fake))

critic_variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "critic")
generator_variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "generator")
train_critic = tf.train.AdamOptimizer(0.003, beta1=0.5).minimize(critic_loss, var_list=critic_variables)
train_generator = tf.train.AdamOptimizer(0.003, beta1=0.5).minimize(generator_loss, var_list=generator_variables)


def batch():
    """Points on the circle, noise, and how to mix."""
    angle = rng.randint(8, size=BATCH) * np.pi / 4
    points = np.stack([np.cos(angle), np.sin(angle)], 1) + 0.05 * rng.randn(BATCH, 2)
    return {real: points, noise: rng.randn(BATCH, 2), mixing: rng.rand(BATCH, 1)}


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(41):
        for _ in range(3):
            feed = batch()
            _, d, p = sess.run([train_critic, distance, penalty], feed)
        sess.run(train_generator, batch())
        if step % 10 == 0:
            print("step %2d: distance %.4f, penalty %.4f" % (step, d, p))
    radius = np.linalg.norm(sess.run(fake, batch()), axis=1).mean()
    print("mean radius of what is generated: %.2f" % radius)
