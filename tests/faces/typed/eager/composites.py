"""Sparse and ragged tensors, slices."""

import numpy as np

import graphgrad as tf

sparse = tf.sparse.SparseTensor(indices=[[0, 1], [2, 0]], values=[1.0, 2.0], dense_shape=[3, 2])
dense = tf.sparse.to_dense(sparse)
product = tf.sparse.sparse_dense_matmul(sparse, tf.ones([2, 2]))
total = tf.sparse.add(sparse, sparse)
ragged = tf.ragged.constant([[1, 2], [3]])
lengths = ragged.row_lengths()
padded = ragged.to_tensor(default_value=0)
plus = ragged + 1
rows = [row.numpy().tolist() for row in ragged]
split = tf.strings.split(["a b", "c"]).to_list()
table = tf.Variable(tf.ones([4, 2]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.gather(table, [1, 1]))
gradient = tape.gradient(loss, table)
if isinstance(gradient, tf.IndexedSlices):
    print(gradient.values.shape, gradient.indices.numpy())
as_dense = tf.convert_to_tensor(gradient)
assert np.allclose(product[0], [1.0, 1.0]) and rows == [[1, 2], [3]] and split[1] == [b"c"]
print(total.values.numpy(), dense + 1.0, padded.shape, plus.flat_values, as_dense[1], lengths.numpy().tolist())
