"""Records layers, losses and metrics from TensorFlow into tests/recorded/layers.npz; run beside TensorFlow 2.21.

TensorFlow has its layers only where the package tf_keras is installed, too.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

from tests.layers import layers_cases
from tests.support.recordings import Recorded


def main() -> None:
    """Writes the recordings."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    recorded = Recorded("layers")
    recorded.entries = {}
    for name in layers_cases.CASES:
        with tf.Graph().as_default(), tf.Session() as sess:
            recorded.entries[name] = layers_cases.computed(tf, sess, name)
    for name in layers_cases.METRICS:
        with tf.Graph().as_default(), tf.Session() as sess:
            recorded.entries[f"metrics {name}"] = layers_cases.measured(tf, sess, name)
    recorded.entries["signatures"] = layers_cases.signatures(tf.layers)
    recorded.save()
    print(f"layers: {len(recorded.entries)} recorded, {recorded.path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
