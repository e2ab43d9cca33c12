"""Data sets of arrays, numbers, generators and names of files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.dtypes import DType, as_dtype, int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.source import user_source

from .data_structure import Parts, arranged, components, flatten, pack
from .dataset_base import INFINITE, UNKNOWN, DatasetBase, RowsByNumber, number
from .dataset_components import specs_of
from .elements import (
    Element,
    _all_rows,
    _now,
    _row_spec,
    _shapes,
    _spec,
    _tuples,
    _value,
    _yielded_all,
    dataset_class,
    fixed,
    integer,
)
from .passes import Draws, SeedsOfPasses, Values, numbers, seeds_of


def from_tensors(cls: type[DatasetBase], tensors: Any, name: str | None = None) -> Any:
    """Makes a data set with one element.

    Args:
      tensors: an array, or tuples and dictionaries of them.
      name: accepted.
    """
    values = [_value(leaf) for leaf in flatten(tensors)]
    captured = [v for v in values if isinstance(v, Tensor)]
    specs = pack(tensors, map(_spec, values))
    made = cls._of(specs, captured, lambda given: iter([[_now(v, given) for v in values]]), 1)
    return made._as("TensorDataset", *values, types="Toutput_types")


def from_tensor_slices(cls: type[DatasetBase], tensors: Any, name: str | None = None) -> Any:
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
        if not hasattr(spec, "shape"):
            _row_spec(spec)  # which says what a composite lacks
            raise ValueError("None has no rows. Fix: leave it out, or give arrays")
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

    def arrays_of(given: Values) -> list[Any]:
        arrays = [_now(v, given) for v in values]
        plain = [a for a, c in zip(arrays, whole) if not isinstance(c, Parts)] if len(arrays) == len(whole) else []
        if len({len(a) for a in plain}) > 1:
            raise InvalidArgumentError(None, None, f"components have {[len(a) for a in plain]} rows. "
                                       "Fix: feed as many rows for each")
        return arrays

    def passes(given: Values) -> Iterator[Element]:
        return _all_rows(whole, arrays_of(given))

    parts = iter([_row_spec(c) for c in whole])
    made = cls._of(arranged(tensors, lambda _: next(parts)), captured, passes, UNKNOWN if rows is None else rows)
    if values and not any(isinstance(c, Parts) or c.dtype.kind == "o" for c in whole):
        made._in_rows = RowsByNumber(arrays_of, lambda given: range(len(arrays_of(given)[0])))
    return made._as("TensorSliceDataset", *values, types="Toutput_types")


def from_generator(cls: type[DatasetBase], generator: Any, output_types: Any = None, output_shapes: Any = None,
                   args: Any = None, output_signature: Any = None, name: str | None = None) -> Any:
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


def range_(cls: type[DatasetBase], *args: Any, **kwargs: Any) -> Any:
    """Makes a data set of numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`; int64.

    Args:
      *args: the numbers.
      **kwargs: `output_type`, another dtype.
    """
    dtype: DType = as_dtype(kwargs.get("output_type") or int64)
    values = [integer(a, "the bounds of range") for a in args]

    def numbers_now(given: Values) -> Any:
        bounds = [int(_now(v, given)) for v in values]
        if len(bounds) == 3 and not bounds[2]:
            raise InvalidArgumentError(None, None, "step must be a non-zero integer.\n"
                                       f"  Asked for at {user_source(3)}\n  Fix: give another step")
        return range(*bounds)

    def passes(given: Values) -> Iterator[Element]:
        return ([np.array(i, dtype.np_dtype)] for i in numbers_now(given))

    symbolic = [v for v in values if isinstance(v, Tensor)]
    size = UNKNOWN if symbolic else len(numbers_now(Values({}, Draws())))
    bounds = [0, *values, 1] if len(values) == 1 else [*values, 1][:3]
    return cls._of(Spec.of(dtype, ()), symbolic, passes, size)._as("RangeDataset", *map(number, bounds))


def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Any:
    """Makes a data set of `start`, `start + step` and so on, without end.

    Args:
      start, step: scalars.
      dtype: their dtype.
      name: accepted.
    """
    kind = as_dtype(dtype)
    if kind.is_integer:
        start, step = fixed(start, "start"), fixed(step, "step")

    def passes(given: Values) -> Iterator[Element]:
        return ([np.asarray(n, kind.np_dtype)] for n in itertools.count(start, step))

    return dataset_class()._of(Spec.of(kind, ()), [], passes, INFINITE)


def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Any:
    """Makes a data set of random numbers of 32 bits, int64, without end; TensorFlow's for the same seed.

    Args:
      seed: an int; the same one gives the same numbers.
      rerandomize_each_iteration: whether each pass has its own numbers.
      name: accepted.
    """
    seeds = seeds_of(seed)
    own = SeedsOfPasses(seeds) if rerandomize_each_iteration else None

    def passes(given: Values) -> Iterator[Element]:
        mine = given.draws.draw(own) if own is not None else seeds or given.draws.draw_any()
        return ([np.asarray(n, np.int64)] for n in numbers(mine))

    made = dataset_class()._of(Spec.of(int64, ()), [], passes, INFINITE)
    made._source = own
    return made


def list_files(cls: type[DatasetBase], file_pattern: Any, shuffle: Any = None, seed: Any = None,
               name: str | None = None) -> Any:
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
