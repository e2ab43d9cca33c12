"""Data sets combined from several others, and of groups of elements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.dtypes import int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw

from .data_structure import arranged, components, flatten, pack
from .dataset_base import INFINITE, UNKNOWN, DatasetBase, DatasetT, limited
from .dataset_components import DatasetParts, common, held
from .elements import Element, _runner, _symbolic, _value, _zip, fixed, positive, traced
from .mapping import nested
from .passes import Values, seeds_of

_INT64_MAX = 2**63 - 1


def _alike(datasets: list[Any]) -> Any:
    """Returns the common structure of the elements of data sets; raises TypeError if they differ."""
    specs = datasets[0]._specs
    for other in datasets[1:]:
        mine, theirs = components(specs), components(other._specs)
        if len(mine) != len(theirs):
            raise TypeError(f"The data sets' elements differ: {datasets[0].element_spec} and {other.element_spec}. "
                            "Fix: make them alike with map()")
        specs = _arranged_from(specs, [common(a, b) for a, b in zip(mine, theirs)])
    return specs


def _arranged_from(specs: Any, found: list[Any]) -> Any:
    at = iter(found)
    return arranged(specs, lambda _: next(at))


def _directed(datasets: list[Any], choices: Any, stop: bool) -> Any:
    captured = [t for d in (*datasets, choices) for t in d._captured]

    def passes(given: Values) -> Iterator[Element]:
        running: list[Any] = [d._passes(given) for d in datasets]
        left = len(running)
        for choice in choices._passes(given):
            i = int(choice[0])
            if not 0 <= i < len(running):
                raise InvalidArgumentError(None, None, f"Selector index out of range: {i} >= {len(running)}. "
                                           "Fix: give numbers of the data sets")
            element = next(running[i], None) if running[i] is not None else None
            if element is not None:
                yield element
            elif stop:
                return
            elif running[i] is not None:
                running[i] = None
                left -= 1
                if not left:
                    return

    made = datasets[0]._of(_alike(datasets), captured, passes)
    made._later = [*datasets, choices]
    return made


def chosen(datasets: list[Any], choice_dataset: Any, stop: bool) -> Any:
    """Makes the data set of `choose_from_datasets`."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    spec = choice_dataset._specs
    if not isinstance(spec, Spec) or spec.dtype is not int64 or spec.shape not in ((), None):
        raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but "
                        f"are {choice_dataset.element_spec}. Fix: tf.cast(x, tf.int64)")
    return _directed(datasets, choice_dataset, stop)


