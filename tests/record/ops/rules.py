"""Records which outputs of their operations TensorFlow's gradient rules read, into `tests/recorded/rules.json.gz`.

Run it with an interpreter that has TensorFlow 2.21:

    python -m tests.record.ops.rules

A rule that names an output of the forward operation and one that computes the same from the inputs have equal
gradients, but not equal derivatives of these while the outputs are held: `gradients(g, xs + ys, stop_gradients=ys)`,
where g is the gradient of ys. These are recorded for a case of each row of the table (`rows/`).
"""

from __future__ import annotations

import gzip
import json
import sys
from typing import Any

import numpy as np

from graphgrad.ir.opdef import registry
from tests.gradients.rule_cases import PATH, cases, cotangent
from tests.ops import rows
from tests.support.table import Inputs, Row, draw

from . import table as recorder


def _differentiated(tf: Any, row: Row, key: str, inputs: Inputs) -> Any:
    """The derivatives of the gradient, by xs and by ys: for each None or a list; or the class of an error."""
    xs = inputs.differentiable(row)
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        flat = recorder._tensors(tf, inputs)
        feeds = {}
        for i in xs:
            flat[i] = tf.compat.v1.placeholder(recorder._tf_type(tf, inputs.dtypes[i]), inputs.flat[i].shape)
            feeds[flat[i]] = inputs.flat[i]
        outputs = recorder._call(tf, row, inputs, flat)
        ys = [t for k, t in enumerate(outputs)
              if (t.dtype.is_floating or t.dtype.is_complex) and (row.ys is None or k in row.ys)]
        if not xs or not ys:
            return None
        shapes = [v.shape for v in sess.run(ys, feeds)]
        try:
            first = tf.gradients(ys, [flat[i] for i in xs], [
                tf.constant(cotangent(key, "y", k, s, y.dtype.name), y.dtype)
                for k, (y, s) in enumerate(zip(ys, shapes, strict=True))])
        except LookupError:
            return None
        first = [(i, tf.convert_to_tensor(g)) for i, g in zip(xs, first, strict=True) if g is not None]
        if not first:
            return None
        weights = [tf.constant(cotangent(key, "x", i, inputs.flat[i].shape, g.dtype.name), g.dtype) for i, g in first]
        try:
            second = tf.gradients([g for _, g in first], [flat[i] for i in xs] + ys, weights, stop_gradients=ys)
            values = iter(sess.run([tf.convert_to_tensor(g) for g in second if g is not None], feeds))
        except (LookupError, tf.errors.OpError, ValueError, TypeError, NotImplementedError) as e:
            return type(e).__name__
        return [None if g is None else _plain(next(values)) for g in second]


def _plain(value: np.ndarray) -> list[float]:
    wide = np.stack([value.real, value.imag], -1) if value.dtype.kind == "c" else value.astype(np.float64)
    return [float(f"{v:.10g}") for v in wide.reshape(-1)]


def main() -> int:
    """Writes the file."""
    import tensorflow as tf

    found: dict[str, Any] = {}
    for row in rows.load():
        if row.op_type not in registry or not row.tf or not row.tf_grad or "random" in row.opdef.flags:
            continue
        for case, dtype in cases(row):
            key = row.key(case, dtype)
            try:
                result = _differentiated(tf, row, key, draw(row, case, dtype))
            except Exception as e:
                print(f"{row.op_type} {dtype}: {type(e).__name__}: {recorder._first_line(e)}")
                continue
            if result is not None:
                found[key] = result
    PATH.write_bytes(gzip.compress(json.dumps(found, indent=0, sort_keys=True).encode(), 9, mtime=0))
    print(f"{len(found)} recorded, {PATH.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
