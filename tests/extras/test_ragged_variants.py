"""Ragged tensors as variants: whole and row by row, their derivatives of any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context
from graphgrad.ir.opdef import raw

pytestmark = pytest.mark.usefixtures("graph")
SPLITS = np.asarray([0, 2, 2, 3], np.int64)


def run(*fetches: Any) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        found = sess.run(list(fetches))
    return found[0] if len(found) == 1 else found


def back(encoded: Any, own: int, rank: int, dtype: Any = tf.float32) -> Any:
    """A ragged tensor of variants: splits and values."""
    splits, values = raw.RaggedTensorFromVariant(encoded, input_ragged_rank=own, output_ragged_rank=rank, Tvalues=dtype,
                                                 Tsplits=tf.int64)
    return [*splits, values]


def test_there_and_back() -> None:
    """What TensorFlow 2.21 gives for whole tensors, for rows, and for variants of other shapes."""
    x = tf.constant([1.0, 2.0, 3.0])
    rows = raw.RaggedTensorToVariant([SPLITS], x, batched_input=True)
    whole = raw.RaggedTensorToVariant([SPLITS], x, batched_input=False)
    assert rows.shape.as_list() == [3] and whole.shape.as_list() == []
    found = run(back(rows, 0, 1), back(rows, -1, 1), back(whole, 1, 1), back(tf.reshape(rows, [1, 3]), 0, 2),
                back(tf.stack([whole, whole]), 1, 2), back(tf.gather(rows, [2, 0]), 0, 1), back(rows[2], 0, 0))
    known = [[[0, 2, 2, 3], [1, 2, 3]]] * 3 + [
        [[0, 3], [0, 2, 2, 3], [1, 2, 3]], [[0, 3, 6], [0, 2, 2, 3, 5, 5, 6], [1, 2, 3, 1, 2, 3]],
        [[0, 1, 3], [3, 1, 2]], [[3]]]
    assert [[part.tolist() for part in parts] for parts in found] == known
    dense = raw.RaggedTensorToVariant([], tf.ones([3, 2]), batched_input=True)
    deep = raw.RaggedTensorToVariant([[0, 1, 3], SPLITS], x, batched_input=True)
    assert dense.shape.as_list() == [3] and [v.tolist() for v in run(back(deep, 1, 2))] == [[0, 1, 3], [0, 2, 2, 3],
                                                                                         [1, 2, 3]]


def _through(x: Any, batched: bool) -> Any:
    encoded = raw.RaggedTensorToVariant([SPLITS], x, batched_input=batched)
    if not batched:
        return back(encoded, 1, 1, tf.float64)[-1]
    once = back(encoded, 0, 1, tf.float64)[-1]
    return once * back(tf.reshape(encoded, [3, 1]), 0, 2, tf.float64)[-1]


@pytest.mark.parametrize("batched", [False, True])
def test_derivatives(batched: bool) -> None:
    """To the third order, also where a variant is used twice and through variants of rank 2."""
    start = np.array([0.5, -1.5, 2.0])
    x = tf.constant(start)
    y = tf.reduce_sum(_through(x, batched) ** 3)
    power, found = (6 if batched else 3), []
    for _ in range(3):
        (y,) = tf.gradients(y, x)
        found.append(y)
        y = tf.reduce_sum(y)
    for order, slope in enumerate(run(*found), 1):
        factor = np.prod(np.arange(power, power - order, -1))
        np.testing.assert_allclose(slope, factor * start ** (power - order), rtol=1e-12)


def test_tape() -> None:
    """In eager mode, as TensorFlow: 2 x."""
    with context.use(context.EAGER):
        x = tf2.constant([1.0, 2.0, 3.0])
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = back(raw.RaggedTensorToVariant([SPLITS], x, batched_input=True), 0, 1)[-1]
            z = tf2.reduce_sum(y * y)
        assert tape.gradient(z, x).numpy().tolist() == [2, 4, 6]


def test_what_cannot_be() -> None:
    """Ranks and dtypes that do not fit."""
    whole = raw.RaggedTensorToVariant([SPLITS], tf.constant([1.0, 2.0, 3.0]), batched_input=False)
    for own, rank, dtype, text in ((1, 2, tf.float32, "output_ragged_rank must be equal to"),
                                   (1, 1, tf.int32, "Expected values Tensor dtype: int32, found: float32"),
                                   (0, 0, tf.float32, "has ragged_rank=1.  Expected")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
            run(*back(whole, own, rank, dtype))
    with pytest.raises(ValueError, match="(?s)Can't unbatch rank-0 tensor.*Fix:"):
        raw.RaggedTensorToVariant([], tf.constant(1.0), batched_input=True)
