"""Records random numbers from TensorFlow into tests/recorded/random_runs.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import tensorflow

from tests.ops.random import generator_cases, random_cases
from tests.record import RECORDED


def main() -> None:
    """Writes the recordings."""
    recorded = {"eager": random_cases.draw_eagerly(tensorflow)}
    for name in random_cases.CASES:
        recorded[name] = random_cases.draw(tensorflow.compat.v1, name)
    np.savez_compressed(RECORDED / "random_runs.npz", **recorded)
    draws = generator_cases.eagerly(tensorflow), generator_cases.by_threefry(tensorflow)
    np.savez_compressed(RECORDED / "generators.npz", **draws[0], **draws[1])


if __name__ == "__main__":
    main()
