import tensorflow as tf

# Where differentiation stops, in functions of TensorFlow 2.
#
# Run it with: graphgrad run examples/stop_gradients_v2.py

@tf.function
def total():
    a = tf.constant(0.0)
    b = 2 * a
    return tf.gradients(a + b, [a, b])


@tf.function
def partial():
    a = tf.constant(0.0)
    b = 2 * a
    return tf.gradients(a + b, [a, b], stop_gradients=[a, b])


@tf.function
def cut():
    a = tf.stop_gradient(tf.constant(0.0))
    b = tf.stop_gradient(2 * a)
    return tf.gradients(a + b, [a, b])


print("total derivative:")
print(total())
print("stop_gradients=[a, b]:")
print(partial())
print("stop_gradient:")
print(cut())
