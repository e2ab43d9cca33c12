"""tf_explain's explanations of an image classifier, and its callbacks."""

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
ATOL = 1.01  # pictures: whole numbers from 0 to 255, which rounding may move by one


def _images() -> tuple[Any, Any]:
    rng = np.random.RandomState(3)
    return rng.rand(12, 12, 12, 3).astype(np.float32), np.eye(3, dtype=np.float32)[rng.randint(0, 3, 12)]


def _trained(tf: Any, callbacks: Any = ()) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((12, 12, 3)), layers.Conv2D(5, 3, name="first"), layers.ReLU(name="activated"),
        layers.Conv2D(4, 3, activation="relu", name="second"), layers.Flatten(), layers.Dense(3, name="scores"),
        layers.Softmax()])
    model.compile(tf.keras.optimizers.Adam(1e-2), "categorical_crossentropy")
    model.fit(*_images(), epochs=2, batch_size=6, shuffle=False, verbose=0, callbacks=list(callbacks))
    return model


def _data() -> Any:
    return _images()[0][:4], None


@_case
def class_activation_maps(tf: Any) -> Any:
    from tf_explain.core.grad_cam import GradCAM

    model = _trained(tf)
    return [GradCAM().explain(_data(), model, class_index=1),
            GradCAM().explain(_data(), model, class_index=0, layer_name="activated", use_guided_grads=False)]


@_case
def saliency(tf: Any) -> Any:
    from tf_explain.core.gradients_inputs import GradientsInputs
    from tf_explain.core.vanilla_gradients import VanillaGradients

    model = _trained(tf)
    return [VanillaGradients().explain(_data(), model, class_index=2),
            GradientsInputs().explain(_data(), model, class_index=2)]


@_case
def integrated_gradients(tf: Any) -> Any:
    from tf_explain.core.integrated_gradients import IntegratedGradients

    return [IntegratedGradients().explain(_data(), _trained(tf), class_index=1, n_steps=8)]


@_case
def smoothed_gradients(tf: Any) -> Any:
    """Noise is NumPy's, so it is the same everywhere."""
    from tf_explain.core.smoothgrad import SmoothGrad

    return [SmoothGrad().explain(_data(), _trained(tf), class_index=1, num_samples=6, noise=0.3)]


@_case
def occlusion(tf: Any) -> Any:
    from tf_explain.core.occlusion_sensitivity import OcclusionSensitivity

    return [OcclusionSensitivity().explain(_data(), _trained(tf), class_index=1, patch_size=4)]


@_case
def activations(tf: Any) -> Any:
    from tf_explain.core.activations import ExtractActivations

    return [ExtractActivations().explain(_data(), _trained(tf), layers_name=["activated"])]


@_case
def pictures_while_training(tf: Any) -> Any:
    """The callbacks write a picture after each epoch, as summaries."""
    from tf_explain.callbacks.grad_cam import GradCAMCallback
    from tf_explain.callbacks.vanilla_gradients import VanillaGradientsCallback

    with tempfile.TemporaryDirectory() as folder:
        _trained(tf, [GradCAMCallback(_data(), class_index=0, output_dir=pathlib.Path(folder) / "cam"),
                      VanillaGradientsCallback(_data(), class_index=0, output_dir=pathlib.Path(folder) / "plain")])
        found = []
        for name in ("cam", "plain"):
            events = [p for p in sorted((pathlib.Path(folder) / name).rglob("*")) if p.is_file()]
            messages = [e for p in events for e in tf.compat.v1.train.summary_iterator(str(p))]
            values = [v for message in messages for v in message.summary.value]
            pictures = [tf.io.decode_png(v.tensor.string_val[2]).numpy() for v in values]
            found += [[len(pictures)], pictures]
    return found
