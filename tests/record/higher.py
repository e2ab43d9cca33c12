"""Records Hessians, Jacobians and maps from TensorFlow into tests/recorded/higher.npz; run beside TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.gradients import higher_cases
from tests.support.recordings import Recorded


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf2
    from tensorflow.python.ops.parallel_for.gradients import jacobian

    def batch_jacobian(y: Any, x: Any) -> Any:  # TensorFlow's own takes 1.x dimensions only
        return tf2.stack([jacobian(y, x)[i, ..., i, :] for i in range(x.shape[0])])

    tf = tf2.compat.v1
    tf.disable_eager_execution()
    recorded = Recorded("higher")
    recorded.entries = {}
    for name, case in higher_cases.CASES.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs = case.inputs(name)
            xs = [tf.placeholder(v.dtype, v.shape) for v in inputs]
            values = sess.run(list(case.function(tf2, jacobian, batch_jacobian, *xs)),
                              dict(zip(xs, inputs, strict=True)))
        recorded.entries[name] = {"inputs": 0, "outputs": [np.asarray(v) for v in values], "gradients": None}
    recorded.save()
    print(f"higher: {len(recorded.entries)} recorded, {recorded.path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
