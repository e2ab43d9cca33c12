"""Data sets give the elements that TensorFlow gives, in its order; errors are of its classes."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v2 as tf
from graphgrad.ir import context

from .data_cases import CASES, plain

RECORDED: dict[str, Any] = json.loads((pathlib.Path(__file__).parents[2] / "recorded" / "data.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name: str, tmp_path: Any) -> None:
    """Elements, specs and cardinalities are those that were recorded."""
    with context.use(context.EAGER):
        found = json.loads(json.dumps(CASES[name](tf, str(tmp_path))))
    assert len(found) == len(RECORDED[name])
    for i, (mine, theirs) in enumerate(zip(found, RECORDED[name])):
        assert mine == theirs, f"{name}, number {i}"


def test_control_flow_on_tensors() -> None:
    """`if` and `while` on tensors in functions of data sets, as TensorFlow's AutoGraph has them."""

    def collatz(x: Any) -> Any:
        n = tf.constant(0)
        while x > 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            n += 1
        return n

    with context.use(context.EAGER):
        assert [int(v) for v in tf.data.Dataset.range(1, 8).map(collatz)] == [0, 1, 7, 2, 5, 8, 16]


def test_variables_and_tables_in_functions() -> None:
    """In eager mode functions read variables and tables as they are when a pass begins."""
    with context.use(context.EAGER):
        v = tf.Variable(2)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [5]), -1)
        dataset = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda w: table.lookup(w) * v)
        assert [int(x) for x in dataset] == [10, -2]
        v.assign(3)
        assert [int(x) for x in dataset] == [15, -3]


def test_cache(tmp_path: Any) -> None:
    """The second pass computes nothing; a pass that ends early keeps nothing; files outlive the data set."""
    calls = []

    def noted(x: Any) -> Any:
        calls.append(int(x))
        return x

    def source() -> Any:
        return tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(noted, [x], tf.int64))

    with context.use(context.EAGER):
        kept = source().cache()
        next(iter(kept))
        for _ in range(2):
            assert [int(x) for x in kept] == [0, 1, 2]
        assert calls == [0, 0, 1, 2]
        calls.clear()
        for made in (lambda: source().cache(str(tmp_path / "file")), lambda: source().snapshot(str(tmp_path / "dir"))):
            for _ in range(2):
                assert [int(x) for x in made()] == [0, 1, 2]
        assert calls == [0, 1, 2] * 2


def test_files(tmp_path: Any) -> None:
    """What is saved is loaded; records are written; options and where an iterator stands."""
    d = tf.data.Dataset
    with context.use(context.EAGER):
        words = np.array(["x", "yz", ""], object)
        rows = d.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []]))
        made = d.zip({"a": rows, "b": d.from_tensor_slices(words)})
        made.save(str(tmp_path / "saved"))
        again = d.load(str(tmp_path / "saved"))
        assert again.element_spec == made.element_spec and plain(list(again)) == plain(list(made))
        path = str(tmp_path / "records")
        tf.data.experimental.TFRecordWriter(path).write(d.from_tensor_slices(words))
        assert plain(list(tf.data.TFRecordDataset(path))) == ["x", "yz", ""]
        with pytest.raises(TypeError, match="(?s)string scalars.*Fix:"):
            tf.data.experimental.TFRecordWriter(path).write(d.range(2))
        options = tf.data.Options()
        options.deterministic = True
        assert d.range(3).with_options(options).map(lambda x: x).options().deterministic is True
        numbers = d.range(5).as_numpy_iterator()
        next(numbers)
        state = numbers.save()
        assert [next(numbers), next(numbers)] == [1, 2]
        numbers.restore(state)
        assert next(numbers) == 1


def test_ignored_errors() -> None:
    """Elements that cannot be computed are left out."""

    def odd(x: Any) -> Any:
        return tf.numpy_function(lambda v: 1 // 0 if v == 2 else v, [x], tf.int64)

    with context.use(context.EAGER):
        assert [int(x) for x in tf.data.Dataset.range(4).map(odd).ignore_errors()] == [0, 1, 3]


def test_examples(tmp_path: Any) -> None:
    """Features of serialized examples, in batches, dense and sparse."""
    import graphgrad.compat.v1 as tf1

    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            features = {"n": tf1.train.Feature(int64_list=tf1.train.Int64List(value=[i])),
                        "v": tf1.train.Feature(int64_list=tf1.train.Int64List(value=list(range(i))))}
            writer.write(tf1.train.Example(features=tf1.train.Features(feature=features)).SerializeToString())
    wanted = {"n": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.int64)}
    with context.use(context.EAGER):
        made = tf.data.experimental.make_batched_features_dataset(path, 2, wanted, num_epochs=1, shuffle=False,
                                                                  label_key="n")
        rows = list(made)
    assert [plain(n) for _, n in rows] == [[0, 1], [2]]
    assert plain(tf.sparse.to_dense(rows[1][0]["v"])) == [[0, 1]]


def test_resampling() -> None:
    """Classes come in the wanted proportions."""
    with context.use(context.EAGER):
        made = tf.data.Dataset.range(4000).map(lambda i: tf.cast(i % 10 < 2, tf.int32))
        for start in (None, [0.8, 0.2]):
            found = [int(k) for k, _ in made.rejection_resample(lambda x: x, [0.5, 0.5], start, seed=1)]
            assert abs(np.mean(found) - 0.5) < 0.05 and len(found) > 1000
