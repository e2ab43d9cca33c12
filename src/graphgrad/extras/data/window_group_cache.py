"""More of `tf.data.Dataset`: windows, groups, states, mixtures, caches, values without a graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, OpError
from graphgrad.ir import context
from graphgrad.ir.dtypes import as_dtype, int64
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import relax

from .cardinality import INFINITE, UNKNOWN, divided
from .data_structure import Parts, arranged, components, flatten, pack
from .dataset_components import DatasetParts, RaggedParts, SparseParts, held
from .elements import Element, Values, _now, _runner, _symbolic, _value, dataset_class, joined, traced
from .shuffle import numbers, seeds_of


def _files() -> Any:
    from .dataset_files import Storage

    return Storage


class RestOfTransformations:
    """Transformations of `Dataset`."""

    _specs: Any
    _captured: list[Any]
    _passes: Callable[[Values], Iterator[Element]]
    _then: Any
    _of: Any
    _size: int
    _options: Any
    _start: Any
    map: Any
    filter: Any
    batch: Any

    # -- sources ---------------------------------------------------------------------

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Any:
        """Makes a data set of `start`, `start + step` and so on, without end.

        Args:
          start, step: scalars.
          dtype: their dtype.
          name: accepted.
        """
        kind = as_dtype(dtype)

        def passes(given: Values) -> Iterator[Element]:
            return ([np.asarray(n, kind.np_dtype)] for n in itertools.count(start, step))

        return dataset_class()._of(Spec.of(kind, ()), [], passes, INFINITE)

    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Any:
        """Makes a data set of random numbers of 32 bits, int64, without end; TensorFlow's for the same seed.

        Args:
          seed: an int; the same one gives the same numbers.
          rerandomize_each_iteration: whether each pass has its own numbers.
          name: accepted.
        """
        seeds = seeds_of(seed)
        draw = numbers(seeds)

        def passes(given: Values) -> Iterator[Element]:
            mine = (next(draw), next(draw)) if rerandomize_each_iteration else seeds
            return ([np.asarray(n, np.int64)] for n in numbers(mine))

        return dataset_class()._of(Spec.of(int64, ()), [], passes, INFINITE)

    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False,
                             rerandomize_each_iteration: Any = None) -> Any:
        """Makes a data set that draws each element from one of several data sets.

        Args:
          datasets: the data sets, with elements of equal structure.
          weights: the probability of each: a list, or a data set of such vectors; equal by default.
          seed: an int; the order is TensorFlow's for the same seed.
          stop_on_empty_dataset: whether to stop when one data set ends; else the others continue.
          rerandomize_each_iteration: whether each pass has its own order.
        Raises: TypeError for elements of different structure; ValueError for an empty list, or incompatible weights.
        """
        from .combine import sampled

        return sampled(list(datasets), weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
        """Makes a data set that takes each element from the data set whose number another data set gives.

        Args:
          datasets: the data sets, with elements of equal structure.
          choice_dataset: a data set of scalars, int64.
          stop_on_empty_dataset: whether to stop when a chosen data set has ended; else such choices are skipped.
        Raises: TypeError for elements of different structure; ValueError for an empty list.
        """
        from .combine import chosen

        return chosen(list(datasets), choice_dataset, stop_on_empty_dataset)

    # -- transformations ---------------------------------------------------------------

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """Makes a data set that computes its elements in the first pass and stores them for later ones.

        Args:
          filename: the file to store them in; memory by default. Files of an earlier process are read.
          name: accepted.
        A pass that ends early stores nothing.
        """
        place = _value(filename)
        if isinstance(place, Tensor) or np.asarray(place).item() not in ("", b""):
            return _files().cached(self, place)
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

        return self._then(passes, size=self._size)

    def with_options(self, options: Any, name: str | None = None) -> Any:
        """Makes a data set with options; they take precedence over earlier ones.

        Args:
          options: a `tf.data.Options`.
          name: accepted.
        """
        made = self._then(self._passes, size=self._size)
        made._options = options if self._options is None else self._options.merge(options)
        return made

    def options(self) -> Any:
        """Returns the options of this data set and of those that it is made from."""
        from .dataset_options import Options

        return Options() if self._options is None else self._options

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False,
               name: str | None = None) -> Any:
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
        width = int(_value(size))
        by, apart = width if shift is None else int(_value(shift)), int(_value(stride))
        for what, n in (("Window size", width), ("Window shift", by), ("Window stride", apart)):
            if n < 1:
                raise InvalidArgumentError(None, None, f"{what} must be greater than zero, not {n}. Fix: 1 or more")
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
        return self._then(passes, specs, size=rows)

    def take_while(self, predicate: Any, name: str | None = None) -> Any:
        """Makes a data set of the elements before the first one for which a function is false.

        Args:
          predicate: a function of tensors that returns a bool scalar.
          name: accepted.
        """
        graph = self._predicate(predicate)  # type: ignore[attr-defined]  # a mixin: `Dataset` has it

        def passes(given: Values) -> Iterator[Element]:
            run = _runner(graph, given)
            return itertools.takewhile(lambda e: bool(run(e)[0]), self._passes(given))

        return self._then(passes, captured=_symbolic(graph))

    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Any:
        """Applies a function of a state and an element, one after the other.

        Args:
          initial_state: the state before the first element, a structure of tensors.
          scan_func: a function of state and element that returns the next state and an element.
          name: accepted.
        Raises: TypeError if it returns anything else, or a state of another kind.

        >>> sums = tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
        >>> sess.run(sums.batch(4).make_one_shot_iterator().get_next())
        array([0, 1, 3, 6])
        """
        values, states = _state(initial_state)
        graph, result, states = _stepped(scan_func, states, self._specs, True)
        count = len(flatten(states))
        specs = pack(result[1], (t._spec for t in graph.outputs[count:]))

        def passes(given: Values) -> Iterator[Element]:
            run = _runner(graph, given)
            state = [np.asarray(_now(v, given)) for v in values]
            for element in self._passes(given):
                found = run([*state, *element])
                state = found[:count]
                yield found[count:]

        symbolic = [v for v in values if isinstance(v, Tensor)]
        return self._then(passes, specs, [*symbolic, *_symbolic(graph)], self._size)

    def _reduce_in_numpy(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """Computes the state after all elements; its shape may change from one to the next.

        Args:
          initial_state: the state before the first element, a structure of tensors.
          reduce_func: a function of state and element that returns the next state.
          name: accepted.
        Returns: the last state, a structure of tensors.
        Raises: TypeError if the function returns a state of another kind.
        """
        values, states = _state(initial_state)
        graph, _, states = _stepped(reduce_func, states, self._specs, False)

        def compute(given: Values) -> Element:
            run = _runner(graph, given)
            state = [np.asarray(_now(v, given)) for v in values]
            for element in self._passes(given):
                state = run([*state, *element])
            return state

        symbolic = [v for v in values if isinstance(v, Tensor)]
        return _computed([*self._captured, *symbolic, *_symbolic(graph)], compute, states, name)

    def get_single_element(self, name: str | None = None) -> Any:
        """Returns the only element.

        Raises: InvalidArgumentError if there is none, or more than one; in a graph when it is run.
        """

        def compute(given: Values) -> Element:
            found = list(itertools.islice(self._passes(given), 2))
            if len(found) != 1:
                raise InvalidArgumentError(None, None, ("Dataset was empty." if not found else
                                           "Dataset had more than one element.") + " Fix: batch() or take(1)")
            return found[0]

        return _computed(self._captured, compute, self._specs, name)

    def unique(self, name: str | None = None) -> Any:
        """Makes a data set without repeated elements.

        Args:
          name: accepted.
        Raises: TypeError for elements of several components, or of dtypes other than integers and strings.
        """
        spec = self._specs
        if not isinstance(spec, Spec) or spec.dtype.name not in ("int32", "int64", "string"):
            raise TypeError("`tf.data.Dataset.unique` does not support this element type: it must be one tensor of "
                            f"int32, int64 or string, not {flatten(spec)}. Fix: map() to one")

        def passes(given: Values) -> Iterator[Element]:
            seen = set()
            for element in self._passes(given):
                key = element[0].shape, tuple(element[0].ravel().tolist())
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._then(passes)

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Makes a data set of batches of another size.

        Args:
          batch_size: the number of rows; or a vector of numbers, used in turn.
          drop_remainder: whether to drop a smaller last batch.
          name: accepted.
        """
        if any(s.shape == () for s in flatten(self._specs)):
            raise ValueError("Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
                             "scalar elements. Fix: batch() it before")
        sizes = np.atleast_1d(np.asarray(_value(batch_size))).astype(int).tolist()
        rows: Any = self.unbatch()  # type: ignore[attr-defined]  # a mixin: `Dataset` has it
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

    def ragged_batch(self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64,
                     name: str | None = None) -> Any:
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
        return loose.batch(batch_size, drop_remainder)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """Makes a data set of batches as sparse tensors.

        Args:
          batch_size: the number of elements of a batch.
          row_shape: the dense shape of a row, a bound for elements; None or -1 for the size of the largest one.
          name: accepted.
        Raises: InvalidArgumentError at run time for larger elements.
        """
        spec, size = self._specs, int(_value(batch_size))
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

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None,
                        name: str | None = None) -> Any:
        """Applies a function to groups of elements with the same key.

        Args:
          key_func: a function of an element that returns its key, a scalar int64.
          reduce_func: a function of a key and a data set of a group's elements that returns a data set.
          window_size: the number of elements of a group.
          window_size_func: a function of the key that returns this number, in its place.
          name: accepted.
        Raises: ValueError if there is neither a size nor a function, or both.
        """
        from .combine import grouped

        return grouped(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any,
                                  padded_shapes: Any = None, padding_values: Any = None,
                                  pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                                  drop_remainder: bool = False, name: str | None = None) -> Any:
        """Makes a data set of padded batches of elements of similar length.

        Args:
          element_length_func: a function of an element that returns its length, a scalar int32.
          bucket_boundaries: the least lengths of buckets; there is one more bucket below.
          bucket_batch_sizes: the size of the batches of each bucket; one more than boundaries.
          padded_shapes, padding_values: as for `padded_batch`.
          pad_to_bucket_boundary: whether unknown lengths are padded to the bucket's largest one.
          no_padding: whether elements are batched without padding.
          drop_remainder: whether to drop a smaller last batch.
          name: accepted.
        Raises: ValueError if there is not one size more than boundaries.
        """
        from .combine import bucketed

        return bucketed(self, element_length_func, list(bucket_boundaries), list(bucket_batch_sizes), padded_shapes,
                        padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)

    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None,
                           name: str | None = None) -> Any:
        """Makes a data set of pairs (class, element) with another distribution of classes, by dropping elements.

        Args:
          class_func: a function of an element that returns its class, a scalar int32.
          target_dist: the target probability of each class.
          initial_dist: that in the data set; estimated from the elements by default.
          seed: an int; the same one gives the same elements.
          name: accepted.
        """
        from .combine import resampled

        return resampled(self, class_func, target_dist, initial_dist, seed)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """Makes a data set without the elements that cannot be computed.

        Args:
          log_warning: whether they are logged.
          name: accepted.
        """

        def passes(given: Values) -> Iterator[Element]:
            elements = iter(self._passes(given))
            while True:
                try:
                    yield next(elements)
                except StopIteration:
                    return
                except (OpError, ArithmeticError, ValueError) as e:
                    if log_warning:
                        from graphgrad.system.log import Log

                        Log(__name__).warning("Error raised with error message %s", e)

        return self._then(passes)

    # -- values ------------------------------------------------------------------------

    def as_numpy_iterator(self) -> Any:
        """Makes an iterator over the elements as NumPy arrays.

        Raises: RuntimeError except in eager mode.
        """
        from .eager_iterator import NumpyIterator

        if not context.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode. "
                               "Fix: make_one_shot_iterator().get_next()")
        return NumpyIterator(self)

    def cardinality(self) -> Any:
        """Returns the number of elements, a scalar int64: -1 if it is infinite, -2 if it is not known."""
        from graphgrad.ir.conversion import convert_to_tensor

        return convert_to_tensor(np.asarray(self._size, np.int64))

    def __len__(self) -> int:
        if self._size == INFINITE:
            raise TypeError("The dataset is infinite. Fix: take(count)")
        if self._size == UNKNOWN:
            raise TypeError("The dataset length is unknown. Fix: count its elements with reduce()")
        return self._size

    def __bool__(self) -> bool:
        return True

    def fingerprint(self) -> Any:
        """Computes a uint64 that is equal for data sets with the same structure of elements."""
        import zlib

        from graphgrad.ir.conversion import convert_to_tensor

        # Silenced: a mixin: `Dataset` has it.
        text = f"{type(self).__name__} {self.element_spec} {self._size}"  # type: ignore[attr-defined]
        return convert_to_tensor(np.asarray(zlib.crc32(text.encode()), np.uint64))

    # -- files -------------------------------------------------------------------------

    def save(self, path: str, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
        """Writes all elements to files in a directory, for `load`.

        Args:
          path: the directory.
          compression: None or "GZIP".
          shard_func, checkpoint_args: accepted; there is one file.
        """
        _files().save(self, path, compression)

    @staticmethod
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
        return _files().load(path)

    def snapshot(self, path: str, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
                 name: str | None = None) -> Any:
        """Makes a data set whose elements are computed once, and read from files of a directory in later passes.

        Args:
          path: the directory.
          compression, reader_func, shard_func, name: accepted.
        """
        import os

        return _files().cached(self, np.asarray(os.path.join(path, "snapshot")))


# -- parts -----------------------------------------------------------------------------------


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


def _state(initial: Any) -> tuple[list[Any], Any]:
    """Returns the values of an initial state, and its specs."""
    values = [_value(leaf) for leaf in flatten(initial)]
    specs = [v._spec if isinstance(v, Tensor) else Spec.of(as_dtype(v.dtype), v.shape) for v in values]
    return values, pack(initial, iter(specs))


def _stepped(function: Any, states: Any, specs: Any, gives_element: bool) -> Any:
    """Returns a function of state and element as a graph, its results and states; shapes that change become unknown."""
    while True:
        graph, result = traced(function, (states, specs))
        new = result[0] if gives_element and isinstance(result, tuple) and len(result) == 2 else result
        if gives_element and new is result:
            raise TypeError("The scan function must return a pair comprising the new state and the output value. "
                            f"Got {result!r}. Fix: return state, element")
        before = flatten(states)
        after = [t._spec for t in graph.outputs[: len(flatten(new))]]
        if len(before) != len(after) or any(a.dtype is not b.dtype for a, b in zip(before, after)):
            raise TypeError(f"The element types for the new state must match the initial state. Expected {before}; "
                            f"got {after}. Fix: tf.cast what the function returns")
        wider = [Spec.of(a.dtype, relax(a.shape, b.shape)) for a, b in zip(before, after)]
        if wider == before:
            return graph, result, states
        states = pack(states, iter(wider))


def _computed(captured: list[Any], compute: Any, specs: Any, name: str | None) -> Any:
    """Computes a function of captured tensors."""
    leaves = flatten(specs)
    if context.executing_eagerly():
        found = [EagerTensor(np.asarray(v), s.dtype) for v, s in zip(compute({}), leaves, strict=True)]
        return pack(specs, iter(found))
    keys = [id(t) for t in captured]

    def of_values(values: Any) -> Element:
        # Silenced: untyped where it comes from.
        return compute({k: np.asarray(v) for k, v in zip(keys, values, strict=True)})

    found = raw.DatasetResult(captured, compute=of_values, output_types=tuple(s.dtype for s in leaves),
                              output_shapes=tuple(s.shape for s in leaves), name=name)
    return pack(specs, iter(found))
