"""Keras 2.3.1, the package that had backends of its own: models in sessions, and gradients of them.

The library is for TensorFlow 1.x: `prepare` gives it the names that Python has dropped. The numbers are those of
TensorFlow 1.15.5 with Python 3.7, which `python -m tests.libraries.run` cannot record.
"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1
RTOL = 1e-3


def prepare(tf: Any) -> None:
    """Gives Keras the names that it needs, and a new graph."""
    for name in collections.abc.__all__:
        setattr(collections, name, getattr(collections.abc, name))
    from keras import backend

    backend.clear_session()
    tf.set_random_seed(5)
    np.random.seed(5)


def _weighted(model: Any) -> Any:
    """Gives a model fixed weights: those of normalizations are left as they are."""
    rng = np.random.RandomState(1)
    for layer in model.layers:
        if not type(layer).__name__.startswith("BatchNorm"):
            layer.set_weights([0.4 * rng.randn(*w.shape) for w in layer.get_weights()])
    return model


def _images() -> Any:
    rng = np.random.RandomState(0)
    x = rng.randn(24, 8, 8, 2).astype("float32")
    return x, (x.mean((1, 2, 3)) > 0).astype("float32")


def _short(value: Any) -> Any:
    flat = np.ravel(value)
    return [flat.sum(), np.abs(flat).sum(), *flat[:: max(1, flat.size // 8)]]


@_case
def first_program(tf: Any) -> Any:
    """The README's first program: a sequential model; fit, train_on_batch, evaluate, predict."""
    from keras.layers import Dense
    from keras.models import Sequential

    rng = np.random.RandomState(0)
    x = rng.randn(64, 10)
    y = np.eye(3)[x[:, :3].argmax(1)]
    model = Sequential()
    model.add(Dense(units=8, activation="relu", input_dim=10))
    model.add(Dense(units=3, activation="softmax"))
    model.compile(loss="categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])
    _weighted(model)
    history = model.fit(x, y, epochs=4, batch_size=16, shuffle=False, verbose=0, validation_split=0.25).history
    batch = model.train_on_batch(x[:16], y[:16])
    return [history["loss"], history["val_loss"], history["accuracy"], batch, model.evaluate(x, y, verbose=0),
            model.predict(x[:4], batch_size=2)]


@_case
def convolutions(tf: Any) -> Any:
    """Convolutions with batch normalization, trained; then a saliency map and Grad-CAM by `K.gradients`."""
    from keras import backend as K
    from keras import layers, models

    x, y = _images()
    model = models.Sequential([
        layers.Conv2D(4, 3, activation="relu", padding="same", input_shape=(8, 8, 2)), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.SeparableConv2D(3, 3, name="last"), layers.Flatten(),
        layers.Dense(5, activation="tanh"), layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    _weighted(model)
    losses = model.fit(x, y, epochs=4, batch_size=8, shuffle=False, verbose=0).history["loss"]
    saliency = K.gradients(model.output[:, 0], model.input)[0]
    last = model.get_layer("last").output
    grads = K.gradients(model.output[:, 0], last)[0]
    cam = K.relu(K.sum(K.mean(grads, axis=(1, 2), keepdims=True) * last, axis=-1))
    found = K.function([model.input, K.learning_phase()], [saliency, cam])([x[:2], 0])
    return [losses, _short(found[0]), _short(found[1]), *map(_short, model.get_weights()[2:6])]


@_case
def recurrent_layers(tf: Any) -> Any:
    """Embedding, LSTM, GRU, a bidirectional simple cell, a state kept between batches; masks."""
    from keras import layers, models

    words = np.random.RandomState(0).randint(0, 20, (12, 6))
    entry = layers.Input((6,), dtype="int32")
    t = layers.Embedding(20, 5, mask_zero=True)(entry)
    t = layers.Bidirectional(layers.SimpleRNN(3, return_sequences=True))(t)
    t = layers.LSTM(4, return_sequences=True)(t)
    t = layers.GRU(4)(t)
    model = models.Model(entry, layers.Dense(1)(t))
    model.compile("rmsprop", "mse")
    _weighted(model)
    losses = [model.train_on_batch(words, words.mean(1, keepdims=True)) for _ in range(4)]
    kept = models.Sequential([layers.LSTM(3, stateful=True, batch_input_shape=(12, 2, 1))])
    _weighted(kept)
    steps = [kept.predict(words[:, i : i + 2, None], batch_size=12) for i in (0, 2, 4)]
    return [losses, *map(_short, model.get_weights()), *map(_short, steps)]


@_case
def layers_of_ones_own(tf: Any) -> Any:
    """A layer with weights and a loss, a penalty on gradients in a loss, two outputs."""
    from keras import backend as K
    from keras import layers, models, regularizers

    class Scaled(layers.Layer):
        def build(self, shape: Any) -> None:
            self.by = self.add_weight(name="by", shape=(shape[-1],), initializer="ones",
                                      regularizer=regularizers.l2(0.1))
            super().build(shape)

        def call(self, inputs: Any) -> Any:
            self.add_loss(0.01 * K.sum(K.square(inputs)), inputs=inputs)
            return inputs * self.by

    x = np.random.RandomState(0).randn(16, 4)
    a, b = layers.Input((4,)), layers.Input((4,))
    both = Scaled()(layers.concatenate([layers.Dense(5, activation="softplus")(a), layers.multiply([a, b])]))
    first = layers.Dense(1, name="first")(both)
    model = models.Model([a, b], [first, layers.Lambda(lambda v: K.exp(-v), name="second")(both)])

    def penalized(true: Any, found: Any) -> Any:
        slope = K.gradients(first, a)[0]
        return K.mean(K.square(true - found), axis=-1) + 0.1 * K.sum(K.square(slope), axis=-1)

    model.compile("nadam", {"first": penalized, "second": "mae"}, loss_weights={"first": 1.0, "second": 0.5})
    _weighted(model)
    targets = [x.sum(1, keepdims=True), np.ones((16, 9))]
    losses = [model.train_on_batch([x, x[::-1]], targets) for _ in range(4)]
    return [losses, *map(_short, model.get_weights()), _short(model.predict([x, x])[0])]


@_case
def optimizers(tf: Any) -> Any:
    """Seven optimizers, with decay, clipped gradients and constraints."""
    from keras import constraints, layers, models
    from keras import optimizers as kinds

    x = np.random.RandomState(0).randn(16, 4)
    found = []
    for optimizer in (kinds.SGD(0.1, 0.9, nesterov=True, decay=0.1), kinds.RMSprop(0.01, clipnorm=0.5),
                      kinds.Adagrad(), kinds.Adadelta(), kinds.Adam(0.01, amsgrad=True, clipvalue=0.1),
                      kinds.Adamax(), kinds.Nadam()):
        model = models.Sequential([layers.Dense(3, activation="elu", input_dim=4,
                                                kernel_constraint=constraints.max_norm(1.0)), layers.Dense(1)])
        model.compile(optimizer, "logcosh")
        _weighted(model)
        found.append([model.train_on_batch(x, x[:, :1] ** 2) for _ in range(4)])
    return found
