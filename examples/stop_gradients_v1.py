import tensorflow as tf

# Three ways to say where differentiation stops, in a session of TensorFlow 1.
#
# `stop_gradients` treats tensors as constants for one call of `gradients`; `stop_gradient` does
# so for good, while the graph is built; where both are used, each stops what it stops.
#
# Run it with: graphgrad run examples/stop_gradients_v1.py

# b depends on a, so the total derivative by a counts both ways from a + b to a.
a = tf.constant(0.0)
b = 2 * a
total = tf.gradients(a + b, [a, b])
partial = tf.gradients(a + b, [a, b], stop_gradients=[a, b])

# The same partial derivatives, by cutting the graph where it is built.
a2 = tf.stop_gradient(tf.constant(0.0))
b2 = tf.stop_gradient(2 * a2)
cut = tf.gradients(a2 + b2, [a2, b2])

# Both: c is cut from a while building, and d is stopped in the call. y = a + b + c + d, where
# b = 2a counts, c = 3a does not count for a, and d = 4b does not count for b (nor for a).
c = tf.stop_gradient(3 * a)
d = 4 * b
y = a + b + c + d
both = tf.gradients(y, [a, b, c, d], stop_gradients=[d])

with tf.Session() as sess:
    print("total derivative:      ", [float(g) for g in sess.run(total)])
    print("stop_gradients=[a, b]: ", [float(g) for g in sess.run(partial)])
    print("stop_gradient:         ", [float(g) for g in sess.run(cut)])
    print("both:                  ", [float(g) for g in sess.run(both)])
