"""Records what data sets give from TensorFlow into tests/recorded/data.json; run beside TensorFlow 2.21."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile

_HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from data_cases import CASES  # noqa: E402


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf

    found = {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = case(tf, folder)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items()))
    (_HERE / "recorded" / "data.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
