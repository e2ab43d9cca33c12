"""Feature columns, and models of them."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.extras.feature_column import column, models
from tests import ROOT
from tests.libraries import estimator

pytestmark = pytest.mark.usefixtures("graph")
fc = tf.feature_column
_DAY = fc.categorical_column_with_identity("day", 3)


def _run(*fetches: Any) -> Any:
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(list(fetches))


def test_as_in_tensorflow() -> None:
    """The input of a net and a linear model of columns of all kinds, and their gradients, are TensorFlow's."""
    expected = json.loads((ROOT / "tests/recorded/libraries/estimator.json").read_text())["feature_columns"]
    for found, wanted in zip(estimator.feature_columns(tf2, None, None), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_variables_of_columns() -> None:
    """Variables and outputs are told by column; calls of one object share variables; collections and training."""
    columns = [fc.embedding_column(_DAY, 2, initializer=tf.ones_initializer()), fc.numeric_column("a", 2)]
    features = {"day": [[0], [2]], "a": [[1.0, 2.0], [3.0, 4.0]]}
    to_variables: dict[Any, Any] = {}
    to_outputs: dict[Any, Any] = {}
    x = fc.input_layer(features, columns, ["mine"], False, to_variables, to_outputs)
    assert [v.name for v in tf.get_collection("mine")] == ["input_layer/day_embedding/embedding_weights:0"]
    assert not tf.trainable_variables() and to_variables[columns[0]] == tf.get_collection("mine")
    layer = models.InputLayer(columns, name="net")
    again = [layer(features), layer(features)]
    assert [v.name for v in layer.trainable_variables] == ["net/day_embedding/embedding_weights:0"]
    model = models.LinearModel([_DAY], 2, name="model")
    sums = [model(features), model(features)]
    assert [v.name for v in model.cols_to_vars()["bias"]] == ["model/bias_weights:0"]
    found = _run(x, to_outputs[columns[1]], *again, *sums)
    assert found[0].tolist() == found[2].tolist() == [[1.0, 2.0, 1.0, 1.0], [3.0, 4.0, 1.0, 1.0]]
    assert found[1].tolist() == features["a"] and not np.any(found[4:])


def test_vocabulary_files(tmp_path: pathlib.Path) -> None:
    """Words are looked up in a file; lines can be counted, other words hashed."""
    path = tmp_path / "words"
    path.write_text("x\ny\nz\n")
    columns = [fc.categorical_column_with_vocabulary_file("w", str(path)),
               tf2.feature_column.categorical_column_with_vocabulary_file("w", str(path), 2, default_value=1),
               fc.categorical_column_with_vocabulary_file("w", str(path), 3, 2)]
    assert [c.num_buckets for c in columns] == [3, 2, 5]
    found = _run(*[fc.input_layer({"w": ["z", "?"]}, fc.indicator_column(c)) for c in columns])
    assert found[0].tolist() == [[0, 0, 1], [0, 0, 0]] and found[1].tolist() == [[0, 1], [0, 1]]
    assert found[2][1, 3:].sum() == 1


def test_features_of_unknown_rank() -> None:
    """A vector is a column of one number a row, also where a run alone knows the rank."""
    a = tf.placeholder(tf.float32)
    x = fc.input_layer({"a": a}, fc.numeric_column("a"))
    with tf.Session() as sess:
        assert sess.run(x, {a: [1.0, 2.0]}).tolist() == sess.run(x, {a: [[1.0], [2.0]]}).tolist() == [[1.0], [2.0]]


def test_embeddings_from_a_checkpoint(tmp_path: pathlib.Path) -> None:
    """Vectors begin with those of a checkpoint; a norm bounds them; rows without ids may be an error of the user's."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("vectors", initializer=[[3.0, 4.0], [0.0, 1.0], [2.0, 0.0]])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "c"))
    given = {"ckpt_to_load_from": path, "tensor_name_in_ckpt": "vectors"}
    plain = fc.embedding_column(_DAY, 2, "sum", use_safe_embedding_lookup=False, **given)
    bounded = fc.embedding_column(_DAY, 2, "sum", max_norm=1.0, **given)
    x, y = (fc.input_layer({"day": [[0, 1]]}, c) for c in (plain, bounded))
    found = _run(x, y)
    np.testing.assert_allclose(found, [[[3.0, 5.0]], [[0.6, 1.8]]], rtol=1e-6)


def test_shared_vectors_from_a_checkpoint(tmp_path: pathlib.Path) -> None:
    """Shared vectors of both kinds begin with those of a checkpoint."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("vectors", initializer=[[3.0, 4.0], [0.0, 1.0], [2.0, 0.0]])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "c"))
    given = {"ckpt_to_load_from": path, "tensor_name_in_ckpt": "vectors"}
    other, features = fc.categorical_column_with_identity("other", 3), {"day": [[0, 1]], "other": [[2]]}
    x = fc.input_layer(features, fc.shared_embedding_columns([_DAY, other], 2, "sum", **given))
    cache = column.FeatureTransformationCache(features)
    y = [c.get_dense_tensor(cache, None) for c in tf2.feature_column.shared_embeddings([other, _DAY], 2, **given)]
    found = _run(x, *y)
    np.testing.assert_allclose(found[0], [[3.0, 5.0, 2.0, 0.0]])
    np.testing.assert_allclose(found[1:], [[[2.0, 0.0]], [[1.5, 2.5]]])


def test_examples_are_parsed() -> None:
    """Columns say how their features are parsed; equal ones once."""
    age = fc.numeric_column("age", default_value=1)
    spec = fc.make_parse_example_spec([
        fc.bucketized_column(age, [5]), age, fc.crossed_column([_DAY, "w"], 5),
        fc.weighted_categorical_column(_DAY, "weight")])
    assert sorted(spec) == ["age", "day", "w", "weight"]
    assert spec["age"].default_value == (1.0,) and spec["w"].dtype is tf.string and spec["day"].dtype is tf.int64
    with pytest.raises(ValueError, match="different parse_spec for key age"):
        fc.make_parse_example_spec([age, fc.numeric_column("age", 2)])


_STATE = column.StateManager(None, True)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: fc.numeric_column("a", 0), ValueError, "greater than 0"),
    (lambda: fc.numeric_column("a", 1.5), TypeError, "must be integer"),
    (lambda: fc.numeric_column("a", dtype=tf.string), ValueError, "convertible to float"),
    (lambda: fc.numeric_column("a", default_value=[1.0, 2.0]), ValueError, "shape of default_value"),
    (lambda: fc.numeric_column("a", default_value=0.5, dtype=tf.int32), TypeError, "not compatible with dtype"),
    (lambda: fc.numeric_column("a", normalizer_fn=3), TypeError, "must be a callable"),
    (lambda: fc.numeric_column(3), ValueError, "key must be a string"),
    (lambda: fc.bucketized_column(_DAY, [1]), ValueError, "generated with numeric_column"),
    (lambda: fc.bucketized_column(fc.numeric_column("a", (2, 2)), [1]), ValueError, "one-dimensional"),
    (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), ValueError, "sorted list"),
    (lambda: fc.indicator_column(fc.numeric_column("a")), ValueError, "must be a CategoricalColumn"),
    (lambda: fc.embedding_column(_DAY, 0), ValueError, "Invalid dimension 0"),
    (lambda: fc.embedding_column(_DAY, 2, ckpt_to_load_from="c"), ValueError, "both `ckpt_to_load_from`"),
    (lambda: fc.embedding_column(_DAY, 2, initializer=1), ValueError, "initializer must be callable"),
    (lambda: fc.shared_embedding_columns([_DAY, fc.categorical_column_with_hash_bucket("a", 3)], 2), ValueError,
     "must have the same type"),
    (lambda: fc.shared_embedding_columns([_DAY, fc.categorical_column_with_identity("a", 4)], 2), ValueError,
     "same number of buckets"),
    (lambda: fc.shared_embedding_columns([], 2), ValueError, "not empty"),
    (lambda: fc.shared_embedding_columns([fc.numeric_column("a")], 2), ValueError, "subclasses of CategoricalColumn"),
    (lambda: fc.input_layer({"day": [0]}, tf2.feature_column.shared_embeddings([_DAY], 2)), ValueError,
     "(?s)not supported in.*Fix: tf.compat.v1"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 0), ValueError, "at least 1"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 2, tf.float32), ValueError, "string or integer"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", []), ValueError, "must be non-empty"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["b", "b"]), ValueError, "Duplicate keys"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["b"], tf.int64), ValueError, "do not match"),
    (lambda: fc.categorical_column_with_vocabulary_list("a", ["b"], None, 3, 2), ValueError, "both num_oov_buckets"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", ""), ValueError, "Missing vocabulary_file"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", "/nowhere/none"), ValueError, "does not exist"),
    (lambda: fc.categorical_column_with_identity("a", 0), ValueError, "< 1"),
    (lambda: fc.categorical_column_with_identity("a", 2, 5), ValueError, "not in range"),
    (lambda: fc.weighted_categorical_column(_DAY, "w", tf.string), ValueError, "not convertible"),
    (lambda: fc.crossed_column(["a"], 3), ValueError, "length > 1"),
    (lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 2)], 3), ValueError, "not supported"),
    (lambda: fc.crossed_column(["a", fc.numeric_column("b")], 3), ValueError, "Unsupported key type"),
    (lambda: fc.input_layer({}, [_DAY]), ValueError, "wrap a categorical column"),
    (lambda: fc.input_layer({}, [fc.numeric_column("a")]), ValueError, "(?s)not in features dictionary.*Fix:"),
    (lambda: fc.input_layer({"a": 1.0}, [fc.numeric_column("a")]), ValueError, "cannot have rank 0"),
    (lambda: fc.input_layer({}, []), ValueError, "must not be empty"),
    (lambda: fc.input_layer({}, {"a": 1}), ValueError, "found dict"),
    (lambda: fc.input_layer({}, [3]), ValueError, "must be a FeatureColumn"),
    (lambda: fc.input_layer({}, [_DAY, _DAY]), ValueError, "(?s)Duplicate feature column name.*Fix:"),
    (lambda: fc.input_layer({"a": [1.0], "b": [1.0, 2.0]}, [fc.numeric_column("a"), fc.numeric_column("b")]),
     ValueError, "Batch size"),
    (lambda: fc.input_layer({"day": [0.5]}, fc.indicator_column(_DAY)), ValueError, "Invalid input, not integer"),
    (lambda: fc.make_parse_example_spec([3]), ValueError, "must be FeatureColumn instances"),
    (lambda: column.FeatureTransformationCache({}).get(3), TypeError, "must be either"),
    (lambda: _STATE.get_variable(_DAY, "v"), ValueError, "Variable does not exist"),
    (lambda: _STATE.get_resource(_DAY, "v"), ValueError, "Resource does not exist"),
])
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    """Mistakes are named."""
    with pytest.raises(error, match=text):
        call()
