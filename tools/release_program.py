"""A small program on an installed graphgrad: trains, differentiates twice, compiles, saves and restores.

`make release-check` and tests/faces/test_package.py run it in environments that have the wheel.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile

import numpy as np

import graphgrad
import graphgrad.v1 as tf

assert pathlib.Path(graphgrad.__file__).is_relative_to(sys.prefix), f"{graphgrad.__file__} is not the installed one"

x = tf.placeholder(tf.float32, [None, 3])
wanted = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable("w", initializer=tf.zeros([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - wanted))
(slope,) = tf.gradients(loss, w)
(curvature,) = tf.gradients(slope, w)
train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
data = np.random.RandomState(0).randn(64, 3).astype(np.float32)
feed = {x: data, wanted: data @ np.array([[1.0], [-2.0], [3.0]], np.float32)}
with tempfile.TemporaryDirectory() as folder:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(train, feed)
        found = sess.run(w)
        assert np.allclose(found, [[1.0], [-2.0], [3.0]], atol=1e-3), found
        assert sess.run(curvature, feed).shape == (3, 1)
        report = sess.explain(slope, feed)  # by XLA
        path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        assert np.array_equal(sess.run(w), found)
print(f"Python {sys.version.split()[0]}: trained, compiled {report.programs} program(s), saved and restored")
