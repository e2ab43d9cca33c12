"""GPflux 0.4.5 with GPflow 2.9.2: deep Gaussian processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
RTOL = 1e-3


def prepare(tf: Any) -> None:
    """Sets all seeds, and Keras's type of numbers."""
    keras_seeds(tf)
    tf.keras.backend.set_floatx("float64")


def _fitted(tf: Any, layers: int, epochs: int) -> tuple[Any, Any, Any]:
    """Returns a model, its inputs and the losses of its training."""
    from gpflux.architectures import Config, build_constant_input_dim_deep_gp

    x = np.linspace(0, 1, 20)[:, None]
    config = Config(num_inducing=8, inner_layer_qsqrt_factor=1e-3, likelihood_noise_variance=1e-2, whiten=True)
    deep = build_constant_input_dim_deep_gp(x, num_layers=layers, config=config)
    model = deep.as_training_model()
    model.compile(tf.keras.optimizers.Adam(0.05))
    data = {"inputs": x, "targets": np.sin(6 * x)}
    history = model.fit(data, epochs=epochs, batch_size=20, verbose=0, shuffle=False)
    return deep, x, history.history["loss"]


@_case
def one_layer(tf: Any) -> Any:
    """Losses, predicted means and variances."""
    deep, x, losses = _fitted(tf, 1, 5)
    predicted = deep.as_prediction_model()(x[:4])
    return [losses, predicted.y_mean, predicted.f_var]


@_case
def two_layers(tf: Any) -> Any:
    """That losses are finite: they depend on what is drawn."""
    return [np.isfinite(_fitted(tf, 2, 2)[2])]
