"""More of `tf.data.Dataset`: data sets within data sets, padded batches, lists of files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.ir import context
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.dtypes import as_dtype, int64, string
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import as_shape

from .cardinality import divided
from .data_structure import flatten, mapped, pack
from .elements import _now, _runner, _shapes, _symbolic, _value


class MoreTransformations:
    """Transformations of `Dataset`."""

    _specs: Any
    _captured: list[Any]

    def _nested(self, map_func: Any) -> tuple[FuncGraph, Any]:
        """Traces a function that returns a data set to a graph of the tensors that the data set needs."""
        from .dataset import Dataset

        graph = FuncGraph(getattr(map_func, "__name__", "flat_map"), context.current_graph())
        with context.use(graph):
            inputs = [graph.add_input(s.dtype, s.shape, f"arg_{i}") for i, s in enumerate(flatten(self._specs))]
            element = pack(self._specs, iter(inputs))
            several = isinstance(element, tuple) and not hasattr(element, "_fields")
            result = convert(map_func)(*element) if several else convert(map_func)(element)
            if not isinstance(result, Dataset):
                raise TypeError("The `map_func` argument must return a `Dataset` object. "
                                f"Got {type(result).__name__}. Fix: use map() for a function that gives tensors")
            graph.outputs = [t if t.graph is graph else graph.capture(t) for t in result._captured]
        return graph, result

    def flat_map(self, map_func: Any, name: str | None = None) -> Any:
        """Makes a data set of the elements of the data sets that a function returns for the elements, in sequence.

        Args:
          map_func: a function of tensors that returns a data set.
          name: accepted.
        Raises: TypeError if it returns anything else.
        """
        return self.interleave(map_func, 1)

    def interleave(self, map_func: Any, cycle_length: Any = None, block_length: Any = None,
                   num_parallel_calls: Any = None, deterministic: Any = None,
                   name: str | None = None) -> Any:
        """Makes a data set of the elements of the data sets that a function returns for the elements, interleaved.

        Args:
          map_func: a function of tensors that returns a data set.
          cycle_length: the number of data sets that are interleaved; one for each core by default.
          block_length: the number of elements taken from each in turn; one by default.
          num_parallel_calls, deterministic, name: accepted.
        Raises: TypeError if the function returns anything else.
        """
        graph, inner = self._nested(map_func)
        if cycle_length is None or whole(cycle_length) == -1:
            import os

            cycle_length = os.cpu_count() or 1
        cycle, block = whole(cycle_length), int(block_length or 1)
        if cycle < 1 or block < 1:
            raise ValueError("`cycle_length` and `block_length` must be positive.")
        outer: Any = self

        def passes(given: dict[int, Any]) -> Iterator[Any]:
            run = _runner(graph, given) if graph.outputs else None
            elements = outer._passes(given)
            slots: list[Any] = []

            def opened() -> Iterator[Any] | None:
                element = next(elements, None)
                if element is None:
                    return None
                values = run(element) if run is not None else []
                started: Iterator[Any] = inner._start(values)
                return started

            slots += [None] * cycle
            at, over = 0, False
            while not over or any(slot is not None for slot in slots):
                if slots[at] is None and not over:
                    slots[at] = opened()
                    over = slots[at] is None
                if slots[at] is not None:
                    chunk = list(itertools.islice(slots[at], block))
                    yield from chunk
                    if len(chunk) < block:  # its place is filled when its turn comes
                        slots[at] = None
                at = (at + 1) % cycle

        return outer._then(passes, inner._specs, _symbolic(graph))

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """Combines the elements from the first to the last: `state = reduce_func(state, element)`.

        Args:
          initial_state: the state before the first element, a tensor or a structure of them.
          reduce_func: a function of a state and an element that returns the next state.
          name: a name for the loop.
        Returns: the last state.
        Raises: TypeError if `reduce_func` returns another structure or other dtypes.
        Gradient: with respect to the initial state and what the function uses; none if the state's shape changes.

        >>> total = tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda state, x: state + x)
        >>> sess.run(total)
        np.int64(10)
        """
        from .in_function import reduce

        try:
            return reduce(self, initial_state, reduce_func, name)
        except ValueError as e:
            if "shape_invariants" not in str(e):  # else a shape changes, which a loop does not allow
                raise
        outer: Any = self
        return outer._reduce_in_numpy(initial_state, reduce_func, name)

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: bool = False, name: str | None = None) -> Any:
        """Makes a data set of batches, in which smaller elements are padded.

        Args:
          batch_size: the number of elements of a batch, an int or a tensor.
          padded_shapes: the shapes to pad to, arranged like the elements; None or -1 for the largest size of the
            batch. By default, all unknown sizes are such.
          padding_values: the padding, arranged like the elements; zeros or empty strings by default.
          drop_remainder: whether to drop a smaller last batch.
          name: accepted.
        Raises: ValueError for unknown ranks without `padded_shapes`; InvalidArgumentError at run time for elements that
          are larger than that.
        """
        leaves = flatten(self._specs)
        if padded_shapes is None:
            shapes: list[Any] = [s.shape for s in leaves]
        else:
            shapes = [as_shape([None if n in (None, -1) else n for n in s] if s is not None else None)
                      for s in _shapes(padded_shapes, mapped(_nothing, self._specs))]
        if any(s is None for s in shapes):
            raise ValueError("a component has an unknown rank. Fix: give padded_shapes")
        given_values = [None] * len(leaves) if padding_values is None else _spread(padding_values, self._specs)
        fills = [np.asarray((b"" if s.dtype is string else 0) if v is None else _value(v), s.dtype.np_dtype)
                 for v, s in zip(given_values, leaves, strict=True)]
        size = _value(batch_size)
        outer: Any = self

        def passes(given: dict[int, Any]) -> Iterator[Any]:
            wanted, elements = int(_now(size, given)), outer._passes(given)
            while chunk := list(itertools.islice(elements, wanted)):
                if len(chunk) == wanted or not drop_remainder:
                    yield [_padded(parts, s, f) for parts, s, f in zip(zip(*chunk), shapes, fills, strict=True)]

        rows = int(size) if drop_remainder and not isinstance(size, Tensor) else None
        specs = pack(self._specs, (Spec.of(s.dtype, (rows, *shape)) for s, shape in zip(leaves, shapes, strict=True)))
        if isinstance(size, Tensor):
            return outer._then(passes, specs, [size])
        return outer._then(passes, specs, size=divided(outer._size, int(size), drop_remainder))

    def enumerate(self, start: int = 0, name: str | None = None) -> Any:
        """Makes a data set of pairs: a number that counts from `start`, int64, and the element."""
        outer: Any = self

        def passes(given: dict[int, Any]) -> Iterator[Any]:
            return ([np.asarray(i, np.int64), *element] for i, element in enumerate(outer._passes(given), whole(start)))

        return outer._then(passes, (Spec.of(int64, ()), self._specs), size=outer._size)

    @classmethod
    def list_files(cls, file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> Any:
        """Makes a data set of the names of existing files that match patterns; shuffled unless `shuffle` is False.

        Args:
          file_pattern: a glob pattern, or several.
          shuffle: whether the order is random; else names are sorted.
          seed: for the order.
          name: accepted.
        Raises: InvalidArgumentError if none match.
        """
        import glob

        made: Any = cls
        patterns = np.atleast_1d(np.asarray(file_pattern, object)).ravel().tolist()
        found = sorted(f for p in patterns for f in glob.glob(p.decode() if isinstance(p, bytes) else str(p)))
        if not found:
            raise InvalidArgumentError(None, None, f"No files matched pattern: {', '.join(map(str, patterns))}")
        names = made.from_tensor_slices(np.array([f.encode() for f in found], object))
        return names if shuffle is False else names.shuffle(len(found), seed)


def _nothing(spec: Any) -> Any:
    return spec.dtype


def _spread(values: Any, specs: Any) -> list[Any]:
    """Returns a value for each component; a single one applies to all components of its dtype."""
    if isinstance(values, (tuple, list, dict)):
        return flatten(tuple(values) if isinstance(values, list) else values)
    return [values if as_dtype(np.asarray(values).dtype).kind == s.dtype.kind or s.dtype is not string else None
            for s in flatten(specs)]


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
        out[at] = part
    return out
