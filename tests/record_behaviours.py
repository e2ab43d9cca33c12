"""Records what the programs of tests/behaviours/ give in TensorFlow; run beside TensorFlow 2.21.

    python tests/record_behaviours.py [subject ...]
"""

from __future__ import annotations

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from behaviours import harness


def main() -> None:
    """Writes tests/recorded/behaviours/<subject>.json."""
    import tensorflow as tf

    for subject in sys.argv[1:] or harness.SUBJECTS:
        results = {name: case.run(tf.compat.v1, tf) for name, case in harness.cases_of(subject).items()}
        harness.save(subject, results)
        print(f"{subject}: {len(results)} recorded")


if __name__ == "__main__":
    main()
