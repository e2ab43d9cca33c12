"""tf-keras-vis: maps of what a network looks at, by gradients of its outputs, on a model with given weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import into, keras_seeds

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
_LAST = {"penultimate_layer": "last", "seek_penultimate_conv_layer": False}  # it seeks classes of other Keras versions


def _images() -> Any:
    return np.random.RandomState(3).rand(3, 12, 12, 3).astype(np.float32)


def _model(tf: Any) -> Any:
    """A small network of convolutions, trained for a few steps."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((12, 12, 3)), layers.Conv2D(4, 3, activation="relu"),
        layers.Conv2D(6, 3, activation="relu", name="last"), layers.GlobalAveragePooling2D(),
        layers.Dense(4, activation="softmax")])
    model.compile(tf.keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy")
    model.fit(_images(), np.array([0, 2, 3]), epochs=5, batch_size=3, shuffle=False, verbose=0)
    return model


def _parts() -> Any:
    from tf_keras_vis.utils.model_modifiers import ReplaceToLinear
    from tf_keras_vis.utils.scores import CategoricalScore

    return {"model_modifier": ReplaceToLinear(), "clone": True}, CategoricalScore([0, 2, 3])


@_case
def the_first_program(tf: Any) -> Any:
    """Grad-CAM of the README: maps for three images and classes."""
    from tf_keras_vis.gradcam import Gradcam

    how, score = _parts()
    return [Gradcam(_model(tf), **how)(score, _images(), **_LAST)]


@_case
def maps_of_other_kinds(tf: Any) -> Any:
    from tf_keras_vis.gradcam_plus_plus import GradcamPlusPlus
    from tf_keras_vis.layercam import Layercam
    from tf_keras_vis.saliency import Saliency
    from tf_keras_vis.scorecam import Scorecam

    how, score = _parts()
    model = _model(tf)
    return [*(kind(model, **how)(score, _images(), **_LAST) for kind in (GradcamPlusPlus, Layercam, Scorecam)),
            Saliency(model, **how)(score, _images()), Saliency(model, **how)(score, _images(), normalize_map=False)]


@_case
def smoothed_saliency(tf: Any) -> Any:
    """The mean of gradients at noisy images; the noise is NumPy's."""
    from tf_keras_vis.saliency import Saliency

    how, score = _parts()
    return [Saliency(_model(tf), **how)(score, _images(), smooth_samples=6, smooth_noise=0.2)]


@_case
def images_that_a_unit_likes(tf: Any) -> Any:
    """Ascent on the pixels from a given image, with two regularizers."""
    from tf_keras_vis.activation_maximization import ActivationMaximization
    from tf_keras_vis.utils.regularizers import Norm, TotalVariation2D

    how, _ = _parts()
    ascent = ActivationMaximization(_model(tf), **how)
    from tf_keras_vis.utils.scores import CategoricalScore

    start = _images()[:1] * 255
    return [ascent(CategoricalScore([2]), seed_input=start, steps=8, input_modifiers=[], callbacks=[],
                   regularizers=[TotalVariation2D(weight=1.0), Norm(weight=0.1)],
                   optimizer=tf.keras.optimizers.RMSprop(1.0, 0.95))]
