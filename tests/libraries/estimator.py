"""Programs on estimators and feature columns: trained, evaluated, asked, exported and loaded again."""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
import types
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}
_RNG = np.random.RandomState(0)
_AGE = _RNG.uniform(10, 80, 40).astype(np.float32)
_COLOR = np.array(["r", "g", "b", "q"])[_RNG.randint(0, 4, 40)]
_WORD = np.array(["a", "b", "c", "d", "e"])[_RNG.randint(0, 5, 40)]
_PRICE = (_AGE / 40 + (_COLOR == "r") + 0.1 * _RNG.randn(40)).astype(np.float32)
_HIGH = (_PRICE > 1.3).astype(np.int64)


def prepare(tf: Any) -> None:
    """Starts a graph with seeds; in TensorFlow 2.21, which has dropped what estimators import, puts that back."""
    if hasattr(tf, "lite") and "tensorflow_estimator" not in sys.modules:
        _put_back()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    tf.compat.v1.reset_default_graph()
    tf.compat.v1.set_random_seed(5)


def _put_back() -> None:
    """Makes the module for several processes, of which there is one; empty ones for TPUs."""
    training = types.ModuleType("tensorflow.python.distribute.estimator_training")
    vars(training).update(init_run_config=lambda config, _: setattr(config, "_distribute_coordinator_mode", None),
                          should_run_distribute_coordinator=lambda config: False)
    sys.modules[training.__name__] = training
    vars(importlib.import_module("tensorflow.python.distribute"))["estimator_training"] = training
    export = importlib.import_module("tensorflow.python.util.tf_export")
    vars(export).update(ESTIMATOR_API_NAME="estimator", api_export=_Export)
    while True:
        try:
            importlib.import_module("tensorflow_estimator.python.estimator.estimator_lib")
        except ImportError as e:
            missing = re.match(r"cannot import name '(\w+)' from '(tensorflow\.python\.tpu)'", str(e))
            if missing is None:
                raise
            name = f"{missing[2]}.{missing[1]}"
            sys.modules[name] = _Empty(name)
            setattr(importlib.import_module(missing[2]), missing[1], sys.modules[name])
            for loaded in [m for m in sys.modules if m.startswith("tensorflow_estimator")]:
                del sys.modules[loaded]
        else:
            return


class _Export:
    def __init__(self, *names: str, api_name: Any = None, v1: Any = None):
        pass

    def __call__(self, function: Any) -> Any:
        return function


