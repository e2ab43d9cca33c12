import tensorflow as tf

# `stop_gradient` at work, 3: adversarial examples.
#
# An adversarial example is made from the gradient of the loss by the image, so it depends on
# the parameters. Training on such examples must treat them as data: `stop_gradient` keeps
# the second derivatives out.
#
# The data are the 1,797 handwritten digits that scikit-learn ships (sklearn.datasets.load_digits;
# UCI Machine Learning Repository, CC BY 4.0).
#
# Run it with: graphgrad run examples/adversarial.py

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
order = np.random.RandomState(0).permutation(len(digits.data))
images = (digits.data[order] / 16.0).astype(np.float32)
labels = digits.target[order].astype(np.int32)
train_images, test_images = images[:1400], images[1400:]
train_labels, test_labels = labels[:1400], labels[1400:]
EPSILON = 0.1  # by how much a pixel may change; pixels are in [0, 1]

x = tf.placeholder(tf.float32, [None, 64])
y = tf.placeholder(tf.int32, [None])


def model(seed):
    """A classifier with a hidden layer: its parameters, and the function from images to logits."""
    generator = np.random.RandomState(seed)
    W1 = tf.Variable(generator.normal(0.0, 0.15, [64, 64]).astype(np.float32))
    b1 = tf.Variable(tf.zeros([64]))
    W2 = tf.Variable(generator.normal(0.0, 0.15, [64, 10]).astype(np.float32))
    b2 = tf.Variable(tf.zeros([10]))

    def logits(inputs):
        return tf.matmul(tf.nn.relu(tf.matmul(inputs, W1) + b1), W2) + b2

    return [W1, b1, W2, b2], logits


def loss_of(logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))


def accuracy_of(logits):
    return tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.cast(y, tf.int64)), tf.float32))


def build(seed, robust):
    """A training step, and the accuracies on clean and on adversarial images."""
    parameters, logits = model(seed)
    clean_loss = loss_of(logits(x))
    # The fast gradient sign method: a small step in the direction that hurts most.
    (by_image,) = tf.gradients(clean_loss, x)
    adversarial = tf.stop_gradient(tf.clip_by_value(x + EPSILON * tf.sign(by_image), 0.0, 1.0))
    adversarial_logits = logits(adversarial)
    loss = 0.5 * clean_loss + 0.5 * loss_of(adversarial_logits) if robust else clean_loss
    train = tf.train.AdamOptimizer(0.005).minimize(loss, var_list=parameters)
    return train, [accuracy_of(logits(x)), accuracy_of(adversarial_logits)]


models = {"ordinary training": build(1, False), "adversarial training": build(1, True)}

with tf.Session() as sess:
    for name, (train, accuracies) in models.items():
        sess.run(tf.global_variables_initializer())
        for _ in range(30):
            for start in range(0, len(train_images), 100):
                rows = slice(start, start + 100)
                sess.run(train, {x: train_images[rows], y: train_labels[rows]})
        clean, attacked = sess.run(accuracies, {x: test_images, y: test_labels})
        print("%-21s test accuracy %.3f, on adversarial examples %.3f" % (name + ":", clean, attacked))
