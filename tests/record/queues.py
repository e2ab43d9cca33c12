"""Records what queues, readers and input pipelines do in TensorFlow, into `tests/recorded/queues.json`.

Run it with an interpreter that has TensorFlow 2.21: `python -m tests.record.queues`.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from tests.record import RECORDED


def main() -> None:
    """Runs all cases."""
    import tensorflow.compat.v1 as tf

    from tests.extras.queue_cases import CASES, files

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
        os.chdir(RECORDED)
    (RECORDED / "queues.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