class _Empty(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def with_estimators(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Returns a program of the module alone, for one of the module and its estimators of 2.x and of 1.x."""

    def run(tf: Any) -> Any:
        places = [f"tensorflow_estimator.python.estimator.api._v{v}.estimator" for v in (2, 1)]
        own = not hasattr(tf, "lite")
        both = [tf.estimator, tf.compat.v1.estimator] if own else [importlib.import_module(p) for p in places]
        return function(tf, *both)

    return run


def _case(function: Callable[..., Any]) -> Callable[..., Any]:
    CASES[function.__name__] = with_estimators(function)
    return function


def _columns(tf: Any) -> Any:
    fc = tf.feature_column
    age = fc.numeric_column("age", normalizer_fn=lambda a: a / 40)
    ages = fc.bucketized_column(fc.numeric_column("age"), [30.0, 50.0])
    color = fc.categorical_column_with_vocabulary_list("color", ["r", "g", "b"])
    word = fc.categorical_column_with_hash_bucket("word", 6)
    return age, ages, color, word, fc.crossed_column([ages, "color"], 10)


def _input(tf: Any, labels: Any, repeat: int = 1) -> Any:
    def read() -> Any:
        data = tf.data.Dataset.from_tensor_slices(({"age": _AGE, "color": _COLOR, "word": _WORD}, labels))
        return data.repeat(repeat).batch(10)

    return read


def _settings(estimators: Any) -> Any:
    return {"model_dir": tempfile.mkdtemp(), "config": estimators.RunConfig(tf_random_seed=3)}


def _used(tf: Any, estimator: Any, labels: Any, wanted: str) -> Any:
    """Trains, evaluates and asks; returns metrics by name, and predictions."""
    estimator.train(_input(tf, labels, 5), steps=15)
    metrics = estimator.evaluate(_input(tf, labels))
    predictions = [p[wanted] for p in estimator.predict(_input(tf, labels))]
    return [[metrics[name] for name in sorted(metrics)], np.array(predictions)]


@_case
def linear_regressor(tf: Any, estimators: Any, old: Any) -> Any:
    made = estimators.LinearRegressor(_columns(tf), **_settings(estimators))
    weights = "linear/linear_model/age_bucketized_X_color/weights"
    return [*_used(tf, made, _PRICE, "predictions"), made.get_variable_value(weights)]


@_case
def linear_regressor_of_1(tf: Any, estimators: Any, old: Any) -> Any:
    made = old.LinearRegressor(_columns(tf), **_settings(old))
    return [*_used(tf, made, _PRICE, "predictions"), made.get_variable_value("linear/linear_model/color/weights")]


@_case
def linear_classifier(tf: Any, estimators: Any, old: Any) -> Any:
    age, _, color, word, _ = _columns(tf)
    return _used(tf, estimators.LinearClassifier([age, color, word], **_settings(estimators)), _HIGH, "probabilities")


def _example(tf: Any) -> bytes:
    feature = {"age": tf.train.Feature(float_list=tf.train.FloatList(value=[30.0])),
               "color": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"r"])),
               "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"]))}
    return bytes(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def _asked(tf: Any, folder: Any, signature: str, output: str, feeds: dict[str, Any]) -> Any:
    """Loads a saved model; returns one of its outputs."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        chosen = v1.saved_model.load(session, ["serve"], folder.decode()).signature_def[signature]
        return session.run(chosen.outputs[output].name, {chosen.inputs[k].name: v for k, v in feeds.items()})


def _deep(tf: Any, estimators: Any) -> Any:
    fc = tf.feature_column
    age, _, color, word, _ = _columns(tf)
    made = estimators.DNNClassifier(
        [8, 4], [age, fc.indicator_column(color), fc.embedding_column(word, 3)], dropout=0.1, **_settings(estimators))
    found = _used(tf, made, _HIGH, "probabilities")
    spec = fc.make_parse_example_spec([age, color, word])
    folder = made.export_saved_model(tempfile.mkdtemp(),
                                     estimators.export.build_parsing_serving_input_receiver_fn(spec))
    feeds = {"examples": [_example(tf)] * 2}
    return [*found, _asked(tf, folder, "predict", "probabilities", feeds),
            _asked(tf, folder, "serving_default", "scores", {"inputs": [_example(tf)]})]


@_case
def deep_classifier(tf: Any, estimators: Any, old: Any) -> Any:
    return _deep(tf, estimators)


@_case
def deep_classifier_of_1(tf: Any, estimators: Any, old: Any) -> Any:
    return _deep(tf, old)


@_case
def wide_and_deep(tf: Any, estimators: Any, old: Any) -> Any:
    age, _, color, word, _ = _columns(tf)
    made = estimators.DNNLinearCombinedClassifier(linear_feature_columns=[color, word], dnn_feature_columns=[age],
                                                  dnn_hidden_units=[5], **_settings(estimators))
    return _used(tf, made, _HIGH, "probabilities")


@_case
def model_function(tf: Any, estimators: Any, old: Any) -> Any:
    """A model of one's own, whose gradients are clipped: trained twice, exported for features as they are."""
    v1 = tf.compat.v1

    def model(features: Any, labels: Any, mode: str, params: Any) -> Any:
        x = v1.feature_column.input_layer(features, params["columns"])
        w = v1.get_variable("w", [x.shape[1], 6], initializer=v1.constant_initializer(np.linspace(-0.5, 0.5, 24)))
        u = v1.get_variable("u", [6, 2], initializer=v1.constant_initializer(np.linspace(1.0, -0.7, 12)))
        logits = tf.matmul(tf.tanh(tf.matmul(x, w)), u)
        found = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == estimators.ModeKeys.PREDICT:
            return estimators.EstimatorSpec(mode, found, export_outputs={
                "serving_default": estimators.export.PredictOutput(found)})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == estimators.ModeKeys.EVAL:
            accuracy = v1.metrics.accuracy(labels, found["class"])
            return estimators.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
        variables = v1.trainable_variables()
        clipped, _ = tf.clip_by_global_norm(v1.gradients(loss, variables), 0.5)
        step = v1.train.AdamOptimizer(0.05).apply_gradients(list(zip(clipped, variables, strict=True)),
                                                            v1.train.get_global_step())
        return estimators.EstimatorSpec(mode, loss=loss, train_op=step)

    age, _, color, _, _ = _columns(tf)
    made = estimators.Estimator(model, params={"columns": [age, tf.feature_column.indicator_column(color)]},
                                **_settings(estimators))
    found = _used(tf, made, _HIGH, "probabilities")

    def receive() -> Any:
        features = {"age": v1.placeholder(tf.float32, [None]), "color": v1.placeholder(tf.string, [None])}
        return estimators.export.ServingInputReceiver(features, features)

    folder = made.export_saved_model(tempfile.mkdtemp(), receive)
    asked = _asked(tf, folder, "serving_default", "probabilities", {"age": [30.0, 60.0], "color": ["r", "b"]})
    metrics, _ = estimators.train_and_evaluate(made, estimators.TrainSpec(_input(tf, _HIGH, 5), max_steps=20),
                                               estimators.EvalSpec(_input(tf, _HIGH)))
    return [*found, asked, [metrics[name] for name in sorted(metrics)]]


@_case
def feature_columns(tf: Any, estimators: Any, old: Any) -> Any:
    """Columns of all kinds in a graph: the input of a net, a linear model, gradients."""
    v1, fc = tf.compat.v1, tf.compat.v1.feature_column
    with v1.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        age = fc.numeric_column("age")
        ages = fc.bucketized_column(age, [20, 40.5])
        color = fc.categorical_column_with_vocabulary_list("color", ["r", "g", "b"], num_oov_buckets=2)
        word = fc.categorical_column_with_hash_bucket("word", 7)
        n = fc.categorical_column_with_hash_bucket("n", 5, tf.int64)
        day = fc.weighted_categorical_column(fc.categorical_column_with_identity("day", 7, 0), "w")
        cross = fc.crossed_column([ages, "color"], 11)
        twice = fc.crossed_column(["color", "word", cross], 13, hash_key=3)
        features = {
            "age": [[18.0], [33.0], [70.0]], "color": [["r"], ["q"], ["b"]], "n": [[5], [7], [9]],
            "word": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "c"], [3, 2]),
            "day": [[1, 2], [3, -1], [9, 6]], "w": [[0.5, 2.0], [1.0, 0.0], [3.0, 1.0]]}
        x = fc.input_layer(features, [age, ages, fc.indicator_column(color), fc.embedding_column(word, 3),
                                      fc.indicator_column(day), fc.embedding_column(cross, 2, combiner="sqrtn"),
                                      fc.indicator_column(n)])
        y = fc.linear_model(features, [age, ages, color, word, day, cross, twice], units=2)
        variables = v1.trainable_variables()
        gradients = v1.gradients(tf.reduce_sum(y**2) + tf.reduce_sum(y) + tf.reduce_sum(x**2), variables)
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        for variable in variables[2:]:
            shape = variable.shape.as_list()
            variable.load(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 10, session)
        return session.run([x, y, *(tf.convert_to_tensor(g) for g in gradients)])
