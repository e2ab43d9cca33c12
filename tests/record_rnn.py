"""Records recurrent networks from TensorFlow into tests/recorded/rnn.npz; run beside TensorFlow 2.21.

The cells are TensorFlow's own, which its public face hides where Keras 3 is installed.
"""

from __future__ import annotations

import os
import pathlib
import sys

import numpy as np

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent / "src"), str(_HERE)]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import rnn_cases  # noqa: E402
from recordings import Recorded  # noqa: E402


def main() -> None:
    """Writes the recordings: names of variables, outputs, gradients."""
    import tensorflow.compat.v1 as tf
    from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl as cells

    tf.disable_eager_execution()
    recorded = Recorded("rnn")
    recorded.entries = {}
    for name in rnn_cases.CASES:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.constant(rnn_cases.inputs())
            outputs, variables, assign, grads = rnn_cases.built(tf, cells, name, x)
            sess.run(assign)
            values = sess.run([outputs, grads])
            names = np.array([v.name.encode() for v in variables] + [None], object)[:-1]
            recorded.entries[name] = {"inputs": 0, "outputs": [names, *map(np.asarray, values[0])],
                                      "gradients": list(map(np.asarray, values[1]))}
    recorded.save()
    print(f"rnn: {len(recorded.entries)} recorded, {recorded.path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
