"""Training with tf_keras: recurrent nets, data sets after arrays, files, events for TensorBoard."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds


def _sequences() -> tuple[Any, Any]:
    x = np.random.RandomState(0).randn(24, 5, 2).astype(np.float32)
    return x, x.sum((1, 2))[:, None]


def _recurrent(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.LSTM(4, input_shape=(5, 2), return_sequences=True), layers.GRU(3),
                                 layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(1e-2), "mse", metrics=["mae"])
    return model


@_case
def data_sets_after_arrays(tf: Any) -> Any:
    model, (x, y) = _recurrent(tf), _sequences()
    found = [model.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"]]
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(24, seed=3).batch(8)
    found.append(model.fit(data, epochs=2, verbose=0).history["loss"])
    found.append(model.fit(data.repeat(), epochs=2, steps_per_epoch=2, verbose=0).history["loss"])
    return [*found, model.train_on_batch(x, y), model.evaluate(data, verbose=0)]


@_case
def files(tf: Any) -> Any:
    """HDF5, `.keras`, weights; training goes on with the optimizer's state."""
    model, (x, y) = _recurrent(tf), _sequences()
    model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    folder = pathlib.Path(tempfile.mkdtemp())
    found = []
    for name in ("m.h5", "m.keras"):
        model.save(folder / name)
        again = tf.keras.models.load_model(folder / name)
        found += [again.predict(x[:3], verbose=0), again.fit(x, y, verbose=0, shuffle=False).history["loss"]]
    model.save_weights(folder / "w.h5")
    other = _recurrent(tf)
    other.load_weights(folder / "w.h5")
    return [*found, other.predict(x[:3], verbose=0)]


@_case
def events(tf: Any) -> Any:
    """The TensorBoard callback: tags, steps and values of scalars, histograms of weights."""
    model, (x, y) = _recurrent(tf), _sequences()
    folder = pathlib.Path(tempfile.mkdtemp())
    calls = tf.keras.callbacks.TensorBoard(str(folder), histogram_freq=1, write_graph=False, update_freq="epoch")
    model.fit(x, y, epochs=2, verbose=0, shuffle=False, validation_data=(x[:8], y[:8]), callbacks=[calls])
    found = []
    for path in sorted(folder.rglob("events*"), key=lambda p: p.parent.name):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                array = tf.make_ndarray(value.tensor).astype(np.float64)
                tag = [float(ord(c)) for c in f"{path.parent.name}/{value.tag}"]
                if "_per_second" not in value.tag:  # a time
                    found.append([sum(tag), len(tag), event.step, array.size, array.sum()])
    return found
