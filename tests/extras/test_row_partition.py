"""`tf.experimental.RowPartition` and its spec: what each way of making one says, and where it passes as a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as tf1
from graphgrad.compat.internal.saved_model import structure_coder
from graphgrad.extras.ragged.row_partition_value import RowPartitionSpec
from graphgrad.ir import context

Rows = tf.experimental.RowPartition

# How it is made; splits; numbers known without a run (rows, values, length); as TensorFlow 2.21 says.
_MADE: dict[str, tuple[Any, list[int], tuple[Any, ...]]] = {
    "splits": (lambda: Rows.from_row_splits([0, 2, 2, 5]), [0, 2, 2, 5], (3, None, None)),
    "lengths": (lambda: Rows.from_row_lengths([2, 0, 3]), [0, 2, 2, 5], (3, None, None)),
    "ids": (lambda: Rows.from_value_rowids([0, 0, 2], nrows=4), [0, 2, 2, 3, 3], (4, 3, None)),
    "ids without rows": (lambda: Rows.from_value_rowids([0, 0, 2]), [0, 2, 2, 3], (3, 3, None)),
    "no ids": (lambda: Rows.from_value_rowids(np.zeros(0, np.int64)), [0], (0, 0, None)),
    "length": (lambda: Rows.from_uniform_row_length(2, nvals=6), [0, 2, 4, 6], (3, 6, 2)),
    "length zero": (lambda: Rows.from_uniform_row_length(0, nvals=0, nrows=4), [0] * 5, (4, 0, 0)),
    "starts": (lambda: Rows.from_row_starts([0, 2, 4], nvals=7), [0, 2, 4, 7], (3, 7, None)),
    "limits": (lambda: Rows.from_row_limits([2, 2, 5]), [0, 2, 2, 5], (3, None, None)),
}


@pytest.fixture(autouse=True)
def _eagerly() -> Any:
    with context.use(context.EAGER):
        yield


@pytest.mark.parametrize("name", _MADE)
def test_making_one(name: str) -> None:
    """Splits, what follows from them, and the spec, eagerly; NumPy says what follows."""
    make, splits, known = _MADE[name]
    rows, lengths = make(), np.diff(splits)
    assert rows.row_splits().numpy().tolist() == splits
    assert (rows.static_nrows, rows.static_nvals, rows.static_uniform_row_length) == known
    found = [rows.row_lengths(), rows.row_starts(), rows.row_limits(), rows.value_rowids(), rows.offsets_in_rows()]
    expected = [lengths, splits[:-1], splits[1:], np.repeat(np.arange(len(lengths)), lengths),
                np.concatenate([np.arange(n) for n in [*lengths, 0]])]
    for here, there in zip(found, expected, strict=True):
        assert here.numpy().tolist() == np.asarray(there).tolist()
    assert int(rows.nrows()) == len(lengths) and int(rows.nvals()) == splits[-1]
    assert rows.is_uniform() is (known[2] is not None)
    spec = tf.type_spec_from_value(rows)
    assert spec == RowPartitionSpec(*known) and hash(spec) == hash(RowPartitionSpec(*known))
    assert structure_coder.decode_proto(structure_coder.encode_structure(spec)) == spec
    again = rows.with_dtype(tf.int32)
    assert again.dtype is tf.int32 and again.row_splits().numpy().tolist() == splits and not tf.is_tensor(rows)


_LIVE = "do not form a valid RowPartition"


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: Rows.from_row_splits([1, 2]), tf.errors.InvalidArgumentError, f"from_row_splits {_LIVE}.*first"),
    (lambda: Rows.from_row_splits([0, 3, 2]), tf.errors.InvalidArgumentError, f"{_LIVE}.*decrease"),
    (lambda: Rows.from_row_splits([]), ValueError, "may not be empty.*Fix:"),
    (lambda: Rows.from_row_splits([[0]]), ValueError, "must have rank 1: row_splits. Fix:"),
    (lambda: Rows.from_row_splits(tf.constant([0.0])), ValueError, "int32 or int64, not float32. Fix:"),
    (lambda: Rows.from_row_lengths([1, -1]), tf.errors.InvalidArgumentError, f"from_row_lengths {_LIVE}"),
    (lambda: Rows.from_value_rowids([0, 2, 1]), tf.errors.InvalidArgumentError, f"from_value_rowids {_LIVE}"),
    (lambda: Rows.from_value_rowids([-1, 2]), tf.errors.InvalidArgumentError, f"from_value_rowids {_LIVE}"),
    (lambda: Rows.from_value_rowids([0, 2], nrows=2), ValueError, "nrows=2, value_rowids.*=2. Fix:"),
    (lambda: Rows.from_value_rowids([0], nrows=-2), ValueError, "nrows >= 0; got -2. Fix:"),
    (lambda: Rows.from_uniform_row_length(2), ValueError, "nvals and nrows must be specified. Fix:"),
    (lambda: Rows.from_uniform_row_length(2, nvals=5), ValueError, "=2 times nrows=2 must equal nvals=5. Fix:"),
    (lambda: Rows.from_uniform_row_length([2], nvals=5), ValueError, "must have rank 0.*Fix:"),
    (lambda: Rows.from_uniform_row_length(-2, nvals=6), ValueError, "must be >= 0.*Fix:"),
    (lambda: Rows.from_row_starts([1, 2], 6), tf.errors.InvalidArgumentError, f"from_row_starts {_LIVE}"),
    (lambda: Rows.from_row_starts([0, 7], 6), tf.errors.InvalidArgumentError, f"from_row_starts {_LIVE}"),
    (lambda: Rows.from_row_limits([2, 1]), tf.errors.InvalidArgumentError, f"from_row_limits {_LIVE}"),
    (lambda: Rows([0, 2]), ValueError, "constructor is private.*Fix:"),
    (lambda: Rows.from_row_splits([0]).with_dtype(tf.float32), ValueError, "not float32. Fix:"),
    (lambda: RowPartitionSpec(3, 5, 2), ValueError, "nvals=5.*nrows=3.*Fix:"),
    (lambda: RowPartitionSpec(None, 5, 2), ValueError, "doesn't divide evenly.*Fix:"),
    (lambda: RowPartitionSpec(3, dtype=tf.float32), ValueError, "int32 or tf.int64.*Fix:"),
])
def test_what_cannot_be(make: Any, error: Any, text: str) -> None:
    """Classes of errors are TensorFlow's; texts say what is wrong."""
    with pytest.raises(error, match=f"(?s){text}"):
        make()


