"""Elements that are computed once: kept in memory, or in the files of a directory."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import DataLossError, NotFoundError
from graphgrad.ir import context
from graphgrad.ir.dtypes import as_dtype, string, variant
from graphgrad.ir.files.atomic_files import open_plain
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.training.checkpoints.bundle import BundleReader, read_bundle
from graphgrad.training.checkpoints.bundle_writer import write_bundle
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists

from .data_structure import flatten
from .dataset_base import DatasetBase, DatasetT
from .dataset_components import DatasetParts, RaggedParts, SparseParts
from .elements import Element, _now, _value
from .passes import Values


def _text(value: Any) -> str:
    value = np.asarray(value, object).reshape(-1)[0]
    return value.decode() if isinstance(value, bytes) else str(value)


def cache(self: DatasetT, filename: Any = "", name: str | None = None) -> DatasetT:
    """Makes a data set that computes its elements in the first pass and stores them for later ones.

    Args:
      filename: the file to store them in; memory by default. Files of an earlier process are read.
      name: accepted.
    A pass that ends early stores nothing.
    """
    place = _value(filename)
    if isinstance(place, Tensor) or np.asarray(place).item() not in ("", b""):
        return _cached_in_file(self, place)
    own: dict[int, Any] | None = None if self._captured or not context.executing_eagerly() else {}

    def passes(given: Values) -> Iterator[Element]:
        keep = given if own is None else own
        elements = keep.get(id(passes))
        if elements is not None:
            yield from elements
            return
        kept = []
        for element in self._passes(given):
            kept.append(element)
            yield element
        keep[id(passes)] = kept

    made = self._then(passes, size=self._size)
    return made._as("CacheDatasetV2", self, np.asarray(b"", object), "DummyMemoryCache")


def snapshot(self: DatasetT, path: str, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
             name: str | None = None) -> DatasetT:
    """Makes a data set whose elements are computed once, and read from files of a directory in later passes.

    Args:
      path: the directory.
      compression, reader_func, shard_func, name: accepted.
    """
    return _cached_in_file(self, np.asarray(os.path.join(path, "snapshot")))


def save(self: DatasetBase, path: str, compression: Any = None, shard_func: Any = None,
         checkpoint_args: Any = None) -> None:
    """Writes all elements to files in a directory, for `load`.

    Args:
      path: the directory.
      compression: None or "GZIP".
      shard_func, checkpoint_args: accepted; there is one file.
    """
    if compression not in (None, "", "GZIP", "AUTO"):
        raise ValueError(f"Invalid `compression`: {compression!r}. Fix: None or 'GZIP'")
    folder = os.fspath(path)
    folder = folder.decode() if isinstance(folder, bytes) else folder
    _write(os.path.join(folder, _ELEMENTS), self._specs, self._start([]), describe=True)


def load(path: str, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
         wait: bool = False) -> Any:
    """Makes a data set of the elements that `save` wrote.

    Args:
      path: the directory.
      element_spec: accepted; it is read from the files.
      compression: as given to `save`.
      reader_func, wait: accepted.
    Raises: NotFoundError if there is none.
    """
    from .dataset import Dataset  # which needs this module

    folder = os.fspath(path)
    folder = folder.decode() if isinstance(folder, bytes) else folder
    prefix = os.path.join(folder, _ELEMENTS)
    try:
        description = read_bundle(prefix, _description)
    except NotFoundError:
        raise NotFoundError(None, None, f"Could not find a data set that was saved in {folder}. "
                            "Fix: Dataset.save(path) writes one") from None
    count, structure = description
    specs = _undescribed(structure)
    types = [s.dtype for s in flatten(specs)]
    return Dataset._of(specs, [], lambda given: _read(prefix, types, description), count)


# -- stored elements -------------------------------------------------------------------------


def _key(element: int, component: int) -> str:
    return f"{element:010d}_{component:05d}"


def _write(path: str, specs: Any, elements: Any, describe: bool = False) -> None:
    """Writes elements to a bundle, in one step; `describe` adds their number and structure."""
    types = [s.dtype for s in flatten(specs)]
    if variant in types:
        raise ValueError("data sets of data sets cannot be kept in files. Fix: flat_map() first")

    def tensors() -> Iterator[Any]:
        count = 0
        for element in elements:
            for i, (value, dtype) in enumerate(zip(element, types, strict=True)):
                yield _key(count, i), dtype, np.asarray(value), None
            count += 1
        if describe:
            text = json.dumps({"count": count, "structure": _described(specs)})
            yield _DESCRIPTION, string, np.array(text.encode(), object), None

    write_bundle(path, tensors())


def _read(path: str, types: list[Any], description: Any = None) -> Iterator[list[Any]]:
    """Reads the elements of a bundle; raises DataLossError if the bundle does not match its description."""
    bundle = BundleReader(path)
    if description is not None and _description(bundle) != description:
        raise DataLossError(None, None, f"{path}: another data set has been saved here since it was loaded.\n"
                            "  Fix: load it again, or save to another directory")
    for n in itertools.count():
        if not bundle.has(_key(n, 0)):
            return
        yield [np.asarray(bundle.read(_key(n, i))) for i in range(len(types))]


_DESCRIPTION = "description"  # one of the bundle's tensors, so that it always matches the elements


def _description(bundle: BundleReader) -> Any:
    """Reads the description that `_write` added to a bundle; raises DataLossError for different elements."""
    try:
        if bundle.has(_DESCRIPTION):
            found = json.loads(bundle.read(_DESCRIPTION).item())
        else:  # an earlier version wrote a file of its own
            fd, _ = open_plain(os.path.join(os.path.dirname(bundle.prefix), "structure.json"))
            with os.fdopen(fd, "rb") as f:
                found = json.load(f)
        count, specs = int(found["count"]), _undescribed(found["structure"])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError) as e:
        raise DataLossError(None, None, f"{bundle.prefix}: no description of a data set ({e}).\n"
                            "  Fix: save the data set again") from None
    types = [s.dtype for s in flatten(specs)]
    ends = [(_key(n, i), t) for n in (0, count - 1) if 0 <= n < count for i, t in enumerate(types)]
    if bundle.has(_key(max(count, 0), 0)) or not all(bundle.has(k) and bundle.dtype(k) is t for k, t in ends):
        raise DataLossError(None, None, f"{bundle.prefix}: the elements are not those that were described.\n"
                            "  Fix: save the data set again")
    return count, found["structure"]


def _cached_in_file(self: DatasetT, filename: Any) -> DatasetT:
    """Makes a data set whose elements are read from a file, once a pass has written it."""
    types = [s.dtype for s in flatten(self._specs)]

    def passes(given: Any) -> Iterator[list[Any]]:
        path = _text(_now(filename, given))
        if checkpoint_exists(path):
            yield from _read(path, types)
            return
        kept = []
        for element in self._passes(given):
            kept.append(element)
            yield element
        if kept:
            _write(path, self._specs, kept)

    return self._then(passes, captured=[filename] if isinstance(filename, Tensor) else [], size=self._size)


_ELEMENTS = "elements"


def _described(specs: Any) -> Any:
    """Describes specs as lists, numbers and strings."""
    if isinstance(specs, dict):
        return ["dict", [[k, _described(v)] for k, v in specs.items()]]
    if isinstance(specs, tuple):
        return ["tuple", [_described(v) for v in specs]]
    if isinstance(specs, SparseParts):
        return ["sparse", specs.spec().dtype.name, specs.shape]
    if isinstance(specs, RaggedParts):
        spec = specs.spec()
        return ["ragged", spec.dtype.name, specs.shape, spec.ragged_rank, spec.row_splits_dtype.name]
    assert not isinstance(specs, DatasetParts)
    return ["tensor", specs.dtype.name, specs.shape]


def _undescribed(found: Any) -> Any:
    kind = found[0]
    if kind == "dict":
        return {k: _undescribed(v) for k, v in found[1]}
    if kind == "tuple":
        return tuple(_undescribed(v) for v in found[1])
    dtype, shape = as_dtype(found[1]), None if found[2] is None else tuple(found[2])
    if kind == "sparse":
        return SparseParts.of(dtype, shape)
    if kind == "ragged":
        return RaggedParts.of(dtype, shape, found[3], as_dtype(found[4]))
    return Spec.of(dtype, shape)
