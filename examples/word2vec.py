import tensorflow as tf

# Skip-gram with sampled softmax on the doc strings of Python's `str`: sparse gradients of an embedding table, updated
# by rows. (Mikolov et al., 2013; Jean et al., 2014.)

import collections
import re

import numpy as np

words = re.findall("[a-z]+", " ".join(str(getattr(str, n).__doc__) for n in sorted(dir(str)) if n[0] != "_").lower())
common = [w for w, _ in sorted(collections.Counter(words).items(), key=lambda p: (-p[1], p[0]))[:200]]
number = {w: i for i, w in enumerate(common)}
stream = np.array([number[w] for w in words if w in number])
centers = np.concatenate([stream[1:], stream[:-1]])
contexts = np.concatenate([stream[:-1], stream[1:]])

rng = np.random.RandomState(0)
SIZE, BATCH = 32, 256
x = tf.placeholder(tf.int64, [BATCH])
y = tf.placeholder(tf.int64, [BATCH, 1])
table = tf.Variable(rng.uniform(-0.5, 0.5, (len(common), SIZE)).astype(np.float32))
softmax_w = tf.Variable((rng.randn(len(common), SIZE) / np.sqrt(SIZE)).astype(np.float32))
softmax_b = tf.Variable(tf.zeros([len(common)]))

h = tf.nn.embedding_lookup(table, x)
sampled = tf.nn.log_uniform_candidate_sampler(y, 1, 24, True, len(common), seed=3)
loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
    weights=softmax_w, biases=softmax_b, labels=y, inputs=h, num_sampled=24, num_classes=len(common),
    sampled_values=sampled))
full = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=y[:, 0], logits=tf.matmul(h, softmax_w, transpose_b=True) + softmax_b))
optimizer = tf.train.AdagradOptimizer(0.5)
pairs = optimizer.compute_gradients(loss)
print("gradient of the table:", type(pairs[0][0]).__name__)
train = optimizer.apply_gradients(pairs)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(121):
        rows = rng.randint(len(centers), size=BATCH)
        feed = {x: centers[rows], y: contexts[rows, np.newaxis]}
        sess.run(train, feed)
        if step % 30 == 0:
            print("step %3d: full softmax loss %.2f" % (step, sess.run(full, feed)))
