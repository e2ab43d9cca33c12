"""Neural Structured Learning 1.4.0: adversarial regularization of a model of Keras."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def prepare(tf: Any) -> None:
    """Sets seeds; TensorFlow 2.21 gets an empty `tf.estimator`, which it has dropped."""
    if not hasattr(tf, "estimator"):
        tf.estimator = types.SimpleNamespace(Estimator=object)
        sys.modules["tensorflow.estimator"] = types.ModuleType("tensorflow.estimator")
    keras_seeds(tf)


@_case
def adversarial(tf: Any) -> Any:
    """The library's first program: `fit`, `evaluate`, and inputs changed by their gradients."""
    import neural_structured_learning as nsl

    x = np.random.RandomState(0).rand(32, 6).astype("float32")
    labels = (x.sum(1) > 3).astype("int32")
    layers = tf.keras.layers
    base = tf.keras.Sequential([tf.keras.Input([6], name="feature"), layers.Dense(8, activation="tanh"),
                                layers.Dense(2, activation="softmax")])
    for i, w in enumerate(base.weights):
        w.assign(np.sin(np.arange(int(np.prod(w.shape))) + i).reshape(w.shape))
    config = nsl.configs.make_adv_reg_config(multiplier=0.2, adv_step_size=0.05, adv_grad_norm="infinity")
    model = nsl.keras.AdversarialRegularization(base, label_keys=["label"], adv_config=config)
    model.compile(optimizer=tf.keras.optimizers.SGD(0.5), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    data = {"feature": x, "label": labels}
    history = model.fit(data, batch_size=8, epochs=3, verbose=0, shuffle=False).history
    changed = model.perturb_on_batch({"feature": x[:4], "label": labels[:4]})
    return [*[history[k] for k in sorted(history)], model.evaluate(data, verbose=0), changed["feature"]]
