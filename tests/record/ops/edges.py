"""Records what TensorFlow makes of `edge_cases.py`, into `tests/recorded/edges.json.gz`.

Run it with an interpreter that has TensorFlow 2.21:

    python -m tests.record.ops.edges
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.ops import edge_cases
from tests.record import RECORDED

PATH = RECORDED / "edges.json.gz"


def _plain(value: Any) -> Any:
    """An array as JSON: complex numbers as pairs, numbers rounded to seven digits."""
    import numpy as np

    value = np.asarray(value)
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], -1)
    if value.dtype.kind in "biu":
        return value.tolist()
    return [float(f"{v:.8g}") for v in value.astype(np.float64).reshape(-1)]


def _built(tf: Any, text: str, inputs: Any) -> tuple[Any, list[Any], dict[Any, Any]]:
    arrays = edge_cases.arrays(inputs, lambda t: tf.as_dtype(t).as_numpy_dtype)
    given = {k: tf.placeholder(tf.as_dtype(a.dtype), a.shape) for k, a in arrays.items()}
    y = eval(text, {"tf": tf}, dict(given))
    xs = [x for x in given.values() if x.dtype.is_floating or x.dtype.is_complex]
    grads = []
    if xs and (y.dtype.is_floating or y.dtype.is_complex):
        try:
            grads = tf.gradients(y, xs, tf.ones_like(y))
        except LookupError:
            grads = []
    grads = [None if g is None else tf.convert_to_tensor(g) for g in grads]
    return y, grads, {given[k]: a for k, a in arrays.items()}


def main() -> None:
    """Writes for each expression its dtype, static shape, value and gradients, or the class of its error."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    values: list[Any] = []
    for text, inputs in edge_cases.VALUES:
        with tf.Graph().as_default(), tf.Session() as sess:
            try:
                y, grads, feeds = _built(tf, text, inputs)
                shape = None if y.shape.rank is None else y.shape.as_list()
                found, *slopes = sess.run([y, *[g for g in grads if g is not None]], feeds)
            except Exception as e:
                values.append([type(e).__name__])
                print(f"{text} {str(inputs)[:60]}: {type(e).__name__}: {str(e)[:150]}")
                continue
            left = iter(slopes)
            values.append([y.dtype.name, shape, list(found.shape), _plain(found),
                           [None if g is None else _plain(next(left)) for g in grads]])
    errors = []
    for text in edge_cases.ERRORS:
        with tf.Graph().as_default():
            try:
                eval(text, {"tf": tf})
                errors.append("")
            except Exception as e:
                errors.append(type(e).__name__)
    PATH.write_bytes(gzip.compress(json.dumps({"values": values, "errors": errors}).encode(), 9, mtime=0))
    print(f"{len(values)} values, {len(errors)} errors, {PATH.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
