"""Data sets in files: stored elements, records, examples."""

from __future__ import annotations

import glob
import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import DataLossError, NotFoundError
from graphgrad.ir.dtypes import as_dtype, string, variant
from graphgrad.ir.files.atomic_files import open_plain
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.training.checkpoints.bundle import BundleReader, read_bundle, write_bundle
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists

from .data_structure import Parts, arranged, components, flatten, pack
from .dataset import Dataset
from .dataset_components import DatasetParts, RaggedParts, SparseParts
from .elements import _now, _runner, _symbolic, _value, joined, traced


def _text(value: Any) -> str:
    value = np.asarray(value, object).reshape(-1)[0]
    return value.decode() if isinstance(value, bytes) else str(value)


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


class Storage:
    """A store of elements in files: a bundle of tensors, named by the numbers of element and component."""

    @staticmethod
    def cached(dataset: Any, filename: Any) -> Any:
        """Makes a data set whose elements are read from a file, once a pass has written it."""
        types = [s.dtype for s in flatten(dataset._specs)]

        def passes(given: Any) -> Iterator[list[Any]]:
            path = _text(_now(filename, given))
            if checkpoint_exists(path):
                yield from _read(path, types)
                return
            kept = []
            for element in dataset._passes(given):
                kept.append(element)
                yield element
            if kept:
                _write(path, dataset._specs, kept)

        return dataset._then(passes, captured=[filename] if isinstance(filename, Tensor) else [], size=dataset._size)

    @staticmethod
    def save(dataset: Any, path: Any, compression: Any) -> None:
        """Does what `Dataset.save` does."""
        if compression not in (None, "", "GZIP", "AUTO"):
            raise ValueError(f"Invalid `compression`: {compression!r}. Fix: None or 'GZIP'")
        folder = os.fspath(path)
        folder = folder.decode() if isinstance(folder, bytes) else folder
        _write(os.path.join(folder, _ELEMENTS), dataset._specs, dataset._start([]), describe=True)

    @staticmethod
    def load(path: Any) -> Any:
        """Does what `Dataset.load` does."""
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


def save(dataset: Any, path: str, compression: Any = None, shard_func: Any = None,
         checkpoint_args: Any = None) -> None:
    """Does what `Dataset.save` does.

    Args:
      dataset: the data set.
      path, compression, shard_func, checkpoint_args: as for `Dataset.save`.
    Reference: TensorFlow 2.21 `tf.data.experimental.save`.
    """
    dataset.save(path, compression)


def load(path: str, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Any:
    """Makes a data set of the elements that `save` wrote.

    Args:
      path, element_spec, compression, reader_func: as for `save`.
    Reference: TensorFlow 2.21 `tf.data.experimental.load`.
    """
    return Dataset.load(path)


class DatasetTFRecordWriter:
    """A writer of data sets of strings to record files.

    Args:
      filename: the file.
      compression_type: "", "GZIP" or "ZLIB".
    Reference: TensorFlow 2.21 `tf.data.experimental.TFRecordWriter`.
    """

    def __init__(self, filename: Any, compression_type: Any = None):
        self._filename, self._compression = _text(_value(filename)), compression_type or ""

    def write(self, dataset: Any) -> None:
        """Writes all elements.

        Args:
          dataset: a data set of string scalars.
        Raises: TypeError for other elements.
        """
        from graphgrad.extras.pipelines.records import TFRecordWriter as Writer

        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset._specs
        if not isinstance(spec, Spec) or spec.dtype is not string or spec.shape not in ((), None):
            raise TypeError("Invalid `dataset`. Expected a dataset of string scalars, got "
                            f"{dataset.element_spec}. Fix: map(tf.io.serialize_tensor)")
        with Writer(self._filename, self._compression) as writer:
            for element in dataset._start([]):
                writer.write(element[0].item())


# -- examples ------------------------------------------------------------------------------


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1, deterministic: Any = None) -> Any:
    """Makes a transformation that parses batches of serialized `Example`s into dictionaries of tensors.

    Args:
      features: name -> `FixedLenFeature` or `VarLenFeature`.
      num_parallel_calls, deterministic: accepted.
    Raises: ValueError for no features; TypeError for a data set of anything but vectors of strings.
    Reference: TensorFlow 2.21 `tf.data.experimental.parse_example_dataset`.
    """
    from graphgrad.extras.io.file_ops import parse_single_example

    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def parse(serialized: Any) -> Any:
        return parse_single_example(serialized, features)

    def apply(dataset: Any) -> Any:
        spec = dataset._specs
        if not isinstance(spec, Spec) or spec.dtype is not string or spec.shape is None or len(spec.shape) != 1:
            raise TypeError("Input dataset should be a dataset of vectors of strings. Instead it is "
                            f"`{dataset.element_spec}`. Fix: batch() before")
        graph, result = traced(parse, Spec.of(string, ()))
        specs = pack(result, (t._spec for t in graph.outputs))
        whole = components(specs)

        def passes(given: Any) -> Iterator[list[Any]]:
            run = _runner(graph, given)
            for element in dataset._passes(given):
                yield joined(whole, [run([np.asarray(w, object)]) for w in element[0].tolist()])

        return dataset._then(passes, arranged(specs, batched), _symbolic(graph), dataset._size)

    return apply


