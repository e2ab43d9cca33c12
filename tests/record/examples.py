"""Records what the programs of `examples/` print on TensorFlow, into `tests/recorded/examples/`.

Run it with an interpreter that has TensorFlow 2.21, tf_keras and scikit-learn (`make record` does):

    python -m tests.record.examples [NAME ...]

A program for TensorFlow 1 runs on `tensorflow.compat.v1` with 2.x behaviour off.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.record import RECORDED

_EXAMPLES = RECORDED.parents[1] / "examples"
_RECORDED = RECORDED / "examples"
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_USE_LEGACY_KERAS": "1"}  # for tf.layers

RUN = """
import runpy, sys
program, version = sys.argv.pop(1), sys.argv.pop(1)
if version == "1":
    import tensorflow.compat.v1 as tensorflow
    tensorflow.disable_v2_behavior()
    sys.modules["tensorflow"] = tensorflow
sys.argv[0] = program
runpy.run_path(program, run_name="__main__")
"""


def main(names: list[str]) -> None:
    """Records the examples of these names, or all."""
    _RECORDED.mkdir(parents=True, exist_ok=True)
    for path in sorted(_EXAMPLES.glob("*.py")):
        # TensorFlow 2.21 has no `tf.contrib`, nor `tf.implicit`; see `WITHOUT_ORACLE` in test_examples.py.
        text = path.read_text()
        if (names and path.stem not in names) or "tensorflow.contrib" in text or "tf.implicit." in text:
            continue
        version = "2" if path.stem.endswith("_v2") else "1"
        done = subprocess.run([sys.executable, "-c", RUN, path.name, version], cwd=_EXAMPLES, check=False,
                              env={**os.environ, **QUIET, "TF_ENABLE_ONEDNN_OPTS": "0"}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{path.name} failed on TensorFlow:\n{done.stderr}")
        (_RECORDED / f"{path.stem}.txt").write_text(done.stdout)
        print(f"recorded {path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
