"""`tf.data`: data sets, made of NumPy arrays and Python iterators, and iterators that feed them to a graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..executor.run import Executable
from ..ir import context
from ..ir.convert import convert_to_tensor, make_array
from ..ir.dtypes import DType, as_dtype, int64, resource
from ..ir.eager import EagerTensor
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Tensor
from ..ir.opdef import Spec
from ..ir.shape import Shape, as_shape, compatible, shape_str
from ..ir.source import user_source
from ..ops.seeds import get_seed
from .data_nest import flatten, mapped, pack
from .dataset_more import MoreTransformations
from .function import TensorSpec

Element = list[Any]  # arrays
Values = dict[int, Any]  # id of a captured tensor -> its value

def _value(leaf: Any) -> Any:
    """A symbolic tensor, or an array."""
    if isinstance(leaf, EagerTensor):
        return np.asarray(leaf._value)
    if isinstance(leaf, Tensor):
        return leaf
    if hasattr(leaf, "_as_tensor"):
        return _value(leaf._as_tensor())
    with context.use(context.EAGER):
        return np.asarray(convert_to_tensor(leaf)._value)


def _spec(value: Any) -> Spec:
    return value._spec if isinstance(value, Tensor) else Spec.of(as_dtype(value.dtype), value.shape)


class Dataset(MoreTransformations):
    """A sequence of elements: tuples, dictionaries or single arrays.

    Reference: TensorFlow 2.21 `tf.data.Dataset`.

    >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])).repeat(2).batch(4)
    >>> numbers, letters = dataset.make_one_shot_iterator().get_next()
    >>> sess.run([numbers, letters])
    [array([1, 2, 3, 1], dtype=int32), array([b'a', b'b', b'c', b'a'], dtype=object)]
    """

    _specs: Any  # a Spec for each leaf
    _captured: list[Any]  # tensors that the surroundings compute when a pass begins
    _passes: Callable[[Values], Iterator[Element]]

    def __init__(self, variant_tensor: Any):
        raise TypeError("A Dataset is made by from_tensor_slices, from_tensors, from_generator or range.")

    @classmethod
    def _of(cls, specs: Any, captured: Sequence[Any], passes: Callable[[Values], Iterator[Element]]) -> Any:
        self = object.__new__(cls)
        self._specs, self._captured, self._passes = specs, list(captured), passes
        return self

    def _then(self, passes: Callable[[Values], Iterator[Element]], specs: Any = None,
              captured: Sequence[Any] = ()) -> Any:  # fmt: skip
        return self._of(self._specs if specs is None else specs, [*self._captured, *captured], passes)

    def _start(self, captured: Sequence[Any]) -> Iterator[Element]:
        return self._passes({id(t): np.asarray(v) for t, v in zip(self._captured, captured, strict=True)})

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TensorSpec` for each component."""
        return mapped(lambda s: TensorSpec(s.shape, s.dtype), self._specs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def __iter__(self) -> Iterator[Any]:
        if not context.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
                               "tf.function. Fix: make_one_shot_iterator().get_next()")  # fmt: skip
        types = [s.dtype for s in flatten(self._specs)]
        return (pack(self._specs, map(EagerTensor, element, types)) for element in self._start([]))

    # -- sources ---------------------------------------------------------------------

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Any:
        """A data set with one element.

        Args:
          tensors: an array, or tuples and dictionaries of them.
          name: accepted.
        """
        values = [_value(leaf) for leaf in flatten(tensors)]
        captured = [v for v in values if isinstance(v, Tensor)]
        specs = pack(tensors, map(_spec, values))
        return cls._of(specs, captured, lambda given: iter([[_now(v, given) for v in values]]))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """A data set of the rows of arrays.

        Args:
          tensors: an array, or tuples and dictionaries of them, all with the same number of rows.
          name: accepted.
        Raises: ValueError for scalars, or if numbers of rows differ.
        """
        values = [_value(leaf) for leaf in flatten(tensors)]
        specs = list(map(_spec, values))
        rows = None
        for spec in specs:
            if spec.shape == ():
                raise ValueError("Unbatching a tensor is only supported for rank >= 1. "
                                 "Fix: from_tensors for one element")  # fmt: skip
            first = None if spec.shape is None else spec.shape[0]
            if first is not None and rows is not None and first != rows:
                raise ValueError(f"Dimensions {rows} and {first} are not compatible.\n"
                                 f"  Asked for at {user_source(2)}\n"
                                 "  Fix: give all components the same number of rows")  # fmt: skip
            rows = first if rows is None else rows
        parts = [Spec.of(s.dtype, None if s.shape is None else s.shape[1:]) for s in specs]
        captured = [v for v in values if isinstance(v, Tensor)]

        def passes(given: Values) -> Iterator[Element]:
            arrays = [_now(v, given) for v in values]
            if len({len(a) for a in arrays}) > 1:
                raise InvalidArgumentError(None, None, f"components have {[len(a) for a in arrays]} rows. "
                                           "Fix: feed as many rows for each")  # fmt: skip
            return (list(map(np.asarray, row)) for row in _zip([_rows(a) for a in arrays]))

        return cls._of(pack(tensors, iter(parts)), captured, passes)

    @classmethod
    def from_generator(cls, generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None,
                       output_signature: Any = None, name: str | None = None) -> Any:  # fmt: skip
        """A data set of what a Python generator yields.

        Args:
          generator: a function that gives an iterator, called at the beginning of each pass.
          output_types: the dtypes, arranged like the elements.
          output_shapes: their shapes; not known if not given.
          args: values to call `generator` with, as arrays.
          output_signature: `TensorSpec`s, in the place of types and shapes.
          name: accepted.
        Raises: TypeError if it cannot be called, or if no types are given. InvalidArgumentError at run time for
          elements that do not fit.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None:
            specs = mapped(lambda s: Spec.of(s.dtype, as_shape(s.shape)), output_signature)
        elif output_types is None:
            raise TypeError("Either `output_signature` or `output_types` must be specified.")
        else:
            types = flatten(_tuples(output_types))
            shapes = [None] * len(types) if output_shapes is None else _shapes(output_shapes, output_types)
            specs = pack(_tuples(output_types), (Spec.of(as_dtype(t), s) for t, s in zip(types, shapes, strict=True)))
        arguments = [_value(a) for a in args or ()]
        leaves = flatten(specs)

        def passes(given: Values) -> Iterator[Element]:
            for element in generator(*[_now(a, given) for a in arguments]):
                parts = [element] if isinstance(specs, Spec) else flatten(_like(specs, element))
                if len(parts) != len(leaves):
                    raise InvalidArgumentError(
                        None, None, f"TypeError: `generator` yielded {len(parts)} components, where {len(leaves)} were "
                        "expected. Fix: correct output_types")  # fmt: skip
                yield [_yielded(part, spec) for part, spec in zip(parts, leaves)]

        return cls._of(specs, [a for a in arguments if isinstance(a, Tensor)], passes)

    @classmethod
    def range(cls, *args: Any, **kwargs: Any) -> Any:
        """A data set of numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`; int64.

        Args:
          *args: the numbers.
          **kwargs: `output_type`, another dtype.
        """
        dtype: DType = as_dtype(kwargs.get("output_type") or int64)
        values = [_value(a) for a in args]

        def passes(given: Values) -> Iterator[Element]:
            return ([np.array(i, dtype.np_dtype)] for i in range(*[int(_now(v, given)) for v in values]))

        return cls._of(Spec.of(dtype, ()), [v for v in values if isinstance(v, Tensor)], passes)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """A data set of tuples of the elements of several, as long as the shortest.

        Args:
          *args: the data sets, or one structure of them.
          datasets: a structure of data sets, in their place.
          name: accepted.
        """
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
        parts = flatten(structure)
        if not parts or not all(isinstance(p, Dataset) for p in parts):
            raise TypeError(f"Invalid input to `zip`: {structure}. Fix: give data sets, in tuples or dictionaries")

        def passes(given: Values) -> Iterator[Element]:
            return (list(itertools.chain(*row)) for row in _zip([p._passes(given) for p in parts]))

        specs = pack(structure, (p._specs for p in parts))
        return cls._of(specs, [t for p in parts for t in p._captured], passes)

    # -- transformations ---------------------------------------------------------------

    def map(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, synchronous: Any = None,
            use_unbounded_threadpool: bool = False, name: str | None = None) -> Any:  # fmt: skip
        """A data set of what a function makes of the elements.

        Args:
          map_func: a function of tensors, called once to build a graph, which NumPy executes for each element. An
            element that is a tuple is given as several arguments.
          num_parallel_calls, deterministic, synchronous, use_unbounded_threadpool, name: accepted.
        """
        graph, structure = self._traced(map_func)
        specs = pack(structure, (t._spec for t in graph.outputs))
        return self._then(lambda given: map(_runner(graph, given), self._passes(given)), specs, _symbolic(graph))

    def filter(self, predicate: Any, name: str | None = None) -> Any:
        """A data set of the elements for which a function is true.

        Args:
          predicate: a function of tensors that gives a bool scalar.
          name: accepted.
        """
        graph, _ = self._traced(predicate)
        if len(graph.outputs) != 1 or not graph.outputs[0].dtype.is_bool:
            raise ValueError("`predicate` must return a bool scalar. Fix: compare, e.g. tf.equal(x, 0)")

        def passes(given: Values) -> Iterator[Element]:
            run = _runner(graph, given)
            return (e for e in self._passes(given) if run(e)[0])

        return self._then(passes, captured=_symbolic(graph))

    def _traced(self, function: Any) -> tuple[FuncGraph, Any]:
        """A function as a graph, and the structure of what it returns."""
        graph = FuncGraph(getattr(function, "__name__", "map"), context.current_graph())
        with context.use(graph):
            inputs = [graph.add_input(s.dtype, s.shape, f"arg_{i}") for i, s in enumerate(flatten(self._specs))]
            element = pack(self._specs, iter(inputs))
            several = isinstance(element, tuple) and not hasattr(element, "_fields")
            result = function(*element) if several else function(element)
            outputs = [convert_to_tensor(leaf) for leaf in flatten(result)]
            graph.outputs = [t if t.graph is graph else graph.capture(t) for t in outputs]
        if any(t.dtype is resource for t in graph.captured):
            raise ValueError("A function of a data set uses a variable, which is not supported.\n"
                             f"  Asked for at {user_source(2)}\n"
                             "  Fix: do it with what get_next() returns")  # fmt: skip
        return graph, result

    def apply(self, transformation_func: Any) -> Any:
        """What a function makes of the data set."""
        return transformation_func(self)

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: Any = None, name: str | None = None) -> Any:  # fmt: skip
        """A data set in which so many elements are one.

        Args:
          batch_size: how many; a number or a tensor.
          drop_remainder: whether fewer at the end are left out.
          num_parallel_calls, deterministic, name: accepted.
        Raises: ValueError for a size < 1; InvalidArgumentError at run time if shapes differ.
        """
        size = _value(batch_size)
        if not isinstance(size, Tensor) and int(size) < 1:
            raise ValueError(f"batch_size must be greater than zero, not {int(size)}. Fix: give 1 or more")
        rows = int(size) if drop_remainder and not isinstance(size, Tensor) else None

        def passes(given: Values) -> Iterator[Element]:
            wanted, elements = int(_now(size, given)), self._passes(given)
            while chunk := list(itertools.islice(elements, wanted)):
                if len(chunk) == wanted or not drop_remainder:
                    yield [_stacked(parts, i) for i, parts in enumerate(zip(*chunk))]

        def batched(spec: Spec) -> Spec:
            return Spec.of(spec.dtype, None if spec.shape is None else (rows, *spec.shape))

        return self._then(passes, mapped(batched, self._specs), [size] if isinstance(size, Tensor) else [])

    def unbatch(self, name: str | None = None) -> Any:
        """A data set of the rows of the elements; the inverse of `batch`."""

        def passes(given: Values) -> Iterator[Element]:
            for element in self._passes(given):
                yield from (list(map(np.asarray, row)) for row in _zip([_rows(a) for a in element]))

        return self._then(passes, mapped(lambda s: Spec.of(s.dtype, s.shape and s.shape[1:]), self._specs))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True,
                name: str | None = None) -> Any:  # fmt: skip
        """A data set in random order: each element is drawn from a buffer of those that come next.

        Args:
          buffer_size: how large the buffer is.
          seed: a number; the same one gives the same order, which is not TensorFlow's.
          reshuffle_each_iteration: whether each repetition has another order.
          name: accepted.
        """
        size = _value(buffer_size)
        seeds = [s for s in get_seed(seed) if s is not None] or None

        def passes(given: Values) -> Iterator[Element]:
            epochs = given.setdefault(id(passes), itertools.count())
            epoch = next(epochs) if reshuffle_each_iteration in (None, True) else 0
            rng = np.random.default_rng(seeds and [*seeds, epoch])
            elements, wanted = self._passes(given), int(_now(size, given))
            buffer = list(itertools.islice(elements, wanted))
            for following in elements:
                i = int(rng.integers(len(buffer)))
                yield buffer[i]
                buffer[i] = following
            rng.shuffle(buffer)  # type: ignore[arg-type]
            yield from buffer

        return self._then(passes, captured=[size] if isinstance(size, Tensor) else [])

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """A data set that is passed through several times; for ever if `count` is None or -1."""
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

        return self._then(passes, captured=[times] if isinstance(times, Tensor) else [])

    def _slice(self, count: Any, skipped: bool) -> Any:
        size = _value(count)

        def passes(given: Values) -> Iterator[Element]:
            n, elements = int(_now(size, given)), self._passes(given)
            if skipped:
                return itertools.islice(elements, n, None) if n >= 0 else iter(())
            return itertools.islice(elements, n) if n >= 0 else elements

        return self._then(passes, captured=[size] if isinstance(size, Tensor) else [])

    def take(self, count: Any, name: str | None = None) -> Any:
        """A data set of the first `count` elements; of all for -1."""
        return self._slice(count, False)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """A data set without the first `count` elements; an empty one for -1."""
        return self._slice(count, True)

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Any:
        """A data set of each `num_shards`-th element, from the one at `index` on."""
        return self._then(lambda given: itertools.islice(self._passes(given), int(index), None, int(num_shards)))

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """A data set of the elements of this one and then those of another."""

        def joined(pair: tuple[Spec, Spec]) -> Spec:
            a, b = pair
            if a.dtype is not b.dtype:
                raise TypeError(f"Data sets of {a.dtype.name} and of {b.dtype.name} cannot be concatenated. "
                                "Fix: tf.cast")  # fmt: skip
            if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
                return Spec.of(a.dtype, None)
            return Spec.of(a.dtype, tuple(m if m == n else None for m, n in zip(a.shape, b.shape)))

        pairs = zip(flatten(self._specs), flatten(dataset._specs), strict=True)
        return self._then(lambda given: itertools.chain(self._passes(given), dataset._passes(given)),
                          pack(self._specs, map(joined, pairs)), dataset._captured)  # fmt: skip

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """The data set itself: elements are computed when they are asked for."""
        return self._then(self._passes)

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """The data set itself, kept nowhere."""
        return self._then(self._passes)

    def with_options(self, options: Any, name: str | None = None) -> Any:
        """The data set itself."""
        return self._then(self._passes)


# -- values ----------------------------------------------------------------------------------


def _now(value: Any, given: Values) -> Any:
    """The value of a captured tensor, or the array."""
    return given[id(value)] if isinstance(value, Tensor) else value


def _rows(array: Any) -> Iterator[Any]:
    if array.dtype != object:
        return iter(array)
    return (make_array(row, as_dtype(object)) for row in array)


def _zip(iterators: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*iterators)  # as long as the shortest


def _stacked(parts: Sequence[Any], component: int) -> Any:
    for i, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise InvalidArgumentError(
                None, None, f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {list(parts[0].shape)} and element {i} had shape {list(part.shape)}. "
                "Fix: make them equal in map(), or batch(1)")  # fmt: skip
    if parts[0].dtype != object:
        return np.stack(parts)
    result = np.empty((len(parts), *parts[0].shape), object)
    for i, part in enumerate(parts):
        result[i] = part[()]
    return result


def _tuples(structure: Any) -> Any:
    """Lists of types are tuples of them."""
    return tuple(structure) if isinstance(structure, list) else structure


def _shapes(shapes: Any, types: Any) -> list[Shape]:
    """The shapes, arranged like types, whose own tuples may stand for shapes."""
    if isinstance(types, Mapping):
        return [s for key in sorted(types) for s in _shapes(shapes[key], types[key])]
    if isinstance(types, (tuple, list)):
        return [s for shape, t in zip(shapes, types, strict=True) for s in _shapes(shape, t)]
    return [as_shape(shapes)]


def _like(specs: Any, element: Any) -> Any:
    return tuple(element) if isinstance(specs, tuple) and not isinstance(element, tuple) else element


def _yielded(value: Any, spec: Spec) -> Any:
    """What a generator yielded, as an array; InvalidArgumentError if it does not fit."""
    try:
        array = make_array(value, spec.dtype)
    except (TypeError, ValueError) as e:
        raise InvalidArgumentError(None, None, "TypeError: `generator` yielded an element that could not be converted "
                                   f"to the expected type {spec.dtype.name}: {value!r} ({e}). "
                                   "Fix: correct output_types") from None  # fmt: skip
    if not compatible(array.shape, spec.shape):
        raise InvalidArgumentError(
            None, None, f"TypeError: `generator` yielded an element of shape {array.shape} where an element of shape "
            f"{shape_str(spec.shape)} was expected. Fix: correct output_shapes")  # fmt: skip
    return array


def _no_variables(handle: Tensor) -> Any:
    raise InvalidArgumentError(None, handle.op, f"{handle.name}: a function of a data set cannot use variables")


def _symbolic(graph: FuncGraph) -> list[Any]:
    """What a function uses of a graph around it."""
    return [t for t in graph.captured if not isinstance(t, EagerTensor)]


def _runner(graph: FuncGraph, given: Values) -> Callable[[Element], Element]:
    """A function that computes a graph's outputs from an element."""
    run = Executable(graph.outputs, [], graph.inputs, _no_variables, {}, "numpy")
    rest = [t._value if isinstance(t, EagerTensor) else given[id(t)] for t in graph.captured]

    def call(element: Element) -> Element:
        return list(map(np.asarray, run([*element, *rest])))

    return call
