"""SHAP's deep and gradient explainers on Keras models, eagerly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
ATOL = 1e-4


def prepare(tf: Any) -> None:
    """Sets all seeds, Keras's own too."""
    warnings.filterwarnings("ignore", "Your TensorFlow version is newer than 2.4.0")
    tf.keras.utils.set_random_seed(5)


def _rows(n: int, *shape: int) -> Any:
    return np.random.RandomState(n).randn(n, *shape).astype(np.float32)


def _explained(model: Any, background: Any, x: Any) -> Any:
    """What the deep explainer says, and whether it adds up to the difference of the outputs."""
    import shap

    explainer = shap.DeepExplainer(model, background)
    values = explainer.shap_values(x)
    total = values.sum(axis=tuple(range(1, values.ndim - 1)))
    expected = np.asarray(explainer.explainer.expected_value)
    np.testing.assert_allclose(total + expected, model(x), rtol=1e-3, atol=1e-3)
    return [values, expected]


def _inputs_of_units(model: Any, x: Any) -> list[Any]:
    """What the units of each dense layer get, by NumPy."""
    found = []
    for layer, apply in zip(model.layers, (lambda h: np.maximum(h, 0), np.tanh, None), strict=True):
        weights, bias = layer.get_weights()
        found.append(x @ weights + bias)
        x = apply(found[-1]) if apply else x
    return found


@_case
def deep_explainer_of_dense_layers(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(16, activation="relu"),
                                 layers.Dense(8, activation="tanh"), layers.Dense(3, activation="softmax")])
    x = _rows(60, 4)
    model.compile(tf.keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy")
    model.fit(x, (x[:, 0] > 0).astype(int) + (x[:, 1] > 0), epochs=3, batch_size=20, shuffle=False, verbose=0)
    # The explainer divides the change of a unit's result by that of its input. Where an input hardly changes, the
    # rounding of training counts; so these are rows for which the input of each unit changes by more than 0.02.
    background, rows = x[7:13], x[[1, 18, 25, 56]]
    for before, after in zip(_inputs_of_units(model, background), _inputs_of_units(model, rows), strict=True):
        assert np.abs(after[:, None] - before).min() > 0.02
    return _explained(model, background, rows)


@_case
def deep_explainer_of_convolutions(tf: Any) -> Any:
    """The model of SHAP's first program for images, smaller."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.Conv2D(4, 3, activation="elu"),
        layers.MaxPooling2D(), layers.Dropout(0.25), layers.Flatten(), layers.Dense(8, activation="sigmoid"),
        layers.Dropout(0.5), layers.Dense(2)])
    return _explained(model, _rows(6, 8, 8, 1), _rows(2, 8, 8, 1))


@_case
def deep_explainer_of_a_product(tf: Any) -> Any:
    """Two branches that are multiplied, and one output."""
    layers = tf.keras.layers
    x = tf.keras.Input((3,))
    product = layers.Multiply()([layers.Dense(4, activation="relu")(x), layers.Dense(4)(x)])
    return _explained(tf.keras.Model(x, layers.Dense(1)(product)), _rows(7, 3), _rows(3, 3))


@_case
def gradient_explainer(tf: Any) -> Any:
    import shap

    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"),
                                 layers.GlobalAveragePooling2D(), layers.Dense(3)])
    explainer = shap.GradientExplainer(model, _rows(9, 8, 8, 1))
    values, ranks = explainer.shap_values(_rows(2, 8, 8, 1), nsamples=30, ranked_outputs=2, rseed=3)
    return [values, ranks]


@_case
def sampled_values_of_a_model(tf: Any) -> Any:
    """The kernel explainer, which only calls the model."""
    import shap

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(5, activation="tanh"),
                                 tf.keras.layers.Dense(1)])
    explainer = shap.KernelExplainer(lambda x: model.predict(x, verbose=0), _rows(5, 3))
    return [explainer.shap_values(_rows(2, 3), silent=True)]
