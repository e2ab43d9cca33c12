import tensorflow as tf

# What `gradients` gives where y does not depend on x: None, or zeros.
#
# Run it with: graphgrad run examples/unconnected.py

a = tf.ones([1, 2])
b = tf.ones([3, 1])

none = tf.gradients([b], [a], unconnected_gradients="none")
zero = tf.gradients([b], [a], unconnected_gradients="zero")
print("'none':", none)

with tf.Session() as sess:
    (value,) = sess.run(zero)
    print("'zero':", value.tolist(), "of shape", value.shape)
