import tensorflow as tf

# `stop_gradient` at work, 1: the EM algorithm on a mixture of Gaussians.
#
# The E-step computes how much each component is responsible for each sample. The M-step
# improves the parameters with the responsibilities held fixed: differentiation must not go
# back into the E-step, and `stop_gradient` sees to it. The gradient that is left equals that
# of the log-likelihood (Fisher's identity), which the program checks.
#
# The data are Fisher's irises, 150 flowers of three species, as scikit-learn ships them
# (sklearn.datasets.load_iris; UCI Machine Learning Repository, CC BY 4.0).
#
# Run it with: graphgrad run examples/em_mixture.py

import numpy as np
from sklearn.datasets import load_iris

iris = load_iris()
samples = iris.data.astype(np.float64)  # (150, 4)
K = 3

x = tf.constant(samples)
means = tf.Variable(samples[[8, 75, 125]])  # a flower for each component
log_scales = tf.Variable(np.zeros([K, 4]) + np.log(samples.std(axis=0)))
logits = tf.Variable(np.zeros([K]))
parameters = [means, log_scales, logits]


def log_joint():
    """log p(x, k) for each sample and component, (150, K)."""
    z = (x[:, tf.newaxis, :] - means) / tf.exp(log_scales)
    log_normal = -0.5 * tf.reduce_sum(tf.square(z) + 2.0 * log_scales + np.log(2.0 * np.pi), axis=2)
    return log_normal + tf.nn.log_softmax(logits)


joint = log_joint()
log_likelihood = tf.reduce_sum(tf.reduce_logsumexp(joint, axis=1))

# E-step.
responsibilities = tf.nn.softmax(joint)
# M-step: the expected log of the joint density, to be made larger.
expected = tf.reduce_sum(tf.stop_gradient(responsibilities) * joint)
expected_without_stop = tf.reduce_sum(responsibilities * joint)

m_step = tf.gradients(-expected, parameters)
of_likelihood = tf.gradients(-log_likelihood, parameters)
without_stop = tf.gradients(-expected_without_stop, parameters)

improve = tf.train.GradientDescentOptimizer(0.0003).apply_gradients(zip(m_step, parameters))
labels = tf.argmax(joint, axis=1)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    a, b, c = sess.run([m_step, of_likelihood, without_stop])
    print("M-step's gradient is the likelihood's:    ", all(np.allclose(i, j) for i, j in zip(a, b)))
    print("... and would not be without stop_gradient:", all(np.allclose(i, j) for i, j in zip(c, b)))
    for step in range(601):
        if step % 100 == 0:
            print("step %4d: log-likelihood %.3f" % (step, sess.run(log_likelihood)))
        sess.run(improve)
    found = sess.run(labels)
    weights = sess.run(tf.nn.softmax(logits))

print("weights of the components:", " ".join("%.3f" % w for w in weights))
right = sum(np.bincount(iris.target[found == k]).max() for k in range(K) if (found == k).any())
print("flowers in the component of their species: %d of 150" % right)
