"""Records what TensorFlow knows of linear operators into tests/recorded; run beside TensorFlow 2.21."""

from __future__ import annotations

import json

from tests.extras import linear_operator_cases
from tests.record import RECORDED


def main() -> None:
    """Writes the recording, one line a question."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    found = linear_operator_cases.facts(tf)
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    path = RECORDED / "linear_operators.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} recorded, {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
