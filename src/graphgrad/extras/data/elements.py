"""Helpers of transformations: values of captured tensors, rows, batches, functions as graphs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.ir import context
from graphgrad.ir.array_conversion import make_array, new_array
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int64, resource, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.effects import effects_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import Shape, as_shape, compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.ir.values.variable_store import Cell
from graphgrad.system.own_arrays import own_copy

from .data_structure import Parts, arranged, flatten, pack, taken_apart
from .passes import Values

Element = list[Any]  # arrays


def _value(leaf: Any) -> Any:
    """Returns a symbolic tensor, or an array."""
    if isinstance(leaf, EagerTensor):
        return np.asarray(leaf._value)
    if isinstance(leaf, Tensor):
        return leaf
    if hasattr(leaf, "_as_tensor"):
        return _value(leaf._as_tensor())
    with context.use(context.EAGER):
        return np.asarray(convert_to_tensor(leaf)._value)


def integer(value: Any, name: str) -> int | Tensor:
    """Returns a number that a user gives, such as a size of batches.

    Args:
      value: an integer, or a tensor of one.
      name: the argument.
    Returns: an int; or a symbolic tensor.
    Raises: TypeError or ValueError for what is no integer of 64 bits; InvalidArgumentError for more than one.
    """
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    made = isinstance(value, (Tensor, EagerTensor))
    if made and not value.dtype.is_integer:
        raise ValueError(f"{name}: Tensor conversion requested dtype int64 for Tensor with dtype {value.dtype.name}: "
                         f"{value!r}\n  Asked for at {user_source(2)}\n  Fix: tf.cast it to tf.int64")
    found = value
    if not made:
        with context.use(context.EAGER):
            found = convert_to_tensor(value, dtype=int64, name=name)
    if found.shape.rank not in (0, None):
        raise InvalidArgumentError(None, None, f"{name} must be a scalar, not of shape {found.shape}.\n"
                                   f"  Asked for at {user_source(2)}\n  Fix: give one integer")
    return int(found._value) if isinstance(found, EagerTensor) else found


def fixed(value: Any, name: str) -> int:
    """Returns `integer` where no symbolic tensor can be used; raises NotImplementedError for one."""
    found = integer(value, name)
    if isinstance(found, Tensor):
        raise NotImplementedError(f"{name} cannot be a symbolic tensor.\n  Asked for at {user_source(2)}\n"
                                  "  Fix: give a Python integer")
    return found


def positive(number: Any, what: str) -> Any:
    """Returns a number, if it is symbolic or positive; raises InvalidArgumentError otherwise."""
    if not isinstance(number, Tensor) and int(number) < 1:
        raise InvalidArgumentError(None, None, f"{what} must be greater than zero, not {int(number)}.\n"
                                   f"  Asked for at {user_source(2)}\n  Fix: give 1 or more")
    return number


def parallel(calls: Any) -> None:
    """Checks a number of parallel calls: None, `tf.data.AUTOTUNE`, or positive. It changes nothing here."""
    if calls is not None and (number := integer(calls, "num_parallel_calls")) != -1:
        positive(number, "num_parallel_calls")


def _spec(value: Any) -> Spec:
    """Returns the spec of what `_value` returns."""
    if isinstance(value, Tensor):
        return value._spec
    held = value.dtype == object and not value.ndim and isinstance(value.item(), TensorList)
    return Spec.of(variant if held else as_dtype(value.dtype), value.shape)


def dataset_class() -> Any:
    """Returns the class of data sets that programs make: in graphs that of TensorFlow 1, which has more methods."""
    from .dataset import Dataset
    from .graph_iterator import DatasetV1

    return Dataset if context.executing_eagerly() else DatasetV1


def _now(value: Any, given: Values) -> Any:
    """Returns the value of a captured tensor, or the array."""
    return given[id(value)] if isinstance(value, Tensor) else value


def _rows(array: Any) -> Iterator[Any]:
    if array.dtype != object:
        return iter(array)
    return (make_array(row, as_dtype(object)) for row in array)


def _all_rows(whole: Sequence[Any], arrays: Sequence[Any]) -> Iterator[Element]:
    """Returns the rows of all components, as elements."""
    iterators, at = [], 0
    for component in whole:
        if isinstance(component, Parts):
            count = len(component.parts)
            iterators.append(component.rows(arrays[at : at + count]))  # type: ignore[attr-defined]  # the base lacks it
            at += count
        else:
            iterators.append([np.asarray(row)] for row in _rows(arrays[at]))
            at += 1
    return (list(itertools.chain(*row)) for row in _zip(iterators))


def rows_by_number(rows: Any, given: Values) -> Iterator[Element]:
    """Returns the elements of a data set's `RowsByNumber`."""
    arrays = rows.arrays(given)
    return ([np.asarray(a[i]) for a in arrays] for i in rows.order(given))


