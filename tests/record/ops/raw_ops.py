"""Records the signatures of TensorFlow's `tf.raw_ops`, into `tests/recorded/raw_ops.json.gz`.

Run it with an interpreter that has TensorFlow 2.21:

    python -m tests.record.ops.raw_ops
"""

from __future__ import annotations

import gzip
import inspect
import json
from typing import Any

from tests.record import RECORDED

PATH = RECORDED / "raw_ops.json.gz"


def _default(value: Any) -> Any:
    """A default as JSON: types by name, what is required as "required"."""
    if value is inspect.Parameter.empty:
        return "required"
    if type(value).__name__ == "DType":
        return f"tf.{value.name}"
    if isinstance(value, (list, tuple)):
        return [_default(v) for v in value]
    if hasattr(value, "tensor_shape"):
        return list(value.int_val)
    return value


def main() -> None:
    """Writes for each raw op its parameters with their defaults, the kinds of its attributes, its outputs' names."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    found: dict[str, Any] = {}
    for name in dir(tf.raw_ops):
        if name.startswith("_"):
            continue
        parameters = inspect.signature(getattr(tf.raw_ops, name)).parameters
        definition = op_def_registry.get(name)
        if definition is None:  # no op type of its own
            continue
        kinds = {a.name: a.type for a in definition.attr if a.name in parameters}
        found[name] = [
            {p: _default(parameters[p].default) for p in parameters if p != "name"},
            kinds,
            [a.name for a in definition.output_arg],
        ]
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    PATH.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(found)} raw ops, {PATH.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