def test_checks_in_graphs() -> None:
    """Splits that are fed are checked when they are run."""
    with tf1.Graph().as_default(), tf1.Session() as sess:
        splits = tf1.placeholder(tf.int64, [None])
        lengths = Rows.from_row_splits(splits).row_lengths()
        assert sess.run(lengths, {splits: [0, 1, 3]}).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=_LIVE):
            sess.run(lengths, {splits: [0, 3, 1]})
        length, values = tf1.placeholder(tf.int64, []), tf1.placeholder(tf.int64, [])
        rows = Rows.from_uniform_row_length(length, nvals=values)
        assert rows.static_nrows is None and sess.run(rows.row_splits(), {length: 2, values: 4}).tolist() == [0, 2, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match=_LIVE):
            sess.run(rows.row_splits(), {length: 2, values: 5})


def test_as_a_value() -> None:
    """Functions, branches, loops, data sets, extension types and nests take it apart; traces are shared by spec."""
    traces = []

    @tf.function
    def twice(rows: Any) -> Any:
        traces.append(rows)
        return Rows.from_row_lengths(rows.row_lengths() * 2), rows

    rows = Rows.from_row_splits([0, 2, 2, 5])
    doubled, same = twice(rows)
    assert doubled.row_splits().numpy().tolist() == [0, 4, 4, 10] and repr(same) == repr(rows)
    assert twice(Rows.from_row_splits([0, 1, 2, 3]))[1].row_lengths().numpy().tolist() == [1, 1, 1]
    assert len(traces) == 1 and traces[0].static_nrows == 3
    signature = twice.get_concrete_function(RowPartitionSpec(3)).structured_input_signature
    assert signature == ((RowPartitionSpec(3),), {})

    class Batch(tf.experimental.ExtensionType):  # type: ignore[misc]  # the base has no type
        rows: Rows  # type: ignore[valid-type]  # nor has this class
        values: tf.Tensor

    @tf.function
    def branch(batch: Any, turned: Any) -> Any:
        def step(i: Any, rows: Any) -> Any:
            return i + 1, Rows.from_row_lengths(rows.row_lengths()[::-1])

        rows = tf.cond(turned, lambda: Rows.from_row_lengths(batch.rows.row_lengths()[::-1]), lambda: batch.rows)
        return tf.while_loop(lambda i, _: i < 2, step, (0, rows))[1]

    batch = Batch(rows, tf.range(5.0))
    assert branch(batch, True).row_lengths().numpy().tolist() == [3, 0, 2]
    assert branch(batch, False).row_lengths().numpy().tolist() == [2, 0, 3]
    data = tf.data.Dataset.from_tensors((rows, np.int64(1))).map(lambda r, n: (r, r.nrows() + n))
    ((again, number),) = list(data)
    assert repr(again) == "tf.RowPartition(row_splits=[0 2 2 5])" and int(number) == 4
    assert repr(Rows.from_uniform_row_length(2, nvals=4)) == "tf.RowPartition(nrows=2, uniform_row_length=2)"
    (splits,) = tf.nest.flatten(rows, expand_composites=True)
    assert splits.numpy().tolist() == [0, 2, 2, 5]


def test_of_a_ragged_tensor() -> None:
    """A ragged tensor's rows are such a value, and make another one."""
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        flat = tf.constant([4.0, 5.0, 6.0])
        tape.watch(flat)
        made = tf.RaggedTensor._from_row_partition(flat, ragged._row_partition)
        total = tf.reduce_sum(made.to_tensor() * ragged.to_tensor())
    assert made.to_list() == [[4.0, 5.0], [6.0]] and tape.gradient(total, flat).numpy().tolist() == [1.0, 2.0, 3.0]