def make_batched_features_dataset(file_pattern: Any, batch_size: int, features: Any, reader: Any = None,
                                  label_key: Any = None, reader_args: Any = None, num_epochs: Any = None,
                                  shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed: Any = None,
                                  prefetch_buffer_size: Any = None, reader_num_threads: Any = None,
                                  parser_num_threads: Any = None, sloppy_ordering: bool = False,
                                  drop_final_batch: bool = False) -> Any:
    """Makes a data set of batches of dictionaries of features, parsed from the `Example`s in files of records.

    Args:
      file_pattern: files, or glob patterns.
      batch_size: the number of examples of a batch.
      features: name -> `FixedLenFeature` or `VarLenFeature`.
      reader: the class of data set that reads a file; `TFRecordDataset` by default.
      label_key: the feature that is the label; batches are pairs then.
      reader_args: further arguments for `reader`.
      num_epochs: the number of passes; no end if None.
      shuffle, shuffle_buffer_size, shuffle_seed: whether and how to shuffle.
      prefetch_buffer_size, reader_num_threads, parser_num_threads, sloppy_ordering: accepted.
      drop_final_batch: whether to drop a smaller last batch.
    Raises: ValueError for no files, or a label that is not a feature.
    Reference: TensorFlow 2.21 `tf.data.experimental.make_batched_features_dataset`.
    """
    from .record_datasets import TFRecordDataset

    make = reader or TFRecordDataset
    names = matched(file_pattern, shuffle, shuffle_seed)
    dataset = Dataset.from_tensor_slices(np.array([n.encode() for n in names], object))
    dataset = dataset.flat_map(lambda name: make(name, *(reader_args or [])))
    if isinstance(dataset._specs, tuple):
        dataset = dataset.map(lambda *parts: parts[-1])
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_final_batch or num_epochs is None).apply(parse_example_dataset(features))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: "
                             f"{list(features)}.")
        dataset = dataset.map(lambda x: ({k: v for k, v in x.items() if k != label_key}, x[label_key]))
    return dataset


def matched(file_pattern: Any, shuffle: bool, seed: Any) -> list[str]:
    """Finds the files that match patterns, shuffled if requested; raises ValueError for none."""
    patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) else list(file_pattern)
    found = sorted(f for p in patterns for f in glob.glob(_text(p)))
    if not found:
        raise ValueError(f"No files match {patterns}. Fix: check the path")
    if shuffle:
        np.random.default_rng(seed).shuffle(found)
    return found


def batched(spec: Any) -> Any:
    """Returns the component of batches."""
    if isinstance(spec, Parts):
        return spec.batched(None)  # type: ignore[attr-defined]  # the base lacks it
    return Spec.of(spec.dtype, None if spec.shape is None else (None, *spec.shape))
