import tensorflow as tf

# Logistic regression with weight decay on 569 tumours (sklearn.datasets.load_breast_cancer), by Newton's method:
# the second derivatives are `tf.hessians`, and the step is one matrix solve in the graph.

import numpy as np
from sklearn.datasets import load_breast_cancer

data = load_breast_cancer()
features = ((data.data - data.data.mean(0)) / data.data.std(0)).astype(np.float64)
ones = np.ones((len(features), 1))

x = tf.placeholder(tf.float64, [None, 31], name="x")
y = tf.placeholder(tf.float64, [None], name="y")
w = tf.get_variable("w", [31], tf.float64, initializer=tf.zeros_initializer())

logits = tf.reduce_sum(x * w, axis=1)
loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)) + 0.01 * tf.nn.l2_loss(w)
gradient, = tf.gradients(loss, [w])
hessian, = tf.hessians(loss, [w])
newton = w.assign_sub(tf.squeeze(tf.matrix_solve(hessian, tf.expand_dims(gradient, 1)), 1))
accuracy = tf.reduce_mean(tf.cast(tf.equal(logits > 0, y > 0.5), tf.float64))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: np.hstack([features, ones]), y: data.target}
    for step in range(8):
        value, g = sess.run([loss, gradient], feed)
        print("step %d: loss %.6f, gradient %.6f" % (step, value, np.linalg.norm(g)))
        sess.run(newton, feed)
    print("accuracy: %.3f" % sess.run(accuracy, feed))
