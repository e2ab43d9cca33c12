"""How the items of a collection become messages in a `MetaGraphDef`, where a library has said so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from graphgrad.ir.source import user_source


class _Functions(NamedTuple):
    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_registered: dict[str, _Functions] = {}


def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Callable[..., Any] | None = None,
                            from_proto: Callable[..., Any] | None = None) -> None:
    """Says how a collection is written to files of graphs and read from them.

    Args:
      collection_name: the collection.
      proto_type: the class of the message.
      to_proto: `f(item, export_scope)`, which returns a message, or None to leave the item out.
      from_proto: `f(message, import_scope)`, which returns the item.
    Raises: TypeError for what is no function; ValueError if the collection is registered already.
    Reference: TensorFlow 2.21 `ops.register_proto_function`.
    """
    for what, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise TypeError(f"{what} must be callable, not {type(function).__name__}.")
    if collection_name in _registered:
        raise ValueError(f"Registering two proto functions with name {collection_name!r}.\n"
                         f"  Registered again at {user_source(2)}")
    _registered[collection_name] = _Functions(proto_type, to_proto, from_proto)


def to_messages(collection_name: str, items: list[Any], export_scope: Any = None) -> list[Any] | None:
    """Returns the messages of a collection's items; None if nobody has said how they are written.

    Args:
      collection_name: the collection.
      items: its items.
      export_scope: the scope that is written, or None.
    """
    found = _registered.get(collection_name)
    if found is None or found.to_proto is None:
        return None
    made = [found.to_proto(item, export_scope=export_scope) for item in items]
    return [m for m in made if m is not None]


def from_message(collection_name: str, content: bytes, import_scope: Any = None) -> Any:
    """Returns the item of a collection that a message describes.

    Args:
      collection_name: the collection.
      content: the message, as bytes.
      import_scope: the scope that is read into, or None.
    Raises: KeyError if nobody has said how it is read.
    """
    found = _registered[collection_name]
    if found.from_proto is None:
        raise KeyError(collection_name)
    message = found.proto_type()
    message.ParseFromString(content)
    return found.from_proto(message, import_scope=import_scope)


def is_read(collection_name: str) -> bool:
    """Returns whether somebody has said how a collection is read.

    Args:
      collection_name: the collection.
    """
    return collection_name in _registered and _registered[collection_name].from_proto is not None


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """Returns how a collection's items are written; None if nobody has said so.

    Args:
      collection_name: the collection.
    """
    found = _registered.get(collection_name)
    return found.to_proto if found else None
