"""Programs on Keras 3 with its own TensorFlow backend: each gives numbers."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

os.environ["KERAS_BACKEND"] = "tensorflow"

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def prepare(tf: Any) -> None:
    """Sets all seeds."""
    import keras

    keras.utils.set_random_seed(5)


def _images() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.randn(40, 10, 10, 1).astype(np.float32), rng.randint(0, 3, 40)


def _sequences() -> tuple[Any, Any]:
    x = np.random.RandomState(0).randn(32, 6, 2).astype(np.float32)
    return x, x.sum((1, 2))[:, None]


def _classifier() -> Any:
    import keras
    from keras import layers

    model = keras.Sequential([
        keras.Input((10, 10, 1)), layers.Conv2D(4, 3, activation="relu", name="features"),
        layers.BatchNormalization(), layers.MaxPooling2D(), layers.Dropout(0.2, seed=1), layers.Flatten(),
        layers.Dense(3)])
    model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


@_case
def convolutional_nets(tf: Any) -> Any:
    """`fit` with a validation split, `evaluate`, `predict`, `train_on_batch`; batch normalization and dropout."""
    model, (x, y) = _classifier(), _images()
    history = model.fit(x, y, epochs=3, batch_size=16, verbose=0, validation_split=0.2, shuffle=False).history
    return [history["loss"], history["val_loss"], model.evaluate(x, y, verbose=0), model.predict(x[:2], verbose=0),
            [model.train_on_batch(x[:8], y[:8])[0] for _ in range(3)], model.test_on_batch(x[:8], y[:8])[0]]


@_case
def recurrent_nets(tf: Any) -> Any:
    import keras
    from keras import layers

    x, y = _sequences()
    x[3:, 4:] = 0
    found = []
    for cell in (layers.LSTM, layers.GRU, layers.SimpleRNN):
        model = keras.Sequential([keras.Input((6, 2)), layers.Masking(0.0), layers.Bidirectional(cell(4)),
                                  layers.Dense(1)])
        model.compile("sgd", "mse")
        found.append(model.fit(x, y, epochs=3, batch_size=8, verbose=0, shuffle=False).history["loss"])
    return found


@_case
def attention(tf: Any) -> Any:
    """A functional model with two inputs of one tensor, embeddings, attention and layer normalization."""
    import keras
    from keras import layers

    words = keras.Input((5,), dtype="int32")
    h = layers.Embedding(11, 8)(words) + layers.Embedding(5, 8)(keras.ops.arange(5))
    seen = layers.MultiHeadAttention(2, 4, dropout=0.1, seed=3)(h, h, use_causal_mask=True)
    h = layers.LayerNormalization()(h + seen)
    model = keras.Model(words, layers.Dense(11, activation="softmax")(h))
    model.compile(keras.optimizers.AdamW(1e-2, clipnorm=1.0), "sparse_categorical_crossentropy")
    x = np.random.RandomState(0).randint(0, 11, (24, 5))
    return model.fit(x, np.roll(x, -1, 1), epochs=4, batch_size=8, verbose=0, shuffle=False).history["loss"]


@_case
def models_of_a_class(tf: Any) -> Any:
    """A `train_step` of its own with a tape, a metric, a layer with weights and a loss of its own."""
    import keras

    class Scaled(keras.layers.Layer):  # type: ignore[misc]  # of a package that is not in this environment
        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", regularizer="l2")
            self.steps = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)

        def call(self, x: Any) -> Any:
            self.steps.assign_add(1)
            self.add_loss(1e-2 * keras.ops.sum(x**2))
            return x * self.scale

    class Model(keras.Model):  # type: ignore[misc]  # as above
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last, self.mean = Scaled(), keras.layers.Dense(1), keras.metrics.Mean(name="loss")

        def call(self, x: Any, training: bool = False) -> Any:
            return self.last(self.inner(x))

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = keras.ops.mean((self(x, training=True) - y) ** 2) + sum(self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.mean.update_state(loss)
            return {"loss": self.mean.result()}

    x = np.random.RandomState(0).randn(30, 3).astype(np.float32)
    model = Model()
    model.compile(keras.optimizers.RMSprop(1e-2))
    losses = model.fit(x, x[:, :1], epochs=3, batch_size=8, verbose=0, shuffle=False).history["loss"]
    return [losses, model.inner.steps.numpy(), model.predict(x[:3], verbose=0)]


@_case
def gradients_by_inputs(tf: Any) -> Any:
    """Saliency, an activation map, a penalty on a gradient whose gradient is taken."""
    model, (x, y) = _classifier(), _images()
    model.fit(x, y, epochs=1, batch_size=16, verbose=0, shuffle=False)
    images = tf.constant(x[:3])
    with tf.GradientTape() as tape:
        tape.watch(images)
        score = tf.reduce_max(model(images), 1)
    saliency = tape.gradient(score, images)
    import keras

    inner = keras.Model(model.inputs, [model.get_layer("features").output, model.outputs[0]])
    with tf.GradientTape() as tape:
        features, scores = inner(images)
        score = scores[:, 1]
    weights = tf.reduce_mean(tape.gradient(score, features), axis=(1, 2))
    critic = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-2)

    @tf.function
    def step(z: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                tape.watch(z)
                score = critic(z)
            norms = tf.norm(tape.gradient(score, z), axis=1)
            loss = tf.reduce_mean(score) + 10.0 * tf.reduce_mean((norms - 1.0) ** 2)
        optimizer.apply(outer.gradient(loss, critic.trainable_variables), critic.trainable_variables)
        return loss

    z = tf.constant(np.random.RandomState(0).randn(6, 3).astype(np.float32))
    return [saliency, tf.nn.relu(tf.einsum("bhwc,bc->bhw", features, weights)), [step(z) for _ in range(5)]]


@_case
def files(tf: Any) -> Any:
    """`.keras`, `.weights.h5` and HDF5 files; training goes on where it ended, with the optimizer's state."""
    import keras

    model, (x, y) = _classifier(), _images()
    model.fit(x, y, epochs=2, batch_size=16, verbose=0, shuffle=False)
    folder = pathlib.Path(tempfile.mkdtemp())
    model.save(folder / "m.keras")
    model.save_weights(folder / "m.weights.h5")
    model.save(folder / "m.h5")
    whole, old = [keras.saving.load_model(folder / name) for name in ("m.keras", "m.h5")]
    other = _classifier()
    other.load_weights(folder / "m.weights.h5")
    seen = [m.predict(x[:2], verbose=0) for m in (model, whole, old, other)]
    return [seen, [m.fit(x, y, epochs=1, verbose=0, shuffle=False).history["loss"] for m in (model, whole)]]


