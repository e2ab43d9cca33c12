"""`tensorflow.python.pywrap_tensorflow`: what libraries call of TensorFlow's compiled part."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.ir.constant_value import constant_value
from graphgrad.training.checkpoints.checkpoint_state import new_checkpoint_reader
from graphgrad.training.summaries.file_writer import FileWriter

NewCheckpointReader = new_checkpoint_reader


def TF_TryEvaluateConstant_wrapper(graph: Any, output: Any) -> Any:
    """Returns the value of a tensor if it is known, else None.

    Args:
      graph: accepted.
      output: the operation, and the number of its output.
    """
    op, number = output
    return constant_value(op.outputs[number])


class _Writer(FileWriter):
    def __init__(self, prefix: str):
        self._stem = os.path.basename(prefix)
        super().__init__(os.path.dirname(prefix) or ".")


class EventsWriter:
    """Writes events into one file.

    Args:
      file_prefix: the path that the file's begins with, text or bytes; time and machine are appended.
    """

    def __init__(self, file_prefix: Any):
        self._writer = _Writer(os.fsdecode(file_prefix))

    def WriteEvent(self, event: Any) -> None:
        """Writes an event.

        Args:
          event: an `Event`.
        """
        self._writer._write(event)

    def FileName(self) -> bytes:
        """Returns the path of the file."""
        return os.fsencode(self._writer._path)

    def Flush(self) -> None:
        """Writes what was kept back."""
        self._writer.flush()

    def Close(self) -> None:
        """Ends the file."""
        self._writer.close()
