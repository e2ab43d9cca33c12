"""Records what TensorFlow 2.21 makes of tests/ops/unknown_shape_cases.py, into tests/recorded/unknown_shapes.npz."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from tests.ops import unknown_shape_cases as cases
from tests.record import RECORDED


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
    np.savez_compressed(RECORDED / "unknown_shapes.npz", **recorded)


if __name__ == "__main__":
    main()
