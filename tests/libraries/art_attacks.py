"""The Adversarial Robustness Toolbox's attacks on a Keras classifier, eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import into, keras_seeds

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds
RTOL = 1e-3
ATOL = 1e-3  # attacks take many steps, each of which rounds


def _images() -> tuple[Any, Any]:
    """Bright upper left, upper right or lower left corners, with noise."""
    rng = np.random.RandomState(3)
    y = rng.randint(0, 3, 60)
    x = rng.rand(60, 8, 8, 1) * 0.4
    for image, label in zip(x, y, strict=True):
        image[4 * (label == 2) : 4 * (label == 2) + 4, 4 * (label == 1) : 4 * (label == 1) + 4] += 0.4
    return x.astype(np.float32), y


def _classifier(tf: Any) -> Any:
    from art.estimators.classification import TensorFlowV2Classifier

    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"),
                                 layers.MaxPooling2D(2), layers.Flatten(), layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(2e-2), loss)
    model.fit(*_images(), epochs=8, batch_size=20, shuffle=False, verbose=0)
    return TensorFlowV2Classifier(model=model, nb_classes=3, input_shape=(8, 8, 1), loss_object=loss,
                                  clip_values=(0.0, 1.0), channels_first=False)


def _attacked(tf: Any, make: Callable[[Any], Any]) -> Any:
    classifier, (x, y) = _classifier(tf), _images()
    found = make(classifier).generate(x=x[:6])
    assert found.min() >= 0.0 and found.max() <= 1.0
    return [found, classifier.predict(found), (classifier.predict(found).argmax(1) == y[:6]).mean()]


@_case
def the_first_program(tf: Any) -> Any:
    """That of the toolbox's examples: train, predict, attack, predict; training goes through `tf.data`."""
    from art.attacks.evasion import FastGradientMethod
    from art.estimators.classification import TensorFlowV2Classifier

    x, y = _images()
    model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
    optimizer = tf.keras.optimizers.Adam(0.05)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train_step(model: Any, images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            value = loss(labels, model(images, training=True))
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables,
                                      strict=True))

    classifier = TensorFlowV2Classifier(model=model, loss_object=loss, optimizer=optimizer, train_step=train_step,
                                        nb_classes=3, input_shape=(8, 8, 1), clip_values=(0, 1))
    classifier.fit(x, y, batch_size=60, nb_epochs=15)  # one batch, so that its order does not count
    attacked = FastGradientMethod(estimator=classifier, eps=0.2).generate(x=x)
    outputs = [classifier.predict(x), classifier.predict(attacked)]
    return [*outputs, [(o.argmax(1) == y).mean() for o in outputs]]


@_case
def gradients_of_the_classifier(tf: Any) -> Any:
    classifier, (x, y) = _classifier(tf), _images()
    labels = np.eye(3, dtype=np.float32)[y[:4]]
    return [classifier.loss_gradient(x[:4], labels), classifier.class_gradient(x[:2]),
            classifier.class_gradient(x[:2], label=1), classifier.compute_loss(x[:4], labels),
            classifier.get_activations(x[:2], 1, batch_size=2)]


@_case
def fast_gradient_method(tf: Any) -> Any:
    from art.attacks.evasion import FastGradientMethod

    return [*_attacked(tf, lambda c: FastGradientMethod(c, eps=0.3)),
            *_attacked(tf, lambda c: FastGradientMethod(c, norm=2, eps=1.5))]


@_case
def projected_gradient_descent(tf: Any) -> Any:
    from art.attacks.evasion import BasicIterativeMethod, ProjectedGradientDescent

    return [*_attacked(tf, lambda c: ProjectedGradientDescent(c, norm=2, eps=2.0, eps_step=0.3, max_iter=10,
                                                              verbose=False)),
            *_attacked(tf, lambda c: BasicIterativeMethod(c, eps=0.3, eps_step=0.05, max_iter=8, verbose=False))]


@_case
def carlini_and_wagner(tf: Any) -> Any:
    from art.attacks.evasion import CarliniL2Method

    return _attacked(tf, lambda c: CarliniL2Method(c, max_iter=8, binary_search_steps=3, learning_rate=0.1,
                                                   verbose=False))


@_case
def saliency_maps_and_others(tf: Any) -> Any:
    from art.attacks.evasion import DeepFool, ElasticNet, NewtonFool, SaliencyMapMethod

    return [*_attacked(tf, lambda c: SaliencyMapMethod(c, theta=0.2, gamma=0.2, verbose=False)),
            *_attacked(tf, lambda c: DeepFool(c, max_iter=10, verbose=False)),
            *_attacked(tf, lambda c: NewtonFool(c, max_iter=5, verbose=False)),
            *_attacked(tf, lambda c: ElasticNet(c, max_iter=5, binary_search_steps=2, verbose=False))]


@_case
def training_with_adversaries(tf: Any) -> Any:
    """A classifier that is trained on attacked images resists the attack better."""
    from art.attacks.evasion import FastGradientMethod
    from art.defences.trainer import AdversarialTrainer
    from art.estimators.classification import TensorFlowV2Classifier

    x, y = _images()
    model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), tf.keras.layers.Flatten(),
                                 tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)])
    classifier = TensorFlowV2Classifier(
        model=model, loss_object=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(0.02), nb_classes=3, input_shape=(8, 8, 1), clip_values=(0, 1))
    attack = FastGradientMethod(classifier, eps=0.15)
    labels = np.eye(3, dtype=np.float32)[y]
    accuracies = []
    classifier.fit(x, labels, batch_size=60, nb_epochs=20)
    accuracies.append((classifier.predict(attack.generate(x)).argmax(1) == y).mean())
    AdversarialTrainer(classifier, attack, ratio=1.0).fit(x, labels, batch_size=60, nb_epochs=40)
    accuracies.append((classifier.predict(attack.generate(x)).argmax(1) == y).mean())
    assert accuracies[1] > accuracies[0] + 0.1, accuracies
    return [[accuracies[1] > accuracies[0]]]
