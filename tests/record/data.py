"""Records what data sets give from TensorFlow into tests/recorded/data.json; run beside TensorFlow 2.21."""

from __future__ import annotations

import json
import tempfile

from tests.extras.data.data_cases import CASES
from tests.record import RECORDED


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf

    found = {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = case(tf, folder)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items()))
    (RECORDED / "data.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
