"""Names of classes of specs, in files and in libraries."""

from __future__ import annotations

import re
from collections.abc import Callable

from .structure_types import S
from .type_spec import TypeSpec

_TYPE_SPEC_TO_NAME: dict[type, str] = {}
_NAME_TO_TYPE_SPEC: dict[str, type] = {}


def register(name: str) -> Callable[[S], S]:
    """Returns a decorator that registers a class of specs.

    Args:
      name: its name, "project.Class".
    Raises: TypeError or ValueError for another name; the decorator raises TypeError for what is no class of specs,
      and ValueError for a class or a name that is registered.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not re.match(r"^(\w+\.)+\w+$", name):
        raise ValueError("Registered name must have the form '{project_name}.{type_name}' "
                         f"(e.g. 'my_project.MyTypeSpec'); got {name!r}.")

    def decorator(cls: S) -> S:
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError(f"Class {cls.__module__}.{cls.__name__} has already been registered with name "
                             f"{_TYPE_SPEC_TO_NAME[cls]}.")
        if name in _NAME_TO_TYPE_SPEC:
            other = _NAME_TO_TYPE_SPEC[name]
            raise ValueError(f"Name {name} has already been registered for class {other.__module__}.{other.__name__}.")
        _TYPE_SPEC_TO_NAME[cls] = name
        _NAME_TO_TYPE_SPEC[name] = cls
        return cls

    return decorator


def get_name(cls: type) -> str:
    """Returns the name of a class of specs.

    Args:
      cls: the class.
    Raises: ValueError if it is not registered.
    """
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def lookup(name: str) -> type:
    """Returns the class of specs of a name.

    Args:
      name: the name.
    Raises: ValueError if there is none.
    """
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]
