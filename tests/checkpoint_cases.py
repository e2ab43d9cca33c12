"""Checkpoints that are written by TensorFlow, when recording, and by graphgrad, in tests."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numpy as np

_DTYPES = ("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64", "complex64", "complex128", "bool")  # fmt: skip


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
                            dtype=tf.int8, initializer=tf.constant_initializer(5, tf.int8))  # fmt: skip
    assert len(list(table)) == 3


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
