"""How programs say which classes their saved objects have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_registered: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


class VersionedTypeRegistration(NamedTuple):
    """One version of a class of saved objects.

    Args:
      object_factory: makes an object of it from its message.
      version: its number.
      min_producer_version: the oldest version whose objects it reads.
      min_consumer_version: the oldest version that reads its objects.
      bad_consumers: versions that do not.
      setter: sets an attribute of an object.
    """

    object_factory: Callable[[Any], Any]
    version: int
    min_producer_version: int
    min_consumer_version: int
    bad_consumers: Sequence[int] = ()
    setter: Callable[[Any, str, Any], None] = setattr

    def should_load(self, proto: Any) -> bool:
        """Returns whether an object of a message can be read.

        Args:
          proto: a SavedUserObject message.
        """
        producer = proto.version
        return (producer.producer >= self.min_producer_version and self.version >= producer.min_consumer
                and self.version not in producer.bad_consumers)


def register_revived_type(identifier: str, predicate: Callable[[Any], bool],
                          versions: Sequence[VersionedTypeRegistration]) -> None:
    """Registers a class of saved objects.

    Args:
      identifier: its name in files.
      predicate: returns whether an object is of it.
      versions: its versions.
    Raises: AssertionError if the name is taken.
    """
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type identifier '{identifier}'")
    _registered[identifier] = predicate, sorted(versions, key=lambda v: v.version, reverse=True)


def registered_identifiers() -> list[str]:
    """Returns the names of the registered classes."""
    return list(_registered)


def find(value: Any) -> tuple[str, VersionedTypeRegistration] | None:
    """Returns the class of an object: its name and newest version; None if it is of none.

    Args:
      value: the object.
    """
    for identifier, (predicate, versions) in _registered.items():
        if predicate(value):
            return identifier, versions[0]
    return None


def get_setter(proto: Any) -> Callable[[Any, str, Any], None] | None:
    """Returns what sets attributes of the objects of a message; None for unknown classes.

    Args:
      proto: a SavedUserObject message.
    """
    for version in _registered.get(proto.identifier, (None, []))[1]:
        if version.should_load(proto):
            return version.setter
    return None


def deserialize(proto: Any) -> tuple[Any, Callable[[Any, str, Any], None]] | None:
    """Makes an object from its message.

    Args:
      proto: a SavedUserObject message.
    Returns: the object and what sets its attributes; None for unknown classes.
    """
    for version in _registered.get(proto.identifier, (None, []))[1]:
        if version.should_load(proto):
            return version.object_factory(proto), version.setter
    return None
