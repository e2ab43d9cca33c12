"""Records random numbers from TensorFlow into tests/recorded/random_runs.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

import os

import numpy as np
import tensorflow

import random_cases


def main() -> None:
    """Writes the recordings."""
    recorded = {"eager": random_cases.draw_eagerly(tensorflow)}
    for name in random_cases.CASES:
        recorded[name] = random_cases.draw(tensorflow.compat.v1, name)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "random_runs.npz")
    np.savez_compressed(path, **recorded)


if __name__ == "__main__":
    main()
