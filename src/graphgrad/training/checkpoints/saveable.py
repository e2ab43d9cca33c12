"""What objects besides variables implement to be saved in object-based checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .bundle import BundleReader


class Piece(NamedTuple):
    """A value of an object: where it stands in a checkpoint.

    Attributes:
      attribute: the attribute's name.
      suffix: what follows the attribute's key in the name of the tensor.
      full_name: the variable's name.
    """

    attribute: str
    suffix: str
    full_name: str


class Saveable:
    """The base of objects with state of their own, such as tables and iterators; variables are saved without it.

    Attributes:
      _pieces: the values that the state consists of, all of one attribute.
    """

    _pieces: Sequence[Piece]

    def _is_saved(self) -> bool:
        """Whether checkpoints save the state."""
        return True

    def _state(self, session: Any) -> list[tuple[Any, Any]]:
        """The dtype and the value of each piece; `session` keeps what belongs to a graph."""
        raise NotImplementedError(f"{type(self).__name__}._state")

    def _read_state(self, bundle: BundleReader, key: str) -> Any:
        """What a checkpoint holds under the attribute's key, for `_set_state`; None if it does not."""
        raise NotImplementedError(f"{type(self).__name__}._read_state")

    def _needs_session(self) -> bool:
        """Whether the state belongs to a graph, and is set when there is a session."""
        return False

    def _set_state(self, state: Any, session: Any) -> None:
        """Sets the state to what `_read_state` gave."""
        raise NotImplementedError(f"{type(self).__name__}._set_state")
