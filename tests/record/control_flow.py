"""Records programs of control flow from TensorFlow into tests/recorded/control_flow.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

import numpy as np

from tests.frontend import control_flow_cases as cases
from tests.support.recordings import Recorded


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf

    recorded = Recorded("control_flow")
    recorded.entries = {}
    for name, case in cases.CASES.items():
        traced = tf.autograph.to_graph(case)  # TensorFlow does not convert what a lambda of another file calls
        cases.CASES[name] = traced
        for count in (3, 2):
            run = tf.function(lambda x, n=count, name=name: cases.derivatives(tf, name, x)[:n], autograph=False)
            try:
                found = run(tf.constant(cases.X))
                break
            except tf.errors.InvalidArgumentError as e:  # TensorFlow cannot differentiate everything twice
                print(f"{name}: {str(e).splitlines()[0]}")
        recorded.entries[name] = {"inputs": 0, "outputs": [np.asarray(v) for v in found], "gradients": None}
    recorded.save()
    print(f"control_flow: {len(recorded.entries)} recorded, {recorded.path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
