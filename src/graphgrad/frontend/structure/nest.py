"""Nested structures: lists, tuples, named tuples and dictionaries of leaves.

Reference: TensorFlow 2.21 `tf.nest`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any, overload

from graphgrad.frontend.structure.structure_types import R, S
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.composite import Composite

from .type_spec import DenseSpec, TypeSpec

_OF_LEAVES = (TypeSpec._component_specs, DenseSpec._component_specs)


def is_composite_spec(value: Any) -> bool:
    """Returns whether `value` is the spec of a composite."""
    return isinstance(value, TypeSpec) and type(value)._component_specs not in _OF_LEAVES


def _is_composite(value: Any, expand_composites: bool) -> bool:
    return expand_composites and (isinstance(value, Composite) or is_composite_spec(value))


@functools.lru_cache(4096)
def _is_nested_class(kind: type) -> bool:
    if issubclass(kind, (list, tuple, Mapping, MappingView)):
        return True
    if issubclass(kind, Sequence):
        return not issubclass(kind, (str, bytes, bytearray, memoryview))
    return hasattr(kind, "__attrs_attrs__") or hasattr(kind, "__tf_flatten__")


def is_nested(structure: Any) -> bool:
    """Returns whether `structure` is a list, tuple, dictionary, another sequence, or an object of a class of `attrs`.

    A class may say by `__tf_flatten__` what its objects consist of, and make one again by `__tf_unflatten__`.

    Args:
      structure: any object.
    Reference: TensorFlow 2.21 `tf.nest.is_nested`.

    >>> tf.nest.is_nested([1]), tf.nest.is_nested("ab")
    (True, False)
    """
    kind: Any = structure.__class__  # wrappers of dictionaries say that they are some
    return _is_nested_class(kind)


def _children(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        return (structure[k] for k in sorted(structure))
    kind = type(structure)
    if hasattr(kind, "__tf_flatten__"):
        return iter(structure.__tf_flatten__()[1])
    if is_attrs(structure):
        return iter([getattr(structure, a.name) for a in kind.__attrs_attrs__])
    return iter(structure)


def _remade(structure: Any, items: list[Any]) -> Any:
    """Makes an object like `structure`, no mapping, of other children."""
    kind = type(structure)
    if hasattr(kind, "__tf_flatten__"):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(items))
    if is_attrs(structure) or hasattr(structure, "_fields"):
        return kind(*items)
    if isinstance(structure, tuple):
        return tuple(items)
    return items if isinstance(structure, (list, range, MappingView)) else kind(items)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves, in order; those of a dictionary by sorted key.

    Args:
      structure: any nesting of lists, tuples and dictionaries, or a leaf.
      expand_composites: whether sparse, ragged and sliced tensors, and their specs, are split into components.

    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    if _is_composite(structure, expand_composites):
        structure = structure._components() if isinstance(structure, Composite) else structure._component_specs
    elif not is_nested(structure):
        return [structure]
    if not is_nested(structure):  # the single spec of a user-defined class
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child, expand_composites)]


@overload
def pack_sequence_as(structure: list[Any], flat_sequence: Any, expand_composites: bool = False) -> list[Any]: ...
@overload
def pack_sequence_as(structure: dict[S, Any], flat_sequence: Any, expand_composites: bool = False) -> dict[S, Any]: ...
@overload
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any: ...
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Packs the leaves of `flat_sequence` like `structure`.

    Args:
      structure: the pattern.
      flat_sequence: as many leaves as `structure` has.
      expand_composites: whether composites are put together of their components.
    Raises: ValueError if the number of leaves differs.

    >>> tf.nest.pack_sequence_as({"a": 0, "b": [0]}, [1, 2])
    {'a': 1, 'b': [2]}
    """
    leaves = list(flat_sequence)
    wanted = len(flatten(structure, expand_composites))
    if len(leaves) != wanted:
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(leaves)} "
            f"items. Structure: {structure}, flat_sequence: {leaves}."
        )
    return _pack(structure, iter(leaves), expand_composites)


def _pack(structure: Any, leaves: Iterator[Any], expand_composites: bool = False) -> Any:
    if _is_composite(structure, expand_composites):
        if isinstance(structure, Composite):
            return structure._with_components([next(leaves) for _ in structure._components()])
        return structure._from_components(_pack(structure._component_specs, leaves, True))
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        packed = {k: _pack(structure[k], leaves, expand_composites) for k in sorted(structure)}
        kind: Any = type(structure)
        return kind((k, packed[k]) for k in structure)
    return _remade(structure, [_pack(child, leaves, expand_composites) for child in _children(structure)])


