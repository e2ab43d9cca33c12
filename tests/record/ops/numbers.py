"""Records what TensorFlow makes of the programs of `number_cases.py`, into `tests/recorded/numbers.json.gz`.

Run it with an interpreter that has TensorFlow 2.21:

    python -m tests.record.ops.numbers [START:STOP [FILE]]
"""

from __future__ import annotations

import gzip
import json
import pathlib
import sys
from typing import Any

from tests.ops import number_cases
from tests.support.recordings import FOLDER

from . import table as recorder

PATH = FOLDER / "numbers.json.gz"


def _run(tf: Any, p: number_cases.Program) -> Any:
    """Values, gradients and the gradients of these (None where there are none); or the class of an error."""
    inputs = p.inputs
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        flat = recorder._tensors(tf, inputs)
        xs, feeds = inputs.differentiable(p.row), {}
        for i in number_cases.fed(p):
            dtype = recorder._tf_type(tf, inputs.dtypes[i])
            flat[i] = tf.compat.v1.placeholder(dtype, inputs.flat[i].shape)
            feeds[flat[i]] = inputs.flat[i]
        try:
            outputs = recorder._call(tf, p.row, inputs, flat)
            values = [number_cases.plain(v) for v in sess.run(outputs, feeds)]
        except (tf.errors.OpError, ValueError, TypeError) as e:
            return type(e).__name__
        ys = [outputs[k] for k in number_cases.differentiated(outputs, p.row)]
        found: list[Any] = [values]
        for _ in range(2):
            try:
                grads = tf.gradients(ys, [flat[i] for i in xs]) if ys and xs else []
                grads = [g if g is None else tf.convert_to_tensor(g) for g in grads]
                run = iter(sess.run([g for g in grads if g is not None], feeds))
                found.append([g if g is None else number_cases.plain(next(run)) for g in grads])
            except (LookupError, ValueError, TypeError, NotImplementedError, tf.errors.OpError):
                found.append(None)
                break
            ys = [g for g in grads if g is not None]
        return found


def main() -> int:
    """Writes the file."""
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    start, stop = (int(v) for v in (sys.argv[1] if len(sys.argv) > 1 else f"0:{number_cases.COUNT}").split(":"))
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else PATH
    found = {}
    for seed, p in number_cases.cases(range(start, stop)):
        try:
            found[seed] = _run(tf, p)
        except Exception as e:
            print(f"{seed} {p.row.op_type}: {type(e).__name__}: {recorder._first_line(e)}")
    path.write_bytes(gzip.compress(json.dumps(found).encode(), 9, mtime=0))
    print(f"{len(found)} recorded, {path.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
