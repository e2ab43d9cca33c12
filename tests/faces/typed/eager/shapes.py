"""Shapes, slices, conversions."""

import numpy as np

import graphgrad as tf

x = tf.zeros([2, 3, 4])
batch, rows, columns = x.shape
n: int = x.shape[0] * x.shape[1]
last = x.shape[-1]
assert x.shape.rank == 3 and x.shape == [2, 3, 4] and len(x.shape) == 3 and tuple(x.shape) == (2, 3, 4)
flat = tf.reshape(x, [x.shape[0], -1])
dynamic = tf.reshape(x, (tf.shape(x)[0], -1))
parts = [x[i] for i in range(2)] + [x[:, 1:, ::2][0], x[..., -1], x[:, tf.newaxis][0, 0]]
mask = x > 0.5
x_np: np.ndarray = x.numpy()
count = tf.size(x).numpy() + np.sum(x) + x_np.size
same = tf.cast(mask, tf.float32) * x + tf.where(mask, x, 0.0) + np.ones((2, 3, 4), np.float32) - 1.0
a, b = tf.split(x, 2, axis=2)
c = tf.concat([a, b], axis=-1) @ tf.transpose(x, perm=[0, 2, 1])
d = tf.stack(tf.unstack(c, axis=1), axis=1)
e = tf.tile(tf.expand_dims(d, 0), [2, 1, 1, 1]) + tf.range(3, dtype=tf.float32)
texts = tf.constant(["a", "b"])
words = [word.decode() for word in texts.numpy()] + [t.numpy().decode() for t in texts]
for row in x:
    print(row.shape, float(row[0, 0]), int(tf.argmax(row[0])), bool(tf.reduce_all(row == 0.0)))
print(n, last, batch + rows + columns, count, same.dtype, e.shape.as_list())
print(words, len(parts), flat.ndim, dynamic.device)
