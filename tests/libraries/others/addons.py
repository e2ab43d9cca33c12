"""TensorFlow Addons 0.23.0: activations, layers, losses, optimizers, images, conditional random fields.

It imports the inside of Keras 2 by its old name: TensorFlow 2.21 is given these modules, here `keras` is tf_keras.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import flat, into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES, flat)
_INSIDE = ("src", "src.backend", "src.engine", "src.engine.keras_tensor", "src.utils", "src.utils.tf_utils")


def prepare(tf: Any) -> None:
    """Sets seeds, and gives TensorFlow 2.21 the modules of Keras 2."""
    warnings.simplefilter("ignore", UserWarning)  # the library's, about the version
    if "graphgrad" not in sys.modules and "tensorflow_addons" not in sys.modules:
        for name in _INSIDE:
            sys.modules[f"keras.{name}"] = importlib.import_module(f"tf_keras.{name}")
        sys.modules["keras"] = importlib.import_module("tf_keras")
    keras_seeds(tf)


def _numbers(tf: Any, *shape: int, seed: int = 0) -> Any:
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype("float32"))


def _fill(layer: Any) -> None:
    """Sets a layer's weights."""
    for i, w in enumerate(layer.weights):
        w.assign(np.sin(np.arange(int(np.prod(w.shape))) + i).reshape(w.shape) * 0.3)


def _with_gradient(tf: Any, f: Callable[[Any], Any], x: Any) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x) ** 2)
    return [y, tape.gradient(y, x)]


@_case
def activations(tf: Any) -> Any:
    """Activations and their gradients."""
    import tensorflow_addons as tfa

    names = ["gelu", "hardshrink", "lisht", "mish", "rrelu", "snake", "softshrink", "sparsemax", "tanhshrink"]
    return [_with_gradient(tf, getattr(tfa.activations, name), _numbers(tf, 4, 6)) for name in names]


@_case
def layers(tf: Any) -> Any:
    """Normalizations, attention, recurrent cells, maxima; with gradients."""
    import tensorflow_addons as tfa

    images, words = _numbers(tf, 2, 8, 8, 3), _numbers(tf, 2, 3, 4)
    attention = tfa.layers.MultiHeadAttention(head_size=4, num_heads=2)
    attention([words, words])
    _fill(attention)
    found = [_with_gradient(tf, tfa.layers.GroupNormalization(groups=3), images),
             _with_gradient(tf, tfa.layers.InstanceNormalization(), images),
             _with_gradient(tf, tfa.layers.Maxout(2), words), _with_gradient(tf, lambda x: attention([x, x]), words)]
    for kind in (tfa.rnn.LayerNormSimpleRNNCell, tfa.rnn.NASCell, tfa.rnn.PeepholeLSTMCell, tfa.rnn.ESNCell):
        rnn = tf.keras.layers.RNN(kind(4))
        rnn(words)
        _fill(rnn)
        found.append(_with_gradient(tf, rnn, words))
    return found


@_case
def losses(tf: Any) -> Any:
    """Losses of metric learning and others, with gradients."""
    import tensorflow_addons as tfa

    labels, x = tf.constant([0, 1, 2, 0]), _numbers(tf, 4, 6)
    hot = tf.one_hot(labels, 6)
    kinds: list[tuple[Any, Any]] = [
        (tfa.losses.SigmoidFocalCrossEntropy(), lambda x: (hot, tf.sigmoid(x))),
        (tfa.losses.TripletSemiHardLoss(), lambda x: (labels, tf.nn.l2_normalize(x, 1))),
        (tfa.losses.TripletHardLoss(), lambda x: (labels, tf.nn.l2_normalize(x, 1))),
        (tfa.losses.ContrastiveLoss(), lambda x: (tf.constant([0.0, 1.0, 0.0, 1.0]), tf.abs(x[:, 0]))),
        (tfa.losses.LiftedStructLoss(), lambda x: (labels, x)), (tfa.losses.PinballLoss(), lambda x: (hot, x)),
        (tfa.losses.GIoULoss(), lambda x: (x[:, :4], x[:, 1:5]))]
    return [_with_gradient(tf, lambda x, f=f, given=given: f(*given(x)), x) for f, given in kinds]


