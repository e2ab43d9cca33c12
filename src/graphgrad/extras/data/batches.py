"""Batches, and windows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.dtypes import DType, as_dtype, int64, string
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import as_shape
from graphgrad.ir.source import user_source

from .data_structure import Parts, arranged, components, flatten, mapped, pack
from .dataset_base import UNKNOWN, DatasetT, divided, number
from .dataset_components import DatasetParts, RaggedParts, SparseParts, held
from .elements import (
    Element,
    _all_rows,
    _now,
    _row_spec,
    _shapes,
    _value,
    batches_by_number,
    fixed,
    integer,
    joined,
    parallel,
    positive,
)
from .passes import Values


def batch(self: DatasetT, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
          deterministic: Any = None, name: str | None = None) -> DatasetT:
    """Makes a data set of batches: stacks of `batch_size` elements.

    Args:
      batch_size: the number of elements of a batch, an int or a tensor.
      drop_remainder: whether to drop a smaller last batch.
      num_parallel_calls, deterministic, name: accepted.
    Raises: InvalidArgumentError for a size < 1, and at run time if shapes differ.
    """
    size = positive(integer(batch_size, "batch_size"), "Batch size")
    parallel(num_parallel_calls)
    rows = size if drop_remainder and not isinstance(size, Tensor) else None
    whole = components(self._specs)

    def passes(given: Values) -> Iterator[Element]:
        wanted = int(positive(_now(size, given), "Batch size"))
        if self._in_rows is not None:
            yield from batches_by_number(self._in_rows, given, wanted, drop_remainder)
            return
        elements = self._passes(given)
        while chunk := list(itertools.islice(elements, wanted)):
            if len(chunk) == wanted or not drop_remainder:
                yield joined(whole, chunk)

    def batched(spec: Any) -> Any:
        if isinstance(spec, Parts):
            return spec.batched(rows)  # type: ignore[attr-defined]  # the base lacks it
        return Spec.of(spec.dtype, None if spec.shape is None else (rows, *spec.shape))

    specs = arranged(self._specs, batched)
    if isinstance(size, Tensor):
        made = self._then(passes, specs, [size], UNKNOWN)
    else:
        made = self._then(passes, specs, size=divided(self._size, size, drop_remainder))
    return made._as("BatchDatasetV2", self, number(size), np.bool_(drop_remainder))


def unbatch(self: DatasetT, name: str | None = None) -> DatasetT:
    """Makes a data set of the rows of the elements; the inverse of `batch`."""

    whole = components(self._specs)

    def passes(given: Values) -> Iterator[Element]:
        for element in self._passes(given):
            yield from _all_rows(whole, element)

    return self._then(passes, arranged(self._specs, _row_spec))._as("UnbatchDataset", self)


def _of_tensors(specs: Any) -> None:
    """Raises TypeError for a component that is not a tensor, whose parts cannot be padded one by one."""
    for component in components(specs):
        if isinstance(component, Parts):
            raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements, not "
                            f"{component.spec()}.\n  Asked for at {user_source(3)}\n"
                            "  Fix: batch(); or make tensors of it in map(), such as x.to_tensor() of a ragged one")


def padded_batch(self: DatasetT, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                 drop_remainder: bool = False, name: str | None = None) -> DatasetT:
    """Makes a data set of batches, in which smaller elements are padded.

    Args:
      batch_size: the number of elements of a batch, an int or a tensor.
      padded_shapes: the shapes to pad to, arranged like the elements; None or -1 for the largest size of the
        batch. By default, all unknown sizes are such.
      padding_values: the padding, arranged like the elements; zeros or empty strings by default.
      drop_remainder: whether to drop a smaller last batch.
      name: accepted.
    Raises: TypeError for components that are not tensors; ValueError for unknown ranks without `padded_shapes`;
      InvalidArgumentError at run time for elements that are larger than that.
    """
    _of_tensors(self._specs)
    leaves = flatten(self._specs)
    if padded_shapes is None:
        shapes: list[Any] = [s.shape for s in leaves]
    else:
        shapes = [as_shape([None if n in (None, -1) else n for n in s] if s is not None else None)
                  for s in _shapes(padded_shapes, mapped(_nothing, self._specs))]
    if any(s is None for s in shapes):
        raise ValueError("a component has an unknown rank. Fix: give padded_shapes")
    given_values = [None] * len(leaves) if padding_values is None else _spread(padding_values, self._specs)
    fills = [_fill(v, s.dtype) for v, s in zip(given_values, leaves, strict=True)]
    size = positive(integer(batch_size, "batch_size"), "Batch size")

    def passes(given: Values) -> Iterator[Any]:
        wanted, elements = int(positive(_now(size, given), "Batch size")), self._passes(given)
        padding = [_now(f, given) for f in fills]
        while chunk := list(itertools.islice(elements, wanted)):
            if len(chunk) == wanted or not drop_remainder:
                yield [_padded(parts, s, f) for parts, s, f in zip(zip(*chunk), shapes, padding, strict=True)]

    rows = size if drop_remainder and not isinstance(size, Tensor) else None
    specs = pack(self._specs, (Spec.of(s.dtype, (rows, *shape)) for s, shape in zip(leaves, shapes, strict=True)))
    known = UNKNOWN if isinstance(size, Tensor) else divided(self._size, size, drop_remainder)
    made = self._then(passes, specs, [t for t in (size, *fills) if isinstance(t, Tensor)], known)
    sizes = [np.array([-1 if n is None else n for n in s], np.int64) for s in shapes]
    return made._as("PaddedBatchDatasetV2", self, number(size), *sizes, *fills, np.bool_(drop_remainder),
                    attrs={"N": len(sizes)}, types="Toutput_types")


def rebatch(self: DatasetT, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> DatasetT:
    """Makes a data set of batches of another size.

    Args:
      batch_size: the number of rows; or a vector of numbers, used in turn.
      drop_remainder: whether to drop a smaller last batch.
      name: accepted.
    """
    if any(s.shape == () for s in flatten(self._specs)):
        raise ValueError("Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
                         "scalar elements. Fix: batch() it before")
    sizes = _sizes(batch_size)
    rows: Any = unbatch(self)
    whole = components(rows._specs)

    def passes(given: Values) -> Iterator[Element]:
        elements = rows._passes(given)
        for n in itertools.cycle(sizes):
            chunk = list(itertools.islice(elements, n))
            if len(chunk) == n or (chunk and not drop_remainder):
                yield joined(whole, chunk)
            if len(chunk) < n:
                return

    known = sizes[0] if drop_remainder and len(set(sizes)) == 1 else None

    def batched(spec: Any) -> Any:
        if isinstance(spec, Parts):
            return spec.batched(known)  # type: ignore[attr-defined]  # the base lacks it
        return Spec.of(spec.dtype, None if spec.shape is None else (known, *spec.shape))

    return rows._then(passes, arranged(rows._specs, batched))


def ragged_batch(self: DatasetT, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64,
                 name: str | None = None) -> DatasetT:
    """Makes a data set of batches, ragged where shapes differ.

    Args:
      batch_size, drop_remainder, name: as for `batch`.
      row_splits_dtype: int32 or int64.
    """
    kind = as_dtype(row_splits_dtype)

    def ragged(spec: Any) -> Any:
        if isinstance(spec, Parts) or spec.shape is None or None not in spec.shape:
            return spec
        return RaggedParts([Spec.of(spec.dtype, spec.shape)], spec.shape, kind)

    loose = self._then(self._passes, arranged(self._specs, ragged), size=self._size)
    deep = [s for s in flatten(self._specs) if s.shape is not None and None in s.shape[1:]]
    if deep:
        raise ValueError(f"elements of shape {deep[0].shape} differ in more than their first size. "
                         "Fix: make ragged tensors of them in map()")
    return batch(loose, batch_size, drop_remainder)


def sparse_batch(self: DatasetT, batch_size: Any, row_shape: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of batches as sparse tensors.

    Args:
      batch_size: the number of elements of a batch.
      row_shape: the dense shape of a row, a bound for elements; None or -1 for the size of the largest one.
      name: accepted.
    Raises: InvalidArgumentError at run time for larger elements.
    """
    spec, size = self._specs, positive(fixed(batch_size, "batch_size"), "Batch size")
    wanted = [None if n in (None, -1) else int(n) for n in (getattr(row_shape, "as_list", list)() if hasattr(
        row_shape, "as_list") else np.asarray(row_shape, object).tolist())]

    def passes(given: Values) -> Iterator[Element]:
        elements = self._passes(given)
        while chunk := list(itertools.islice(elements, size)):
            rows = [e[0] for e in chunk]
            largest = np.max([r.shape for r in rows], 0).tolist()
            shape = [m if n is None else n for n, m in zip(wanted, largest, strict=True)]
            if any(m > n for n, m in zip(shape, largest)):
                raise InvalidArgumentError(None, None, f"Encountered a tensor of shape {largest} that exceeds the "
                                           f"row shape {shape}. Fix: give a larger row_shape")
            where = [np.argwhere(np.ones(r.shape, bool)) for r in rows]
            numbered = [np.concatenate([np.full((len(w), 1), i), w], 1) for i, w in enumerate(where)]
            yield [np.concatenate(numbered).astype(np.int64), np.concatenate([r.ravel() for r in rows]),
                   np.array([len(rows), *shape], np.int64)]

    return self._then(passes, SparseParts.of(spec.dtype, (None, *wanted)), size=divided(self._size, size, False))


