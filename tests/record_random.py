"""Records random numbers from TensorFlow into tests/recorded/random_runs.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

import os

import numpy as np
import tensorflow

import generator_cases
import random_cases


def main() -> None:
    """Writes the recordings."""
    recorded = {"eager": random_cases.draw_eagerly(tensorflow)}
    for name in random_cases.CASES:
        recorded[name] = random_cases.draw(tensorflow.compat.v1, name)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
    np.savez_compressed(os.path.join(folder, "random_runs.npz"), **recorded)
    draws = generator_cases.eagerly(tensorflow), generator_cases.by_threefry(tensorflow)
    np.savez_compressed(os.path.join(folder, "generators.npz"), **draws[0], **draws[1])


if __name__ == "__main__":
    main()
