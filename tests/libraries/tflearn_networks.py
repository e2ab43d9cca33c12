"""TFLearn 0.5.0: networks trained on graphs. It imports `tensorflow.compat.v1` and parts of TensorFlow's inside."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1
# What is separable is learnt without an error, and a model that is loaded predicts what the saved one predicted.
EXPECTED: dict[str, Any] = {"the_first_program": [1.0, 0.0], "images": [1.0], "words": [1.0]}


def prepare(tf: Any) -> None:
    """Gives TFLearn the name that Pillow has dropped, and a new graph."""
    from PIL import Image

    if not hasattr(Image, "ANTIALIAS"):
        Image.ANTIALIAS = Image.LANCZOS  # type: ignore[attr-defined]  # that is what is missing
    tf.reset_default_graph()
    tf.set_random_seed(5)
    np.random.seed(5)


def _trained(network: Any, x: Any, y: Any, epochs: int, folder: str) -> Any:
    import tflearn

    model = tflearn.DNN(network, tensorboard_verbose=0, tensorboard_dir=folder)
    model.fit(x, y, n_epoch=epochs, batch_size=20, show_metric=True, snapshot_epoch=False)
    return model


@_case
def the_first_program(tf: Any) -> Any:
    """Dense layers with a regularizer and dropout; saving and loading."""
    import tflearn

    x = np.random.RandomState(0).randn(60, 4).astype(np.float32)
    y = np.eye(2)[(x[:, 0] > 0).astype(int)]
    network = tflearn.input_data(shape=[None, 4])
    network = tflearn.fully_connected(network, 16, activation="tanh", regularizer="L2")
    network = tflearn.fully_connected(tflearn.dropout(network, 0.9), 2, activation="softmax")
    network = tflearn.regression(network, optimizer="adam", loss="categorical_crossentropy", learning_rate=0.05)
    with tempfile.TemporaryDirectory() as folder:
        model = _trained(network, x, y, 30, folder)
        path = str(pathlib.Path(folder) / "model")
        before = model.predict(x)
        model.save(path)
        model.fit(x, y, n_epoch=1, snapshot_epoch=False)
        model.load(path)
        return [model.evaluate(x, y)[0], np.abs(model.predict(x) - before).max()]


@_case
def images(tf: Any) -> Any:
    """Convolution, pooling, batch normalization: is the left half bright, or the right one?"""
    import tflearn

    rng = np.random.RandomState(1)
    side = rng.randint(0, 2, 40)
    x = rng.rand(40, 6, 6, 1) * 0.3
    for image, s in zip(x, side, strict=True):
        image[:, 3 * s : 3 * s + 3] += 0.7
    network = tflearn.conv_2d(tflearn.input_data([None, 6, 6, 1]), 4, 3, activation="relu")
    network = tflearn.batch_normalization(tflearn.max_pool_2d(network, 2))
    network = tflearn.regression(tflearn.fully_connected(network, 2, activation="softmax"), learning_rate=0.03)
    with tempfile.TemporaryDirectory() as folder:
        return _trained(network, x, np.eye(2)[side], 25, folder).evaluate(x, np.eye(2)[side])


@_case
def words(tf: Any) -> Any:
    """An embedding and an LSTM."""
    import tflearn

    x = np.random.RandomState(0).randint(0, 20, (40, 6))
    y = np.eye(2)[(x[:, -1] > 9).astype(int)]
    network = tflearn.embedding(tflearn.input_data([None, 6]), input_dim=20, output_dim=8)
    network = tflearn.fully_connected(tflearn.lstm(network, 8), 2, activation="softmax")
    with tempfile.TemporaryDirectory() as folder:
        return _trained(tflearn.regression(network, learning_rate=0.05), x, y, 25, folder).evaluate(x, y)
