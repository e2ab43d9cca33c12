"""Sizes and counts of data sets: integers go through, all else is an error of TensorFlow's class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf


def _six() -> Any:
    return tf.data.Dataset.range(6)


def _one(x: Any) -> Any:
    return tf.data.Dataset.from_tensors(x)


CALLS: dict[str, Callable[[Any], Any]] = {
    "assert_cardinality": lambda n: _six().apply(tf.data.experimental.assert_cardinality(n)),
    "at": lambda n: tf.data.experimental.at(_six(), n),
    "batch": lambda n: _six().batch(n),
    "bucket": lambda n: _six().map(lambda x: tf.fill([2], x)).bucket_by_sequence_length(lambda x: 2, [4], [n, 2]),
    "cycle": lambda n: _six().interleave(_one, cycle_length=n),
    "block": lambda n: _six().interleave(_one, block_length=n),
    "enumerate": lambda n: _six().enumerate(n),
    "groups": lambda n: _six().group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), window_size=n),
    "padded_batch": lambda n: _six().padded_batch(n),
    "parallel": lambda n: _six().map(lambda x: x, num_parallel_calls=n),
    "prefetch": lambda n: _six().prefetch(n),
    "ragged_batch": lambda n: _six().ragged_batch(n),
    "range": lambda n: tf.data.Dataset.range(n),
    "rebatch": lambda n: _six().batch(2).rebatch(n),
    "records": lambda n: tf.data.FixedLengthRecordDataset("none", n),
    "repeat": lambda n: _six().repeat(n),
    "shard": lambda n: _six().shard(n, 0),
    "shard of": lambda n: _six().shard(3, n),
    "shift": lambda n: _six().window(2, shift=n),
    "shuffle": lambda n: _six().shuffle(n),
    "skip": lambda n: _six().skip(n),
    "step": lambda n: tf.data.Dataset.range(0, 6, n),
    "stride": lambda n: _six().window(2, stride=n),
    "take": lambda n: _six().take(n),
    "window": lambda n: _six().window(n),
}
NONE_IS_ALLOWED = {"block", "cycle", "groups", "parallel", "prefetch", "repeat", "shift"}
ZERO_IS_ALLOWED = {"assert_cardinality", "at", "enumerate", "prefetch", "range", "repeat", "shard of", "skip", "take"}


@pytest.mark.parametrize("value", [2.5, 2.0, float("nan"), float("-inf"), 2j, "2"], ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_integer_is_a_type_error(call: str, value: Any) -> None:
    with pytest.raises(TypeError, match="Expected int64, but got"):
        CALLS[call](value)


@pytest.mark.parametrize("call", CALLS)
def test_tensors_of_floats_are_value_errors(call: str) -> None:
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int64 for Tensor with dtype float32"):
        CALLS[call](tf.constant(2.0))


@pytest.mark.parametrize("call", CALLS)
def test_more_than_64_bits_is_a_value_error(call: str) -> None:
    with pytest.raises(ValueError, match="out-of-range integer"):
        CALLS[call](2**70)


@pytest.mark.parametrize("call", sorted(set(CALLS) - {"bucket", "rebatch"}))
def test_vectors_are_refused(call: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
        CALLS[call]([2])


@pytest.mark.parametrize("call", sorted(set(CALLS) - NONE_IS_ALLOWED))
def test_none_is_refused(call: str) -> None:
    with pytest.raises(ValueError, match="None values not supported"):
        CALLS[call](None)


@pytest.mark.parametrize("call", sorted(set(CALLS) - ZERO_IS_ALLOWED))
def test_zero_is_refused(call: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"greater than zero|non-zero integer"):
        CALLS[call](0)


@pytest.mark.parametrize("number", [2, np.int32(2), np.float32(2.0), tf.constant(2), tf.constant(2, tf.int64)],
                         ids=repr)
def test_integers_go_through(number: Any) -> None:
    assert [e.tolist() for e in _six().batch(number).as_numpy_iterator()] == [[0, 1], [2, 3], [4, 5]]
    assert list(_six().shard(number, 1).as_numpy_iterator()) == [1, 3, 5]
    assert list(tf.data.Dataset.range(0, 6, number).as_numpy_iterator()) == [0, 2, 4]
    assert list(_six().skip(number).take(number).as_numpy_iterator()) == [2, 3]


def test_a_shard_is_one_of_the_shards() -> None:
    for index in (3, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"between 0 and 2 .currently index = {index}"):
            _six().shard(3, index)


def test_prefetch_takes_autotune_and_nothing_below() -> None:
    assert len(list(_six().prefetch(tf.data.AUTOTUNE))) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size must be >= 0"):
        _six().prefetch(-2)


def test_unknown_cardinality_shuffles_all() -> None:
    for _ in range(3):
        found = list(_six().filter(lambda x: x >= 0).shuffle(tf.data.UNKNOWN_CARDINALITY).as_numpy_iterator())
        assert sorted(found) == list(range(6))
    assert list(_six().take(0).shuffle(tf.data.UNKNOWN_CARDINALITY)) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size must be greater than zero"):
        _six().shuffle(-3)


def test_sizes_that_are_fed_are_checked_when_run() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        size = v1.placeholder(tf.int64, [])
        for data, problem in ((v1.data.Dataset.range(6).batch(size), "Batch size"),
                              (v1.data.Dataset.range(6).shuffle(size), "buffer_size"),
                              (v1.data.Dataset.range(6).shard(size, 0), "Number of shards")):
            iterator = v1.data.make_initializable_iterator(data)
            element = iterator.get_next()
            sess.run(iterator.initializer, {size: 2})
            sess.run(element)
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"{problem} must be greater than zero"):
                sess.run(iterator.initializer, {size: 0})
                sess.run(element)


def test_fractions_are_no_seeds() -> None:
    with pytest.raises(TypeError, match="seed"):
        _six().shuffle(3, seed=2.5)
