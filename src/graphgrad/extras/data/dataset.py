"""`tf.data`: data sets of NumPy arrays and Python iterators, and iterators that feed them to a graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.frontend.function.autograph.loop_sources import LoopElements, LoopSource
from graphgrad.ir import context
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.dtypes import DType, as_dtype, int64
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import register_spec

from .cardinality import INFINITE, UNKNOWN, divided, limited, times_
from .data_structure import Parts, arranged, components, flatten, pack, takers
from .dataset_components import DatasetParts, Held, common, element_spec, specs_of
from .dataset_specs import DatasetSpec
from .elements import (
    Element,
    Values,
    _all_rows,
    _now,
    _row_spec,
    _runner,
    _shapes,
    _spec,
    _symbolic,
    _tuples,
    _value,
    _yielded_all,
    _zip,
    joined,
    traced,
)
from .nested_padded import MoreTransformations
from .shuffle import numbers, seeds_of, shuffled
from .window_group_cache import RestOfTransformations


class Dataset(LoopSource, MoreTransformations, RestOfTransformations):
    """A sequence of elements: tuples, dictionaries or single arrays.

    Reference: TensorFlow 2.21 `tf.data.Dataset`.

    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])).repeat(2).batch(4)
    >>> numbers, letters = dataset.make_one_shot_iterator().get_next()
    >>> sess.run([numbers, letters])
    [array([1, 2, 3, 1], dtype=int32), array([b'a', b'b', b'c', b'a'], dtype=object)]
    """

    _specs: Any  # a Spec for each leaf
    _captured: list[Any]  # tensors outside, computed when a pass begins
    _passes: Callable[[Values], Iterator[Element]]
    _size: int = UNKNOWN  # the number of elements, as far as it is known
    _options: Any = None

    def __init__(self, variant_tensor: Any):
        raise TypeError("A Dataset is made by from_tensor_slices, from_tensors, from_generator or range.")

    @classmethod
    def _of(cls, specs: Any, captured: Sequence[Any], passes: Callable[[Values], Iterator[Element]],
            size: int = UNKNOWN) -> Any:
        self = object.__new__(cls)
        self._specs, self._captured, self._passes, self._size = specs, list(captured), passes, size
        return self

    def _then(self, passes: Callable[[Values], Iterator[Element]], specs: Any = None, captured: Sequence[Any] = (),
              size: int = UNKNOWN) -> Any:
        made = self._of(self._specs if specs is None else specs, [*self._captured, *captured], passes, size)
        made._options = self._options
        return made

    def _start(self, captured: Sequence[Any]) -> Iterator[Element]:
        return self._passes({id(t): np.asarray(v) for t, v in zip(self._captured, captured, strict=True)})

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TensorSpec` for each component."""
        return element_spec(self._specs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def __iter__(self) -> Iterator[Any]:
        graph = context.current_graph()
        if graph is not None and graph.building_function:
            from .in_function import GraphIterator

            return GraphIterator(self)
        if graph is not None:
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
                               "tf.function. Fix: make_one_shot_iterator().get_next()")
        from .eager_iterator import OwnedIterator

        return OwnedIterator(self)

    def _loop_elements(self) -> LoopElements:
        from .in_function import Elements

        return Elements(self)

    # -- sources ---------------------------------------------------------------------

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Any:
        """Makes a data set with one element.

        Args:
          tensors: an array, or tuples and dictionaries of them.
          name: accepted.
        """
        values = [_value(leaf) for leaf in flatten(tensors)]
        captured = [v for v in values if isinstance(v, Tensor)]
        specs = pack(tensors, map(_spec, values))
        return cls._of(specs, captured, lambda given: iter([[_now(v, given) for v in values]]), 1)

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """Makes a data set of the rows of arrays.

        Args:
          tensors: an array, or tuples and dictionaries of them, all with the same number of rows.
          name: accepted.
        Raises: ValueError for scalars, or if numbers of rows differ.
        """
        values = [_value(leaf) for leaf in flatten(tensors)]
        whole = components(pack(tensors, map(_spec, values)))
        rows = None
        for spec in whole:
            if spec.shape == ():
                raise ValueError("Unbatching a tensor is only supported for rank >= 1. "
                                 "Fix: from_tensors for one element")
            first = None if spec.shape is None else spec.shape[0]
            if first is not None and rows is not None and first != rows:
                raise ValueError(f"Dimensions {rows} and {first} are not compatible.\n"
                                 f"  Asked for at {user_source(2)}\n"
                                 "  Fix: give all components the same number of rows")
            rows = first if rows is None else rows
        captured = [v for v in values if isinstance(v, Tensor)]

        def passes(given: Values) -> Iterator[Element]:
            arrays = [_now(v, given) for v in values]
            plain = [a for a, c in zip(arrays, whole) if not isinstance(c, Parts)] if len(arrays) == len(whole) else []
            if len({len(a) for a in plain}) > 1:
                raise InvalidArgumentError(None, None, f"components have {[len(a) for a in plain]} rows. "
                                           "Fix: feed as many rows for each")
            return _all_rows(whole, arrays)

        parts = iter([_row_spec(c) for c in whole])
        return cls._of(arranged(tensors, lambda _: next(parts)), captured, passes, UNKNOWN if rows is None else rows)

    @classmethod
    def from_generator(cls, generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
                       output_signature: Any = None, name: str | None = None) -> Any:
        """Makes a data set of the values of a Python generator.

        Args:
          generator: a function that returns an iterator, called at the beginning of each pass.
          output_types: the dtypes, arranged like the elements.
          output_shapes: their shapes; not known if not given.
          args: values to call `generator` with, as arrays.
          output_signature: `TensorSpec`s, in place of types and shapes.
          name: accepted.
        Raises: TypeError if it cannot be called, or if no types are given. InvalidArgumentError at run time for
          elements that do not fit.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None:
            specs = specs_of(output_signature)
        elif output_types is None:
            raise TypeError("Either `output_signature` or `output_types` must be specified.")
        else:
            types = flatten(_tuples(output_types))
            shapes = [None] * len(types) if output_shapes is None else _shapes(output_shapes, output_types)
            specs = pack(_tuples(output_types), (Spec.of(as_dtype(t), s) for t, s in zip(types, shapes, strict=True)))
        arguments = [_value(a) for a in args or ()]
        leaves = flatten(specs)

        def passes(given: Values) -> Iterator[Element]:
            elements = generator(*[_now(a, given) for a in arguments])
            return (_yielded_all(specs, leaves, element) for element in elements)

        return cls._of(specs, [a for a in arguments if isinstance(a, Tensor)], passes)

    @classmethod
    def range(cls, *args: Any, **kwargs: Any) -> Any:
        """Makes a data set of numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`; int64.

        Args:
          *args: the numbers.
          **kwargs: `output_type`, another dtype.
        """
        dtype: DType = as_dtype(kwargs.get("output_type") or int64)
        values = [_value(a) for a in args]

        def passes(given: Values) -> Iterator[Element]:
            return ([np.array(i, dtype.np_dtype)] for i in range(*[int(_now(v, given)) for v in values]))

        symbolic = [v for v in values if isinstance(v, Tensor)]
        size = UNKNOWN if symbolic else len(range(*map(int, values)))
        return cls._of(Spec.of(dtype, ()), symbolic, passes, size)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """Makes a data set of tuples of the elements of several, as long as the shortest.

        Args:
          *args: the data sets, or one structure of them.
          datasets: a structure of data sets, in their place.
          name: accepted.
        """
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
        parts: list[Any] = []
        arranged(structure, parts.append, (Dataset,))
        if not parts or not all(isinstance(p, Dataset) for p in parts):
            raise TypeError(f"Invalid input to `zip`: {structure}. Fix: give data sets, in tuples or dictionaries")

        def passes(given: Values) -> Iterator[Element]:
            return (list(itertools.chain(*row)) for row in _zip([p._passes(given) for p in parts]))

        at = iter(parts)
        specs = arranged(structure, lambda _: next(at)._specs, (Dataset,))
        return cls._of(specs, [t for p in parts for t in p._captured], passes, limited(*[p._size for p in parts]))

    # -- transformations ---------------------------------------------------------------

    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, synchronous: Any = None,
            use_unbounded_threadpool: bool = False, name: str | None = None) -> Any:
        """Applies a function to each element.

        Args:
          map_func: a function of tensors, called once to build a graph, which NumPy executes for each element. A
            tuple is passed as several arguments.
          num_parallel_calls, deterministic, synchronous, use_unbounded_threadpool, name: accepted.
        """
        graph, structure = self._traced(map_func)
        specs = pack(structure, (t._spec for t in graph.outputs))
        return self._then(lambda given: map(_runner(graph, given), self._passes(given)), specs, _symbolic(graph),
                          self._size)

    def filter(self, predicate: Any, name: str | None = None) -> Any:
        """Makes a data set of the elements for which a function is true.

        Args:
          predicate: a function of tensors that returns a bool scalar.
          name: accepted.
        """
        graph = self._predicate(predicate)

        def passes(given: Values) -> Iterator[Element]:
            run = _runner(graph, given)
            return filter(lambda e: bool(run(e)[0]), self._passes(given))  # continues after an error

        return self._then(passes, captured=_symbolic(graph))

    def _predicate(self, predicate: Any) -> FuncGraph:
        graph, _ = self._traced(predicate)
        if len(graph.outputs) != 1 or not graph.outputs[0].dtype.is_bool:
            raise ValueError("`predicate` must return a bool scalar. Fix: compare, e.g. tf.equal(x, 0)")
        return graph

    def _traced(self, function: Any) -> tuple[FuncGraph, Any]:
        """Traces a function to a graph; returns it and the structure of its results."""
        return traced(function, self._specs)

    def apply(self, transformation_func: Any) -> Any:
        """Applies a function to the data set."""
        return transformation_func(self)

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: Any = None, name: str | None = None) -> Any:
        """Makes a data set of batches: stacks of `batch_size` elements.

        Args:
          batch_size: the number of elements of a batch, an int or a tensor.
          drop_remainder: whether to drop a smaller last batch.
          num_parallel_calls, deterministic, name: accepted.
        Raises: InvalidArgumentError for a size < 1, and at run time if shapes differ.
        """
        size = _value(batch_size)
        if not isinstance(size, Tensor) and int(size) < 1:
            raise InvalidArgumentError(None, None, f"Batch size must be greater than zero, not {int(size)}. "
                                       "Fix: give 1 or more")
        rows = int(size) if drop_remainder and not isinstance(size, Tensor) else None
        whole = components(self._specs)

        def passes(given: Values) -> Iterator[Element]:
            wanted, elements = int(_now(size, given)), self._passes(given)
            while chunk := list(itertools.islice(elements, wanted)):
                if len(chunk) == wanted or not drop_remainder:
                    yield joined(whole, chunk)

        def batched(spec: Any) -> Any:
            if isinstance(spec, Parts):
                return spec.batched(rows)  # type: ignore[attr-defined]  # the base lacks it
            return Spec.of(spec.dtype, None if spec.shape is None else (rows, *spec.shape))

        symbolic = isinstance(size, Tensor)
        count = UNKNOWN if symbolic else divided(self._size, int(size), drop_remainder)
        return self._then(passes, arranged(self._specs, batched), [size] if symbolic else [], count)

    def unbatch(self, name: str | None = None) -> Any:
        """Makes a data set of the rows of the elements; the inverse of `batch`."""

        whole = components(self._specs)

        def passes(given: Values) -> Iterator[Element]:
            for element in self._passes(given):
                yield from _all_rows(whole, element)

        return self._then(passes, arranged(self._specs, _row_spec))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True,
                name: str | None = None) -> Any:
        """Makes a data set in random order: each element is drawn from a buffer of the next ones.

        Args:
          buffer_size: the size of the buffer.
          seed: an int; the order is TensorFlow's for the same seed.
          reshuffle_each_iteration: whether each repetition has another order.
          name: accepted.
        """
        size = _value(buffer_size)
        if not isinstance(size, Tensor) and int(size) < 1:
            raise InvalidArgumentError(None, None, f"buffer_size must be greater than zero, not {int(size)}. "
                                       "Fix: give 1 or more")
        seeds = seeds_of(seed)
        again = reshuffle_each_iteration in (None, True)
        own = numbers(seeds) if context.executing_eagerly() else None  # continues over passes

        def passes(given: Values) -> Iterator[Element]:
            mine = seeds
            if again:
                draw = own if own is not None else given.setdefault(id(passes), numbers(seeds))
                mine = next(draw), next(draw)
            return shuffled(self._passes(given), int(_now(size, given)), numbers(mine))

        return self._then(passes, captured=[size] if isinstance(size, Tensor) else [], size=self._size)

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """Makes a data set of several passes; without end if `count` is None or -1."""
        times = None if count is None else _value(count)

        def passes(given: Values) -> Iterator[Element]:
            n = -1 if times is None else int(_now(times, given))
            for _ in itertools.count() if n < 0 else range(n):
                empty = True
                for element in self._passes(given):
                    empty = False
                    yield element
                if empty:
                    return

        if isinstance(times, Tensor):
            return self._then(passes, captured=[times])
        return self._then(passes, size=times_(self._size, -1 if times is None else int(times)))

    def _slice(self, count: Any, skipped: bool) -> Any:
        size = _value(count)

        def passes(given: Values) -> Iterator[Element]:
            n, elements = int(_now(size, given)), self._passes(given)
            if skipped:
                return itertools.islice(elements, n, None) if n >= 0 else iter(())
            return itertools.islice(elements, n) if n >= 0 else elements

        if isinstance(size, Tensor):
            return self._then(passes, captured=[size])
        count = int(size)
        if not skipped:
            return self._then(passes, size=self._size if count < 0 else limited(self._size, count))
        left = 0 if count < 0 else self._size if self._size < 0 else max(0, self._size - count)
        return self._then(passes, size=left)

    def take(self, count: Any, name: str | None = None) -> Any:
        """Makes a data set of the first `count` elements; of all for -1."""
        return self._slice(count, False)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """Makes a data set without the first `count` elements; an empty one for -1."""
        return self._slice(count, True)

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Any:
        """Makes a data set of every `num_shards`-th element, from `index` on."""
        def passes(given: Values) -> Iterator[Element]:
            return itertools.islice(self._passes(given), whole(index), None, whole(num_shards))

        size = self._size if self._size < 0 else len(range(whole(index), self._size, whole(num_shards)))
        return self._then(passes, size=size)

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """Makes a data set of the elements of this one followed by those of another."""

        pairs = zip(components(self._specs), components(dataset._specs), strict=True)
        found = iter([common(a, b) for a, b in pairs])
        specs = arranged(self._specs, lambda _: next(found))
        sizes = self._size, dataset._size
        size = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
        return self._then(lambda given: itertools.chain(self._passes(given), dataset._passes(given)), specs,
                          dataset._captured, size)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """Returns the data set itself: elements are computed on demand."""
        return self._then(self._passes, size=self._size)


class _Again:
    """The elements of a data set, from the beginning at each pass.

    Args:
      dataset: the data set.
      captured: the values that it needs.
    """

    def __init__(self, dataset: Any, captured: Sequence[Any]):
        self._dataset, self._captured = dataset, captured

    def __iter__(self) -> Iterator[Element]:
        return self._dataset._start(self._captured)


def _as_value(dataset: Dataset) -> Parts:
    """Converts a data set to a component of elements."""

    def of_values(captured: Any) -> Any:
        leaf = np.empty((), object)
        leaf[()] = Held(_Again(dataset, captured))
        return leaf

    return DatasetParts([raw.DatasetVariant(dataset._captured, of_values=of_values)], dataset._specs)


takers[Dataset] = _as_value


register_spec(Dataset, DatasetSpec.from_value)
