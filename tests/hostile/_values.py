"""Hostile values: of the wrong kind, dtype, rank or size."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

_INTEGERS = [0, 1, -1, 2, 7, -7, 255, 2**15, 2**20, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, 2**63,
             -(2**63), 2**64, 10**30]
_FLOATS = [0.0, -0.0, 0.5, -1.5, float("nan"), float("inf"), -float("inf"), 1e300, -1e38, 1e-300]
_TEXTS = ["", "SAME", "NO_SUCH_MODE", "\0", "ä" * 100, "NHWC", "%s%s", "[", "ab->ba", b"", b"\xff\xfe", b"SAME"]
_DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "uint64", "bool", "string",
           "complex64", "resource", "variant", "qint8"]
_NUMBERS = ["float32", "float64", "int32", "int64", "uint8", "bool", "complex128", "float16"]
_SIZES = [0, 1, 2, 3, 5, -1, 2**31, 2**40]


class Strange:
    """An object that knows nothing."""


class Lying:
    """An object that says it is an array, and is none."""

    shape = (2, 3)
    dtype = np.dtype("float32")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError("this array cannot be read")

    def __getitem__(self, key: Any) -> Any:
        raise LookupError(key)


def table(tf: Any) -> Any:
    """The handle of a lookup table."""
    pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.array([1, 2]))
    return tf.lookup.StaticHashTable(pairs, 0).resource_handle


def number(rng: random.Random) -> Any:
    """A number that may be too large, negative or none."""
    return rng.choice(_INTEGERS if rng.random() < 0.6 else _FLOATS)


def array(rng: random.Random, like: Any = None) -> Any:
    """A small array; one of those that differ from `like` in one respect where it is given."""
    like = np.asarray(like) if like is not None and not isinstance(like, (list, tuple)) else None
    if like is None:
        shape = tuple(rng.choice([0, 1, 1, 2, 3, 5]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 8])))
        like = np.ones(shape, rng.choice(["float32", "int32", "int64", "float64", "bool", "complex64", "uint8"]))
    if like.dtype.kind not in "biufcV" or like.dtype.itemsize > 16:
        choices = [like[..., None], like[None], like.ravel()[:0], np.zeros(like.shape, np.float32), like.ravel()]
        return rng.choice(choices)
    kind = rng.randrange(12)
    if kind == 0:
        return like[None]
    if kind == 1:
        return like[..., None]
    if kind == 2:
        return like.reshape(-1)[:0]
    if kind == 3:
        return like.reshape(-1)[0] if like.size else like.reshape(-1)
    if kind == 4:
        return like[:0] if like.ndim else np.zeros((0,), like.dtype)
    if kind == 5:
        return like.astype(rng.choice(_NUMBERS))
    if kind == 6:
        return np.concatenate([like, like]) if like.ndim else np.stack([like, like])
    if kind == 7 and like.dtype.kind in "iu":
        info = np.iinfo(like.dtype)
        return np.full(like.shape, rng.choice([info.min, info.max, info.max // 2, 0, 1]), like.dtype)
    if kind == 8 and like.dtype.kind in "iu":
        return (like.astype(np.int64) - rng.choice([1, 2, 100])).astype(like.dtype)
    if kind == 9 and like.size:
        changed = like.copy().reshape(-1)
        changed[rng.randrange(like.size)] = rng.choice([0, 1, 100])
        return changed.reshape(like.shape)
    if like.dtype.kind in "fcV":
        return np.full(like.shape, rng.choice(_FLOATS[:9])).astype(like.dtype)
    return -like if like.dtype.kind in "if" else np.zeros(like.shape, like.dtype)


def attribute(rng: random.Random, value: Any) -> Any:
    """What is not a value of an attribute as `value` is, or an extreme one."""
    if rng.random() < 0.1:
        return rng.choice([None, object(), [], {}, "", 3, 1.5, [None], [[1], [2, 3]], ["a"], Strange(), print])
    if isinstance(value, bool):
        return rng.choice([not value, 3, None, "yes", []])
    if isinstance(value, int):
        return rng.choice(_INTEGERS)
    if isinstance(value, float):
        return rng.choice(_FLOATS)
    if isinstance(value, (str, bytes)):
        return rng.choice(_TEXTS)
    if isinstance(value, (list, tuple)):
        kind = rng.randrange(6)
        if kind == 0:
            return []
        if kind == 1:
            return list(value) * rng.choice([2, 50])
        if kind == 2:
            return [*value, rng.choice([1, -1, "a", None, 2**40])]
        if kind == 3:
            return list(value)[:-1]
        if kind == 4 and value:
            changed = list(value)
            changed[rng.randrange(len(changed))] = attribute(rng, changed[0])
            return changed
        return [rng.choice(_INTEGERS) for _ in range(len(value) or rng.randrange(5))]
    if type(value).__name__ == "DType":
        return rng.choice([*_DTYPES, "no_type", 9999, None, value])
    return rng.choice([*_INTEGERS, *_FLOATS, *_TEXTS, None, [], [1], [-1, 2**40], True])


def anything(rng: random.Random, tf: Any, like: Any = None) -> Any:
    """A value of any kind, some of them tensors of the context at hand.

    Args:
      rng: where it comes from.
      tf: the face to make tensors with.
      like: what belongs in its place; half of the values are near it.
    """
    if rng.random() < 0.5:
        return array(rng, like) if like is None or isinstance(like, (np.ndarray, np.generic)) else attribute(rng, like)
    kind = rng.randrange(24)
    if kind < 4:
        return number(rng)
    if kind < 6:
        return rng.choice(_TEXTS)
    if kind < 8:
        return array(rng)
    if kind == 8:
        return [rng.choice(_SIZES) for _ in range(rng.randrange(9))]
    made: list[Any] = [
        lambda: None, lambda: Strange(), lambda: [[1], [2, 3]], lambda: {"a": 1}, lambda: (lambda x: x),
        lambda: (i for i in range(3)), lambda: rng.choice([tf.float32, tf.string, tf.int64, np.float32]),
        lambda: np.array([object()]), lambda: Lying(), lambda: {1, 2}, lambda: [None], list,
        lambda: [[], [[]]], lambda: tf.ragged.constant([[1.0], [2.0, 3.0]]),
        lambda: tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2]),
        lambda: tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True),
        lambda: tf.Variable([1, 2], use_resource=True).handle, lambda: tf.constant(["a", "b"]),
        lambda: tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 1])), lambda: tf.TensorShape([None, 2]),
        lambda: tf.constant(array(rng)), lambda: tf.raw_ops.FIFOQueueV2(component_types=[tf.float32]),
        lambda: table(tf), lambda: np.array("text"),
        lambda: np.datetime64("2020-01-01"), lambda: range(3), lambda: slice(0, 2), lambda: ..., lambda: 1j,
        lambda: bytearray(b"ab"), lambda: memoryview(b"abcd"), lambda: [1, "a"], lambda: [tf.ones([2]), 1],
        lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]),
    ]
    return rng.choice(made)()
