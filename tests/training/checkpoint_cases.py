"""Checkpoints that are written by TensorFlow, when recording, and by graphgrad, in tests."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numpy as np

_DTYPES = ("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64", "complex64", "complex128", "bool")


def build(tf: Any) -> None:
    """Variables of every dtype, in the default graph: scalars, empty ones, strings, one in parts."""
    for name in _DTYPES:
        values = np.array([[0, 1, 2], [3, 4, 100]]) * (1 - 2j if name.startswith("complex") else 1)
        tf.get_variable(f"of/{name}", initializer=tf.cast(tf.constant(values), name), use_resource=True)
    tf.get_variable("empty", initializer=np.zeros((0, 3), np.float32), use_resource=True)
    tf.get_variable("scalar", initializer=np.int64(-7), use_resource=True)
    strings = np.array([[b"one", b""], [b"\0\xff", "ü".encode() * 100]], object)
    tf.get_variable("strings", initializer=tf.constant(strings), use_resource=True)
    tf.get_variable("one_string", initializer=tf.constant(b"x" * 200), use_resource=True)
    table = tf.get_variable("in/parts", shape=[20000, 1], partitioner=tf.fixed_size_partitioner(3), use_resource=True,
                            dtype=tf.int8, initializer=tf.constant_initializer(5, tf.int8))
    assert len(list(table)) == 3


def build_parts(tf: Any) -> Any:
    """A variable in parts, and another one; what looks them up, and what it gives: (input, output)."""

    def rows(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        first = partition_info.var_offset[0]
        return tf.constant(np.arange(2.0 * first, 2.0 * (first + shape[0])).reshape(shape), tf.float32)

    with tf.variable_scope("of"):
        parts = tf.get_variable("parts", [7, 2], initializer=rows, partitioner=tf.fixed_size_partitioner(3),
                                use_resource=True)
    scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
    x = tf.placeholder(tf.int32, [None], "x")
    return x, tf.multiply(tf.nn.embedding_lookup(parts, x, "div"), scale, name="y")


def looked_up(tf: Any, sess: Any, folder: Any) -> list[Any]:
    """What a saved model of `build_parts` gives once it is loaded."""
    tf.saved_model.load(sess, ["serve"], str(folder))
    return np.asarray(sess.run("y:0", {"x:0": [6, 0, 3]})).tolist()


def overwrite_halfway(prefix: pathlib.Path) -> None:
    """Writes a checkpoint of ones, and over it one of twos whose writer ends before its data have their last name."""
    from graphgrad.ir.dtypes import float32
    from graphgrad.training.checkpoints import bundle_writer

    def end(*args: Any) -> Any:
        raise KeyboardInterrupt

    bundle_writer.write_bundle(str(prefix), [("v", float32, np.ones(3, np.float32), None)])
    link, bundle_writer.replace_by_link = bundle_writer.replace_by_link, end
    try:
        bundle_writer.write_bundle(str(prefix), [("v", float32, np.full(3, 2, np.float32), None)])
    except KeyboardInterrupt:
        pass
    finally:
        bundle_writer.replace_by_link = link


def many() -> dict[str, np.ndarray]:
    """So many tensors that the index has several blocks, some of them with more bytes than one block."""
    names = [hashlib.sha256(str(i).encode()).hexdigest() * 2 for i in range(4500)]
    tensors = {name: np.array([i % 100], np.int8) for i, name in enumerate(names)}
    tensors["large"] = np.arange(400_003, dtype=np.uint32).view(np.uint8)[:-1]
    return dict(sorted(tensors.items()))  # as a Saver orders them


def digests(prefix: pathlib.Path) -> dict[str, str]:
    """The SHA-256 of a checkpoint's files."""
    parts = ("index", "data-00000-of-00001")
    return {part: hashlib.sha256(pathlib.Path(f"{prefix}.{part}").read_bytes()).hexdigest() for part in parts}
