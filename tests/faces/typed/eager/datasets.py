"""Data sets iterated in Python."""

import numpy as np

import graphgrad as tf

features = {"a": np.arange(6.0), "b": np.arange(6)}
labels = np.array([0, 1] * 3)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(6).batch(2).prefetch(tf.data.AUTOTUNE)
total = 0.0
for batch, label in dataset:
    total += float(tf.reduce_sum(batch["a"]).numpy()) + label.shape[0]
for step, (batch, label) in enumerate(dataset.take(1)):
    print(step, batch["b"].dtype, label.numpy().tolist())


def generate():
    for i in range(3):
        yield i, [float(i)] * 2


generated = tf.data.Dataset.from_generator(
    generate, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)))
numbers = [int(i) for i, _ in generated.as_numpy_iterator()]
first = next(iter(generated))
mapped = generated.map(lambda i, row: row * tf.cast(i, tf.float32)).filter(lambda row: tf.reduce_sum(row) >= 0.0)
rows = list(mapped)
zipped = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3, 6)))
reduced = zipped.reduce(np.int64(0), lambda acc, pair: acc + pair[0] * pair[1])
assert numbers == [0, 1, 2] and total == 15.0 + 6 and reduced.numpy() == 14
print(first[1].numpy(), rows[0] + 1.0, dataset.element_spec, len(dataset), zipped.cardinality().numpy())
