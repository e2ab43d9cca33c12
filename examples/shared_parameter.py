import tensorflow as tf

# A bias that depends on the weight: `gradients` counts every way from the cost to it.
#
# Run it with: graphgrad run examples/shared_parameter.py

Ws = tf.constant(0.0)
bs = 2 * Ws
cost = Ws + bs  # d cost / d Ws = 1 + 2, d cost / d bs = 1
g = tf.gradients(cost, [Ws, bs])

with tf.Session() as sess:
    dCost_dW, dCost_db = sess.run(g)
    print("d cost / d Ws =", float(dCost_dW))
    print("d cost / d bs =", float(dCost_db))