def batches_by_number(rows: Any, given: Values, size: int, drop_remainder: bool) -> Iterator[Element]:
    """Returns batches of the elements of a data set's `RowsByNumber`, of a size."""
    arrays, order = rows.arrays(given), rows.order(given)
    if isinstance(order, range):
        for start in range(0, len(order) - (size - 1 if drop_remainder else 0), size):
            yield [own_copy(a[start : start + size]) for a in arrays]
        return
    while chunk := list(itertools.islice(order, size)):
        if len(chunk) == size or not drop_remainder:
            numbers = np.array(chunk)
            yield [a.take(numbers, 0) for a in arrays]


def _row_spec(component: Any) -> Any:
    if isinstance(component, Parts):
        return component.row()  # type: ignore[attr-defined]  # the base lacks it
    return Spec.of(component.dtype, component.shape and component.shape[1:])


def joined(whole: Sequence[Any], chunk: Sequence[Element]) -> Element:
    """Joins elements to a batch.

    Args:
      whole: the components' specs.
      chunk: the elements.
    """
    found: Element = []
    for i, component in enumerate(whole):
        at = sum(len(c.parts) if isinstance(c, Parts) else 1 for c in whole[:i])
        if isinstance(component, Parts):
            count = len(component.parts)
            # Silenced: components have it.
            found += component.join([e[at : at + count] for e in chunk])  # type: ignore[attr-defined]
        else:
            found.append(_stacked([e[at] for e in chunk], i))
    return found


def traced(function: Any, specs: Any) -> tuple[FuncGraph, Any]:
    """Traces a function of an element to a graph; returns it and the structure of its results.

    Args:
      function: the function.
      specs: the specs of the element.
    Raises: ValueError if it uses a variable of a graph.
    """
    graph = FuncGraph(getattr(function, "__name__", "map"), context.current_graph())
    graph.keeps_effects = True
    with context.use(graph):
        result = applied(graph, function, specs)
        if isinstance(result, list):
            result = convert_to_tensor(result)
        result = arranged(result, _itself)  # the parts of split components belong to this graph
        outputs = [convert_to_tensor(leaf) for leaf in flatten(result)]
        graph.outputs = [t if t.graph is graph else graph.capture(t) for t in outputs]
    for op in graph.waits_for:
        raise ValueError(f"A function of a data set waits for operation '{op.name}', which is not part of it.\n"
                         f"  Built at {op.source}\n  Asked for at {user_source(3)}\n"
                         "  Fix: do it with what get_next() returns")
    if any(t.dtype is resource and not isinstance(t, EagerTensor) for t in graph.captured):
        raise ValueError("A function of a data set uses a variable, which is not supported.\n"
                         f"  Asked for at {user_source(3)}\n"
                         "  Fix: do it with what get_next() returns")
    return graph, result


def applied(graph: FuncGraph, function: Any, specs: Any) -> Any:
    """Gives a graph inputs for an element, and returns what a function returns for it."""
    inputs = [graph.add_input(s.dtype, s.shape, f"arg_{i}") for i, s in enumerate(flatten(specs))]
    element = pack(specs, iter(inputs))
    several = isinstance(element, tuple) and not hasattr(element, "_fields")
    return convert(function)(*element) if several else convert(function)(element)


