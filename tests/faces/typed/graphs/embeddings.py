"""Embeddings, sampled losses, sparse gradients."""

import numpy as np

import graphgrad.compat.v1 as tf

vocabulary, size = 20, 4
words = tf.placeholder(tf.int32, [None])
labels = tf.placeholder(tf.int32, [None, 1])
embeddings = tf.Variable(tf.random_uniform([vocabulary, size], -1.0, 1.0))
embedded = tf.nn.embedding_lookup(embeddings, words)
nce_weights = tf.Variable(tf.truncated_normal([vocabulary, size], stddev=1.0 / np.sqrt(size)))
nce_biases = tf.Variable(tf.zeros([vocabulary]))
loss = tf.reduce_mean(tf.nn.nce_loss(weights=nce_weights, biases=nce_biases, labels=labels, inputs=embedded,
                                     num_sampled=5, num_classes=vocabulary))
gradient = tf.gradients(loss, [embeddings])[0]
if isinstance(gradient, tf.IndexedSlices):
    rows = gradient.indices
    dense = tf.convert_to_tensor(gradient)
else:
    rows, dense = words, gradient
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
normalized = embeddings / norm
similarity = tf.matmul(normalized, normalized, transpose_b=True)
update = tf.scatter_sub(embeddings, rows, 0.1 * tf.gather(dense, rows))
assigned = tf.assign(embeddings, tf.zeros_like(embeddings))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {words: [1, 2, 1], labels: [[3], [4], [5]]}
    assert sess.run(dense, feed).shape == (vocabulary, size)
    sess.run([update.op, loss], feed)
    nearest = (-sess.run(similarity)[0, :]).argsort()[1:4]
    print(nearest, sess.run(assigned).sum(), assigned.op.name)
