"""Arguments that random calls found: each ends, with an error of TensorFlow's classes that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, lower, memory_budget
from graphgrad.ir import context

_INF = float("inf")
_BAD: dict[str, Any] = {
    "a key that is infinite": lambda: tf.string_to_hash_bucket_strong(["a"], 3, [_INF, 1]),
    "an infinite range": lambda: tf.data.Dataset.range(_INF),
    "infinitely many bits": lambda: tf.quantization.quantize_and_dequantize([0.2], -1.0, 1.0, num_bits=_INF,
                                                                            range_given=True),
    "slices of None": lambda: tf.data.Dataset.from_tensor_slices(None),
    "buckets that are no pairs": lambda: tf.nn.seq2seq.model_with_buckets([], [], [], [], np.array(True), None),
    "attention to a matrix": lambda: tf.nn.seq2seq.attention_decoder([1.0], 1.0, np.ones([3, 3]), None),
    "a dense layer of scalars": lambda: tf.distributions.bijectors.masked_dense(1.0, 3),
    "recurrence over nothing": lambda: tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), [[], [[]]], dtype=tf.float32),
}


@pytest.mark.parametrize("what", _BAD)
def test_refused(what: str) -> None:
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError), match="(?s)."):
        _BAD[what]()


def test_a_ragged_tensor_of_known_length_ends_in_graphs() -> None:
    with tf.Graph().as_default():
        rows = tf.ragged.constant([[1], [2, 3]])
        assert rows[1].shape.rank == rows[-2].shape.rank == 1
        for beyond in (2, -3):
            with pytest.raises(ValueError, match="of dimension 0 out of bounds"):
                rows[beyond]
        with pytest.raises(ValueError, match="of dimension 0 out of bounds"):
            list(rows)


def test_an_array_larger_than_memory() -> None:
    with context.use(context.EAGER), pytest.raises(tf.errors.ResourceExhaustedError, match="Fix:"):
        tf2.TensorArray(tf.float32, size=2**62)


@pytest.mark.usefixtures("first_in_xla")
def test_a_lack_of_memory_while_jax_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import does not begin, so that a later run can import it."""

    def lacks() -> None:
        raise MemoryError("1 GiB are needed to start XLA")

    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.linalg.svd(tf.matmul(x, x, transpose_b=True) + 0.123, full_matrices=True)[1]  # only JAX lowers it
        cache.clear()
        lower._jax.cache_clear()
        with monkeypatch.context() as patched:
            patched.setattr(memory_budget, "reserve_to_begin", lacks)
            with pytest.raises(tf.errors.ResourceExhaustedError, match="Fix:"):
                sess.run(y, {x: np.ones([2, 3])})
        assert sess.run(y, {x: np.ones([2, 3])}).shape == (2, 2)
