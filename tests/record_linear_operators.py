"""Records what TensorFlow knows of linear operators into tests/recorded; run beside TensorFlow 2.21."""

from __future__ import annotations

import json
import os
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent / "src"), str(_HERE)]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import linear_operator_cases  # noqa: E402


def main() -> None:
    """Writes the recording, one line a question."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    found = linear_operator_cases.facts(tf)
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    path = _HERE / "recorded" / "linear_operators.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} recorded, {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