@_case
def callbacks(tf: Any) -> Any:
    import keras

    calls, model, (x, y) = keras.callbacks, _classifier(), _images()
    best = str(pathlib.Path(tempfile.mkdtemp()) / "best.keras")
    found = model.fit(x, y, epochs=5, verbose=0, validation_split=0.25, shuffle=False, callbacks=[
        calls.EarlyStopping(patience=3), calls.ReduceLROnPlateau(patience=1), calls.TerminateOnNaN(),
        calls.ModelCheckpoint(best, save_best_only=True), calls.LearningRateScheduler(lambda e: 1e-2 * 0.9**e)])
    return [found.history["val_loss"], found.history["learning_rate"],
            keras.saving.load_model(best).predict(x[:2], verbose=0)]


@_case
def optimizers(tf: Any) -> Any:
    """Ten steps of each on one function, with a schedule, weight decay, averages and clipping among them."""
    import keras

    schedule = keras.optimizers.schedules.CosineDecay(0.1, 10)
    made = [keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True), keras.optimizers.RMSprop(0.05, centered=True),
            keras.optimizers.Adam(0.1, amsgrad=True, weight_decay=0.01), keras.optimizers.AdamW(0.1),
            keras.optimizers.Adadelta(1.0), keras.optimizers.Adagrad(0.1), keras.optimizers.Adamax(0.1),
            keras.optimizers.Nadam(0.1, clipvalue=1.0), keras.optimizers.Ftrl(0.1), keras.optimizers.Lion(0.05),
            keras.optimizers.Adafactor(0.1), keras.optimizers.Lamb(0.1), keras.optimizers.Muon(0.1),
            keras.optimizers.SGD(0.05, use_ema=True, global_clipnorm=1.0),
            keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.1))]
    found = []
    for optimizer in made:
        first = np.linspace(-1.0, 1.0, 6, dtype="float32").reshape(2, 3)
        variables = [keras.Variable(first), keras.Variable([0.5, -2.0])]
        for _ in range(10):
            with tf.GradientTape() as tape:
                loss = sum(tf.reduce_sum(tf.cosh(v.value) * (1.0 + v.value)) for v in variables)
                loss = optimizer.scale_loss(loss)
            optimizer.apply(tape.gradient(loss, [v.value for v in variables]), variables)
        found.append([np.asarray(v).ravel().tolist() for v in variables])
    return [np.concatenate([np.ravel(v) for v in f]) for f in found]


