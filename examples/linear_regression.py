import tensorflow as tf

# Linear regression in an interactive session, with its gradients next to their closed form.
#
# For cost = 1/2 sum (x W + b - y)^2 they are sum (x W + b - y) x and sum (x W + b - y).
#
# Run it with: graphgrad run examples/linear_regression.py

import numpy as np

sess = tf.InteractiveSession()

X = tf.placeholder("float", shape=[2, 1])
Y = tf.placeholder("float", shape=[2, 1])
W = tf.Variable(0.1)
b = tf.Variable(0.0)

pred = tf.add(tf.multiply(X, W), b)
cost = 0.5 * tf.reduce_sum(tf.pow(pred - Y, 2))
grads = tf.gradients(cost, [W, b])

tf.global_variables_initializer().run()

x, y = np.array([[2.0], [3.0]]), np.array([[3.0], [2.0]])
w_, b_, pred_, cost_, grads_ = sess.run([W, b, pred, cost, grads], feed_dict={X: [[2.0], [3.0]], Y: [[3.0], [2.0]]})
error = x * 0.1 + 0.0 - y

print("W = %.4f, b = %.4f" % (w_, b_))
print("prediction: %.4f, %.4f" % tuple(pred_.ravel()))
print("cost: %.4f" % cost_)
print("gradients:   dW = %.4f, db = %.4f" % tuple(grads_))
print("closed form: dW = %.4f, db = %.4f" % ((error * x).sum(), error.sum()))

# A few steps of gradient descent, by hand.
rate = 0.1
step = [W.assign_sub(rate * grads[0]), b.assign_sub(rate * grads[1])]
for _ in range(3000):
    sess.run(step, feed_dict={X: x, Y: y})
print("after 3000 steps: W = %.4f, b = %.4f, cost = %.4f" % tuple(sess.run([W, b, cost], feed_dict={X: x, Y: y})))

sess.close()
