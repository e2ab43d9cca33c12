"""Keras models in SavedModels: `model.save` with `save_format="tf"`, `model.export` and `tf.saved_model`."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into, keras_seeds

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds


def _data() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.randn(12, 5, 3).astype(np.float32), rng.randn(12, 2).astype(np.float32)


def _trained(tf: Any) -> Any:
    """A recurrent model of two branches, after two epochs."""
    layers = tf.keras.layers
    x = tf.keras.Input((5, 3), name="sequence")
    state = layers.GRU(4, name="gru")(x)
    pooled = layers.BatchNormalization()(layers.GlobalAveragePooling1D()(x))
    y = layers.Dense(2, name="last")(layers.Concatenate()([state, pooled]))
    model = tf.keras.Model(x, y)
    model.compile(tf.keras.optimizers.Adam(1e-2), "mse")
    model.fit(*_data(), epochs=2, batch_size=4, shuffle=False, verbose=0)
    return model


def _folder() -> str:
    return str(pathlib.Path(tempfile.mkdtemp()) / "model")


@_case
def saved_and_loaded_by_keras(tf: Any) -> Any:
    """`load_model` gives a model that predicts as the first one did, and is trained on."""
    model, folder = _trained(tf), _folder()
    x, y = _data()
    before = model.predict(x, verbose=0)
    model.save(folder, save_format="tf")
    loaded = tf.keras.models.load_model(folder)
    difference = float(np.abs(loaded.predict(x, verbose=0) - before).max())
    losses = loaded.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"]
    return [difference, losses, [len(loaded.layers), len(loaded.trainable_variables)]]


@_case
def exported(tf: Any) -> Any:
    """`export` writes an endpoint that gives the predictions."""
    model, folder = _trained(tf), _folder()
    x, _ = _data()
    model.export(folder)
    loaded = tf.saved_model.load(folder)
    return [float(np.abs(loaded.serve(x).numpy() - model.predict(x, verbose=0)).max()), loaded.serve(x[:2])]


@_case
def tuned_through_saved_model(tf: Any) -> Any:
    """`tf.saved_model` keeps the calls of the model, in training too; the loaded object is tuned with a tape."""
    model, folder = _trained(tf), _folder()
    x, y = _data()
    tf.saved_model.save(model, folder)
    loaded = tf.saved_model.load(folder)
    signature = loaded.signatures["serving_default"]
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((loaded(tf.constant(x), training=True) - y) ** 2)
        variables = loaded.trainable_variables
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.1 * g)
        losses.append(loss)
    return [losses, signature(sequence=tf.constant(x[:2]))["last"], len(variables)]


@_case
def own_layer(tf: Any) -> Any:
    """A layer with a loop and state of its own, loaded by name."""
    @tf.keras.utils.register_keras_serializable("programs")
    class Decay(tf.keras.layers.Layer):
        def build(self, shape: Any) -> None:
            self.rate = self.add_weight(name="rate", shape=[shape[-1]], initializer="ones")
            self.calls = self.add_weight(name="calls", shape=[], dtype="int32", initializer="zeros", trainable=False)

        def call(self, inputs: Any) -> Any:
            self.calls.assign_add(1)
            rate = self.rate * 0.5
            return tf.while_loop(lambda t, state: t < tf.shape(inputs)[1],
                                 lambda t, state: (t + 1, state * rate + inputs[:, t]),
                                 (0, tf.zeros_like(inputs[:, 0])))[1]

    model, folder = tf.keras.Sequential([tf.keras.Input((5, 3)), Decay(), tf.keras.layers.Dense(1)]), _folder()
    x, _ = _data()
    before = model(x)
    model.save(folder, save_format="tf")
    loaded = tf.keras.models.load_model(folder)
    plain = tf.saved_model.load(folder)
    return [before, float(np.abs(loaded.predict(x, verbose=0) - before).max()), plain(tf.constant(x)),
            [int(v.numpy()) for v in plain.variables if v.dtype == tf.int32]]