def _itself(component: Any) -> Any:
    return component


def _zip(iterators: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*iterators)  # as long as the shortest


def _stacked(parts: Sequence[Any], component: int) -> Any:
    for i, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise InvalidArgumentError(
                None, None, f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {list(parts[0].shape)} and element {i} had shape {list(part.shape)}. "
                "Fix: make them equal in map(), or batch(1)")
    if parts[0].dtype != object:
        return np.stack(parts)
    result = np.empty((len(parts), *parts[0].shape), object)
    for i, part in enumerate(parts):
        result[i] = part[()]
    return result


def _tuples(structure: Any) -> Any:
    """Converts lists of types to tuples."""
    return tuple(structure) if isinstance(structure, list) else structure


def _shapes(shapes: Any, types: Any) -> list[Shape]:
    """Returns the shapes, arranged like types, whose own tuples may stand for shapes."""
    if isinstance(types, Mapping):
        return [s for key in sorted(types) for s in _shapes(shapes[key], types[key])]
    if isinstance(types, (tuple, list)):
        return [s for shape, t in zip(shapes, types, strict=True) for s in _shapes(shape, t)]
    return [as_shape(shapes)]


def _like(specs: Any, element: Any) -> Any:
    return tuple(element) if isinstance(specs, tuple) and not isinstance(element, tuple) else element


def _yielded_all(specs: Any, leaves: list[Any], element: Any) -> Element:
    """Converts a generator's value to an element; raises InvalidArgumentError if it does not fit."""
    element = taken_apart(element)
    one = isinstance(specs, Spec) and not isinstance(element, Parts)
    parts = [element] if one else flatten(_like(specs, element))
    if len(parts) != len(leaves):
        raise InvalidArgumentError(
            None, None, f"TypeError: `generator` yielded {len(parts)} components, where {len(leaves)} were "
            "expected. Fix: correct output_types")
    return [_yielded(part, spec) for part, spec in zip(parts, leaves)]


def _yielded(value: Any, spec: Spec) -> Any:
    """Converts a generator's value to an array; raises InvalidArgumentError if it does not fit."""
    if isinstance(value, EagerTensor) and value.dtype is spec.dtype is variant:
        return np.asarray(value._value)
    try:
        array = new_array(value, spec.dtype)
    except (TypeError, ValueError) as e:
        raise InvalidArgumentError(None, None, "TypeError: `generator` yielded an element that could not be converted "
                                   f"to the expected type {spec.dtype.name}: {value!r} ({e}). "
                                   "Fix: correct output_types") from None
    if not compatible(array.shape, spec.shape):
        raise InvalidArgumentError(
            None, None, f"TypeError: `generator` yielded an element of shape {array.shape} where an element of shape "
            f"{shape_str(spec.shape)} was expected. Fix: correct output_shapes")
    return array


def plain(value: Any) -> Any:
    """Returns a value that an operation is given as an array; what stands for a variable or table as it is."""
    return getattr(value, "cell", None) or (value if isinstance(value, Cell) else np.asarray(value))


def _symbolic(graph: FuncGraph) -> list[Any]:
    """Returns the captures of a function."""
    return [t for t in graph.captured if not isinstance(t, EagerTensor)]


def _runner(graph: FuncGraph, given: Values) -> Callable[[Element], Element]:
    """Returns a function that computes a graph's outputs from an element, with the graph's effects."""
    count = len(graph.inputs) - len(graph.captured)
    seen = given.draws.variables
    held = {id(p): seen(t._value if isinstance(t, EagerTensor) else given[id(t)])
            for p, t in zip(graph.inputs[count:], graph.captured) if t.dtype is resource}
    fed = [p for p in graph.inputs if id(p) not in held]
    run = Executable(graph.outputs, effects_of(graph), fed, lambda handle: held[id(handle)], RandomPositions(), "numpy")
    rest = [t._value if isinstance(t, EagerTensor) else given[id(t)] for t in graph.captured if t.dtype is not resource]

    def call(element: Element) -> Element:
        return list(map(np.asarray, run([*element, *rest])))

    return call
