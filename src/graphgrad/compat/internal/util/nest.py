"""`tensorflow.python.util.nest`: what it has besides the public `tf.nest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graphgrad.frontend.structure.nest import (
    assert_shallow_structure,
    flatten,
    flatten_up_to,
    is_nested,
    pack_sequence_as,
    sequence_like,
    yield_flat_paths,
)


def is_namedtuple(instance: Any) -> bool:
    """Returns whether a value is a named tuple.

    Args:
      instance: anything.
    """
    return isinstance(instance, tuple) and isinstance(getattr(instance, "_fields", None), tuple)


def same_namedtuples(o1: Any, o2: Any) -> bool:
    """Returns whether two named tuples have the same name and fields.

    Args:
      o1, o2: named tuples.
    """
    return type(o1).__name__ == type(o2).__name__ and o1._fields == o2._fields


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """Yields keys, numbers or names of fields, and the elements."""
    if isinstance(iterable, Mapping):
        yield from ((key, iterable[key]) for key in sorted(iterable))
    elif is_namedtuple(iterable):
        yield from ((field, getattr(iterable, field)) for field in iterable._fields)
    else:
        yield from enumerate(iterable)


def _yield_value(iterable: Any) -> Iterator[Any]:
    """Yields the elements; those of a dictionary by sorted key."""
    for _, value in _yield_sorted_items(iterable):
        yield value


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[Any, Any]]:
    """Returns pairs of a path, a tuple, and a leaf.

    Args:
      structure: the structure.
      expand_composites: whether composites are split into components.
    """
    paths = yield_flat_paths(structure, expand_composites)
    return list(zip(paths, flatten(structure, expand_composites), strict=True))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/",
                                     expand_composites: bool = False) -> list[tuple[str, Any]]:
    """Returns pairs of a path, a text, and a leaf.

    Args:
      structure: the structure.
      separator: what is between the pieces of a path.
      expand_composites: whether composites are split into components.
    """
    return [(separator.join(map(str, path)), leaf)
            for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to paths and corresponding leaves.

    Args:
      func: takes a path, and one leaf of each structure.
      *structure: the structures.
      **kwargs: `expand_composites`.
    """
    expand = bool(kwargs.get("expand_composites", False))
    columns = zip(*[flatten(s, expand) for s in structure], strict=True)
    found = [func(path, *leaves) for path, leaves in zip(yield_flat_paths(structure[0], expand), columns, strict=True)]
    return pack_sequence_as(structure[0], found, expand)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to paths, as texts with slashes, and corresponding leaves.

    Args:
      func: takes a path, and one leaf of each structure.
      *structure: the structures.
      **kwargs: `expand_composites`.
    """
    return map_structure_with_tuple_paths(lambda path, *leaves: func("/".join(map(str, path)), *leaves), *structure,
                                          **kwargs)


def map_structure_with_tuple_paths_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any,
                                         **kwargs: Any) -> Any:
    """Applies a function to paths and parts of structures at the leaves of a pattern.

    Args:
      shallow_tree: the pattern.
      func: takes a path, and one part of each input.
      *inputs: structures that have at least the nesting of the pattern.
      **kwargs: `check_types` as in `assert_shallow_structure`; `expand_composites`.
    """
    check, expand = kwargs.get("check_types", True), bool(kwargs.get("expand_composites", False))
    for tree in inputs:
        assert_shallow_structure(shallow_tree, tree, check)
    columns = zip(*[flatten_up_to(shallow_tree, tree, check) for tree in inputs], strict=True)
    found = [func(path, *parts) for path, parts in zip(yield_flat_paths(shallow_tree, expand), columns, strict=True)]
    return pack_sequence_as(shallow_tree, found, expand)


_is_namedtuple, _sequence_like, is_sequence = is_namedtuple, sequence_like, is_nested
