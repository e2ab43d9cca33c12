"""Records what TensorFlow's distributions answer, into tests/recorded/distributions.json. Needs TensorFlow 2.21."""

from __future__ import annotations

import json

import numpy as np
import tensorflow.compat.v1 as tf

from tests.extras.contrib.distribution_cases import CASES, answers
from tests.record import RECORDED


def main() -> None:
    """Writes the file."""
    recorded = {}
    for name in CASES:
        with tf.Graph().as_default(), tf.Session() as sess:
            found = sess.run(answers(tf, tf.distributions, name))
        recorded[name] = {k: np.asarray(v, np.float64).round(9).tolist() for k, v in found.items()}
    path = RECORDED / "distributions.json"
    path.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
