"""Branches, loops, arrays of tensors."""

import graphgrad.compat.v1 as tf

x = tf.constant([1.0, 2.0, 3.0])
n = tf.size(x)


def body(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return i + 1, total + x[i] * 2.0


i, total = tf.while_loop(lambda i, total: i < n, body, (tf.constant(0), tf.constant(0.0)))
_, array = tf.while_loop(lambda i, _: i < 3, lambda i, ta: (i + 1, ta.write(i, x[i])),
                         (0, tf.TensorArray(tf.float32, size=3)))
stacked = array.stack()
only = tf.while_loop(lambda v: v < 10.0, lambda v: v * 2.0, [tf.constant(1.0)])
chosen = tf.cond(total > 1.0, lambda: total, lambda: 0.0)
pair = tf.cond(total > 1.0, lambda: (x, total), lambda: (x * 2.0, total))
picked = tf.case([(total < 0.0, lambda: tf.constant(1)), (total > 0.0, lambda: tf.constant(2))],
                 default=lambda: tf.constant(3))
squares = tf.map_fn(lambda row: row * row, x)
sums, products = tf.map_fn(lambda row: (row + 1.0, row * 2.0), x, dtype=(tf.float32, tf.float32))
running = tf.scan(lambda a, row: a + row, x)
folded = tf.foldl(lambda a, row: a + row, x, initializer=0.0)
gradient = tf.gradients(chosen + only + folded + pair[1], x)[0]

with tf.Session() as sess:
    print(sess.run([i, total, stacked, only, chosen, pair[0], picked, squares, sums, products, running, gradient]))
    print(chosen.eval() + total.eval(), squares.shape[0].value, running.get_shape(), folded.op.name, picked.dtype.name)
