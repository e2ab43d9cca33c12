import tensorflow as tf

# A convolutional net with batch normalization on 1,797 digits (sklearn.datasets.load_digits): tf.layers, a
# `training` placeholder, moving averages in UPDATE_OPS, gradient clipping by hand, an exponentially decaying rate.

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
images = (digits.images[..., np.newaxis] / 16.0).astype(np.float32)
train, test = slice(0, 1500), slice(1500, None)

tf.set_random_seed(7)
x = tf.placeholder(tf.float32, [None, 8, 8, 1])
y = tf.placeholder(tf.int64, [None])
training = tf.placeholder_with_default(False, [])


def block(h, filters, name):
    """Convolution, batch normalization, relu."""
    with tf.variable_scope(name):
        init = tf.truncated_normal_initializer(stddev=0.2, seed=filters)
        h = tf.layers.conv2d(h, filters, 3, padding="same", use_bias=False, kernel_initializer=init)
        h = tf.layers.batch_normalization(h, training=training, momentum=0.9)
        return tf.nn.relu(h)


h = block(x, 8, "one")
h = tf.layers.max_pooling2d(h, 2, 2)
h = block(h, 16, "two")
h = tf.reduce_mean(h, axis=[1, 2])
logits = tf.layers.dense(h, 10, kernel_initializer=tf.truncated_normal_initializer(stddev=0.3, seed=3))
loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))

step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.01, step, 10, 0.9, staircase=True)
optimizer = tf.train.AdamOptimizer(rate)
gradients, variables = zip(*optimizer.compute_gradients(loss))
clipped, norm = tf.clip_by_global_norm(gradients, 2.0)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = optimizer.apply_gradients(zip(clipped, variables), global_step=step)

shuffle = np.random.RandomState(0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(61):
        rows = shuffle.choice(1500, 100, replace=False)
        _, value, n = sess.run([train_op, loss, norm], {x: images[rows], y: digits.target[rows], training: True})
        if i % 10 == 0:
            print("step %2d: loss %.4f, gradient norm %.4f" % (i, value, n))
    print("global step %d, rate %.5f" % tuple(sess.run([step, rate])))
    print("test accuracy %.3f" % sess.run(accuracy, {x: images[test], y: digits.target[test]}))
