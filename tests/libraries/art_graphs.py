"""The Adversarial Robustness Toolbox's classifier of tensors and a session, in its last version that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1
RTOL = 1e-3
ATOL = 1e-3  # attacks take many steps, each of which rounds


def _images() -> tuple[Any, Any]:
    """Bright upper left, upper right or lower left corners, with noise."""
    rng = np.random.RandomState(3)
    y = rng.randint(0, 3, 60)
    x = rng.rand(60, 8, 8, 1) * 0.4
    for image, label in zip(x, y, strict=True):
        image[4 * (label == 2) : 4 * (label == 2) + 4, 4 * (label == 1) : 4 * (label == 1) + 4] += 0.4
    return x.astype(np.float32), np.eye(3, dtype=np.float32)[y]


def _weights(*shape: int) -> Any:
    return (np.random.RandomState(sum(shape)).randn(*shape) / 4).astype(np.float32)


def _classifier(tf: Any, training: bool = True) -> Any:
    """The network of the toolbox's own example, smaller, trained."""
    from art.estimators.classification import TensorFlowClassifier

    tf = tf.compat.v1
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.placeholder(tf.int32, [None, 3])
    h = tf.nn.relu(tf.nn.conv2d(x, tf.Variable(_weights(3, 3, 1, 4)), strides=1, padding="VALID"))
    h = tf.reshape(tf.nn.max_pool(h, 2, 2, "VALID"), [-1, 36])
    logits = tf.matmul(h, tf.Variable(_weights(36, 3))) + tf.Variable(np.zeros(3, np.float32))
    loss = tf.reduce_mean(tf.losses.softmax_cross_entropy(logits=logits, onehot_labels=y))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    classifier = TensorFlowClassifier(clip_values=(0, 1), input_ph=x, output=logits, labels_ph=y, train=train,
                                      loss=loss, learning=None, sess=sess, preprocessing_defences=[])
    if training:
        classifier.fit(*_images(), batch_size=60, nb_epochs=25)  # one batch, so that its order does not count
    return classifier


def _attacked(tf: Any, make: Callable[[Any], Any]) -> Any:
    classifier, (x, y) = _classifier(tf), _images()
    found = make(classifier).generate(x=x[:6])
    assert found.min() >= 0.0 and found.max() <= 1.0
    return [found, classifier.predict(found), (classifier.predict(found).argmax(1) == y[:6].argmax(1)).mean()]


@_case
def training_and_gradients(tf: Any) -> Any:
    classifier, (x, y) = _classifier(tf), _images()
    return [classifier.predict(x[:6]), classifier.loss_gradient(x[:4], y[:4]), classifier.class_gradient(x[:2]),
            classifier.class_gradient(x[:2], label=np.array([1, 2])), classifier.compute_loss(x[:4], y[:4])]


@_case
def activations(tf: Any) -> Any:
    classifier = _classifier(tf, training=False)
    assert any("Relu" in name for name in classifier.layer_names)
    relu = next(name for name in classifier.layer_names if "Relu" in name)
    return [classifier.get_activations(_images()[0][:2], relu, batch_size=2)]


@_case
def fast_gradient_method(tf: Any) -> Any:
    from art.attacks.evasion import FastGradientMethod

    return [*_attacked(tf, lambda c: FastGradientMethod(c, eps=0.3)),
            *_attacked(tf, lambda c: FastGradientMethod(c, norm=2, eps=1.5, minimal=True, eps_step=0.5))]


@_case
def projected_gradient_descent(tf: Any) -> Any:
    from art.attacks.evasion import ProjectedGradientDescent

    return _attacked(tf, lambda c: ProjectedGradientDescent(c, norm=2, eps=2.0, eps_step=0.3, max_iter=10,
                                                            verbose=False))


@_case
def carlini_and_wagner(tf: Any) -> Any:
    from art.attacks.evasion import CarliniL2Method, CarliniLInfMethod

    return [*_attacked(tf, lambda c: CarliniL2Method(c, max_iter=8, binary_search_steps=3, learning_rate=0.1,
                                                     verbose=False)),
            *_attacked(tf, lambda c: CarliniLInfMethod(c, max_iter=5, learning_rate=0.05, verbose=False))]


@_case
def saliency_maps_and_others(tf: Any) -> Any:
    from art.attacks.evasion import DeepFool, SaliencyMapMethod

    return [*_attacked(tf, lambda c: SaliencyMapMethod(c, theta=0.2, gamma=0.2, verbose=False)),
            *_attacked(tf, lambda c: DeepFool(c, max_iter=10, verbose=False))]
