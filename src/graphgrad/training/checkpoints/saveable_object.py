"""`SaveableObject`: how programs tell a `Saver` what to save of objects other than variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SaveSpec:
    """A tensor that is saved.

    Args:
      tensor: the tensor, or a function that returns it.
      slice_spec: which part of a whole it is; '' for all of it.
      name: its name in the checkpoint.
      dtype, device: as of the tensor.
    Reference: TensorFlow 2.21 `tensorflow.python.training.saving.saveable_object.SaveSpec`.
    """

    def __init__(self, tensor: Any, slice_spec: Any, name: str, dtype: Any = None, device: Any = None):
        self._tensor = tensor
        self.slice_spec, self.name = slice_spec, name
        self.dtype = tensor.dtype if dtype is None else dtype
        self.device = device if device is not None or callable(tensor) else getattr(tensor, "device", None)

    @property
    def tensor(self) -> Any:
        """The tensor."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """An object that a `Saver` saves and restores; a subclass says how in `restore`.

    Args:
      op: the object.
      specs: the `SaveSpec`s of its tensors.
      name: its name in checkpoints.
    Reference: TensorFlow 2.21 `tensorflow.python.training.saving.saveable_object.SaveableObject`.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str):
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self) -> Any:
        """The device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Makes the operation that sets the object's state.

        Args:
          restored_tensors: the values of the tensors of `specs`.
          restored_shapes: None, or the shapes to give them.
        """
        raise NotImplementedError(f"{type(self).__name__}.restore. Fix: define how the state is set")


__all__ = ["SaveSpec", "SaveableObject"]