@overload
def map_structure(func: Callable[..., R], *structure: TensorOperators, **kwargs: Any) -> R: ...
@overload
def map_structure(func: Callable[..., Any], *structure: list[Any], **kwargs: Any) -> list[Any]: ...
@overload
def map_structure(func: Callable[..., Any], *structure: dict[S, Any], **kwargs: Any) -> dict[S, Any]: ...
@overload
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any: ...
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to corresponding leaves of equally nested structures.

    Args:
      func: takes one leaf of each structure.
      *structure: the structures.
      **kwargs: `check_types` as in `assert_same_structure`; `expand_composites`: whether `func` gets the components
        of composites.
    Raises: ValueError or TypeError if the structures differ; TypeError if `func` is not a function.

    >>> tf.nest.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    expand = bool(kwargs.get("expand_composites", False))
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True), expand)
    results = [func(*leaves) for leaves in zip(*[flatten(s, expand) for s in structure], strict=True)]
    return pack_sequence_as(structure[0], results, expand)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises unless the two are nested alike.

    Args:
      nest1, nest2: the structures.
      check_types: whether lists, tuples and dictionaries are distinguished.
      expand_composites: whether composites have to be of one kind and dtype.
    Raises: ValueError if lengths or nesting differ; TypeError if only the types do.
    """
    if _is_composite(nest1, expand_composites) or _is_composite(nest2, expand_composites):
        _assert_same_kind(nest1, nest2)
        return
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}"
        )
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(
            "The two structures don't have the same sequence type. "
            f"First: {type(nest1).__name__}, second: {type(nest2).__name__}"
        )
    if _count(nest1) != _count(nest2) or (isinstance(nest1, Mapping) and set(nest1) != set(nest2)):
        raise ValueError(
            "The two structures don't have the same number of elements.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}"
        )
    for a, b in zip(_children(nest1), _children(nest2), strict=True):
        assert_same_structure(a, b, check_types, expand_composites)


def _count(structure: Any) -> int:
    return len(structure) if isinstance(structure, (list, tuple, Mapping)) else len(list(_children(structure)))


def _assert_same_kind(one: Any, other: Any) -> None:
    from .composite_specs import spec_of  # which needs this module

    specs: list[Any] = [s if isinstance(s, TypeSpec) else spec_of(s) if isinstance(s, Composite) else None
                        for s in (one, other)]
    if None in specs:
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {one}\n\nSecond structure: {other}"
        )
    if specs[0].most_specific_common_supertype([specs[1]]) is None:
        raise ValueError("Incompatible CompositeTensor TypeSpecs: "
                         f"{specs[0]} vs. {specs[1]}. Fix: give both of one kind and dtype")


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Applies `func` at the leaves of `shallow_tree`; the parts of `inputs` there may be nested further.

    Args:
      shallow_tree: the pattern.
      func: takes one part of each input.
      *inputs: structures that have at least the nesting of `shallow_tree`.
      **kwargs: accepted as TensorFlow does.
    Raises: ValueError if an input is not nested like the pattern.

    >>> from graphgrad.frontend.structure.nest import map_structure_up_to
    >>> map_structure_up_to([0, 0], len, [[1, 2], [3]])
    [2, 1]
    """
    if not is_nested(shallow_tree):
        return func(*inputs)
    for i in inputs:
        if not is_nested(i) or len(i) != len(shallow_tree):
            raise ValueError(f"The input {i!r} is not nested like {shallow_tree!r}.")
    columns = zip(*map(_children, inputs), strict=True)
    parts = [map_structure_up_to(s, func, *c) for s, c in zip(_children(shallow_tree), columns, strict=True)]
    return _pack(_mark_leaves(shallow_tree), iter(parts))


