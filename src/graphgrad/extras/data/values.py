"""What data sets are reduced to: the last state, the only element, numbers of elements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.ir import context
from graphgrad.ir.dtypes import as_dtype, resource
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import relax
from graphgrad.ir.tensor import Tensor as AnyTensor

from .data_structure import flatten, pack
from .dataset_base import OTHERS, Called, DatasetBase, Recipe, handles
from .elements import Element, _now, _runner, _symbolic, _value, plain, traced
from .passes import Draws, Values


@overload
def reduce(self: DatasetBase, initial_state: OneTensor, reduce_func: Any, name: str | None = None) -> AnyTensor: ...
@overload
def reduce(self: DatasetBase, initial_state: TensorsT, reduce_func: Any, name: str | None = None) -> TensorsT: ...
@overload
def reduce(self: DatasetBase, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any: ...
def reduce(self: DatasetBase, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
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
    return _reduce_in_numpy(self, initial_state, reduce_func, name)


def _reduce_in_numpy(self: DatasetBase, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
    """Computes the state after all elements; its shape may change from one to the next.

    Args:
      initial_state: the state before the first element, a structure of tensors.
      reduce_func: a function of state and element that returns the next state.
      name: accepted.
    Returns: the last state, a structure of tensors.
    Raises: TypeError if the function returns a state of another kind.
    """
    values, states = state_of(initial_state)
    graph, _, states = stepped(reduce_func, states, self._specs, False)

    def compute(given: Values) -> Element:
        run = _runner(graph, given)
        state = [np.asarray(_now(v, given)) for v in values]
        for element in self._passes(given):
            state = run([*state, *element])
        return state

    symbolic = [v for v in values if isinstance(v, Tensor)]
    types = tuple([s.dtype for s in flatten(states)])
    recipe = Recipe("ReduceDataset", [self, *values, OTHERS], {"Tstate": types}, Called("f", graph))
    return computed([*self._captured, *symbolic, *_symbolic(graph)], compute, states, name, recipe)


def get_single_element(self: DatasetBase, name: str | None = None) -> Any:
    """Returns the only element.

    Raises: InvalidArgumentError if there is none, or more than one; in a graph when it is run.
    """

    def compute(given: Values) -> Element:
        found = list(itertools.islice(self._passes(given), 2))
        if len(found) != 1:
            raise InvalidArgumentError(None, None, ("Dataset was empty." if not found else
                                       "Dataset had more than one element.") + " Fix: batch() or take(1)")
        return found[0]

    return computed(self._captured, compute, self._specs, name, Recipe("DatasetToSingleElement", [self]))


def as_numpy_iterator(self: DatasetBase) -> Iterator[Any]:
    """Makes an iterator over the elements as NumPy arrays.

    Raises: RuntimeError except in eager mode.
    """
    from .eager_iterator import NumpyIterator

    if not context.executing_eagerly():
        raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode. "
                           "Fix: make_one_shot_iterator().get_next()")
    return NumpyIterator(self)


def cardinality(self: DatasetBase) -> AnyTensor:
    """Returns the number of elements, a scalar int64: -1 if it is infinite, -2 if it is not known."""
    from graphgrad.ir.conversion import convert_to_tensor

    return convert_to_tensor(np.asarray(self._size, np.int64))


def fingerprint(self: DatasetBase) -> AnyTensor:
    """Computes a uint64 that is equal for data sets with the same structure of elements."""
    import zlib

    from graphgrad.ir.conversion import convert_to_tensor

    text = f"{type(self).__name__} {self.element_spec} {self._size}"
    return convert_to_tensor(np.asarray(zlib.crc32(text.encode()), np.uint64))


def state_of(initial: Any) -> tuple[list[Any], Any]:
    """Returns the values of an initial state, and its specs."""
    values = [_value(leaf) for leaf in flatten(initial)]
    specs = [v._spec if isinstance(v, Tensor) else Spec.of(as_dtype(v.dtype), v.shape) for v in values]
    return values, pack(initial, iter(specs))


def stepped(function: Any, states: Any, specs: Any, gives_element: bool) -> Any:
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


class _OfValues:
    """Applies a function to the values of captured tensors.

    Args:
      captured: the tensors.
      compute: the function, of their values by the ids of the tensors.
      recipe: what this is in files.
    """

    def __init__(self, captured: Sequence[Any], compute: Any, recipe: Recipe | None):
        self.captured, self._compute, self.recipe = captured, compute, recipe

    def __call__(self, values: Sequence[Any]) -> Element:
        pairs = zip(self.captured, values, strict=False)
        draws = Draws()
        with draws.variables.seen_by(values):
            found: Element = self._compute(Values({id(t): plain(v) for t, v in pairs}, draws))
        return found


def computed(captured: list[Any], compute: Any, specs: Any, name: str | None, recipe: Recipe | None = None) -> Any:
    """Computes a function of captured tensors."""
    leaves = flatten(specs)
    if context.executing_eagerly():
        values = compute(Values({}, Draws()))
        found = [EagerTensor(np.asarray(v), s.dtype) for v, s in zip(values, leaves, strict=True)]
        return pack(specs, iter(found))
    outside = [] if recipe is None else [t for d in recipe.inputs if isinstance(d, DatasetBase) for t in handles(d)]
    if recipe is not None and recipe.called is not None:
        outside += [t for t in recipe.called.captured if isinstance(t, EagerTensor) and t.dtype is resource]
    compute = _OfValues([*captured, *outside], compute, recipe)
    found = raw.DatasetResult(compute.captured, compute=compute, output_types=tuple(s.dtype for s in leaves),
                              output_shapes=tuple(s.shape for s in leaves), name=name)
    return pack(specs, iter(found))
