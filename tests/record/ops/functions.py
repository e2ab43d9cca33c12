"""Records calls of public functions from TensorFlow into tests/recorded; run beside TensorFlow 2.21."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.ops import function_cases, transform_cases
from tests.support.recordings import Recorded


def run(tf: Any, tf2: Any, name: str, case: function_cases.Case) -> dict[str, Any]:
    """Values and, for each input, the gradient of their weighted sum or None."""
    inputs = case.inputs(name)
    with tf.Graph().as_default(), tf.Session() as sess:
        xs = [tf.placeholder(v.dtype, v.shape) for v in inputs]
        y = case.function(tf, tf2, *xs)
        ys = list(y) if isinstance(y, (tuple, list)) else [y]
        floats = [t for t in ys if t.dtype.is_floating]
        grads: list[Any] = [None] * len(xs)
        if case.tf_grad and floats and any(x.dtype.is_floating for x in xs):
            sums = [tf.reduce_sum(t * function_cases.weights(t.shape.as_list()).astype(t.dtype.as_numpy_dtype))
                    for t in floats]
            grads = [None if g is None else tf.convert_to_tensor(g) for g in tf.gradients(sums, xs)]
        feeds = dict(zip(xs, inputs, strict=True))
        values = sess.run([ys, [g for g in grads if g is not None]], feeds)
    found = iter(values[1])
    return {"inputs": 0, "outputs": [np.asarray(v) for v in values[0]],
            "gradients": [None if g is None else np.asarray(next(found)) for g in grads]}


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf2

    tf = tf2.compat.v1
    tf.disable_eager_execution()
    wanted = sys.argv[1:]
    for file, cases in (("functions", function_cases.CASES), ("transforms", transform_cases.CASES)):
        if wanted and file not in wanted:
            continue
        recorded = Recorded(file)
        recorded.entries = {name: run(tf, tf2, name, case) for name, case in cases.items()}
        recorded.save()
        print(f"{file}: {len(recorded.entries)} recorded, {recorded.path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
