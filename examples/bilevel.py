import tensorflow as tf

# Hyperparameters by implicit gradients: one penalty for each feature of a logistic regression. The inner problem fits
# the weights to the training data; the outer one chooses the penalties for the validation data, by the gradient
# through the minimum (Bengio, 2000), not through the steps that found it.

import numpy as np

rng = np.random.RandomState(0)
features, useful = 12, 3
weights = np.concatenate([[2.0, -1.5, 1.0], np.zeros(features - useful)])


def sample(count):
    x = rng.randn(count, features)
    return x, (x @ weights + 0.5 * rng.randn(count) > 0).astype(np.float64)


(train_x, train_y), (valid_x, valid_y), (test_x, test_y) = sample(40), sample(200), sample(1000)


def loss(w, x, y):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=tf.linalg.matvec(x, w)))


log_penalty = tf.Variable(np.full(features, -3.0))
fitted = tf.implicit.argmin(
    lambda w: loss(w, train_x, train_y) + tf.reduce_sum(tf.exp(log_penalty) * w**2), np.zeros(features))
outer = loss(fitted, valid_x, valid_y)
gradient = tf.gradients(outer, log_penalty)[0]
step = log_penalty.assign_sub(20.0 * gradient)
test_loss = loss(fitted, test_x, test_y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for iteration in range(60):
        if iteration % 10 == 0:
            print("iteration %2d: validation %.5f, test %.5f, gradient %.5f" % (
                iteration, *sess.run([outer, test_loss, tf.norm(gradient)])))
        sess.run(step)
    print("in the end:   validation %.5f, test %.5f" % tuple(sess.run([outer, test_loss])))
    penalties = sess.run(tf.exp(log_penalty))
    print("penalties of useful features:  %.4f at most" % penalties[:useful].max())
    print("penalties of useless features: %.4f in the median" % np.median(penalties[useful:]))

    # The gradient is that of finite differences of the whole fit.
    at, h = sess.run(log_penalty), 1e-4
    ends = [sess.run(outer, {log_penalty: at + sign * h * np.eye(features)[4]}) for sign in (1, -1)]
    print("gradient and finite difference differ by less than 1e-7:",
          bool(abs(sess.run(gradient)[4] - (ends[0] - ends[1]) / (2 * h)) < 1e-7))
