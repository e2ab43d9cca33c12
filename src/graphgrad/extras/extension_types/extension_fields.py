"""The fields of extension types: which annotations there are, and which values fit them."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import Tensor
from graphgrad.ir.values.composite import Composite

_PLAIN = (int, float, bool, str, bytes, type(None))


class ImmutableDict(Mapping[Any, Any]):
    """A dictionary that cannot be changed: the value of a field that is a mapping.

    Args:
      items: a mapping, or pairs.
    """

    def __init__(self, items: Any = ()):
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._items.items())))

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items})"


def check_annotation(name: str, annotation: Any) -> None:
    """Raises TypeError unless a field may have an annotation.

    Args:
      name: the field's.
      annotation: its annotation.
    """
    if not _is_allowed(annotation):
        shown = getattr(annotation, "__name__", annotation)
        raise TypeError(f"In field {name!r}: Unsupported type annotation {shown!r}. Fix: tf.Tensor, a class of "
                        "composites, int, float, bool, str, bytes, None, tuples and unions of these, "
                        "Mapping[str, ...]")


def _is_allowed(annotation: Any) -> bool:
    if isinstance(annotation, str) or annotation is None:  # a class that is defined later
        return True
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (tuple, typing.Union, types.UnionType):
        return all(a is Ellipsis or _is_allowed(a) for a in args)
    if origin is not None and issubclass(origin, Mapping):
        return args[0] in (str, int, bool, bytes, float) and _is_allowed(args[1])
    if isinstance(annotation, type):
        return annotation in _PLAIN or issubclass(annotation, (Tensor, TensorShape, DType, Composite, TypeSpec))
    return isinstance(annotation, typing.ForwardRef)


def fitted(value: Any, annotation: Any, path: str, specs: bool = False) -> Any:
    """Returns the value of a field, converted to its annotation.

    Args:
      value: what was given.
      annotation: the field's.
      path: what it is called in errors.
      specs: whether specs stand for tensors and composites.
    Raises: TypeError for a value that does not fit.
    """
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _one_of(value, annotation, path, specs)
    if origin is tuple:
        return _as_tuple(value, args, path, specs)
    if origin is not None:
        if not isinstance(value, Mapping):
            raise _wrong(path, "mapping", value)
        return ImmutableDict((fitted(k, args[0], f"{path}[<key>]", specs), fitted(v, args[1], f"{path}[{k!r}]", specs))
                             for k, v in value.items())
    if annotation is None:
        annotation = type(None)
    if issubclass(annotation, Tensor):
        return _as_tensor(value, path, specs)
    if annotation is TensorShape or annotation is DType:
        return _as_static(value, annotation, path)
    if specs and issubclass(annotation, Composite):
        if not (isinstance(value, TypeSpec) and issubclass(value.value_type, annotation)):
            raise _wrong(path, f"a TypeSpec of {annotation.__name__}", value)
        return value
    if not isinstance(value, annotation):
        raise _wrong(path, repr(annotation.__name__), value)
    return value


def _wrong(path: str, wanted: str, value: Any) -> TypeError:
    return TypeError(f"{path}: expected {wanted}, got {type(value).__name__!r}. Fix: give what the field's annotation "
                     "says")


def _one_of(value: Any, annotation: Any, path: str, specs: bool) -> Any:
    for exact in (True, False):  # a value of one of the classes first: numbers are tensors, too
        for option in typing.get_args(annotation):
            if exact and isinstance(option, type) and issubclass(option, Tensor) and not isinstance(value, Tensor):
                continue
            try:
                return fitted(value, option, path, specs)
            except TypeError:
                pass  # another option may fit
    raise _wrong(path, str(annotation), value)


def _as_tuple(value: Any, args: tuple[Any, ...], path: str, specs: bool) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(path, "tuple", value)
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(value)
    if len(args) != len(value):
        raise _wrong(path, f"tuple with length {len(args)}", value)
    return tuple([fitted(v, a, f"{path}[{i}]", specs) for i, (v, a) in enumerate(zip(value, args, strict=True))])


def _as_tensor(value: Any, path: str, specs: bool) -> Any:
    if specs:
        if not isinstance(value, TensorSpec):
            raise _wrong(path, "a TensorSpec", value)
        return value
    try:
        return convert_to_tensor(value, name=path)
    except (TypeError, ValueError):
        raise _wrong(path, "a Tensor", value) from None


def _as_static(value: Any, annotation: Any, path: str) -> Any:
    try:
        return TensorShape(value) if annotation is TensorShape else as_dtype(value)
    except (TypeError, ValueError):
        raise _wrong(path, f"'tf.{annotation.__name__}'", value) from None
