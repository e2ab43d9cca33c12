import tensorflow as tf

# The demo: a classifier of handwritten digits, as a program for TensorFlow 1.
#
# The data are 1,797 real images of 8 x 8 pixels that scikit-learn ships
# (sklearn.datasets.load_digits: the test set of "Optical Recognition of Handwritten Digits",
# E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0).
#
# Run it with: graphgrad run examples/demo_digits.py [EPOCHS]

import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
BATCH = 64

digits = load_digits()
train_x, test_x, train_y, test_y = train_test_split(
    (digits.data / 16.0).astype(np.float32), digits.target, test_size=0.25, random_state=0, stratify=digits.target
)

tf.set_random_seed(1)


def dense(inputs, units, scope, activation=None):
    """A layer of `units` neurons, each fed by all inputs."""
    with tf.variable_scope(scope):
        n = inputs.get_shape().as_list()[1]
        W = tf.get_variable("W", [n, units], initializer=tf.truncated_normal_initializer(stddev=(2.0 / n) ** 0.5))
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        outputs = tf.matmul(inputs, W) + b
        return activation(outputs) if activation else outputs


images = tf.placeholder(tf.float32, [None, 64], name="images")
labels = tf.placeholder(tf.int32, [None], name="labels")

hidden1 = dense(images, 96, "hidden1", tf.nn.relu)
hidden2 = dense(hidden1, 48, "hidden2", tf.nn.relu)
logits = dense(hidden2, 10, "logits")

with tf.name_scope("loss"):
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(cross_entropy)
with tf.name_scope("accuracy"):
    correct = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

train_step = tf.train.AdamOptimizer(0.003).minimize(loss)

shuffle = np.random.RandomState(0)
began = time.time()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(1, EPOCHS + 1):
        losses = []
        order = shuffle.permutation(len(train_x))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            _, value = sess.run([train_step, loss], feed_dict={images: train_x[rows], labels: train_y[rows]})
            losses.append(value)
        if epoch == 1 or epoch % 5 == 0:
            test_accuracy = sess.run(accuracy, feed_dict={images: test_x, labels: test_y})
            told = (epoch, np.mean(losses), 100 * test_accuracy)
            print("epoch %2d: training loss %.4f, test accuracy %.1f %%" % told)
    test_accuracy = sess.run(accuracy, feed_dict={images: test_x, labels: test_y})
    print("trained on %d images, tested on %d" % (len(train_x), len(test_x)))
    print("test accuracy: %.1f %%" % (100 * test_accuracy))
print("(%.1f s)" % (time.time() - began), file=sys.stderr)
