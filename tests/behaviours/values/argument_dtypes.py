"""What becomes of arguments that are no tensors: arrays of other dtypes, lists of NumPy's numbers, fractions, texts.

Most were found by `tests.programs.argument_programs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import case

_X = np.ones((2, 3), np.float32)
_BOXES = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]]
_SCORES = [0.8, 0.9, 0.1]


def _array(*values: Any, dtype: Any = None) -> Any:
    return np.array(values, dtype)


# Sizes, axes and indices of which the record has a default dtype: NumPy's numbers are cast to it.
_CAST: list[Callable[[Any], Any]] = [
    lambda tf: tf.reduce_sum(_X, axis=np.float64(0.5)),
    lambda tf: tf.reduce_sum(_X, axis=_array(0.7)),
    lambda tf: tf.reshape(_X, _array(3.5, 2.0)),
    lambda tf: tf.tile(_X, _array(1.5, 2)),
    lambda tf: tf.transpose(_X, _array(1.0, 0.0)),
    lambda tf: tf.pad(_X, _array([1.5, 0], [0, 0])),
    lambda tf: tf.expand_dims(_X, np.float32(0)),
    lambda tf: tf.one_hot(_array(0.0, 1.9), 3),
    lambda tf: tf.math.top_k(_X, np.float32(2.5))[0],
    lambda tf: tf.math.unsorted_segment_sum(_X, [0, 1], np.float64(2.5)),
    lambda tf: tf.random.stateless_uniform([2], _array(1.5, 2.0)),
    lambda tf: tf.linalg.band_part(_X, np.float32(0), -1),
    lambda tf: tf.fill(_array(2.0, 2.0), 1.0),
    lambda tf: tf.broadcast_to(_X, _array(2.0, 3.0)),
    lambda tf: tf.cumsum(_X, np.float64(0.5)),
    lambda tf: tf.concat([_X, _X], np.float32(1.0)),
    lambda tf: tf.argmin(_X, np.float32(1.0)),
    lambda tf: tf.math.invert_permutation(_array(1.0, 0.0)),
    lambda tf: tf.strings.to_hash_bucket_fast(["a", "b"], np.int64(3)),
]

# Those of which it has none are taken as they are, and refused.
_REFUSED: list[Callable[[Any], Any]] = [
    lambda tf: tf.gather(_X, _array(0.5)),
    lambda tf: tf.gather(_X, _array(True)),
    lambda tf: tf.gather(_X, [0.5]),
    lambda tf: tf.slice(_X, _array(0.0, 0.0), [1, 1]),
    lambda tf: tf.strided_slice(_X, _array(0.0, 0.0), [1, 1], [1, 1]),
    lambda tf: tf.math.segment_sum(_X, _array(0.0, 1.0)),
    lambda tf: tf.scatter_nd(_array([1.0]), [9.0], [4]),
    lambda tf: tf.roll(_X, np.array(1.5), 0),
    lambda tf: tf.roll(_X, 1, np.float64(0.5)),
    lambda tf: tf.bitwise.bitwise_and(_array(1.5), 1),
    lambda tf: tf.bitwise.bitwise_or(_array(5, dtype=np.complex64), np.int8(3)),
    lambda tf: tf.bitwise.invert(_array(1.5)),
    lambda tf: tf.bitwise.right_shift(_array("8"), 2),
    lambda tf: tf.math.unsorted_segment_sum(_X, [0, 1], "2"),
    lambda tf: tf.math.bincount(_array(1.5)),
    lambda tf: tf.argmax(_X, np.float32(1.0)),
    lambda tf: tf.sparse.eye("2"),
    lambda tf: tf.linalg.lu_solve(np.eye(2, dtype=np.float32), [1, 0], np.ones((4, 1), np.float32)),
    lambda tf: tf.io.parse_tensor([tf.io.serialize_tensor([1, 2])], tf.int32),
    lambda tf: tf.tensor_scatter_nd_update([1, 2], _array([True]), [5]),
    lambda tf: tf.repeat([1, 2, 1, 2], [2, 1]),
    lambda tf: tf.repeat([[1, 2]], [2, 1], axis=0),
]

# Where the default is a floating or complex dtype, what has another one becomes it.
_FLOATING: list[Callable[[Any], Any]] = [
    lambda tf: tf.signal.fft(_array(1.0, 2.0)),
    lambda tf: tf.signal.fft([1.0, 2.0]),
    lambda tf: tf.signal.fft([1, 2]),
    lambda tf: tf.signal.ifft2d(_array([1, 2])),
    lambda tf: tf.signal.rfft(_array(1.0, 2.0)),
    lambda tf: tf.signal.rfft(_array(1, 2)),
    lambda tf: tf.signal.dct(_array(1.0, 2.0)),
    lambda tf: tf.signal.idct(_array(4.0, 0.0)),
    lambda tf: tf.nn.max_pool2d(np.ones((1, 2, 2, 1)), 2, 2, "VALID"),
    lambda tf: tf.nn.max_pool2d(np.ones((1, 2, 2, 1), np.int32), 2, 2, "VALID"),
    lambda tf: tf.image.rgb_to_hsv(np.ones((1, 3))),
    lambda tf: tf.image.non_max_suppression(np.array(_BOXES), _SCORES, 3),
    lambda tf: tf.image.non_max_suppression_with_scores(np.array(_BOXES), _SCORES, 3)[0],
    lambda tf: tf.math.nextafter(_array(1.0), _array(2.0)),
    lambda tf: tf.nn.leaky_relu(_array(-1.0, 2.0)),
    lambda tf: tf.nn.leaky_relu(_array(-1, 2)),
    lambda tf: tf.complex(_array(1.0), _array(2.0)),
]

# Lists, and what is not a list.
_LISTS: list[Callable[[Any], Any]] = [
    lambda tf: tf.constant([np.uint8(1), np.uint8(2)]),
    lambda tf: tf.constant([np.int16(1)]),
    lambda tf: tf.constant([np.uint32(1)]),
    lambda tf: tf.constant([np.int64(2**40)]),
    lambda tf: tf.constant([np.complex64(1)]),
    lambda tf: tf.constant([np.float16(1)]),
    lambda tf: tf.constant([np.float64(2), 1.0]),
    lambda tf: tf.constant([1.0, np.float64(2)]),
    lambda tf: tf.constant([np.array(1, np.uint8)]),
    lambda tf: tf.cumsum([np.uint8(200), np.uint8(100)]),
    lambda tf: tf.add_n(np.ones((3, 2))),
    lambda tf: tf.add_n(np.arange(6, dtype=np.int32).reshape(3, 2, 1)),
    lambda tf: tf.nn.embedding_lookup([[1.0], [2.0], [3.0]], [2, 0]),
    lambda tf: tf.nn.embedding_lookup([[1.0, 4.0], [2.0, 5.0]], [2, 0]),
    lambda tf: tf.nn.embedding_lookup(([1.0], [2.0], [3.0]), [2, 0]),
    lambda tf: tf.ragged.segment_ids_to_row_splits([0, 0, 2]),
    lambda tf: tf.cast([1.8], np.int64(1)),
    lambda tf: tf.io.matching_files(""),
    lambda tf: tf.image.adjust_hue(np.array([[[-1.0, -0.5, -0.2]]], np.float32), 0.5),
    lambda tf: tf.image.adjust_hue(np.array([[[1.0, -0.5, 0.2]]], np.float32), 0.25),
]


def _shown(tensor: Any) -> Any:
    value = np.asarray(tensor)
    return [value.dtype.name, value]


def _eagerly(tf: Any, calls: list[Callable[[Any], Any]]) -> list[Any]:
    found: list[Any] = []
    for call in calls:
        try:
            found.append(_shown(call(tf).numpy()))
        except (TypeError, ValueError, tf.errors.InvalidArgumentError):
            found.append("refused")
    return found


def _in_graph(tf: Any, calls: list[Callable[[Any], Any]]) -> list[Any]:
    found: list[Any] = []
    with tf.Session() as sess:
        for call in calls:
            try:
                found.append([_shown(v) for v in [sess.run(call(tf)) for _ in range(2)]])
            except (TypeError, ValueError, tf.errors.InvalidArgumentError):
                found.append("refused")
    return found


@case("eager", rtol=1e-5, atol=1e-6)
def numbers_that_are_cast(tf: Any) -> Any:
    return _eagerly(tf, _CAST)


@case("graph", rtol=1e-5, atol=1e-6)
def numbers_that_are_cast_in_a_graph(tf: Any) -> Any:
    return _in_graph(tf, _CAST)


@case("eager")
def numbers_that_are_refused(tf: Any) -> Any:
    return _eagerly(tf, _REFUSED)


@case("graph")
def numbers_that_are_refused_in_a_graph(tf: Any) -> Any:
    return _in_graph(tf, _REFUSED)


@case("eager", rtol=1e-5, atol=1e-6)
def floats_of_another_width(tf: Any) -> Any:
    return _eagerly(tf, _FLOATING)


@case("graph", rtol=1e-5, atol=1e-6)
def floats_of_another_width_in_a_graph(tf: Any) -> Any:
    return _in_graph(tf, _FLOATING)


@case("eager", rtol=1e-5, atol=1e-6)
def lists_of_numbers(tf: Any) -> Any:
    return _eagerly(tf, _LISTS)


@case("graph", rtol=1e-5, atol=1e-6)
def lists_of_numbers_in_a_graph(tf: Any) -> Any:
    return _in_graph(tf, _LISTS)


# What fills gaps is a truth value where tensors are of truth values.
_B, _M = np.array([True, False]), np.array([[True, True], [False, True]])
_GAPS: list[Callable[[Any], Any]] = [
    lambda tf: tf.eye(2, dtype=tf.bool),
    lambda tf: tf.eye(2, batch_shape=[2], dtype=tf.bool),
    lambda tf: tf.linalg.diag(_B),
    lambda tf: tf.linalg.diag(_B, num_cols=4),
    lambda tf: tf.linalg.diag(_B, padding_value=1),
    lambda tf: tf.linalg.diag(_B, padding_value=True),
    lambda tf: tf.linalg.diag_part(_M),
    lambda tf: tf.linalg.diag_part(_M, k=(-1, 1)),
    lambda tf: tf.linalg.diag_part(_M, k=(-1, 1), padding_value=1),
    lambda tf: tf.linalg.diag(np.array([1, 2]), padding_value=True),
    lambda tf: tf.ragged.constant([[True], []]).to_tensor(),
    lambda tf: tf.ragged.constant([[True], []]).to_tensor(default_value=True),
    lambda tf: tf.ragged.constant([[True], []]).to_tensor(default_value=1),
    lambda tf: tf.pad(_B, [[1, 1]]),
    lambda tf: tf.pad(_B, [[1, 1]], constant_values=1),
    lambda tf: tf.sparse.to_dense(tf.sparse.from_dense(_M)),
    lambda tf: tf.sparse.to_dense(tf.sparse.from_dense(_M), default_value=1),
]


@case("eager")
def gaps_between_truth_values(tf: Any) -> Any:
    return _eagerly(tf, _GAPS)
