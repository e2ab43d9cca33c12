"""Feature columns that share the trained vectors of their ids: values, names of variables, gradients, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised

_FEATURES = {"a": [[0, 1], [1, 2], [-1, -1]], "b": [[1], [2], [0]], "w": [[0.5], [2.0], [1.0]]}


def _ids(tf: Any, *keys: str) -> list[Any]:
    return [tf.feature_column.categorical_column_with_identity(key, 3) for key in keys]


def _first(tf: Any) -> Any:
    return tf.constant_initializer(np.arange(6.0).reshape(3, 2))


def _names(tf: Any) -> list[str]:
    return [v.name for v in tf.global_variables()]


@case("graph")
def uses_of_a_collection(tf: Any) -> Any:
    """Two inputs and a linear model share one variable, by the graph's collection; three steps of training."""
    fc = tf.feature_column
    a, b = _ids(tf, "a", "b")
    columns = fc.shared_embedding_columns([fc.weighted_categorical_column(b, "w"), a], 2, initializer=_first(tf))
    x, y = fc.input_layer(_FEATURES, columns), fc.input_layer(_FEATURES, columns[:1])
    z = fc.linear_model(_FEATURES, [*columns, a])
    loss = tf.reduce_sum(x * x) + tf.reduce_sum(y) + tf.reduce_sum(tf.square(z - 1.0))
    variables = tf.global_variables()
    slopes = [tf.convert_to_tensor(g) for g in tf.gradients(loss, variables)]
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    names = _names(tf), tf.get_collection("a_b_weighted_by_w_shared_embedding")[0].name
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return names, [sess.run([x, y, z, slopes, step]) for _ in range(3)], sess.run(variables)


@case("graph")
def combined_otherwise(tf: Any) -> Any:
    """Sums, norms that bound vectors, a name, no training."""
    make = tf.feature_column.shared_embedding_columns
    found = []
    for name, kind in (("one", {"combiner": "sum"}), ("two", {"combiner": "sqrtn"}), ("three", {"max_norm": 1.5})):
        columns = make(_ids(tf, "a", "b"), 2, initializer=_first(tf), shared_embedding_collection_name=name, **kind)
        found.append(tf.feature_column.input_layer(_FEATURES, columns, ["mine"]))
    fixed = make(_ids(tf, "b", "a"), 2, initializer=_first(tf), trainable=False)
    found.append(tf.feature_column.input_layer(_FEATURES, fixed))
    with tf.variable_scope("outer"):
        model = tf.feature_column.linear_model(
            _FEATURES, make(_ids(tf, "b", "a"), 2, shared_embedding_collection_name="four"))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([*found, model])
    return values, _names(tf), [v.name for v in tf.trainable_variables()], [v.name for v in tf.get_collection("mine")]


@case("graph")
def vectors_in_a_linear_model(tf: Any) -> Any:
    """In a linear model a column's weights are made before its vectors, shared or not."""
    fc = tf.feature_column
    (a,) = _ids(tf, "a")
    columns = [fc.embedding_column(a, 2, initializer=_first(tf)), fc.numeric_column("w")]
    y = fc.linear_model(_FEATURES, columns)
    slopes = [tf.convert_to_tensor(g) for g in tf.gradients(tf.reduce_sum(tf.square(y - 1.0)), tf.global_variables())]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return _names(tf), sess.run([y, slopes])


@case("graph")
def a_collection_that_is_taken(tf: Any) -> Any:
    """The collection's variable has to fit, and there may be one alone."""
    make, use = tf.feature_column.shared_embedding_columns, tf.feature_column.input_layer
    two, three = make(_ids(tf, "a", "b"), 2), make(_ids(tf, "a", "b"), 3)
    use(_FEATURES, two)
    found = [raised(lambda: use(_FEATURES, three))]
    tf.add_to_collection("a_b_shared_embedding", tf.get_variable("another", [3, 2]))
    return [*found, raised(lambda: use(_FEATURES, two))]


def _refused(tf: Any, make: Any) -> list[str]:
    a, b = _ids(tf, "a", "b")
    four = tf.feature_column.categorical_column_with_identity("b", 4)
    words = tf.feature_column.categorical_column_with_hash_bucket("h", 3)
    number = tf.feature_column.numeric_column("n")
    return [raised(lambda args=args, kwargs=kwargs: make(*args, **kwargs)) for args, kwargs in [
        (([a, four], 2), {}), (([a, words], 2), {}), (([number, a], 2), {}), (([a, b], 0), {}),
        (([a, b], None), {}), (([a, b], 2), {"initializer": 3}), (([a, b], 2), {"ckpt_to_load_from": "x"}),
        (([a, b], 2), {})]]


@case("graph")
def mistakes_with_a_collection(tf: Any) -> Any:
    return _refused(tf, tf.feature_column.shared_embedding_columns)


@case("eager")
def columns_of_version_2(tf: Any) -> Any:
    """In a graph a variable named after the columns; the sum of gradients; sequences; input_layer refuses them."""
    v1 = tf.compat.v1
    fc = tf.feature_column
    eagerly = [raised(lambda: fc.shared_embeddings(_ids(tf, "a", "b"), 2)),
               raised(lambda: v1.feature_column.shared_embedding_columns(_ids(tf, "a", "b"), 2))]
    with tf.Graph().as_default():
        features = tf.__internal__.feature_column.FeatureTransformationCache(_FEATURES)
        columns = fc.shared_embeddings(_ids(tf, "b", "a"), 2, "sum", _first(v1))
        with v1.variable_scope("outer"):
            x, y = (c.get_dense_tensor(features, None) for c in columns)
        steps = [fc.sequence_categorical_column_with_identity(key, 3) for key in ("s", "t")]
        named = fc.shared_embeddings(steps, 2, initializer=_first(v1), shared_embedding_collection_name="steps",
                                     trainable=False)
        sparse = {"s": tf.sparse.from_dense([[1, 2], [2, 0]]), "t": tf.sparse.from_dense([[2, 2], [1, 0]])}
        walk = [c.get_sequence_dense_tensor(tf.__internal__.feature_column.FeatureTransformationCache(sparse), None)
                for c in named]
        variables = v1.global_variables()
        slope = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(x * x * y), variables)[0])
        names = _names(v1), [v.name for v in v1.trainable_variables()], [c.name for c in columns]
        refused = _refused(tf, fc.shared_embeddings), raised(lambda: v1.feature_column.input_layer(_FEATURES, columns))
        shapes = [c.variable_shape.as_list() for c in [*columns, *named]], sorted(columns[0].parse_example_spec)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            return eagerly, names, refused, shapes, sess.run([x, y, slope, [tuple(w) for w in walk]])


@case("eager")
def columns_made_in_a_function(tf: Any) -> Any:
    """In eager mode the same columns have one variable, which stays."""
    made: list[Any] = []

    @tf.function
    def prepare() -> Any:
        made.extend(tf.feature_column.shared_embeddings(_ids(tf, "b", "a"), 2, "sum",
                                                        _first(tf.compat.v1)))
        return 0

    prepare()
    features = tf.__internal__.feature_column.FeatureTransformationCache
    return [[c.get_dense_tensor(features(_FEATURES), None) for c in made] for _ in range(2)]
