"""Summaries of TensorFlow 2 that both systems write; what stands in the event files must be the same."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tests.extras.data.data_cases import error, plain


def write(tf: Any, folder: str) -> list[Any]:
    """Writes summaries of every kind; returns what the calls gave, and the classes of errors."""
    writer = tf.summary.create_file_writer(folder)
    found: list[Any] = []
    found.append(bool(tf.summary.scalar("none", 1.0, step=1)))
    with writer.as_default(step=5):
        for made in (
            tf.summary.scalar("loss", 2), tf.summary.scalar("int", np.int64(3), step=7),
            tf.summary.scalar("described", 0.5, description="what it is"),
            tf.summary.histogram("h", [1.0, 2.0, 2.0, 4.0], buckets=4), tf.summary.histogram("empty", []),
            tf.summary.histogram("one", [3.0, 3.0], buckets=3), tf.summary.histogram("ints", tf.range(50)),
            tf.summary.text("t", "hello"), tf.summary.text("table", [["a", "b"]]),
            tf.summary.audio("au", np.sin(np.arange(20)).reshape(1, 10, 2).astype("float32") / 2, 8000),
            tf.summary.write("raw", [1, 2]),
        ):
            found.append(bool(made))
        found.append(int(tf.summary.experimental.get_step()))
        with tf.name_scope("a"):
            tf.summary.scalar("b", 2)
            with tf.summary.experimental.summary_scope("sc") as (tag, scope):
                found += [tag, scope]
        with tf.summary.record_if(False):
            found += [bool(tf.summary.should_record_summaries()), bool(tf.summary.scalar("no", 1.0))]
        with tf.summary.record_if(lambda: True):
            found.append(bool(tf.summary.should_record_summaries()))

        @tf.function
        def inside(x: Any, step: Any) -> Any:
            with tf.name_scope("f"), tf.summary.record_if(tf.equal(step % 2, 0)):
                tf.summary.scalar("x", x * 2, step=step)
            return x

        for i in range(3):
            inside(tf.constant(float(i)), tf.constant(i, tf.int64))
        found += [error(lambda: tf.summary.scalar("v", [1.0, 2.0])), error(lambda: tf.summary.image("i", [[1.0]])),
                  error(lambda: tf.summary.audio("a", [[1.0]], 8)),
                  error(lambda: tf.summary.audio("a", [[[1.0]]], 8, encoding="mp3")),
                  error(lambda: tf.summary.trace_export("trace"))]
    with writer.as_default():
        found.append(error(lambda: tf.summary.scalar("nostep", 1.0)))
        tf.summary.experimental.set_step(9)
        tf.summary.scalar("later", 1.0)
        tf.summary.experimental.set_step(None)
    found.append(bool(tf.summary.should_record_summaries()))
    writer.close()
    writer.close()
    found.append(error(lambda: writer.as_default().__enter__()))
    with tf.summary.create_noop_writer().as_default():
        found.append(bool(tf.summary.scalar("x", 1.0, step=1)))
    found.append(error(lambda: tf.summary.create_file_writer(None)))
    return found


def images() -> dict[str, np.ndarray]:
    """Batches of images."""
    return {"floats": np.linspace(-0.2, 1.3, 24).reshape(2, 3, 4, 1).astype("float32"),
            "bytes": (np.arange(36).reshape(1, 3, 4, 3) * 7).astype("uint8")}


def events(tf: Any, folder: str) -> list[Any]:
    """Step, tag, page, description and values of everything in a folder's event file."""
    (name,) = os.listdir(folder)
    found = []
    for event in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)):
        for value in event.summary.value:
            array = tf.make_ndarray(value.tensor)
            if array.dtype == object:
                array = [v.hex() if isinstance(v, bytes) else v for v in array.ravel().tolist()]
            about = value.metadata
            found.append([event.step, value.tag, about.plugin_data.plugin_name, about.plugin_data.content.hex(),
                          about.summary_description, plain(array)])
    return found