def window(self: DatasetT, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
           name: str | None = None) -> DatasetT:
    """Makes a data set of windows, each of them a data set of some of the elements.

    Args:
      size: the number of elements of a window.
      shift: the distance to the beginning of the next window; `size` by default.
      stride: the distance of elements in a window.
      drop_remainder: whether to drop smaller windows at the end.
      name: accepted.
    Raises: InvalidArgumentError for numbers < 1.

    >>> windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
    >>> pairs = windows.flat_map(lambda w: w.batch(2))
    >>> sess.run(pairs.batch(3).make_one_shot_iterator().get_next())
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    width = positive(fixed(size, "size"), "Window size")
    by = width if shift is None else positive(fixed(shift, "shift"), "Window shift")
    apart = positive(fixed(stride, "stride"), "Window stride")
    inner = [DatasetParts.of(spec) for spec in _tuple(self._specs)]
    span = (width - 1) * apart + 1

    def passes(given: Values) -> Iterator[Element]:
        elements, buffer = self._passes(given), list[Element]()
        while True:
            buffer += itertools.islice(elements, span - len(buffer))
            if not buffer or (drop_remainder and len(buffer) < span):
                return
            window = buffer[::apart]
            yield [held(part) for part in _columns(window, _tuple(self._specs))]
            skipped = by - len(buffer)
            del buffer[:by]
            if skipped > 0:
                next(itertools.islice(elements, skipped, skipped), None)

    at = iter(inner)
    specs = _retuple(self._specs, lambda _: next(at))
    rows = self._size
    if rows >= 0:
        rows = max(0, (rows - span) // by + 1 if rows >= span else 0) if drop_remainder else -(-rows // by)
    made = self._then(passes, specs, size=rows)
    if any(isinstance(s, (tuple, Mapping)) for s in _tuple(self._specs)):
        return made  # in files, each tensor is a data set of its own
    return made._as("WindowDataset", self, *map(number, (width, by, apart)), np.bool_(drop_remainder))


def _sizes(batch_size: Any) -> list[int]:
    """Returns the sizes of batches that are used in turn."""
    if not np.ndim(batch_size):
        return [positive(fixed(batch_size, "batch_size"), "Batch size")]
    sizes = [fixed(n, "batch_size") for n in np.asarray(batch_size).tolist()]
    if not sizes:
        raise InvalidArgumentError(None, None, f"batch_size is empty.\n  Asked for at {user_source(2)}\n"
                                   "  Fix: give numbers of rows")
    return [positive(n, "Batch size") for n in sizes]


def _nothing(spec: Any) -> Any:
    return spec.dtype


def _spread(values: Any, specs: Any) -> list[Any]:
    """Returns a value for each component; a single one applies to all components of its dtype."""
    if isinstance(values, (tuple, list, dict)):
        return flatten(tuple(values) if isinstance(values, list) else values)
    kind = as_dtype(values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype).kind
    return [values if kind == s.dtype.kind or s.dtype is not string else None for s in flatten(specs)]


def _fill(value: Any, dtype: DType) -> Any:
    """Returns the padding of a component: an array, or a symbolic tensor."""
    found = _value((b"" if dtype is string else 0) if value is None else value)
    return found if isinstance(found, Tensor) else np.asarray(found, dtype.np_dtype)


def _padded(parts: Any, shape: Any, fill: Any) -> Any:
    largest = [max(sizes) for sizes in zip(*(p.shape for p in parts))]
    if any(len(p.shape) != len(shape) for p in parts):
        raise InvalidArgumentError(None, None, f"All elements in a batch must have the same rank as the padded shape "
                                   f"{shape}; got {[p.shape for p in parts]}")
    target = [n if n is not None else m for n, m in zip(shape, largest)]
    out = np.full((len(parts), *target), fill, parts[0].dtype)
    for i, part in enumerate(parts):
        if any(have > room for have, room in zip(part.shape, target)):
            raise InvalidArgumentError(None, None, "Attempted to pad to a smaller size than the input element: "
                                       f"{part.shape} to {tuple(target)}. Fix: give larger padded_shapes")
        at: Any = (i, *(slice(n) for n in part.shape))
        out[at] = part[()]  # not an array as an element
    return out


def _tuple(specs: Any) -> list[Any]:
    """Returns the specs of the top-level components of elements, in the order of leaves."""
    if isinstance(specs, dict):
        return [specs[k] for k in sorted(specs)]
    return list(specs) if isinstance(specs, tuple) else [specs]


def _retuple(specs: Any, function: Any) -> Any:
    if isinstance(specs, dict):
        found = {k: function(specs[k]) for k in sorted(specs)}
        return {k: found[k] for k in specs}
    if isinstance(specs, tuple):
        parts = [function(s) for s in specs]
        return type(specs)(*parts) if hasattr(specs, "_fields") else tuple(parts)
    return function(specs)


def _columns(window: list[Element], parts: list[Any]) -> Iterator[list[Element]]:
    """Splits a window's elements: one data set for each top-level component."""
    at = 0
    for part in parts:
        count = len(flatten(part))
        yield [e[at : at + count] for e in window]
        at += count
