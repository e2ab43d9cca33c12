"""More kinds of estimators: of sequences, and deep ones whose columns share vectors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ..estimator import prepare, with_estimators

__all__ = ["CASES", "prepare"]
CASES: dict[str, Callable[[Any], Any]] = {}
_RNG = np.random.RandomState(2)
_TOKENS = _RNG.randint(0, 6, (24, 5))
_LENGTHS = np.where(np.arange(24) % 4, _RNG.randint(1, 6, 24), 5)  # each batch has a row of all steps
_TOKENS[np.arange(5) >= _LENGTHS[:, None]] = -1
_LEVEL = _RNG.uniform(-1, 1, (24, 2)).astype(np.float32)
_LABELS = ((_TOKENS == 2).sum(1) > 0).astype(np.int64)


def _case(function: Callable[..., Any]) -> Callable[..., Any]:
    CASES[function.__name__] = with_estimators(function)
    return function


def _read(tf: Any, labels: Any = _LABELS, repeat: int = 1) -> Any:
    def read() -> Any:
        rows = tf.data.Dataset.from_tensor_slices(({"token": _TOKENS, "other": _TOKENS[:, ::-1].copy(),
                                                    "level": _LEVEL}, labels)).repeat(repeat).batch(8)
        return rows.map(lambda f, y: ({**f, "steps": tf.sparse.from_dense(f["token"] + 1)}, y))

    return read


def _settings(estimators: Any) -> Any:
    return {"model_dir": tempfile.mkdtemp(), "config": estimators.RunConfig(tf_random_seed=3)}


def _used(tf: Any, estimator: Any, wanted: str, labels: Any = _LABELS) -> Any:
    """Trains, evaluates and asks; returns metrics by name, predictions, variables by name."""
    tf.keras.utils.set_random_seed(5)  # of which layers of Keras take the seeds of their initializers
    estimator.train(_read(tf, labels, 10), steps=20)
    metrics = estimator.evaluate(_read(tf, labels))
    predictions = [p[wanted] for p in estimator.predict(_read(tf, labels))]
    names = sorted(n for n in estimator.get_variable_names() if "iteration" not in n)
    return [[metrics[name] for name in sorted(metrics)], np.array(predictions),
            *(estimator.get_variable_value(n) for n in names if n != "global_step")]


def _steps(tf: Any, **kwargs: Any) -> Any:
    fc = tf.feature_column
    return fc.embedding_column(fc.sequence_categorical_column_with_identity("steps", 7), 3, **kwargs)


@_case
def classifier_of_sequences(tf: Any, estimators: Any, old: Any) -> Any:
    """One recurrent layer of a kind that is named, with a column of the whole row."""
    made = estimators.experimental.RNNClassifier(
        [_steps(tf)], [tf.feature_column.numeric_column("level", 2)], units=[4], cell_type="gru", optimizer="Adagrad",
        **_settings(estimators))
    return _used(tf, made, "probabilities")


@_case
def estimator_of_sequences(tf: Any, estimators: Any, old: Any) -> Any:
    """Two layers of LSTM and a head of one's own choice."""
    made = estimators.experimental.RNNEstimator(
        estimators.RegressionHead(), [_steps(tf)], units=[3, 4], cell_type="lstm",
        optimizer=lambda: tf.keras.optimizers.legacy.Adam(0.05), **_settings(estimators))
    return _used(tf, made, "predictions", _LEVEL[:, :1])


def _shared(tf: Any, make: Any) -> Any:
    ids = [tf.feature_column.categorical_column_with_identity(k, 6, 0) for k in ("token", "other")]
    with tf.Graph().as_default():
        return [*make(ids, 3), tf.feature_column.numeric_column("level", 2)]


@_case
def deep_with_shared_vectors(tf: Any, estimators: Any, old: Any) -> Any:
    made = estimators.DNNClassifier([5], _shared(tf, tf.feature_column.shared_embeddings), **_settings(estimators))
    return _used(tf, made, "probabilities")


@_case
def deep_of_1_with_shared_vectors(tf: Any, estimators: Any, old: Any) -> Any:
    columns = _shared(tf, tf.compat.v1.feature_column.shared_embedding_columns)
    return _used(tf, old.DNNClassifier([5], columns, **_settings(old)), "probabilities")