@_case
def functions_of_ops(tf: Any) -> Any:
    """`keras.ops`: loops, scans, conditions, linear algebra, convolutions and their gradients."""
    from keras import ops

    x = tf.constant(np.random.RandomState(1).rand(4, 4).astype(np.float32)) + 2.0 * tf.eye(4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        looped = ops.fori_loop(0, 3, lambda i, v: ops.tanh(ops.matmul(v, x)), x)
        _, scanned = ops.scan(lambda c, row: (c + row, c * row), ops.zeros((4,)), x)
        joined = ops.associative_scan(lambda a, b: a * b, x)
        chosen = ops.cond(ops.sum(x) > 0, lambda: ops.sin(x), lambda: ops.cos(x))
        updated = ops.slice_update(tf.stop_gradient(x), (1, 2), tf.stop_gradient(x[:2, :2] ** 2))
        solved = ops.solve(x, ops.logsumexp(x, axis=1, keepdims=True))
        image = ops.conv(ops.reshape(x, (1, 4, 4, 1)), ops.reshape(x[:2, :2], (2, 2, 1, 1)), padding="same")
        resized = ops.image.resize(ops.reshape(x, (1, 4, 4, 1)), (7, 5), interpolation="bilinear")
        parts = [looped, scanned, joined, chosen, updated, solved, image, resized, ops.det(x), ops.norm(x),
                 ops.segment_sum(x, tf.constant([0, 0, 1, 1]), 2), ops.einsum("ij,kj->ik", x, x), ops.cumsum(x, 1),
                 ops.quantile(x, 0.3, axis=1), ops.erf(x), ops.one_hot([1, 3], 4) @ x, ops.unravel_index(5, (2, 3))[0],
                 ops.softmax(x), ops.logdet(ops.matmul(x, ops.transpose(x)))]
        loss = sum(ops.mean(ops.cast(p, "float32") ** 2) for p in parts)
    return [*[ops.cast(p, "float32") for p in parts], tape.gradient(loss, x)]


@_case
def data_sets(tf: Any) -> Any:
    """A `tf.data` set after arrays, several steps in one call, class weights, sample weights, a generator."""
    import keras

    def made() -> Any:
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(2)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution=3,
                      weighted_metrics=["accuracy"])
        return model

    rng = np.random.RandomState(0)
    x, y = rng.randn(40, 4).astype(np.float32), rng.randint(0, 2, 40)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20, seed=2).batch(8)
    model = made()
    found = [model.fit(x, y, epochs=1, batch_size=8, verbose=0, shuffle=False, class_weight={0: 1.0, 1: 3.0}).history]
    found += [model.fit(data, epochs=2, verbose=0).history]
    found += [model.fit(data.repeat(), steps_per_epoch=4, verbose=0).history]
    found += [model.fit(x, y, sample_weight=np.linspace(0, 1, 40), verbose=0, shuffle=False).history]
    found += [model.fit(((x[i : i + 5], y[i : i + 5]) for i in range(0, 40, 5)), verbose=0).history]
    return [f["loss"] for f in found]


@_case
def mixed_precision(tf: Any) -> Any:
    """Float16 with a scaled loss; bfloat16 layers."""
    import keras

    x, y = _sequences()
    found = []
    for policy in ("mixed_bfloat16", "mixed_float16"):
        model = keras.Sequential([keras.Input((6, 2)), keras.layers.Flatten(),
                                  keras.layers.Dense(8, activation="tanh", dtype=policy),
                                  keras.layers.Dense(1, dtype="float32")])
        model.compile(keras.optimizers.SGD(0.01), "mse", auto_scale_loss=True)
        found.append(model.fit(x, y, epochs=2, batch_size=8, verbose=0, shuffle=False).history["loss"])
    return [np.round(f, 2) for f in found]
