"""tf.function: signatures, traces, control flow."""

import graphgrad as tf


@tf.function
def square_if_positive(x: tf.Tensor) -> tf.Tensor:
    if tf.reduce_sum(x) > 0:
        y = x * x
    else:
        y = -x
    for i in tf.range(3):
        y += tf.cast(i, tf.float32)
    return y


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False)
def doubled(x: tf.Tensor) -> tf.Tensor:
    return 2.0 * x


def scaled(x: tf.Tensor, by: float = 2.0) -> tuple[tf.Tensor, tf.Tensor]:
    return x * by, x / by


fast = tf.function(scaled, jit_compile=True)
x = tf.constant([1.0, 2.0])
concrete = doubled.get_concrete_function()
up, down = fast(x, by=4.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = square_if_positive(x)
slope = tape.gradient(y, x)
assert slope.numpy().tolist() == [2.0, 4.0] and up.shape == down.shape
print(concrete(x), doubled(x) + up, square_if_positive.python_function(x), concrete.structured_outputs)
print(y.numpy().sum(), fast(x)[0][0], tf.executing_eagerly(), doubled.experimental_get_tracing_count())
