"""Data sets inside of functions: loops over their elements, `reduce`, and iterators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.function.autograph.loop_sources import LoopSource
from graphgrad.frontend.structure import nest
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.state import dataset_passes as dataset_passes

from .data_structure import flatten, pack
from .dataset_base import acts, handles
from .eager_iterator import IteratorBase


class Elements:
    """The elements of a data set in the graph that is being built, by number.

    Args:
      dataset: the data set; a pass through it begins wherever the graph runs.
    """

    def __init__(self, dataset: Any):
        self._specs = dataset._specs
        self._acts, used = acts(dataset), handles(dataset)
        self._used = [*[t for t in dataset._captured if t.dtype is resource], *used] if self._acts else []
        self._handle = raw.DatasetPass([*dataset._captured, *used], dataset=dataset)

    def has(self, i: Any) -> Any:
        """Returns whether there is an element `i`, a bool scalar."""
        return raw.DatasetHasActing(self._handle, i, self._used) if self._acts else raw.DatasetHas(self._handle, i)

    def item(self, i: Any) -> Any:
        """Returns element `i`."""
        if self._acts:
            return self._packed(raw.DatasetItemActing(self._handle, i, self._used, **self._types()))
        return self._packed(raw.DatasetItem(self._handle, i, **self._types()))

    def take(self) -> Any:
        """Returns the next element; a run raises OutOfRangeError after the last one."""
        return self._packed(raw.DatasetTake(self._handle, self._used, **self._types()))

    def _types(self) -> dict[str, Any]:
        leaves = flatten(self._specs)
        return {"output_types": tuple([s.dtype for s in leaves]), "output_shapes": tuple([s.shape for s in leaves])}

    def _packed(self, components: Any) -> Any:
        return pack(self._specs, iter(components))


class ElementsLeft:
    """The remaining elements of an iterator created outside of the graph: each run reads from it.

    Args:
      handle: the iterator's handle, a variant tensor.
      specs: a `Spec` for each leaf of its elements.
      used: the handles of variables that it uses, as far as they are known.
    """

    def __init__(self, handle: Any, specs: Any, used: Any = ()):
        self._handle, self._specs, self._used = handle, specs, list(used)

    def has(self, _: Any) -> Any:
        """Returns whether there is another element."""
        return raw.OwnedIteratorHas(self._handle, self._used)

    def item(self, _: Any = None) -> Any:
        """Returns the next element; a run raises OutOfRangeError at the end."""
        leaves = flatten(self._specs)
        components = raw.OwnedIteratorGetNext(self._handle, self._used, output_types=tuple([s.dtype for s in leaves]),
                                              output_shapes=tuple([s.shape for s in leaves]))
        return pack(self._specs, iter(components))


class GivenIterator(IteratorBase, LoopSource):
    """An iterator that is an argument of a function: each `next` is an operation that takes an element from it.

    Args:
      handle: its handle, a variant tensor.
      element_spec: the specs of its elements.
      specs: a `Spec` for each leaf of its elements.
    """

    def __init__(self, handle: Any, element_spec: Any, specs: Any):
        self._handle = handle
        self._elements = ElementsLeft(handle, specs)
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of its elements."""
        return self._element_spec

    def __iter__(self) -> GivenIterator:
        return self

    def __next__(self) -> Any:
        return self._elements.item()

    def get_next(self) -> Any:
        """Returns the next element."""
        return next(self)

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        from .optional import made

        return made(raw.OwnedIteratorGetNextAsOptional(self._handle, []), self._element_spec)

    def _loop_elements(self) -> ElementsLeft:
        return self._elements


class GraphIterator(IteratorBase, LoopSource):
    """The result of `iter(dataset)` inside of a function: each `next` is an operation that returns the next element.

    Args:
      dataset: the data set.
    """

    def __init__(self, dataset: Any):
        self._elements = Elements(dataset)
        self._specs, self._element_spec = dataset._specs, dataset.element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of its elements."""
        return self._element_spec

    def __iter__(self) -> GraphIterator:
        return self

    def __next__(self) -> Any:
        return self._elements.take()

    def get_next(self) -> Any:
        """Returns the next element."""
        return next(self)

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        from .optional import made

        elements = self._elements
        return made(raw.OwnedIteratorGetNextAsOptional(elements._handle, elements._used), self._element_spec)

    def _loop_elements(self) -> ElementsLeft:
        return ElementsLeft(self._elements._handle, self._specs, self._elements._used)


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
    """Combines the elements of a data set from the first to the last; see `Dataset.reduce`."""
    if current_graph() is None:
        from graphgrad.frontend.function.function import Function

        def combine(start: Any) -> Any:
            return reduce(dataset, start, reduce_func)

        # The elements are Python's and NumPy's; the function that combines them is traced once.
        return Function(combine, autograph=False)(nest.map_structure(convert_to_tensor, initial_state))
    from graphgrad.frontend.function.autograph.convert import convert

    function = convert(reduce_func)
    elements = Elements(dataset)
    start = nest.map_structure(convert_to_tensor, initial_state)
    types = [t.dtype for t in nest.flatten(start)]

    def body(i: Any, state: Any) -> Any:
        after = function(state, elements.item(i))
        try:
            nest.assert_same_structure(start, after, check_types=False)
        except (TypeError, ValueError) as e:
            raise TypeError(
                "The element structure for the new state must match the initial state.\n"
                f"  Built at {user_source(2)}\n  Fix: return what reduce_func is given\n{e}"
            ) from None
        found = [convert_to_tensor(t, None if hasattr(t, "dtype") else d)
                 for t, d in zip(nest.flatten(after), types, strict=True)]
        if [t.dtype for t in found] != types:
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{[t.name for t in types]}; got {[t.dtype.name for t in found]}.\n  Built at {user_source(2)}\n"
                "  Fix: tf.cast what reduce_func returns"
            )
        return raw.AddV2(i, np.int32(1)), nest.pack_sequence_as(start, found)

    return while_loop(lambda i, _: elements.has(i), body, (np.int32(0), start), name=name)[1]

