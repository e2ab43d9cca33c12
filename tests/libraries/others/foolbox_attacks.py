"""Foolbox 3.3.4: attacks on a model of Keras, which differentiate it by `GradientTape` through EagerPy."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
RTOL = 1e-3


@functools.cache
def _images() -> Any:
    rng = np.random.RandomState(0)
    images = rng.rand(32, 8, 8, 1).astype("float32")
    return images, (images[:, :4].mean((1, 2, 3)) > images[:, 4:].mean((1, 2, 3))).astype("int64")


def _model(tf: Any) -> Any:
    """Returns a small model of fixed weights, for Foolbox, and images with labels."""
    import foolbox

    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1)), layers.Flatten(),
                                 layers.Dense(2)])
    rng = np.random.RandomState(3)
    model.set_weights([0.3 * rng.randn(*w.shape) for w in model.get_weights()])
    images, labels = _images()
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(images, labels, epochs=20, batch_size=16, verbose=0, shuffle=False)
    return foolbox.TensorFlowModel(model, bounds=(0, 1)), tf.constant(images), tf.constant(labels)


def _attacked(tf: Any, *attacks: Any) -> Any:
    import foolbox

    model, images, labels = _model(tf)
    found = [foolbox.accuracy(model, images, labels)]
    for attack in attacks:
        random.seed(1)
        np.random.seed(1)
        _, inside, success = attack(model, images, labels, epsilons=[0.05, 0.3])
        changed = [np.abs(images - x) for x in inside]
        found.append([np.mean(success), *[c.sum() for c in changed], *np.ravel(inside[1])[::100]])
    return found


@_case
def first_program(tf: Any) -> Any:
    """The README's: the accuracy of a model, and projected gradient descent with several sizes."""
    from foolbox import attacks

    return _attacked(tf, attacks.LinfPGD(random_start=False, steps=10))


@_case
def steps_of_gradients(tf: Any) -> Any:
    """Fast gradient signs, basic iterations, descent in other norms."""
    from foolbox import attacks

    return _attacked(tf, attacks.FGSM(), attacks.FGM(), attacks.LinfBasicIterativeAttack(random_start=False, steps=5),
                     attacks.L2PGD(random_start=False, steps=10), attacks.SparseL1DescentAttack(steps=5),
                     attacks.L2AdamPGD(random_start=False, steps=5))


@_case
def smallest_changes(tf: Any) -> Any:
    """DeepFool, NewtonFool, Carlini and Wagner, elastic nets, decoupled directions, fast minimum norms."""
    from foolbox import attacks

    return _attacked(tf, attacks.L2DeepFoolAttack(steps=10), attacks.LinfDeepFoolAttack(steps=10),
                     attacks.NewtonFoolAttack(steps=10), attacks.DDNAttack(steps=10), attacks.L2FMNAttack(steps=10),
                     attacks.L2CarliniWagnerAttack(binary_search_steps=2, steps=20),
                     attacks.EADAttack(binary_search_steps=2, steps=10))
