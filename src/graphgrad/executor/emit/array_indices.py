"""Reading and updating written arrays at indices that are arrays: `x[rows]` and `x.at[rows]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, array, binary, common
from .element_types import Unsupported, kind_of, promoted, type_of

_COMBINED = {"add": "add", "subtract": "subtract", "multiply": "multiply", "max": "maximum", "min": "minimum",
             "set": None}
_WIDE = 2**31  # sizes of axes from which on indices need 64 bits


class At:
    """What `x.at[rows]` gives: reads and updates of some rows."""

    __slots__ = ("array", "key")

    def __init__(self, array: Array, key: Any = None):
        self.array = array
        self.key = key

    def __getitem__(self, key: Any) -> At:
        return At(self.array, key)

    def get(self, mode: str | None = None, **how: Any) -> Array:
        x = self.array
        places = _Places(x, self.key, how.pop("wrap_negative_indices", True))
        if how or mode not in (None, "fill", "clip", "promise_in_bounds"):
            raise Unsupported("other modes")
        if not places.shape and mode != "fill":
            sizes = [1 if i in places.axes else n for i, n in enumerate(x.shape)]
            zero = array(x.text, np.zeros((), places.columns[0].dtype))
            starts = [places.columns[places.axes.index(i)] if i in places.axes else zero for i in range(x.ndim)]
            return dynamic_slice(x, starts, sizes).reshape([n for i, n in enumerate(x.shape) if i not in places.axes])
        return gathered(x, places.where(), places.axes, places.shape, mode or "clip")

    def _updated(self, how: str, updates: Any, mode: str | None, wraps: bool) -> Array:
        x = self.array
        if mode not in (None, "drop", "promise_in_bounds"):
            raise Unsupported("other updates")
        places = _Places(x, self.key, wraps)
        window = [n for i, n in enumerate(x.shape) if i not in places.axes]
        first, rank = places.first, len(places.shape)
        number = isinstance(updates, (bool, int, float)) and not isinstance(updates, np.generic)
        updates = array(x.text, updates, x.dtype if number else None)
        if promoted(updates.dtype, x.dtype) != x.dtype:
            raise Unsupported("such updates")
        updates = updates.astype(x.dtype).broadcast((*window[:first], *places.shape, *window[first:]))
        offsets = [*range(first), *range(first + rank, first + rank + len(window) - first)]
        return scattered(x, places.where(), updates, places.axes, offsets, how)

    def add(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("add", updates, mode, wrap_negative_indices)

    def subtract(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("subtract", updates, mode, wrap_negative_indices)

    def multiply(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("multiply", updates, mode, wrap_negative_indices)

    mul = multiply

    def max(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("max", updates, mode, wrap_negative_indices)

    def min(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("min", updates, mode, wrap_negative_indices)

    def set(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._updated("set", updates, mode, wrap_negative_indices)


class _Places:
    """Which elements an index names whose parts are integers, arrays of them, and whole axes.

    Attributes:
      axes: the axes with indices.
      columns: the index of each.
      shape: that of all indices together.
      first: how many whole axes stand in front of what they name.
    """

    def __init__(self, x: Array, key: Any, wraps: bool):
        keys = list(key) if isinstance(key, tuple) else [key]
        if sum(k is Ellipsis for k in keys) == 1:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (x.ndim - len(keys) + 1)
        self.axes = [i for i, k in enumerate(keys) if not isinstance(k, slice)]
        whole = all(k.indices(n) == (0, n, 1) for k, n in zip(keys, x.shape, strict=False) if isinstance(k, slice))
        if not self.axes or len(keys) > x.ndim or not whole:
            raise Unsupported("such an index")
        beside = self.axes[-1] - self.axes[0] == len(self.axes) - 1
        self.first = self.axes[0] if beside else 0
        indices = [array(x.text, np.asarray(k) if isinstance(k, (int, np.generic, list)) else k)
                   for k in (keys[i] for i in self.axes)]
        if any(kind_of(k.dtype) not in "iu" for k in indices):
            raise Unsupported("such an index")
        dtype = indices[0].dtype
        for k in indices[1:]:
            dtype = promoted(dtype, k.dtype)
        self.shape = common(*[k.shape for k in indices])
        self.columns = []
        for k, axis in zip(indices, self.axes, strict=True):
            k = k.astype(dtype)
            if wraps and kind_of(dtype) == "i":
                k = k.__array_namespace__().where(k < 0, k + x.shape[axis], k)
            self.columns.append(k.broadcast(self.shape))

    def where(self) -> Array:
        """Returns the indices as the last axis of one array."""
        columns = [c.reshape(*self.shape, 1) for c in self.columns]
        if len(columns) == 1:
            return columns[0]
        names = ", ".join(c.name for c in columns)
        return columns[0].made(f"stablehlo.concatenate {names}, dim = {len(self.shape)}",
                               (*self.shape, len(columns)), None, *columns[1:])


def gathered(x: Array, where: Array, axes: Sequence[int], shape: Sequence[int], mode: str,
             fill_value: Any = None) -> Array:
    """Returns what an array has at indices of some axes, in the place of the first one if they are neighbours.

    Args:
      x: the array.
      where: (*shape, len(axes)).
      axes: the axes.
      shape: that of the indices.
      mode: what an index out of range gives: "clip" the nearest element, "fill" `fill_value`.
      fill_value: NaN or the least integer if it is None.
    """
    window = [n for i, n in enumerate(x.shape) if i not in axes]
    first = axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0
    result = (*window[:first], *shape, *window[first:])
    if 0 in result:
        return array(x.text, 0, x.dtype).broadcast(result)
    if 0 in x.shape:
        raise Unsupported("no elements")
    found = take(x, where, axes, first, result)
    if mode != "fill":
        return found
    limit = np.asarray([x.shape[i] - 1 for i in axes], np.int64)
    wide = where.astype(np.int64)
    within = binary("and", wide >= 0, wide <= limit)
    if len(axes) > 1:
        within = within.all(-1)
    within = within.reshape(*[1] * first, *shape, *[1] * (len(window) - first))
    missing = _missing(x.dtype) if fill_value is None else fill_value
    return x.__array_namespace__().where(within, found, np.asarray(missing, x.dtype))


def take(x: Array, where: Array, axes: Sequence[int], first: int, result: Sequence[int]) -> Array:
    """Writes a gather of whole windows; the indices are the last axis of `where`, or all of it for one axis."""
    rank = len(result) - (x.ndim - len(axes))
    offsets = [*range(first), *range(first + rank, len(result))]
    sizes = ", ".join(str(1 if i in axes else n) for i, n in enumerate(x.shape))
    return x.made(
        f'"stablehlo.gather"({x.name}, {where.name}) <{{dimension_numbers = #stablehlo.gather<offset_dims = {offsets}, '
        f"collapsed_slice_dims = {list(axes)}, start_index_map = {list(axes)}, index_vector_dim = {rank}>, "
        f"indices_are_sorted = false, slice_sizes = array<i64: {sizes}>}}>", result, None, where)


def _missing(dtype: Any) -> Any:
    kind = kind_of(dtype)
    if kind in "iu":
        return np.iinfo(dtype).min if kind == "i" else np.iinfo(dtype).max
    return True if kind == "b" else np.nan


def scattered(x: Array, where: Array, updates: Array, axes: Sequence[int], offsets: Sequence[int], how: str) -> Array:
    """Writes a scatter; indices out of range are skipped."""
    operation = _COMBINED[how]
    if operation is not None and kind_of(x.dtype) == "b":
        raise Unsupported("such updates")
    one = type_of((), x.dtype)
    body = f"%v = stablehlo.{operation} %x, %y : {one}\n      stablehlo.return %v" if operation else (
        "stablehlo.return %y")
    line = (f'"stablehlo.scatter"({x.name}, {where.name}, {updates.name}) <{{indices_are_sorted = false, '
            f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {list(offsets)}, "
            f"inserted_window_dims = {list(axes)}, scatter_dims_to_operand_dims = {list(axes)}, "
            f"index_vector_dim = {where.ndim - 1}>, unique_indices = false}}> ({{\n    ^bb0(%x: {one}, %y: {one}):"
            f"\n      {body} : {one}\n    }})")
    return x.made(line, x.shape, None, where, updates)


def dynamic_slice(x: Array, starts: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Writes a slice of given sizes that begins where scalars say, or further in."""
    if any(s.ndim or kind_of(s.dtype) not in "iu" for s in starts) or any(
            size > n for size, n in zip(sizes, x.shape, strict=True)):
        raise Unsupported("such a slice")
    if not x.ndim:
        return x
    names = ", ".join(s.name for s in starts)
    return x.made(f"stablehlo.dynamic_slice {x.name}, {names}, sizes = {list(sizes)}", sizes, None, *starts)


def dynamic_update(x: Array, update: Array, starts: Sequence[Array]) -> Array:
    """Writes an update of a slice."""
    fits = x.ndim == update.ndim and all(m <= n for m, n in zip(update.shape, x.shape, strict=True))
    if not fits or update.dtype != x.dtype or any(s.ndim or kind_of(s.dtype) not in "iu" for s in starts):
        raise Unsupported("such a slice")
    if not x.ndim:
        return update
    names = ", ".join(s.name for s in starts)
    return x.made(f"stablehlo.dynamic_update_slice {x.name}, {update.name}, {names}", x.shape, None, update, *starts)
