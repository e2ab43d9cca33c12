"""Protocol buffers: messages with declared fields.

Reference: protobuf.dev/reference/python.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from graphgrad.ir.proto.decode_errors import DecodeError as DecodeError
from graphgrad.ir.proto.decode_errors import decode_error
from graphgrad.ir.proto.quoting import quoted
from graphgrad.ir.proto.scalars import (
    SCALARS,
    checked,
    checked_all,
    encoded,
    packed_numbers,
    read_number,
    unpacked_numbers,
)
from graphgrad.ir.proto.wire import (
    DEEPEST,
    DELIMITED,
    GROUP,
    after_group,
    delimited,
    is_plain_entry,
    raw_field,
    read_key,
    read_value,
    read_varint,
    varint,
)


class Repeated(list[Any]):
    """The values of a repeated field: a list, with `add` for messages."""

    def __init__(self, kind: Any, values: Iterable[Any] = ()):
        super().__init__(values)
        self.kind = kind

    def add(self, **fields: Any) -> Any:
        """Appends a new message with these fields, and returns it."""
        self.append(self.kind(**fields))
        return self[-1]


def default_of(kind: str) -> Any:
    """Returns the value of a field that is not set."""
    return SCALARS[kind][2]


class MapOf:
    """The kind of a map field.

    Args:
      value: the kind of its values.
      key: the kind of its keys.
    """

    def __init__(self, value: Any, key: str = "string"):
        self.value, self.key = value, key
        self.entry: Any = None  # the class of entries, made on demand


class Map(dict[Any, Any]):
    """The entries of a map field: a dictionary; reading a missing entry of messages creates it."""

    def __init__(self, kind: MapOf):
        super().__init__()
        self.kind = kind

    def __missing__(self, key: Any) -> Any:
        kind = self.kind.value
        made = self[key] = SCALARS[kind][2] if isinstance(kind, str) else kind()
        return made

    def get_or_create(self, key: Any) -> Any:
        """Returns the entry, creating it if it is missing."""
        return self[key]

    def GetEntryClass(self) -> Any:
        """Returns the class of messages as which entries are written."""
        return entry_class(self.kind)


def entry_class(kind: MapOf) -> Any:
    """Returns the class of messages as which the entries of a map field are written."""
    if kind.entry is None:
        fields = {"key": (1, kind.key), "value": (2, kind.value)}
        kind.entry = type("Entry", (Message,), {"FIELDS": fields, "MAP_ENTRY": True, "__doc__": "A map's entry."})
    return kind.entry


# Actions for a field that is read.
_ONE_NUMBER, _NUMBERS, _PACKED, _ONE_TEXT, _TEXTS, _MESSAGE, _MESSAGES, _ENTRY = range(8)


@functools.cache
def _rules(message: Any) -> dict[int, tuple[int, str, Any, tuple[str, ...]]]:
    """Returns the actions for the fields of a class of messages: key -> (action, name, kind, fields to unset).

    The kind is that of one value. The key is the one on the wire; fields with other keys are unknown.
    """
    found = {}
    for name, (number, kind) in message.FIELDS.items():
        repeated = isinstance(kind, list)
        single = kind[0] if repeated else kind
        others = tuple(o for names in message.ONEOF.values() if name in names for o in names if o != name)
        wire = SCALARS[single][0] if isinstance(single, str) else DELIMITED
        if isinstance(kind, MapOf):
            what = _ENTRY
        elif not isinstance(single, str):
            what = _MESSAGES if repeated else _MESSAGE
        elif wire == DELIMITED:
            what = _TEXTS if repeated else _ONE_TEXT
        else:
            what = _NUMBERS if repeated else _ONE_NUMBER
        found[number << 3 | wire] = what, name, single, others
        if what == _NUMBERS:
            found[number << 3 | DELIMITED] = _PACKED, name, single, others
    return found


@functools.cache
def _in_order(message: Any) -> list[tuple[str, int, Any, bool]]:
    """Returns name, number and kind of the fields by number, and whether defaults are written, too."""
    of_one = {name for names in message.ONEOF.values() for name in names}
    return sorted(((name, number, kind, not isinstance(kind, str) or name in of_one)
                   for name, (number, kind) in message.FIELDS.items()), key=lambda field: field[1])  # fmt: skip


class Message:
    """A message; subclasses declare `FIELDS`: name -> (number, kind).

    A kind is a key of `SCALARS`, a subclass of `Message`, or a list of one of them for a repeated field. At most one of
    the fields that `ONEOF` names is set.

    Args:
      **fields: values by name; None means a field that is not set.
    """

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {}
    ONEOF: ClassVar[dict[str, tuple[str, ...]]] = {}
    ENUMS: ClassVar[dict[str, dict[int, str]]] = {}  # enum fields, written as names in text
    MAP_ENTRY: ClassVar[bool] = False  # whether it is the entry of a map

    class _Described:
        def __get__(self, message: Any, cls: Any) -> Any:
            from .descriptors import descriptor_of  # imported on demand

            return descriptor_of(cls)

    DESCRIPTOR: ClassVar[Any] = _Described()
    __slots__ = ("_present", "_unknown", "_values")
    _unknown: bytes

    def __init__(self, **fields: Any):
        _set_values(self, {})
        _set_present(self, False)
        _set_unknown(self, b"")  # undeclared fields, as they were read
        if not fields:
            return
        for name, value in fields.items():
            if value is None:
                continue
            kind = self._kind(name)
            if isinstance(kind, (list, MapOf)) or isinstance(value, Message):
                getattr(self, name)
                self._take(name, value)
            else:
                setattr(self, name, value)

    def _kind(self, name: str) -> Any:
        if name not in self.FIELDS:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        return self.FIELDS[name][1]

    def _take(self, name: str, value: Any) -> None:
        kind = self.FIELDS[name][1]
        if isinstance(kind, list):
            if not isinstance(kind[0], str):
                self._values[name][:] = value
            else:
                self._values[name][:] = checked_all(kind[0], name, value)
        elif isinstance(kind, MapOf):
            self._values[name].update(value)
        else:
            self._values[name] = value
            value.SetInParent()
            self._only(name)

    def __getattr__(self, name: str) -> Any:
        if name not in self.FIELDS:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        if name in self._values:
            return self._values[name]
        kind = self.FIELDS[name][1]
        if isinstance(kind, str):
            return SCALARS[kind][2]
        if isinstance(kind, MapOf):
            made: Any = Map(kind)
        else:
            made = Repeated(kind[0]) if isinstance(kind, list) else kind()
        self._values[name] = made
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.FIELDS:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        kind = self.FIELDS[name][1]
        if not isinstance(kind, str):
            raise AttributeError(f"Assignment not allowed to field {name!r}. Fix: change it in place, or CopyFrom()")
        self._values[name] = checked(kind, name, value)
        self._only(name)

    def _only(self, name: str) -> None:
        for names in self.ONEOF.values():
            if name in names:
                for other in names:
                    if other != name:
                        self._values.pop(other, None)

    # -- presence --------------------------------------------------------------------

    def SetInParent(self) -> None:
        """Marks the message as set, even if no field of it is."""
        _set_present(self, True)

    def _is_set(self, name: str) -> bool:
        value = self._values.get(name)
        if isinstance(value, Message):
            return bool(value._present or any(value._is_set(n) for n in value._values))
        return len(value) > 0 if isinstance(value, (Repeated, Map)) else name in self._values

    def _fields(self) -> list[tuple[str, int, Any, bool]]:
        of: Any = type(self)
        return _in_order(of)

    def _is_written(self, name: str) -> bool:
        """Returns whether a set field is written; a default is not, unless it belongs to a oneof."""
        kind, always = next((kind, always) for n, _, kind, always in self._fields() if n == name)
        return bool(always or self._values[name] != SCALARS[kind][2])

    def HasField(self, name: str) -> bool:
        """Returns whether a field is set."""
        self._kind(name)
        return self._is_set(name)

    def WhichOneof(self, name: str) -> str | None:
        """Returns the name of the field of a oneof that is set, or None."""
        return next((n for n in self.ONEOF[name] if self._is_set(n)), None)

    def ClearField(self, name: str) -> None:
        """Unsets a field."""
        self._values.pop(name, None)

    def Clear(self) -> None:
        """Unsets all fields."""
        self._values.clear()
        _set_unknown(self, b"")

    def CopyFrom(self, other: Any) -> None:
        """Takes over the fields of another message of this type."""
        self.ParseFromString(other.SerializeToString())
        self.SetInParent()

    # -- wire format -----------------------------------------------------------------

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """Serializes the message, fields in the order of their numbers.

        Args:
          deterministic: accepted; equal messages have equal bytes anyhow.
        """
        out = []
        values = self._values
        if not values:
            return self._unknown
        for name, number, kind, always in self._fields():
            value = values.get(name)
            if value is None or not (value if isinstance(value, (list, dict)) else self._is_set(name)):
                continue
            if not always and value == SCALARS[kind][2]:
                continue
            if isinstance(kind, list):
                out.append(_repeated(number, kind[0], value))
            elif isinstance(kind, MapOf):
                for k in sorted(value):
                    entry = _field(1, kind.key, k) + _field(2, kind.value, value[k])
                    out.append(delimited(number, entry))
            else:
                out.append(_field(number, kind, value))
        return b"".join(out) + self._unknown

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        """Parses a message from bytes; raises DecodeError if they are not one."""
        message = cls()
        message.MergeFromString(serialized)
        return message

    def ParseFromString(self, serialized: bytes) -> int:
        """Sets the fields to those of a serialized message; returns its size; raises DecodeError for invalid bytes."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Adds the fields of a serialized message; returns its size; raises DecodeError for invalid bytes."""
        try:
            data = bytes(serialized)
            self._merge(data, 0, len(data), 0)
        except (IndexError, ValueError) as e:
            why = "it ends within a field" if isinstance(e, IndexError) else e
            raise decode_error(f"Error parsing message with type 'tensorflow.{type(self).__name__}': {why}") from None
        return len(serialized)

    def _merge(self, data: bytes, at: int, end: int, depth: int) -> None:
        """Adds the fields of the message that is part of the data and nested in `depth` others."""
        if depth > DEEPEST:
            raise ValueError(f"messages are nested more than {DEEPEST} deep")
        of: Any = type(self)
        rules, values, unknown = _rules(of), self._values, []
        while at < end:  # single-byte numbers, the usual case, are read without a call
            begin, key = at, data[at]
            at += 1
            if key > 127 or key < 8:
                number, wire, at = read_key(data, begin)
                key = number << 3 | wire
            rule = rules.get(key)
            if rule is None:
                number, wire = key >> 3, key & 7
                if wire == GROUP:
                    at = after_group(data, number, at)
                else:
                    value, at = read_value(data, wire, at)
                    unknown.append(raw_field(number, wire, value))
                continue
            what, name, kind, others = rule
            if what <= _NUMBERS:
                value, at = read_number(kind, data, at)
                if what == _NUMBERS:
                    self._place(name, kind).append(value)
                else:
                    values[name] = value
            else:
                size = data[at]
                at += 1
                if size > 127:
                    size, at = read_varint(data, at - 1)
                begin, at = at, at + size
                if at > end:
                    raise ValueError("truncated message")
                if what == _ONE_TEXT:
                    values[name] = data[begin:at].decode() if kind == "string" else data[begin:at]
                elif what == _TEXTS:
                    self._place(name, kind).append(data[begin:at].decode() if kind == "string" else data[begin:at])
                elif what == _PACKED:
                    self._place(name, kind).extend(unpacked_numbers(kind, data[begin:at]))
                else:
                    self._merge_part(what, name, kind, data, begin, at, depth + 1)
            for other in others:
                values.pop(other, None)
        if at > end:
            raise IndexError
        if unknown:
            _set_unknown(self, self._unknown + b"".join(unknown))

    def _place(self, name: str, kind: Any) -> Any:
        """Returns the values of a repeated field, of which each is of a kind."""
        place = self._values.get(name)
        if place is None:
            place = self._values[name] = Repeated(kind)
        return place

    def _merge_part(self, what: int, name: str, kind: Any, data: bytes, begin: int, end: int, depth: int) -> None:
        """Adds a message to a field, or an entry to a map."""
        if what == _MESSAGE:
            place = self._values.get(name)
            if place is None:
                place = self._values[name] = kind()
            place._merge(data, begin, end, depth)
            _set_present(place, True)
        elif what == _MESSAGES:
            part = kind()
            self._place(name, kind).append(part)
            part._merge(data, begin, end, depth)
        else:
            place = self._values.get(name)
            if place is None:
                place = self._values[name] = Map(kind)
            if kind.key == "string" and not isinstance(kind.value, str) and is_plain_entry(data, begin, end):
                at = begin + 2 + data[begin + 1]
                part = place[data[begin + 2 : at].decode()] = kind.value()
                part._merge(data, at + 2, end, depth + 1)
                _set_present(part, True)
                return
            entry = entry_class(kind)()
            entry._merge(data, begin, end, depth)
            found = entry._values
            value = found.get("value")
            place[found.get("key", default_of(kind.key))] = entry.value if value is None else value

    def MergeFrom(self, other: Any) -> None:
        """Adds the fields of another message of this type."""
        self.MergeFromString(other.SerializeToString())

    def ByteSize(self) -> int:
        """Returns the size of the serialized message in bytes."""
        return len(self.SerializeToString())

    def IsInitialized(self) -> bool:
        """Returns True: no field is required."""
        return True

    def ListFields(self) -> list[tuple[Any, Any]]:
        """Lists `FieldDescriptor` and value of each field that is set, in the order of their numbers."""
        fields = self.DESCRIPTOR.fields
        return [(f, self._values[f.name]) for f in fields if self._is_set(f.name) and self._is_written(f.name)]

    # -- text ------------------------------------------------------------------------

    def __repr__(self) -> str:
        return "".join(line + "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, (_, kind) in self.FIELDS.items():
            if not self._is_set(name) or not self._is_written(name):
                continue
            value = self._values[name]
            if isinstance(kind, MapOf):
                for key in sorted(value):
                    entry = value[key]
                    yield f"{name} {{"
                    yield f"  key: {_text(kind.key, key)}"
                    if isinstance(entry, Message):
                        yield "  value {"
                        yield from ("    " + line for line in entry._lines())
                        yield "  }"
                    else:
                        yield f"  value: {_text(kind.value, entry)}"
                    yield "}"
                continue
            single = kind[0] if isinstance(kind, list) else kind
            for v in value if isinstance(value, Repeated) else [value]:
                if isinstance(v, Message):
                    yield f"{name} {{"
                    yield from ("  " + line for line in v._lines())
                    yield "}"
                else:
                    yield f"{name}: {self.ENUMS[name].get(v, v) if name in self.ENUMS else _text(single, v)}"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Message):
            return False
        return self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)


# Bypasses the attribute hooks of messages.
_set_values, _set_present, _set_unknown = (vars(Message)[s].__set__ for s in ("_values", "_present", "_unknown"))


def _field(number: int, kind: Any, value: Any) -> bytes:
    if not isinstance(kind, str):
        return delimited(number, value.SerializeToString())
    wire = SCALARS[kind][0]
    if wire == DELIMITED:
        return delimited(number, encoded(kind, value))
    return varint(number << 3 | wire) + encoded(kind, value)


def _repeated(number: int, kind: Any, values: Any) -> bytes:
    if not isinstance(kind, str):
        return b"".join([delimited(number, v.SerializeToString()) for v in values])
    if SCALARS[kind][0] != DELIMITED:
        return delimited(number, packed_numbers(kind, values))
    return b"".join([delimited(number, encoded(kind, v)) for v in values])


def _text(kind: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # the fewest digits that identify the number
        return str(np.float32(value) if kind == "float" else value).removesuffix(".0")
    return quoted(value) if isinstance(value, (str, bytes)) else str(value)
