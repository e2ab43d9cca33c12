"""Loops and branches of programs that are written without JAX: StableHLO's operations with regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.values import tensor_list

from .array_indices import dynamic_slice, dynamic_update
from .arrays import Array
from .element_types import Unsupported
from .program_text import TextBlock


class Structure:
    """How a value consists of arrays: tuples and lists of them, and lists of tensors.

    Args:
      xp: the namespace.
      value: the value.

    Attributes:
      leaves: its arrays.
      kind: its structure without them; equal for values of one structure.
    """

    def __init__(self, xp: Any, value: Any):
        self.leaves: list[Array] = []
        self._xp = xp
        self.kind = self._flatten(value)

    def _flatten(self, value: Any) -> Any:
        if value is None:
            return None
        if type(value) in (list, tuple):
            return (type(value), *map(self._flatten, value))
        if isinstance(value, tensor_list.TensorList):
            parts, kind = tensor_list.flatten(value)
            return (kind, *map(self._flatten, parts))
        self.leaves.append(self._xp.asarray(value))
        return "array"

    def types(self) -> list[str]:
        """Returns the arrays' types."""
        return [leaf.type for leaf in self.leaves]

    def filled(self, leaves: Sequence[Array]) -> Any:
        """Returns a value of this structure with other arrays."""
        left = iter(leaves)
        return _filled(self.kind, left)


def _filled(kind: Any, left: Any) -> Any:
    if kind is None:
        return None
    if kind == "array":
        return next(left)
    first, *parts = kind
    values = [_filled(part, left) for part in parts]
    return first(values) if first in (list, tuple) else tensor_list.unflatten(first, values)


def _checked(made: Structure, wanted: Structure) -> Structure:
    if made.kind != wanted.kind or made.types() != wanted.types():
        raise Unsupported("what differs between iterations or branches")
    return made


def _block(block: TextBlock, arguments: Sequence[Array], results: Sequence[Array]) -> str:
    """Returns the text of a region."""
    head = f"  ^bb0({', '.join([f'{a.name}: {a.type}' for a in arguments])}):\n" if arguments else ""
    names, types = ", ".join([r.name for r in results]), ", ".join([r.type for r in results])
    last = f"    stablehlo.return {names} : {types}" if results else "    stablehlo.return"
    return "{\n" + head + "\n".join([*block.lines, last]) + "\n  }"


def _operation(xp: Any, name: str, operands: Sequence[Array], regions: Sequence[str],
               results: Sequence[Array]) -> list[Array]:
    """Writes an operation with regions whose results are like the arrays `results`."""
    given = ", ".join([o.type for o in operands])
    types = ", ".join([r.type for r in results])
    line = f'"stablehlo.{name}"({", ".join([o.name for o in operands])}) ({", ".join(regions)})'
    names = xp.text.add_many(line, f"({given}) -> ({types})", len(results))
    return [Array(xp.text, n, r.shape, r.dtype) for n, r in zip(names, results, strict=True)]


def _arguments(xp: Any, like: Sequence[Array]) -> list[Array]:
    return [Array(xp.text, xp.text.name(), a.shape, a.dtype) for a in like]


def while_loop(xp: Any, condition: Callable[[Any], Any], body: Callable[[Any], Any], start: Any) -> Any:
    """Writes a loop, as `jax.lax.while_loop` means it."""
    begin = Structure(xp, start)
    with xp.text.region() as asking:
        asked = _arguments(xp, begin.leaves)
        more = xp.asarray(condition(begin.filled(asked)))
    if more.shape or more.dtype != bool:
        raise Unsupported("such a condition")
    with xp.text.region() as going:
        given = _arguments(xp, begin.leaves)
        made = _checked(Structure(xp, body(begin.filled(given))), begin)
    regions = [_block(asking, asked, [more]), _block(going, given, made.leaves)]
    return begin.filled(_operation(xp, "while", begin.leaves, regions, begin.leaves))


def cond(xp: Any, which: Any, if_true: Callable[..., Any], if_false: Callable[..., Any], *operands: Any) -> Any:
    """Writes a branch, as `jax.lax.cond` means it."""
    which = xp.asarray(which)
    if which.shape or which.dtype != bool:
        raise Unsupported("such a condition")
    number = which.astype(np.int32)
    blocks: list[tuple[TextBlock, Structure]] = []
    for branch in (if_true, if_false):
        with xp.text.region() as block:
            blocks.append((block, Structure(xp, branch(*operands))))
    (_, first), (_, other) = blocks
    _checked(other, first)
    regions = [_block(block, (), made.leaves) for block, made in reversed(blocks)]
    return first.filled(_operation(xp, "case", [number], regions, first.leaves) if first.leaves else [])


def shapes_of(xp: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what a function would return, as `jax.eval_shape`: only shapes and dtypes of its arrays are used."""
    with xp.text.region():
        return function(*arguments)


def scan(xp: Any, step: Callable[[Any, Any], Any], start: Any, rows: Any, reverse: bool = False) -> Any:
    """Writes a loop over rows that stacks what each gives, as `jax.lax.scan` means it."""
    begin, given = Structure(xp, start), Structure(xp, rows)
    lengths = {a.shape[0] for a in given.leaves}
    if len(lengths) != 1 or 0 in lengths:
        raise Unsupported("such rows")
    (n,) = lengths
    first = given.filled([_row(xp, a, xp.asarray(np.int64(0))) for a in given.leaves])
    results = Structure(xp, shapes_of(xp, lambda: step(begin.filled(begin.leaves), first)[1]))
    empty = [xp.zeros((n, *r.shape), r.dtype) for r in results.leaves]

    def iterate(state: Any) -> Any:
        number, carry, found = state
        i = (n - 1) - number if reverse else number
        after, row = step(carry, given.filled([_row(xp, a, i) for a in given.leaves]))
        made = _checked(Structure(xp, row), results)
        return number + 1, after, [_with_row(xp, whole, r, i) for whole, r in zip(found, made.leaves, strict=True)]

    _, end, found = while_loop(xp, lambda state: state[0] < n, iterate, (xp.asarray(np.int64(0)), start, empty))
    return end, results.filled(found)


def _row(xp: Any, x: Array, i: Array) -> Array:
    zero = xp.asarray(np.zeros((), i.dtype))
    return dynamic_slice(x, [i, *[zero] * (x.ndim - 1)], [1, *x.shape[1:]]).reshape(x.shape[1:])


def _with_row(xp: Any, x: Array, row: Array, i: Array) -> Array:
    zero = xp.asarray(np.zeros((), i.dtype))
    return dynamic_update(x, row.reshape(1, *row.shape), [i, *[zero] * (x.ndim - 1)])


def fori_loop(xp: Any, low: Any, high: Any, body: Callable[[Any, Any], Any], start: Any) -> Any:
    """Writes a loop over numbers, as `jax.lax.fori_loop` means it."""
    if not isinstance(low, (int, np.integer)):
        raise Unsupported("such a start")
    dtype = high.dtype if isinstance(high, (Array, np.generic, np.ndarray)) else np.dtype(np.int64)

    def iterate(state: Any) -> Any:
        i, value = state
        return i + 1, body(i, value)

    begin = xp.asarray(np.asarray(low, dtype))
    return while_loop(xp, lambda state: state[0] < high, iterate, (begin, start))[1]
