"""Records recurrent networks from TensorFlow into tests/recorded/rnn.npz; run beside TensorFlow 2.21.

The cells are TensorFlow's own, which its public face hides where Keras 3 is installed.
"""

from __future__ import annotations

import numpy as np

from tests.frontend import rnn_cases
from tests.support.recordings import Recorded


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
