"""Keras in graphs of TensorFlow 1: idioms of programs that take gradients, each gives numbers."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1


def prepare(tf: Any) -> None:
    """Begins a new graph and session with all seeds set."""
    tf.compat.v1.keras.backend.clear_session()
    np.random.seed(5)
    tf.compat.v1.set_random_seed(5)


def _images() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.randn(24, 8, 8, 1).astype(np.float32), np.eye(3)[rng.randint(0, 3, 24)].astype(np.float32)


def _classifier(keras: Any) -> Any:
    layers = keras.layers
    model = keras.models.Sequential([
        layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1), name="features"), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dense(6, activation="tanh"), layers.Dense(3, activation="softmax")])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model


@_case
def gradients_through_a_trained_model(tf: Any) -> Any:
    """`K.gradients`, `K.function` and `tf.gradients` by inputs, features and weights."""
    keras, K = tf.compat.v1.keras, tf.compat.v1.keras.backend
    model, (x, y) = _classifier(keras), _images()
    losses = model.fit(x, y, epochs=2, batch_size=8, verbose=0, shuffle=False).history["loss"]
    features = model.get_layer("features").output
    by_input, by_features = K.gradients(model.output[:, 1], [model.input, features])
    maps = K.function([model.input], [by_input, K.mean(by_features, axis=(1, 2)), features])([x[:2]])
    norm = tf.reduce_sum(tf.compat.v1.gradients(model.output[:, 0], model.input)[0] ** 2)
    second = tf.compat.v1.gradients(norm, model.trainable_weights[0])[0]
    return [losses, *maps[:2], K.get_session().run(second, {model.input: x[:4]})]


@_case
def the_optimizer_of_a_model(tf: Any) -> Any:
    """`get_gradients` of the loss, `train_on_batch`, weights before and after."""
    keras, K = tf.compat.v1.keras, tf.compat.v1.keras.backend
    model = keras.models.Sequential([keras.layers.LSTM(4, input_shape=(5, 2)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.RMSprop(1e-2), "mse")
    x = np.random.RandomState(0).randn(12, 5, 2).astype(np.float32)
    y = x.sum((1, 2))[:, None]
    losses = [model.train_on_batch(x, y) for _ in range(4)]
    loss = K.mean(K.square(model.output - K.constant(y)))
    gradients = model.optimizer.get_gradients(loss, model.trainable_weights)
    found = K.function([model.input], gradients)([x])
    return [losses, *found, model.evaluate(x, y, verbose=0), model.predict(x[:3])]


@_case
def transfer_of_weights(tf: Any) -> Any:
    """Layers of a trained model, frozen, under a new top; HDF5 files."""
    keras = tf.compat.v1.keras
    model, (x, y) = _classifier(keras), _images()
    model.fit(x, y, epochs=1, verbose=0, shuffle=False)
    base = keras.models.Model(model.input, model.layers[-2].output)
    base.trainable = False
    top = keras.models.Sequential([base, keras.layers.Dense(2, activation="softmax")])
    top.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy")
    losses = top.fit(x, y[:, :2], epochs=3, verbose=0, shuffle=False).history["loss"]
    path = str(pathlib.Path(tempfile.mkdtemp()) / "m.h5")
    model.save(path)
    again = keras.models.load_model(path)
    other = _classifier(keras)
    other.set_weights(model.get_weights())
    return [losses, len(top.trainable_weights), again.predict(x[:2]), other.predict(x[:2]),
            [m.fit(x, y, epochs=1, verbose=0, shuffle=False).history["loss"] for m in (model, again)]]


@_case
def data_sets_after_arrays(tf: Any) -> Any:
    """`fit` on arrays, then on a data set, then on a generator; a validation split; weights of samples."""
    keras = tf.compat.v1.keras
    model, (x, y) = _classifier(keras), _images()
    found = [model.fit(x, y, epochs=1, verbose=0, shuffle=False, validation_split=0.25).history["val_loss"]]
    data = tf.compat.v1.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat()
    found.append(model.fit(data, steps_per_epoch=3, epochs=2, verbose=0).history["loss"])
    weights = np.linspace(0, 1, 24)
    found.append(model.fit(x, y, sample_weight=weights, epochs=1, verbose=0, shuffle=False).history["loss"])
    return found


@_case
def two_models_and_one_loss(tf: Any) -> Any:
    """An optimizer of `tf.train` on the variables of a Keras model, with a placeholder in the loss."""
    keras, K, tf1 = tf.compat.v1.keras, tf.compat.v1.keras.backend, tf.compat.v1
    a = keras.models.Sequential([keras.layers.Dense(5, activation="tanh", input_shape=(3,)), keras.layers.Dense(1)])
    b = keras.models.Sequential([keras.layers.Dense(4, activation="relu", input_shape=(3,)), keras.layers.Dense(1)])
    x, scale = tf1.placeholder(tf.float32, [None, 3]), tf1.placeholder(tf.float32, [])
    loss = tf.reduce_mean((scale * a(x) - tf.stop_gradient(b(x))) ** 2)
    step = tf1.train.AdamOptimizer(0.05).minimize(loss, var_list=a.trainable_weights)
    session = K.get_session()
    session.run(tf1.global_variables_initializer())
    feeds = {x: np.random.RandomState(1).randn(8, 3), scale: 0.5}
    return [[session.run([loss, step], feeds)[0] for _ in range(5)], a.get_weights()[0]]
