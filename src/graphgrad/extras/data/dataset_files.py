"""Data sets in files: stored elements, records, examples."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import string
from graphgrad.ir.op_signature import Spec

from .data_structure import Parts, arranged, components, pack
from .dataset import Dataset
from .elements import _runner, _symbolic, _value, joined, traced


def _text(value: Any) -> str:
    value = np.asarray(value, object).reshape(-1)[0]
    return value.decode() if isinstance(value, bytes) else str(value)


def save(dataset: Any, path: str, compression: Any = None, shard_func: Any = None,
         checkpoint_args: Any = None) -> None:
    """Does what `Dataset.save` does.

    Args:
      dataset: the data set.
      path, compression, shard_func, checkpoint_args: as for `Dataset.save`.
    Reference: TensorFlow 2.21 `tf.data.experimental.save`.
    """
    dataset.save(path, compression)


def load(path: str, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Dataset:
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


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1,
                          deterministic: Any = None) -> Callable[[Any], Dataset]:
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
                                  drop_final_batch: bool = False) -> Dataset:
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