def _mark_leaves(structure: Any) -> Any:
    """Marks the children of a structure as leaves."""
    if isinstance(structure, Mapping):
        kind: Any = type(structure)
        return kind((key, None) for key in structure)
    if hasattr(structure, "_fields") or not isinstance(structure, (list, tuple)):
        return _remade(structure, [None] * _count(structure))
    return type(structure)([None] * len(structure))


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True,
                             expand_composites: bool = False) -> None:
    """Raises unless a structure has at least the nesting of another one.

    Args:
      shallow_tree: the pattern.
      input_tree: the structure.
      check_types: whether lists, tuples and dictionaries are distinguished.
      expand_composites: accepted as TensorFlow does.
    Raises: ValueError for other lengths and keys; TypeError for other types, and leaves where there is nesting.
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}. Fix: nest it")
    if check_types and isinstance(shallow_tree, Mapping) != isinstance(input_tree, Mapping):
        raise TypeError("The two structures don't have the same sequence type. Input structure has type "
                        f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}. Fix: use one type")
    if _count(shallow_tree) != _count(input_tree):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length "
                         f"{_count(input_tree)}, while shallow structure has length {_count(shallow_tree)}.")
    if isinstance(shallow_tree, Mapping) and set(shallow_tree) != set(input_tree):
        raise ValueError(f"The two structures don't have the same keys: {sorted(shallow_tree)}, {sorted(input_tree)}.")
    for a, b in zip(_children(shallow_tree), _children(input_tree), strict=True):
        assert_shallow_structure(a, b, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True,
                  expand_composites: bool = False) -> list[Any]:
    """Returns the parts of a structure at the leaves of another one; they may be nested further.

    Args:
      shallow_tree: the pattern.
      input_tree: a structure that has at least its nesting.
      check_types, expand_composites: as in `assert_shallow_structure`.
    Raises: as `assert_shallow_structure`.

    >>> from graphgrad.frontend.structure.nest import flatten_up_to
    >>> flatten_up_to([0, [0]], [[1, 2], [3]])
    [[1, 2], 3]
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    if not is_nested(shallow_tree):
        return [input_tree]
    pairs = zip(_children(shallow_tree), _children(input_tree), strict=True)
    return [part for a, b in pairs for part in flatten_up_to(a, b, check_types)]


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """Flattens a dictionary whose keys may be nested, with values nested alike.

    Args:
      dictionary: the dictionary.
    Raises: TypeError for anything else; ValueError for a key that comes twice, and lengths that differ.

    >>> from graphgrad.frontend.structure.nest import flatten_dict_items
    >>> flatten_dict_items({("a", ("b", "c")): (1, (2, 3)), "d": 4})
    {'a': 1, 'b': 2, 'c': 3, 'd': 4}
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value) if is_nested(key) else [value]
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} "
                             f"elements. Key: {key}, value: {value}.")
        for k, v in zip(keys, values, strict=True):
            if k in flat:
                raise ValueError(f"Could not flatten dictionary: key {k} is not unique.")
            flat[k] = v
    return flat


def is_mapping(structure: Any) -> bool:
    """Returns whether `structure` is a dictionary or another mapping."""
    return isinstance(structure, Mapping)


def is_attrs(structure: Any) -> bool:
    """Returns whether `structure` is an instance of a class of `attrs`."""
    return getattr(type(structure), "__attrs_attrs__", None) is not None


def list_to_tuple(structure: Any) -> Any:
    """Replaces the lists in a structure by tuples.

    >>> from graphgrad.frontend.structure.nest import list_to_tuple
    >>> list_to_tuple([1, {"a": [2]}])
    (1, {'a': (2,)})
    """
    if isinstance(structure, list):
        return tuple(map(list_to_tuple, structure))
    if isinstance(structure, Mapping):
        return pack_mapping(structure, [list_to_tuple(v) for v in structure.values()])
    if isinstance(structure, tuple):
        parts = [list_to_tuple(v) for v in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return structure


def pack_mapping(mapping: Any, values: Any) -> Any:
    """Makes a mapping with the keys of another one.

    Args:
      mapping: the other one.
      values: its values, in the order of the keys.
    """
    return type(mapping)(zip(mapping, values, strict=True))


def sequence_like(instance: Any, args: Any) -> Any:
    """Makes a structure of the type of another one.

    Args:
      instance: the other one.
      args: the elements; for a mapping, by sorted key.
    """
    return _pack(_mark_leaves(instance), iter(args))


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yields the path of each leaf: keys, numbers, and names of fields.

    Args:
      nest: the structure.
      expand_composites: whether composites are split into components, which are numbered.

    >>> from graphgrad.frontend.structure.nest import yield_flat_paths
    >>> list(yield_flat_paths({"a": [1, 2]}))
    [('a', 0), ('a', 1)]
    """
    if _is_composite(nest, expand_composites):
        nest = flatten(nest, True)
    if not is_nested(nest):
        yield ()
        return
    keys = sorted(nest) if isinstance(nest, Mapping) else getattr(nest, "_fields", range(len(nest)))
    for key, child in zip(keys, _children(nest), strict=True):
        for path in yield_flat_paths(child, expand_composites):
            yield (key, *path)


def get_traverse_shallow_structure(traverse_fn: Callable[[Any], Any], structure: Any,
                                   expand_composites: bool = False) -> Any:
    """Returns the pattern of the parts of a structure that a function descends into.

    Args:
      traverse_fn: says of a part whether to descend into it: a bool, or a structure of bools for its elements.
      structure: the structure.
      expand_composites: accepted as TensorFlow does.
    Returns: a structure that ends with False where the function does, and with True at leaves.
    Raises: TypeError if the function returns something else.
    """
    answer = traverse_fn(structure)
    if not is_nested(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}.")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        answers: Any = [True] * len(structure)
    else:
        assert_shallow_structure(answer, structure)
        answers = _children(answer)
    parts = [get_traverse_shallow_structure(traverse_fn, part) if further else False
             for further, part in zip(answers, _children(structure), strict=True)]
    return sequence_like(structure, parts)
