import tensorflow as tf

# A graph convolutional net on the irises: flowers are joined to their five nearest ones, 15 of 150 labels are known.
# Layers multiply by a sparse, normalised adjacency matrix. (Kipf and Welling, 2016.)

import numpy as np
from sklearn.datasets import load_iris
from sklearn.neighbors import kneighbors_graph

iris = load_iris()
features = ((iris.data - iris.data.mean(0)) / iris.data.std(0)).astype(np.float32)
joined = kneighbors_graph(features, 5).toarray()
joined = np.maximum(joined, joined.T) + np.eye(150)
scale = joined.sum(1) ** -0.5
normalised = (joined * scale * scale[:, np.newaxis]).astype(np.float32)
places = np.argwhere(normalised)

adjacency = tf.sparse_placeholder(tf.float32)
x = tf.placeholder(tf.float32, [150, 4])
labels = tf.placeholder(tf.int32, [150])
known = tf.placeholder(tf.float32, [150])


def layer(h, n, m, name):
    """Neighbours' features, mixed."""
    with tf.variable_scope(name):
        W = tf.get_variable("W", [n, m], initializer=tf.glorot_uniform_initializer(seed=n))
        return tf.sparse_tensor_dense_matmul(adjacency, tf.matmul(h, W))


hidden = tf.nn.elu(layer(x, 4, 16, "one"))
logits = layer(hidden, 16, 3, "two")
errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
decay = 5e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
loss = tf.reduce_sum(errors * known) / tf.reduce_sum(known) + decay
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)))
train = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss)

mask = np.zeros(150, np.float32)
mask[::10] = 1
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    value = tf.SparseTensorValue(places, normalised[tuple(places.T)], [150, 150])
    feed = {adjacency: value, x: features, labels: iris.target, known: mask}
    for step in range(81):
        now, right, _ = sess.run([loss, accuracy, train], feed)
        if step % 20 == 0:
            print("step %2d: loss %.4f, accuracy %.3f" % (step, now, right))