@_case
def optimizers(tf: Any) -> Any:
    """Four steps of each optimizer."""
    import tensorflow_addons as tfa

    kinds = tfa.optimizers
    rates: dict[str, dict[str, float]] = {
        "AdamW": {"weight_decay": 0.01}, "SGDW": {"weight_decay": 0.01}, "COCOB": {},
        "ConditionalGradient": {"learning_rate": 0.9, "lambda_": 0.1}}
    found = []
    for name in ("LAMB", "RectifiedAdam", "AdamW", "SGDW", "LazyAdam", "NovoGrad", "Yogi", "COCOB", "AdaBelief",
                 "ConditionalGradient", "ProximalAdagrad", "Lookahead"):
        settings = rates.get(name, {"learning_rate": 0.1})
        settings |= {} if name in ("COCOB", "ConditionalGradient") else {"learning_rate": 0.1}
        one = (kinds.Lookahead(tf.keras.optimizers.legacy.SGD(0.1), sync_period=2) if name == "Lookahead"
               else getattr(kinds, name)(**settings))
        v = tf.Variable([1.0, 2.0, 3.0])
        for _ in range(4):
            one.minimize(lambda v=v: tf.reduce_sum(v ** 2), [v])
        found.append(v)
    return found


@_case
def sequences(tf: Any) -> Any:
    """The likelihood of a conditional random field with its gradient, and the best tags; a decoder."""
    import tensorflow_addons as tfa

    tags, lengths = tf.constant([[0, 1, 2, 1, 0], [2, 2, 1, 0, 0]]), tf.constant([5, 4])
    inputs, moves = _numbers(tf, 2, 5, 3), tf.Variable(_numbers(tf, 3, 3, seed=1))
    with tf.GradientTape() as tape:
        likelihood = tf.reduce_sum(tfa.text.crf_log_likelihood(inputs, tags, lengths, moves)[0])
    cell = tf.keras.layers.LSTMCell(4)
    decoder = tfa.seq2seq.BasicDecoder(cell, tfa.seq2seq.TrainingSampler(), output_layer=tf.keras.layers.Dense(3))
    start = cell.get_initial_state(batch_size=2, dtype=tf.float32)

    def decoded() -> Any:
        return decoder(inputs, initial_state=start, sequence_length=tf.constant([3, 2]))[0].rnn_output

    decoded()
    _fill(decoder)
    return [likelihood, tape.gradient(likelihood, moves), *tfa.text.crf_decode(inputs, moves, lengths), decoded()]


@_case
def images(tf: Any) -> Any:
    """Images turned, moved and warped; an interpolating spline; metrics."""
    import tensorflow_addons as tfa

    given, x = _numbers(tf, 2, 8, 8, 3), _numbers(tf, 4, 6)
    spline = tfa.image.interpolate_spline(_numbers(tf, 1, 5, 2), _numbers(tf, 1, 5, 1, seed=1),
                                          _numbers(tf, 1, 3, 2, seed=2), 2)
    hot = tf.one_hot([0, 1, 2, 0], 6)
    metrics = [tfa.metrics.F1Score(6, average="macro"), tfa.metrics.CohenKappa(6, sparse_labels=False),
               tfa.metrics.MatthewsCorrelationCoefficient(6)]
    for metric in metrics:
        metric.update_state(hot, tf.nn.softmax(x))
    return [tfa.image.rotate(given, 0.3, interpolation="bilinear"), tfa.image.translate(given, [1.0, 2.0]),
            *_with_gradient(tf, lambda z: tfa.image.dense_image_warp(given, z), 0.3 * tf.ones([2, 8, 8, 2])), spline,
            *[metric.result() for metric in metrics]]
