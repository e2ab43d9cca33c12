"""A model with a bit of everything, whose graph goes from TensorFlow to graphgrad and back."""

from __future__ import annotations

from typing import Any

import numpy as np

X = np.random.default_rng(0).normal(size=(2, 6, 6, 2)).astype(np.float32)
ROWS = np.array([0, 2, 2], np.int32)
FETCHES = ("loss:0", "looped:0", "branch:0", "gradients/kernel_gradient:0")


def build(tf: Any) -> Any:
    """A small network with a gathered table, a loop, a branch, a gradient and Adam, under the library `tf`."""
    x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    rows = tf.placeholder(tf.int32, [3], name="rows")
    kernel = tf.get_variable("kernel", initializer=np.linspace(-1, 1, 72, dtype=np.float32).reshape(3, 3, 2, 4))
    table = tf.get_variable("table", initializer=np.linspace(0, 2, 12, dtype=np.float32).reshape(4, 3))
    counted = tf.get_variable("counted", [], tf.int64, tf.zeros_initializer(), trainable=False)
    h = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME")), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    parts = tf.split(tf.reshape(h, [-1, 36]), 2, axis=1)
    picked = tf.nn.embedding_lookup(table, rows)
    loss = tf.add(tf.reduce_mean(tf.square(tf.concat(parts, 0)[:, 1:])), tf.reduce_sum(tf.tanh(picked)), name="loss")
    looped = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sqrt(a) + tf.reduce_sum(table)), [0, loss])[1]
    tf.identity(looped, name="looped")
    tf.identity(tf.cond(loss > 1.0, lambda: loss * 2.0, lambda: loss - table[0, 0]), name="branch")
    tf.identity(tf.gradients(loss, kernel)[0], name="gradients/kernel_gradient")
    step = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=counted, name="step")
    tf.add_to_collection("train_op", step)
    tf.add_to_collection("ends", loss)
    tf.add_to_collection("names", "a name")
    return tf.global_variables_initializer()


def values(session: Any, steps: int = 2) -> dict[str, np.ndarray]:
    """What the fetches are, before each step of training and after the last one."""
    feeds = {"x:0": X, "rows:0": ROWS}
    found: list[list[Any]] = []
    for i in range(steps + 1):
        found.append(session.run(list(FETCHES), feeds))
        if i < steps:
            session.run("step", feeds)
    return {name: np.stack([f[k] for f in found]) for k, name in enumerate(FETCHES)}
