"""A data set read by an iterator of a graph."""

import numpy as np

import graphgrad.compat.v1 as tf

features = np.arange(12, dtype=np.float32).reshape(6, 2)
labels = np.array([0, 1, 0, 1, 0, 1])


def parse(row: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return row / 10.0, tf.one_hot(label, depth=2)


dataset = tf.data.Dataset.from_tensor_slices((features, labels))
dataset = dataset.shuffle(6, seed=1).map(parse, num_parallel_calls=2).batch(2).repeat(2).prefetch(1)
iterator = tf.data.make_initializable_iterator(dataset)
rows, targets = iterator.get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(rows, 2) - targets))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
count = 0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(iterator.initializer)
    while True:
        try:
            sess.run(train)
            count += 1
        except tf.errors.OutOfRangeError:
            break
assert count == 6, dataset.output_shapes
