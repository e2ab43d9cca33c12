"""Records what TensorFlow refuses into tests/recorded/refusals.json; run beside TensorFlow 2.21."""

from __future__ import annotations

import json

import numpy as np

from tests.ops import refusal_cases as cases
from tests.record import RECORDED


def main() -> None:
    """Writes the recordings: for each case the class of the error, or the values."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    found = {}
    for name, make in cases.CASES.items():
        with tf.Graph().as_default(), tf.Session() as session:
            fetched, feeds = make(tf)
            session.run(tf.global_variables_initializer())
            try:
                found[name] = np.asarray(session.run(fetched, feeds), np.float64).tolist()
            except tf.errors.OpError as e:
                found[name] = type(e).__name__
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
    (RECORDED / "refusals.json").write_text("{\n" + lines + "\n}\n")
    print(f"{len(found)} recorded, {sum(isinstance(v, str) for v in found.values())} refused")


if __name__ == "__main__":
    main()
