"""Packs and unpacks the structured results of functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Operation
from graphgrad.ir.values.composite import Bundle

from . import nest
from .composites import put_together, tensor_count
from .nest import is_composite_spec
from .type_spec import TypeSpec


class _Output:
    """Marks the position of the i-th tensor in the structure of results."""

    def __init__(self, index: int):
        self.index = index


class _Composite:
    """Marks a result that consists of several tensors."""

    def __init__(self, make: Callable[..., Any], parts: Sequence[Any]):
        self.make, self.parts = make, parts


def collect_outputs(result: Any, outputs: list[Any]) -> Any:
    """Appends the tensors of `result` to `outputs` and replaces them by marks."""

    def collect(leaf: Any) -> Any:
        if leaf is None or isinstance(leaf, Operation):
            return None
        if isinstance(leaf, Bundle):
            parts, again = leaf._returned()
            return _Composite(again, list(map(collect, parts)))
        tensor = convert_to_tensor(leaf)
        if tensor.dtype is dtypes.resource:
            return leaf
        outputs.append(tensor)
        return _Output(len(outputs) - 1)

    return nest.map_structure(collect, result)


def marks_of(specs: Any) -> Any:
    """Returns the structure of results that `restore` takes, of the structure of their specs."""
    count = 0

    def mark(leaf: Any) -> Any:
        nonlocal count
        if not isinstance(leaf, TypeSpec):
            return leaf
        places = range(count, count + tensor_count(leaf))
        count = places.stop
        marks: list[Any] = [_Output(i) for i in places]
        return _Composite(lambda *parts: put_together([leaf], parts)[0], marks) if is_composite_spec(leaf) else marks[0]

    return nest.map_structure(mark, specs)


def restore(structure: Any, tensors: Sequence[Any]) -> Any:
    """Replaces the marks in a structure by tensors."""

    def put(leaf: Any) -> Any:
        if isinstance(leaf, _Output):
            return tensors[leaf.index]
        if isinstance(leaf, _Composite):
            return leaf.make(*[put(p) for p in leaf.parts])
        return leaf

    return nest.map_structure(put, structure)


def restorer(structure: Any) -> Callable[[Sequence[Any]], Any]:
    """Returns a function that does what `restore` does with a structure, in less time.

    Args:
      structure: a structure with marks.
    """
    if type(structure) is _Output:
        return operator.itemgetter(structure.index)
    if type(structure) in (list, tuple, dict):
        leaves = list(structure.values() if type(structure) is dict else structure)
        if leaves and all(type(leaf) is _Output for leaf in leaves):
            places = [leaf.index for leaf in leaves]
            if type(structure) is dict:
                keys = list(structure)
                return lambda tensors: dict(zip(keys, [tensors[i] for i in places], strict=True))
            make = type(structure)
            return lambda tensors: make([tensors[i] for i in places])
    return lambda tensors: restore(structure, tensors)
