"""What libraries import from `python.training.saver` besides public names: classes that theirs are made of."""

from __future__ import annotations

from typing import Any


class BaseSaverBuilder:
    """The place of the classes by which objects say what is saved of them."""

    class SaveSpec:
        """A tensor that is saved.

        Args:
          tensor: the tensor.
          slice_spec: which part of it.
          name: its name in the checkpoint.
          dtype, device: as of the tensor.
        """

        def __init__(self, tensor: Any, slice_spec: Any, name: str, dtype: Any = None, device: Any = None):
            self.tensor, self.slice_spec, self.name = tensor, slice_spec, name
            self.dtype, self.device = dtype, device

    class SaveableObject:
        """An object that is saved.

        Args:
          op: the object.
          specs: its `SaveSpec`s.
          name: its name in the checkpoint.
        """

        def __init__(self, op: Any, specs: Any, name: str):
            self.op, self.specs, self.name = op, specs, name
