"""Runs one case of `input_cases.py`, as told by JSON lines on its standard input.

    python input_worker.py graphgrad|tensorflow
"""

from __future__ import annotations

import os
import tempfile
import time

from input_cases import CASES
from worker import own_version, serve

WARM = 50  # a first time, on this fraction of the data, is not measured


class _Api:
    """What `worker.serve` calls a system, here with the API of TensorFlow 2."""

    def __init__(self, module, version):
        self.tf, self.version = module, version


def _graphgrad():
    import graphgrad

    return _Api(graphgrad, own_version())


def _tensorflow():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow

    return _Api(tensorflow, tensorflow.__version__)


class InputWorker:
    """A process of one system."""

    def __init__(self, system):
        self.tf, self._version = system.tf, system.version

    def measure(self, name, divisor=1):
        """Measures one case.

        Args:
          name: the case.
          divisor: the data are so many times smaller.
        Returns: its seconds, those of the processor, and the number that it gives.
        """
        _, size, make = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            make(self.tf, max(3000, size // divisor // WARM) if size > 3000 else size, folder)()
            work = make(self.tf, size // divisor, folder)
            processor, start = time.process_time(), time.perf_counter()
            result = work()
            end, processor_end = time.perf_counter(), time.process_time()
        return {"seconds": end - start, "processor": processor_end - processor, "result": result}

    def version(self):
        """The versions of the system and of NumPy."""
        import numpy

        return {"system": self._version, "numpy": numpy.__version__}


if __name__ == "__main__":
    serve(InputWorker, {"graphgrad": _graphgrad, "tensorflow": _tensorflow})
