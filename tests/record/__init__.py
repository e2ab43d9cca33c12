"""Records from TensorFlow 2.21 what tests compare with, into tests/recorded/; a module a subject.

    python -m tests.record [SUBJECT ...]

runs them, each in a process of its own, with the interpreter it is run with, which must have TensorFlow (`make record`
makes an environment). Some take arguments of their own: `python -m tests.record.ops.table math --again`.
"""

import os

from tests import ROOT

RECORDED = ROOT / "tests" / "recorded"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its sums round otherwise
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
