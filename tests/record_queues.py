"""Records what queues, readers and input pipelines do in TensorFlow, into `tests/recorded/queues.json`.

Run it with an interpreter that has TensorFlow 2.21: `python tests/record_queues.py`.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
from typing import Any

_HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    """Runs all cases."""
    import tensorflow.compat.v1 as tf

    sys.path.insert(0, str(_HERE))
    from queue_cases import CASES, files

    tf.disable_v2_behavior()
    tf.enable_resource_variables()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        files()
        for name, case in CASES.items():
            with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=30000)) as sess:
                found[name] = case(tf, sess)
        os.chdir(_HERE)
    (_HERE / "recorded" / "queues.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
