"""Mean values, summaries of 2.x, configuration, assertions, strings."""

import tempfile

import graphgrad as tf


class Mean(tf.Module):
    def __init__(self, name: str = "mean") -> None:
        super().__init__(name=name)
        self.total = tf.Variable(0.0, trainable=False)
        self.count = tf.Variable(0, trainable=False, dtype=tf.int64)

    def update(self, value: tf.Tensor) -> None:
        self.total.assign_add(tf.reduce_sum(value))
        self.count.assign_add(tf.size(value, out_type=tf.int64))

    def result(self) -> tf.Tensor:
        return tf.math.divide_no_nan(self.total, tf.cast(self.count, tf.float32))


tf.random.set_seed(1)
mean = Mean()
writer = tf.summary.create_file_writer(tempfile.mkdtemp())
with writer.as_default():
    for step in range(3):
        mean.update(tf.fill([2], float(step)))
        tf.summary.scalar("mean", mean.result(), step=step)
writer.flush()
tf.debugging.assert_equal(mean.count, tf.constant(6, tf.int64), message="count")
tf.debugging.assert_shapes([(mean.result(), ())])
devices = tf.config.list_physical_devices("CPU")
with tf.device("/CPU:0"), tf.name_scope("block"):
    y = tf.identity(mean.result())
text = tf.strings.format("{} {}", (y, tf.constant("a")))
joined = tf.strings.join(["a", tf.strings.as_string(y, precision=1)], separator="=")
assert joined.numpy() == b"a=1.0" and len(devices) >= 1
tf.print("mean:", y, output_stream="file://" + tempfile.mkstemp()[1])
print(text.numpy().decode(), devices[0].name)
print(tf.__version__.split(".")[0], tf.float32.as_numpy_dtype, y.dtype == tf.float32)
