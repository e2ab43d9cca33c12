"""The interface of objects other than variables that object-based checkpoints save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor

if TYPE_CHECKING:
    from .bundle import BundleReader


class Piece(NamedTuple):
    """A value of an object, with its key in a checkpoint.

    Attributes:
      attribute: the attribute's name.
      suffix: what follows the attribute's key in the name of the tensor.
      full_name: the variable's name.
    """

    attribute: str
    suffix: str
    full_name: str


def own_tensors(value: Any) -> dict[str, Any] | None:
    """Returns what an object of a user's class serializes itself to, by name; None if its class defines nothing."""
    own = isinstance(value, Trackable) and type(value)._serialize_to_tensors is not Trackable._serialize_to_tensors
    return value._serialize_to_tensors() if own else None


def states(value: Any, session: Any) -> list[tuple[Any, Any]]:
    """Returns the dtype and the value of each piece of an object.

    Args:
      value: a `Saveable`, or an object that serializes itself.
      session: the session that holds the state of graphs.
    """
    if isinstance(value, Saveable):
        return value._state(session)
    tensors = [convert_to_tensor(t) for t in (own_tensors(value) or {}).values()]
    return [(t.dtype, np.asarray(t._value if isinstance(t, EagerTensor) else session.run(t))) for t in tensors]


class Saveable(Trackable):
    """The base of stateful objects, such as tables and iterators; variables are saved without it.

    Attributes:
      _pieces: the values that the state consists of, all of one attribute.
    """

    _pieces: Sequence[Piece]

    def _is_saved(self) -> bool:
        """Returns whether checkpoints save the state."""
        return True

    def _state(self, session: Any) -> list[tuple[Any, Any]]:
        """Returns the dtype and the value of each piece; `session` holds the state of graphs."""
        raise NotImplementedError(f"{type(self).__name__}._state")

    def _read_state(self, bundle: BundleReader, key: str) -> Any:
        """Reads the state from a checkpoint, for `_set_state`; None if it is missing."""
        raise NotImplementedError(f"{type(self).__name__}._read_state")

    def _needs_session(self) -> bool:
        """Returns whether the state belongs to a graph, and is set in a session."""
        return False

    def _set_state(self, state: Any, session: Any) -> None:
        """Sets the state to the result of `_read_state`."""
        raise NotImplementedError(f"{type(self).__name__}._set_state")
