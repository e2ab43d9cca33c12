"""Larq 0.14.0: binary and 2-bit networks with straight-through gradients."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds


def _model(tf: Any) -> Any:
    """Returns the library's first program in small, with fixed weights."""
    import larq

    layers, convolution = tf.keras.layers, {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip",
                                            "use_bias": False}
    model = tf.keras.Sequential([
        tf.keras.Input([6, 6, 1]), larq.layers.QuantConv2D(4, 3, **convolution),
        layers.BatchNormalization(scale=False),
        larq.layers.QuantConv2D(4, 3, input_quantizer="ste_sign", **convolution), layers.Flatten(),
        larq.layers.QuantDense(3, input_quantizer="approx_sign", kernel_quantizer=larq.quantizers.DoReFa(k_bit=2)),
        layers.Activation("softmax")])
    for i, w in enumerate(model.weights):
        if "moving" not in w.name and "beta" not in w.name:
            w.assign(np.sin(np.arange(int(np.prod(w.shape))) * 0.7 + i).reshape(w.shape))
    return model


_IMAGES = np.random.RandomState(0).rand(16, 6, 6, 1).astype("float32")


@_case
def gradients(tf: Any) -> Any:
    """Gradients through signs and rounding."""
    model = _model(tf)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(_IMAGES) ** 2)
    return [loss, *[tf.reduce_sum(tf.abs(g)) for g in tape.gradient(loss, model.trainable_variables)]]


@_case
def trained(tf: Any) -> Any:
    """`fit` with clipped weights; the weights as they are used."""
    import larq

    model = _model(tf)
    model.compile(tf.keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    history = model.fit(_IMAGES, np.arange(16) % 3, batch_size=8, epochs=3, verbose=0, shuffle=False)
    larq.models.summary(model, print_fn=lambda _: None)
    with larq.context.quantized_scope(True):
        return [history.history["loss"], np.unique(model.get_weights()[0])]
