"""Idioms of Keras programs that take gradients: each gives numbers."""

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


def _images() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.randn(40, 10, 10, 1).astype(np.float32), rng.randint(0, 3, 40)


def _trained(tf: Any) -> Any:
    """A small convolutional classifier after two epochs."""
    keras, layers = tf.keras, tf.keras.layers
    model = keras.Sequential([
        keras.Input((10, 10, 1)), layers.Conv2D(4, 3, activation="relu", name="features"),
        layers.BatchNormalization(), layers.Dropout(0.2), layers.GlobalAveragePooling2D(), layers.Dense(3)])
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(*_images(), epochs=2, batch_size=16, verbose=0)
    return model


@_case
def training(tf: Any) -> Any:
    """`fit`, `evaluate`, `predict`, `train_on_batch`."""
    model, (x, y) = _trained(tf), _images()
    return [model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0),
            [model.train_on_batch(x[:8], y[:8])[0] for _ in range(3)]]


@_case
def class_activation_maps(tf: Any) -> Any:
    model, (x, _) = _trained(tf), _images()
    inner = tf.keras.Model(model.inputs, [model.get_layer("features").output, model.output])
    with tf.GradientTape() as tape:
        features, scores = inner(x[:2])
        score = scores[:, 1]
    weights = tf.reduce_mean(tape.gradient(score, features), axis=(1, 2))
    return tf.nn.relu(tf.einsum("bhwc,bc->bhw", features, weights))


@_case
def saliency(tf: Any) -> Any:
    model, x = _trained(tf), tf.constant(_images()[0][:2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        score = tf.reduce_max(model(x), 1)
    return tape.gradient(score, x)


@_case
def layers_with_gradients_of_their_own(tf: Any) -> Any:
    @tf.custom_gradient
    def clipped(z: Any) -> Any:
        return z, lambda d: tf.clip_by_value(d, -0.1, 0.1)

    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,)), tf.keras.layers.Lambda(clipped),
                                 tf.keras.layers.Dense(1)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(np.random.RandomState(0).randn(5, 3).astype(np.float32)) ** 2)
    return tape.gradient(loss, model.trainable_variables)


@_case
def gradient_penalties(tf: Any) -> Any:
    critic = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh", input_shape=(3,)),
                                  tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.RMSprop(1e-2)

    @tf.function
    def step(z: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(z)
                score = critic(z)
            norms = tf.norm(inner.gradient(score, z), axis=1)
            loss = tf.reduce_mean(score) + 10.0 * tf.reduce_mean((norms - 1.0) ** 2)
        gradients = outer.gradient(loss, critic.trainable_variables)
        optimizer.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
        return loss

    z = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
    return [step(z) for _ in range(5)]


@_case
def recurrent_nets(tf: Any) -> Any:
    layers = tf.keras.layers
    x = np.random.RandomState(0).randn(16, 6, 2).astype(np.float32)
    x[3:, 4:] = 0
    found = []
    for cell in (layers.LSTM, layers.GRU):
        model = tf.keras.Sequential([layers.Masking(0.0, input_shape=(6, 2)), layers.Bidirectional(cell(4)),
                                     layers.Dense(1)])
        model.compile("sgd", "mse")
        found.append(model.fit(x, x.sum((1, 2)), epochs=3, batch_size=8, verbose=0).history["loss"])
    return found


@_case
def frozen_layers(tf: Any) -> Any:
    model, (x, y) = _trained(tf), _images()
    base = tf.keras.Model(model.input, model.layers[-2].output)
    base.trainable = False
    top = tf.keras.Sequential([base, tf.keras.layers.Dense(2, activation="softmax")])
    top.compile("adam", "sparse_categorical_crossentropy")
    return [top.fit(x, y % 2, epochs=2, verbose=0).history["loss"], len(top.trainable_weights)]


@_case
def callbacks(tf: Any) -> Any:
    model, (x, y), calls = _trained(tf), _images(), tf.keras.callbacks
    folder = pathlib.Path(tempfile.mkdtemp())
    kept = folder / "best.keras"
    found = model.fit(x, y, epochs=5, verbose=0, validation_split=0.25, callbacks=[
        calls.EarlyStopping(patience=3), calls.ReduceLROnPlateau(patience=1), calls.CSVLogger(str(folder / "log.csv")),
        calls.ModelCheckpoint(str(kept), save_best_only=True), calls.LearningRateScheduler(lambda e: 1e-2 * 0.9**e)])
    again = tf.keras.models.load_model(str(kept))
    return [found.history["val_loss"], again.predict(x[:2], verbose=0)]


@_case
def models_of_a_class(tf: Any) -> Any:
    """A list of layers, `add_loss`, a `train_step` of its own; weights saved and loaded."""
    layers = tf.keras.layers

    class Model(tf.keras.Model):  # type: ignore[misc]  # of any module
        def __init__(self) -> None:
            super().__init__()
            self.first, self.rest, self.last = layers.Dense(4), [layers.Dense(4) for _ in range(2)], layers.Dense(1)

        def call(self, inputs: Any, training: bool = False) -> Any:
            h = self.first(inputs)
            for layer in self.rest:
                h = tf.nn.tanh(layer(h))
            self.add_loss(1e-2 * tf.reduce_sum(h**2))
            return self.last(h)

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2) + sum(self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    x = np.random.RandomState(0).randn(30, 3).astype(np.float32)
    model = Model()
    model.compile("adam")
    losses = model.fit(x, x[:, :1], epochs=3, batch_size=8, verbose=0).history["loss"]
    path = tempfile.mkdtemp() + "/weights"
    model.save_weights(path)
    again = Model()
    again(x[:1])
    again.load_weights(path)
    return [losses, again.predict(x[:3], verbose=0)]


@_case
def functional_models_with_functions(tf: Any) -> Any:
    """Functions and operators of TensorFlow on symbolic inputs; a data set that is shuffled."""
    a = tf.keras.Input((4,))
    b = tf.nn.relu(a) + 2.0 * tf.reduce_sum(a, axis=1, keepdims=True) - a[:, :1] / 3.0
    model = tf.keras.Model(a, tf.keras.layers.Dense(1)(tf.concat([a, tf.keras.layers.Dropout(0.3)(b)], -1)))
    model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), "mse")
    x = np.random.RandomState(0).randn(50, 4).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1))).shuffle(20, seed=2).batch(8)
    return model.fit(data, epochs=3, verbose=0).history["loss"]


@_case
def checkpoints(tf: Any) -> Any:
    model, (x, y) = _trained(tf), _images()
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(tempfile.mkdtemp() + "/c")
    again = _trained(tf)
    again.fit(x, y, verbose=0)
    tf.train.Checkpoint(model=again, optimizer=again.optimizer).restore(path).assert_consumed()
    return again.fit(x, y, epochs=1, verbose=0, shuffle=False).history["loss"]
