"""What a session keeps of a tensor from one run for later ones, and the name that carries it out of the run."""

from __future__ import annotations

from typing import Any


class KeptTensor:
    """A tensor that is kept; it can be found by its name as long as something holds it.

    Args:
      array: its value.
    """

    def __init__(self, array: Any):
        self.array = array
        self.deleted = False  # by an operation, or by `TensorHandle.delete`


class KeptName(bytes):
    """The name of a tensor that is kept, which also holds it."""

    kept: KeptTensor
