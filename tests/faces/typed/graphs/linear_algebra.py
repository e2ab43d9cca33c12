"""Linear algebra, indexing, shapes."""

import numpy as np

import graphgrad.compat.v1 as tf

a = tf.constant(np.array([[4.0, 1.0], [1.0, 3.0]]))
batch, length = a.shape.as_list()
rank = a.shape.ndims or 0
s, u, v = tf.svd(a)
only = tf.svd(a, compute_uv=False)
e, q = tf.self_adjoint_eig(a)
solved = tf.matrix_solve(a, tf.expand_dims(tf.constant([1.0, 2.0], tf.float64), -1))
inverse = tf.matrix_inverse(a)
back = u @ tf.diag(s) @ tf.transpose(v)
rows = tf.unstack(a, axis=0)
left, right = tf.split(a, 2, axis=1)
joined = tf.concat([left, right], 1) + tf.stack(rows) - 2 * a
values, indices = tf.nn.top_k(tf.reshape(a, [-1]), k=2)
mean, variance = tf.nn.moments(a, axes=[0])
masked = tf.boolean_mask(a, a > 2.0)
where = tf.where(tf.greater(a, 2.0))
mixed = tf.where(a > 2.0, a, tf.zeros_like(a)) * tf.cast(tf.eye(2), a.dtype)
corner = a[0, 1] + a[-1, 0] + a[..., tf.newaxis][0, 0, 0] + tf.reduce_max(a[1:, :])
dynamic = tf.shape(a)
flat = tf.reshape(a, tf.stack([dynamic[0] * dynamic[1]]))
sizes = [d.value for d in a.shape.dims or []]
with tf.Session() as sess:
    result = sess.run([back, joined, values, indices, mean, variance, masked, where, mixed, corner, flat, e, q])
    assert np.allclose(result[0], [[4.0, 1.0], [1.0, 3.0]]) and np.allclose(result[1], 0.0)
    print(sess.run([only, solved, inverse])[0][0], batch * length, rank + 1, sizes)
