"""Writes models of 1.x whose graphs read data sets: `python -m tests.record.old.graph_iterators`, with TensorFlow 2.21.

One has an iterator with a data set of its own, one an iterator that the model begins when it is loaded. They go into
tests/recorded/saved_models/iterator_*.zip; what sessions compute with them is printed, and stands in the test.
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np

from tests.record import RECORDED
from tests.record.saved_models import pack


def write(tf: Any, folder: str, begun: bool) -> None:
    """Writes a model: elements times a variable, plus what is fed.

    Args:
      tf: TensorFlow.
      folder: where to.
      begun: whether the iterator has an initializer.
    """
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        numbers = np.arange(6, dtype=np.float32)
        data = v1.data.Dataset.from_tensor_slices(numbers).map(lambda x: x * 2).batch(2)
        make = v1.data.make_initializable_iterator if begun else v1.data.make_one_shot_iterator
        iterator = make(data)
        x = v1.placeholder(tf.float32, [2], name="x")
        v = v1.get_variable("v", initializer=3.0, use_resource=True)
        y = tf.add(iterator.get_next() * v, x, name="y")
        sess.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(folder)
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature},
                                             main_op=iterator.initializer if begun else None)
        builder.save()


def main() -> None:
    """Writes both, and prints what a session computes."""
    import tensorflow as tf

    for name, begun in (("own", False), ("begun", True)):
        with tempfile.TemporaryDirectory() as place:
            folder = f"{place}/model"
            write(tf, folder, begun)
            pack(pathlib.Path(folder), RECORDED / "saved_models" / f"iterator_{name}.zip")
            with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
                tf.compat.v1.saved_model.load(sess, ["serve"], folder)
                print(name, [sess.run("y:0", {"x:0": [0.0, 1.0]}).tolist() for _ in range(3)])


if __name__ == "__main__":
    main()
