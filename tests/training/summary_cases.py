"""Images for summaries, and an event file that graphgrad writes and TensorFlow and TensorBoard read."""

from __future__ import annotations

import pathlib
from typing import Any
from unittest import mock

import numpy as np

LOSSES = (1.5, 0.25)


def images() -> dict[str, np.ndarray]:
    """Batches of images: with and without negative values, black, with values that are not finite, of all channels."""
    rng = np.random.default_rng(0)
    broken = rng.uniform(0, 1, (1, 4, 4, 3)).astype(np.float32)
    broken[0, 1, 2, 0], broken[0, 3, 3, 2] = np.nan, np.inf
    return {
        "positive": rng.uniform(0, 7, (2, 3, 5, 1)).astype(np.float32),
        "negative": rng.normal(size=(2, 3, 5, 3)).astype(np.float32),
        "below": -rng.uniform(1, 2, (1, 2, 2, 4)).astype(np.float32),
        "black": np.zeros((1, 2, 2, 1), np.float32),
        "broken": broken,
        "half": rng.uniform(-1, 1, (1, 3, 3, 1)).astype(np.float16),
        "double": rng.uniform(0, 1, (1, 3, 3, 1)),
        "bytes": rng.integers(0, 256, (2, 3, 4, 4)).astype(np.uint8),
    }


def write_events(tf: Any, session: Any, folder: Any) -> pathlib.Path:
    """Writes an event file in which all is determined: summaries of two steps."""
    with mock.patch("time.time", return_value=1234567890.5), mock.patch("socket.gethostname", return_value="host"):
        x = tf.placeholder(tf.float32, [3], name="x")
        with tf.name_scope("train"):
            tf.summary.scalar("loss", x[0])
        tf.summary.histogram("weights", x)
        tf.summary.text("note", tf.constant(["a", "b"]))
        merged = tf.summary.merge_all()
        with tf.summary.FileWriter(str(folder)) as writer:
            for step, loss in enumerate(LOSSES):
                writer.add_summary(session.run(merged, {x: [loss, 0, -1]}), step)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP, msg="done"), 2)
    return pathlib.Path(folder) / "events.out.tfevents.1234567890.host"


def build(tf: Any) -> list[Any]:
    """A graph with scopes, a variable, a device, a control dependency and gradients."""
    with tf.name_scope("model"), tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.tanh(tf.matmul(x, tf.constant([[1.0], [2.0]]), name="product"), name="y")
    with tf.control_dependencies([y]):
        tf.identity(x, name="after")
    return tf.gradients(y, x)  # type: ignore[no-any-return]  # of any module
