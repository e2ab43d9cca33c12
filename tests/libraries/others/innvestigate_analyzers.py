"""iNNvestigate 2.1.2, in graphs: gradients, layer-wise relevance propagation, deep Taylor decomposition.

Integrated gradients build a network of layers that stand for operations (`create_c_op`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

os.environ |= {"TF_USE_LEGACY_KERAS": "1", "MPLBACKEND": "agg"}
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def prepare(tf: Any) -> None:
    """Leaves eager mode, as the library requires, and sets seeds."""
    tf.compat.v1.disable_eager_execution()
    keras_seeds(tf)


def _analyzed(tf: Any, names: dict[str, dict[str, Any]]) -> list[Any]:
    import innvestigate

    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input([6, 6, 1]), layers.Conv2D(3, 3, activation="relu"), layers.Flatten(),
                                 layers.Dense(3)])
    for i, w in enumerate(model.weights):
        tf.keras.backend.set_value(w, np.sin(np.arange(int(np.prod(w.shape))) + i).reshape(w.shape))
    images = np.random.RandomState(0).rand(2, 6, 6, 1).astype("float32")
    return [innvestigate.create_analyzer(name, model, **given).analyze(images) for name, given in names.items()]


@_case
def gradients(tf: Any) -> Any:
    """Gradients, also with other rules for activations, and integrated ones."""
    return _analyzed(tf, {"gradient": {}, "input_t_gradient": {}, "deconvnet": {}, "guided_backprop": {},
                          "integrated_gradients": {"steps": 8}})


@_case
def relevance(tf: Any) -> Any:
    """Rules of relevance propagation."""
    return _analyzed(tf, {"lrp.z": {}, "lrp.epsilon": {}, "lrp.alpha_2_beta_1": {}, "deep_taylor": {},
                          "lrp.sequential_preset_a": {}})
