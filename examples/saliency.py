import tensorflow as tf

# Which pixels matter to a classifier of digits: the gradient of a class score with respect to the image, integrated
# gradients, and SmoothGrad. (Simonyan et al., 2013; Sundararajan et al., 2017; Smilkov et al., 2017.)

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
pictures = (digits.images / 16.0).astype(np.float32)

rng = np.random.RandomState(0)
image = tf.placeholder(tf.float32, [None, 8, 8])
label = tf.placeholder(tf.int32, [None])
W1 = tf.Variable((rng.randn(64, 32) / 8).astype(np.float32))
W2 = tf.Variable((rng.randn(32, 10) / 6).astype(np.float32))
scores = tf.matmul(tf.nn.softplus(tf.matmul(tf.reshape(image, [-1, 64]), W1)), W2)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=scores))
train = tf.train.AdamOptimizer(0.01).minimize(loss)

score = tf.reduce_sum(scores * tf.one_hot(label, 10), 1)
saliency = tf.gradients(score, image)[0]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        rows = rng.choice(1500, 100)
        sess.run(train, {image: pictures[rows], label: digits.target[rows]})
    chosen, what = pictures[1700], digits.target[1700]
    print("the picture shows a", what, "and is taken for a", sess.run(scores, {image: [chosen]}).argmax())

    plain = sess.run(saliency, {image: [chosen], label: [what]})[0]
    path = (np.arange(50) + 0.5) / 50
    along = sess.run(saliency, {image: path[:, None, None] * chosen, label: np.full(50, what)})
    integrated = along.mean(0) * chosen
    noisy = chosen + 0.1 * rng.randn(40, 8, 8)
    smooth = sess.run(saliency, {image: noisy, label: np.full(40, what)}).mean(0)

    ends = sess.run(score, {image: [chosen, 0 * chosen], label: [what, what]})
    print("integrated gradients add up to %.3f; the score rises by %.3f" % (integrated.sum(), ends[0] - ends[1]))
    for name, values in (("gradient", plain), ("integrated", integrated), ("smooth", smooth)):
        print("%-10s by rows: %s" % (name, " ".join("%6.3f" % v for v in np.abs(values).sum(1))))
