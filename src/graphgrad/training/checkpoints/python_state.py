"""`tf.train.experimental.PythonState`: state of Python objects in checkpoints, as text."""

from __future__ import annotations

import abc
from typing import Any

from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import string
from graphgrad.ir.eager import EagerTensor

_KEY = "py_state"


class PythonState(Trackable, metaclass=abc.ABCMeta):
    """The base of objects whose state checkpoints hold as a text; subclasses define how.

    Reference: TensorFlow 2.21 `tf.train.experimental.PythonState`.
    """

    @abc.abstractmethod
    def serialize(self) -> str:
        """Returns the state, a text or bytes."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes over a state, bytes as `serialize` gave them."""

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {_KEY: constant(self.serialize(), string)}

    def _restore_from_tensors(self, restored_tensors: Any) -> None:
        found = restored_tensors[_KEY]
        self.deserialize(found._value.item() if isinstance(found, EagerTensor) else found)
