"""Records training runs from TensorFlow into tests/recorded/optimizers.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from tests.record import RECORDED
from tests.training import optimizer_cases


def main() -> None:
    """Writes the recordings."""
    tf.disable_v2_behavior()
    tf.enable_resource_variables()
    recorded: dict[str, np.ndarray] = {}
    for name in optimizer_cases.CASES:
        for key, value in optimizer_cases.train(tf, name).items():
            recorded[f"train/{name}/{key}"] = value
    for name in optimizer_cases.SCHEDULES:
        recorded[f"schedule/{name}"] = optimizer_cases.schedule(tf, name)
    for key, value in optimizer_cases.average(tf).items():
        recorded[f"average/{key}"] = value
    np.savez_compressed(RECORDED / "optimizers.npz", **recorded)


if __name__ == "__main__":
    main()
