"""Records what TensorFlow 2.21 makes of tests/unknown_shape_cases.py, into tests/recorded/unknown_shapes.npz."""

from __future__ import annotations

import os
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

import unknown_shape_cases as cases  # noqa: E402


def main() -> None:
    """Writes, for each expression, its value and the variants of shapes that TensorFlow takes."""
    tf.disable_v2_behavior()
    tf.enable_resource_variables()
    tf.get_logger().setLevel("ERROR")
    recorded = {}
    for expression in cases.EXPRESSIONS:
        found = {v: cases.run(tf, tf.Session, expression, v) for v in cases.VARIANTS}
        taken = [v for v, value in found.items() if not isinstance(value, str)]
        if not taken:
            print("refused:", expression, found)
            continue
        recorded[f"{expression}|value"] = found[taken[0]]
        recorded[f"{expression}|taken"] = np.array(taken)
    np.savez_compressed(_HERE / "recorded" / "unknown_shapes.npz", **recorded)


if __name__ == "__main__":
    main()
