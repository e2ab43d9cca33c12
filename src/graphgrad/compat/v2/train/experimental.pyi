"""`tf.train.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.training.checkpoints.python_state import PythonState as PythonState

__all__ = [
    "PythonState"
]