def sampled(datasets: list[Any], weights: Any, seed: Any, stop: bool, rerandomize: Any) -> Any:
    """Makes the data set of `sample_from_datasets`."""
    from .dataset import Dataset

    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    pairs = Dataset.random(seed, rerandomize).batch(2)
    if isinstance(weights, Dataset):
        both = Dataset.zip((weights, pairs))
        return _directed(datasets, both.map(_draw), stop)
    if weights is None:
        probabilities: Any = np.full(len(datasets), 1.0)
    else:
        probabilities = _value(weights)
        if not isinstance(probabilities, Tensor):
            if probabilities.shape != (len(datasets),):
                raise ValueError("Invalid `weights`. `weights` should have the same length as `datasets` but got "
                                 f"{probabilities.size} for {len(datasets)}. Fix: one for each")
            if weights is not None and not (probabilities > 0).any():
                raise ValueError("Invalid `weights`. At least one element must be greater than zero.")
            if probabilities.dtype.kind != "f":
                raise TypeError("Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                                f"{probabilities.dtype}. Fix: give floating-point numbers")
    if len(datasets) == 1:
        return datasets[0]
    if isinstance(probabilities, Tensor):
        logits: Any = raw.ExpandDims(raw.Log(probabilities), 0)
    else:
        with np.errstate(divide="ignore"):
            logits = np.log(probabilities / (1 if weights is not None else len(datasets)))[None]
        kept = [i for i, p in enumerate(probabilities) if p > 0]
        if len(kept) < len(datasets):
            datasets, logits = [datasets[i] for i in kept], logits[:, kept]

    def draw(seed_pair: Any) -> Any:
        return raw.Squeeze(raw.StatelessMultinomial(logits, 1, seed_pair, output_dtype=int64), axis=[0, 1])

    return _directed(datasets, pairs.map(draw), stop)


def _draw(weights: Any, seed_pair: Any) -> Any:
    logits = raw.ExpandDims(raw.Log(weights), 0)
    return raw.Squeeze(raw.StatelessMultinomial(logits, 1, seed_pair, output_dtype=int64), axis=[0, 1])


def grouped(dataset: Any, key_func: Any, reduce_func: Any, window_size: Any, window_size_func: Any) -> Any:
    """Makes the data set of `group_by_window`."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified."
                         if window_size is None else "The `window_size` argument and the `window_size_func` argument "
                         "are mutually exclusive.")
    keys = traced(key_func, dataset._specs)[0]
    _check_key(keys, "key_func")
    sizes = None if window_size_func is None else traced(window_size_func, Spec.of(int64, ()))[0]
    constant = None if window_size is None else positive(fixed(window_size, "window_size"), "Window size")
    shape = dataset._of((Spec.of(int64, ()), DatasetParts.of(dataset._specs)), [], iter)
    reduce_graph, inner = nested(shape, reduce_func)

    def passes(given: Values) -> Iterator[Element]:
        key_of, reduce = _runner(keys, given), _runner(reduce_graph, given)
        size_of = None if sizes is None else _runner(sizes, given)
        windows: dict[int, list[Element]] = {}
        wanted: dict[int, int] = {}

        def emitted(key: int) -> Iterator[Element]:
            return iter(inner._start(reduce([np.asarray(key, np.int64), held(windows.pop(key))]), given.draws))

        for element in dataset._passes(given):
            key = int(key_of(element)[0])
            if key not in windows:
                windows[key] = []
                # Silenced: one of the two is given.
                wanted[key] = constant if size_of is None else int(size_of([np.asarray(key, np.int64)])[0])  # type: ignore
            windows[key].append(element)
            if len(windows[key]) == wanted[key]:
                yield from emitted(key)
        for key in sorted(windows):
            yield from emitted(key)

    captured = _symbolic(keys) + _symbolic(reduce_graph) + ([] if sizes is None else _symbolic(sizes))
    made = dataset._then(passes, inner._specs, captured,
                         functions=[keys, reduce_graph, *([] if sizes is None else [sizes])])
    made._later = [inner]
    return made


def _check_key(graph: Any, what: str) -> None:
    if len(graph.outputs) != 1 or graph.outputs[0].dtype is not int64 or graph.outputs[0]._spec.shape not in ((), None):
        found = [t._spec for t in graph.outputs]
        raise ValueError(f"`{what}` must return a single `tf.int64` scalar tensor. Got {found}. "
                         "Fix: tf.cast(key, tf.int64)")


def bucketed(dataset: Any, length_of: Any, boundaries: list[int], sizes: list[int], padded_shapes: Any, values: Any,
             to_boundary: bool, no_padding: bool, drop_remainder: bool) -> Any:
    """Makes the data set of `bucket_by_sequence_length`."""
    if len(sizes) != len(boundaries) + 1:
        raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                         f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`.")
    batch_sizes = np.asarray([positive(fixed(n, "bucket_batch_sizes"), "Batch size") for n in sizes], np.int64)
    edges = np.asarray([*boundaries, np.iinfo(np.int32).max], np.int32)

    def bucket(*element: Any) -> Any:
        length = length_of(*element)
        return raw.Sum(raw.Cast(raw.LessEqual(edges, length), DstT=int64), 0)

    def size(key: Any) -> Any:
        return raw.GatherV2(batch_sizes, key, 0)

    def batch(key: Any, group: Any) -> Any:
        count = size(key)
        if no_padding:
            return group.batch(count, drop_remainder)
        return group.padded_batch(count, shapes, values, drop_remainder)

    shapes = padded_shapes
    if shapes is None and not no_padding:
        shapes = arranged(dataset._specs, lambda s: None if s.shape is None else list(s.shape))
    if to_boundary:
        return _to_boundaries(dataset, bucket, batch_sizes, edges, shapes, values, drop_remainder)
    return grouped(dataset, bucket, batch, None, size)


def _to_boundaries(dataset: Any, bucket: Any, sizes: Any, edges: Any, shapes: Any, values: Any, drop: bool) -> Any:
    """Pads each bucket's elements to its own length: one less than where the next bucket begins."""
    keys = traced(bucket, dataset._specs)[0]
    leaves = flatten(dataset._specs)
    wanted = flatten(arranged(shapes, tuple)) if not isinstance(shapes, list) else [tuple(shapes)]
    padded = [dataset._of(dataset._specs, [], lambda given: iter(given["group"])).padded_batch(
        int(n), pack(dataset._specs, iter([[None if d in (None, -1) else d for d in s] if edge is None else
                                           [edge - 1 if d in (None, -1) else d for d in s] for s in wanted])),
        values, drop) for n, edge in zip(sizes, [*edges[:-1].tolist(), None])]
    result = padded[0]

    def passes(given: Values) -> Iterator[Element]:
        key_of = _runner(keys, given)
        groups: dict[int, list[Element]] = {}
        for element in dataset._passes(given):
            key = int(key_of(element)[0])
            if key == len(padded) - 1:
                raise InvalidArgumentError(None, None, "When pad_to_bucket_boundary=True, elements must have length "
                                           f"< max(bucket_boundaries). Fix: a boundary beyond {edges[:-1].tolist()}")
            groups.setdefault(key, []).append(element)
            if len(groups[key]) == sizes[key]:
                # Silenced: values of any type.
                yield from padded[key]._passes(Values({"group": groups.pop(key)}, given.draws))
        for key, group in sorted(groups.items()):
            yield from padded[key]._passes(Values({"group": group}, given.draws))

    del leaves
    specs = arranged(result._specs, lambda s: Spec.of(s.dtype, (None, *(None,) * (len(s.shape) - 1))))
    return dataset._then(passes, specs, _symbolic(keys), functions=[keys])


def resampled(dataset: Any, class_func: Any, target: Any, initial: Any, seed: Any) -> Any:
    """Makes the data set of `rejection_resample`."""
    wanted = np.asarray(_value(target), np.float64)
    start = None if initial is None else np.asarray(_value(initial), np.float64)
    classes = traced(class_func, dataset._specs)[0]
    seeds = seeds_of(seed)

    def passes(given: Values) -> Iterator[Element]:
        class_of = _runner(classes, given)
        rng = np.random.default_rng(seeds or given.draws.draw_any())
        counts = np.ones(len(wanted)) if start is None else start
        for element in dataset._passes(given):
            found = class_of(element)
            k = int(found[0])
            if start is None:
                counts[k] += 1
            ratio = wanted * counts.sum() / np.maximum(counts, 1e-30)
            # Elements of the class that is rarest relative to the target are always kept.
            if rng.random() * ratio.max() < ratio[k]:
                yield [found[0], *element]

    return dataset._then(passes, (classes.outputs[0]._spec, dataset._specs), _symbolic(classes),
                         functions=[classes])


# -- methods of `Dataset` ----------------------------------------------------------------


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

    return sampled(list(datasets), weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
    """Makes a data set that takes each element from the data set whose number another data set gives.

    Args:
      datasets: the data sets, with elements of equal structure.
      choice_dataset: a data set of scalars, int64.
      stop_on_empty_dataset: whether to stop when a chosen data set has ended; else such choices are skipped.
    Raises: TypeError for elements of different structure; ValueError for an empty list.
    """

    return chosen(list(datasets), choice_dataset, stop_on_empty_dataset)


def concatenate(self: DatasetT, dataset: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the elements of this one followed by those of another."""

    pairs = zip(components(self._specs), components(dataset._specs), strict=True)
    found = iter([common(a, b) for a, b in pairs])
    specs = arranged(self._specs, lambda _: next(found))
    sizes = self._size, dataset._size
    size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def passes(given: Values) -> Iterator[Element]:
        yield from self._passes(given)
        yield from dataset._passes(given)

    made = self._then(passes, specs, dataset._captured, size)
    made._later = [dataset]
    return made._as("ConcatenateDataset", self, dataset)


def group_by_window(self: DatasetT, key_func: Any, reduce_func: Any, window_size: Any = None,
                    window_size_func: Any = None, name: str | None = None) -> DatasetT:
    """Applies a function to groups of elements with the same key.

    Args:
      key_func: a function of an element that returns its key, a scalar int64.
      reduce_func: a function of a key and a data set of a group's elements that returns a data set.
      window_size: the number of elements of a group.
      window_size_func: a function of the key that returns this number, in its place.
      name: accepted.
    Raises: ValueError if there is neither a size nor a function, or both.
    """

    return grouped(self, key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(self: DatasetT, element_length_func: Any, bucket_boundaries: Any,
                              bucket_batch_sizes: Any, padded_shapes: Any = None, padding_values: Any = None,
                              pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                              drop_remainder: bool = False, name: str | None = None) -> DatasetT:
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

    return bucketed(self, element_length_func, list(bucket_boundaries), list(bucket_batch_sizes), padded_shapes,
                    padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)


def rejection_resample(self: DatasetT, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None,
                       name: str | None = None) -> DatasetT:
    """Makes a data set of pairs (class, element) with another distribution of classes, by dropping elements.

    Args:
      class_func: a function of an element that returns its class, a scalar int32.
      target_dist: the target probability of each class.
      initial_dist: that in the data set; estimated from the elements by default.
      seed: an int; the same one gives the same elements.
      name: accepted.
    """

    return resampled(self, class_func, target_dist, initial_dist, seed)


def zip_(cls: type[DatasetBase], *args: Any, datasets: Any = None, name: str | None = None) -> Any:
    """Makes a data set of tuples of the elements of several, as long as the shortest.

    Args:
      *args: the data sets, or one structure of them.
      datasets: a structure of data sets, in their place.
      name: accepted.
    """
    structure = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
    parts: list[Any] = []
    arranged(structure, parts.append, (DatasetBase,))
    if not parts or not all(isinstance(p, DatasetBase) for p in parts):
        raise TypeError(f"Invalid input to `zip`: {structure}. Fix: give data sets, in tuples or dictionaries")

    def passes(given: Values) -> Iterator[Element]:
        return (list(itertools.chain(*row)) for row in _zip([p._passes(given) for p in parts]))

    at = iter(parts)
    specs = arranged(structure, lambda _: next(at)._specs, (DatasetBase,))
    made = cls._of(specs, [t for p in parts for t in p._captured], passes, limited(*[p._size for p in parts]))
    made._inputs = parts
    return made._as("ZipDataset", *parts, attrs={"N": len(parts)})
