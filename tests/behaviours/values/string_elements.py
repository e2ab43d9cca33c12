"""Batches of strings in data sets: their elements are strings, however the batches are made."""

from __future__ import annotations

from typing import Any

from ..harness import case


def _letters(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(["a", "b", "c"])


def _shown(rows: Any) -> list[Any]:
    """Returns the elements as lists of bytes."""
    return [[part.numpy().tolist() for part in (row if isinstance(row, tuple) else (row,))] for row in rows]


@case("eager")
def padded(tf: Any) -> Any:
    pairs = tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], [b"x", b"y"]))
    return [_shown(_letters(tf).padded_batch(2)), _shown(pairs.padded_batch(2)),
            _shown(pairs.padded_batch(2, padded_shapes=([3], []))), _shown(pairs.padded_batch(2, ([3], []), (7, "z")))]


@case("eager")
def padded_and_used(tf: Any) -> Any:
    doubled = _letters(tf).map(lambda x: tf.strings.join([x, x])).padded_batch(2)
    return _shown(doubled.map(lambda x: (tf.strings.length(x), tf.strings.join([x, "!"]))))


@case("eager")
def padded_words(tf: Any) -> Any:
    words = tf.data.Dataset.from_tensor_slices(["a", "b c"]).map(tf.strings.split)
    return _shown(words.padded_batch(2, padding_values="P")), _shown(words.padded_batch(2))


@case("eager")
def padded_of_other_data_sets(tf: Any) -> Any:
    rows = _letters(tf)
    made = tf.data.Dataset.from_generator(lambda: iter(["a", "b"]), output_signature=tf.TensorSpec([], tf.string))
    texts = rows.scan(tf.constant(""), lambda s, x: (tf.strings.join([s, x]),) * 2)
    one = tf.data.Dataset.from_tensors("q")
    return [_shown(d.padded_batch(4)) for d in (made, texts, one, rows.repeat(2), tf.data.Dataset.zip((rows, rows)),
                                                rows.concatenate(rows).cache(), rows.batch(2).unbatch())]


@case("eager")
def other_batches(tf: Any) -> Any:
    rows = _letters(tf)
    return [_shown(rows.batch(2).rebatch(3)), _shown(rows.ragged_batch(2)), _shown(rows.batch(2).unbatch().batch(3)),
            _shown(rows.window(2).flat_map(lambda w: w.padded_batch(2)))]
