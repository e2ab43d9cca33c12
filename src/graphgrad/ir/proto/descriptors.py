"""Descriptors of our messages, in the form that the protobuf package expects.

`google.protobuf.text_format` and `json_format` are Python code that reads a message's `DESCRIPTOR`; so they work on
this package's messages as on protobuf's own.

Reference: protobuf.dev/reference/python, `google.protobuf.descriptor`.
"""

from __future__ import annotations

from typing import Any

# kind -> (TYPE_*, CPPTYPE_*) of google.protobuf.descriptor.FieldDescriptor
_TYPES = {"double": (1, 5), "float": (2, 6), "int": (3, 2), "uint64": (4, 4), "int32": (5, 1), "fixed64": (6, 4),
          "fixed32": (7, 3), "bool": (8, 7), "string": (9, 9), "bytes": (12, 9), "uint32": (13, 3), "sint64": (18, 2)}
_MESSAGE, _ENUM = (11, 10), (14, 8)
_OPTIONAL, _REPEATED = 1, 3


class _Options:
    """The options of a message or field."""

    def __init__(self, map_entry: bool = False):
        self.map_entry = map_entry
        self.message_set_wire_format = False

    def HasExtension(self, extension: Any) -> bool:
        """Returns False: there are none."""
        return False


class FileDescriptor:
    """The file that declares all messages, as far as protobuf's code needs it."""

    name, package, syntax = "tensorflow/graphgrad.proto", "tensorflow", "proto3"


_FILE = FileDescriptor()


class EnumValueDescriptor:
    """A value of an enum: `name`, `number`."""

    def __init__(self, name: str, number: int):
        self.name, self.number, self.index = name, number, number

    def GetOptions(self) -> _Options:
        """Returns the options."""
        return _Options()


class EnumDescriptor:
    """An enum: its values by name and by number; others are allowed."""

    is_closed = False

    def __init__(self, name: str, names: dict[int, str]):
        self.name, self.full_name, self.file = name, f"tensorflow.{name}", _FILE
        self.values = [EnumValueDescriptor(text, number) for number, text in sorted(names.items())]
        self.values_by_name = {v.name: v for v in self.values}
        self.values_by_number = {v.number: v for v in self.values}


class OneofDescriptor:
    """Fields of which at most one is set."""

    def __init__(self, name: str, containing_type: Descriptor):
        self.name, self.full_name = name, f"{containing_type.full_name}.{name}"
        self.containing_type = containing_type
        self.fields: list[FieldDescriptor] = []


class FieldDescriptor:
    """A field: its name, number and type; the message or enum type that it holds.

    Args:
      name, number, kind: as `Message.FIELDS` declares it.
      containing_type: the message.
      index: its position in the message.
      enum: the names of an enum's values, or None.
    """

    is_extension = is_required = has_options = has_default_value = False
    extension_scope = None

    def __init__(self, name: str, number: int, kind: Any, containing_type: Descriptor, index: int,
                 enum: dict[int, str] | None):
        from .messages import MapOf, entry_class

        self.name, self.number, self.index, self.containing_type = name, number, index, containing_type
        self.full_name, self.file = f"{containing_type.full_name}.{name}", _FILE
        head, *rest = name.split("_")
        self.camelcase_name = self.json_name = head + "".join(r.capitalize() for r in rest)
        self.is_repeated = isinstance(kind, (list, MapOf))
        self.label = _REPEATED if self.is_repeated else _OPTIONAL
        single = kind[0] if isinstance(kind, list) else entry_class(kind) if isinstance(kind, MapOf) else kind
        self._message = None if isinstance(single, str) else single
        self.enum_type = None if enum is None else EnumDescriptor(f"{containing_type.name}.{name}", enum)
        self.type, self.cpp_type = _MESSAGE if self._message else _ENUM if enum is not None else _TYPES[single]
        self.containing_oneof: OneofDescriptor | None = None
        self.default_value = _default(single, self.is_repeated)

    @property
    def message_type(self) -> Descriptor | None:
        """The descriptor of the message that the field holds, or None."""
        return None if self._message is None else descriptor_of(self._message)

    @property
    def has_presence(self) -> bool:
        """Whether a field with its default value differs from an unset one."""
        return not self.is_repeated and (self._message is not None or self.containing_oneof is not None)

    def GetOptions(self) -> _Options:
        """Returns the options."""
        return _Options()

    def __repr__(self) -> str:
        return f"<FieldDescriptor {self.full_name}>"


class Descriptor:
    """A class of messages: its fields by name and by number.

    Args:
      cls: a subclass of `Message`.
    """

    is_extendable = False
    containing_type = None
    file = _FILE

    def __init__(self, cls: Any):
        self.name = cls.__name__.lstrip("_")
        self.full_name = f"tensorflow.{self.name}"
        self._concrete_class = cls
        self.has_options = bool(cls.MAP_ENTRY)
        declared = sorted(cls.FIELDS.items(), key=lambda item: item[1][0])
        self.fields = [FieldDescriptor(name, number, kind, self, i, cls.ENUMS.get(name))
                       for i, (name, (number, kind)) in enumerate(declared)]
        self.fields_by_name = {f.name: f for f in self.fields}
        self.fields_by_number = {f.number: f for f in self.fields}
        self.fields_by_camelcase_name = {f.camelcase_name: f for f in self.fields}
        self.oneofs = [OneofDescriptor(name, self) for name in cls.ONEOF]
        self.oneofs_by_name = {o.name: o for o in self.oneofs}
        for oneof in self.oneofs:
            for name in cls.ONEOF[oneof.name]:
                self.fields_by_name[name].containing_oneof = oneof
                oneof.fields.append(self.fields_by_name[name])

    def GetOptions(self) -> _Options:
        """Returns the options."""
        return _Options(self.has_options)

    def __repr__(self) -> str:
        return f"<Descriptor {self.full_name}>"


def _default(kind: Any, is_repeated: bool) -> Any:
    from .messages import default_of

    return [] if is_repeated else default_of(kind) if isinstance(kind, str) else None


_descriptors: dict[Any, Descriptor] = {}


def descriptor_of(cls: Any) -> Descriptor:
    """Returns the descriptor of a class of messages."""
    found = _descriptors.get(cls)
    if found is None:
        found = _descriptors[cls] = Descriptor(cls)
    return found
