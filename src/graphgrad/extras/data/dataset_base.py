"""What every data set has: a structure of elements, the tensors that it needs, and an iterator for each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from graphgrad.ir.conversion import constant

from .dataset_components import element_spec
from .elements import Element
from .passes import Draws, SeedsOfPasses, Values, Walk

# -- cardinalities, as far as they are known without a pass ----------------------------

INFINITE = -1  # no end
UNKNOWN = -2


def limited(*sizes: int) -> int:
    """Returns the smallest cardinality."""
    known = [s for s in sizes if s >= 0]
    if UNKNOWN in sizes:
        return UNKNOWN
    return min(known) if known else INFINITE


def divided(size: int, by: int, drop_remainder: bool) -> int:
    """Returns the number of batches."""
    return size if size < 0 else size // by if drop_remainder else -(-size // by)


def times_(size: int, count: int) -> int:
    """Returns the number of elements of `count` passes; infinite if it is negative."""
    if size == 0 or count == 0:
        return 0
    if count < 0:
        return INFINITE
    return size if size < 0 else size * count


class DatasetBase:
    """A sequence of elements; its transformations are the methods of `Dataset`."""

    _specs: Any  # a Spec for each leaf
    _captured: list[Any]  # tensors outside, computed when a pass begins
    _passes: Callable[[Values], Iterator[Element]]
    _size: int = UNKNOWN  # the number of elements, as far as it is known
    _options: Any = None
    _inputs: Sequence[DatasetBase] = ()  # those that a pass begins with
    _later: Sequence[DatasetBase] = ()  # those that a pass reads later
    _kind = "Dataset"  # the op type by which libraries recognize a transformation
    _prepare: Callable[[Values], None] | None = None  # what happens when a pass begins, before its first element
    _source: SeedsOfPasses | None = None  # what the random orders of its passes are drawn from

    @classmethod
    def _of(cls, specs: Any, captured: Sequence[Any], passes: Callable[[Values], Iterator[Element]],
            size: int = UNKNOWN) -> Self:
        self = object.__new__(cls)
        self._specs, self._captured, self._passes, self._size = specs, list(captured), passes, size
        return self

    def _then(self, passes: Callable[[Values], Iterator[Element]], specs: Any = None, captured: Sequence[Any] = (),
              size: int = UNKNOWN) -> Self:
        made = self._of(self._specs if specs is None else specs, [*self._captured, *captured], passes, size)
        made._options = self._options
        made._inputs = [self]
        return made

    def _start(self, captured: Sequence[Any], draws: Draws | None = None) -> Iterator[Element]:
        given = Values({id(t): np.asarray(v) for t, v in zip(self._captured, captured, strict=True)}, draws or Draws())
        waiting: list[DatasetBase] = [self]
        while waiting:
            dataset = waiting.pop(0)
            waiting += dataset._inputs
            if dataset._prepare is not None:
                dataset._prepare(given)
        return self._passes(given)

    def _passes_alike(self, captured: Sequence[Any]) -> Callable[[], Iterator[Element]]:
        """Returns a function that begins a pass, each time with the random order of the one before."""
        last: list[Draws] = []

        def start() -> Iterator[Element]:
            last[:] = [Draws(last[0].root, last[0].made) if last else Draws()]
            return self._start(captured, last[0])

        return start

    def _walk(self, captured: Sequence[Any]) -> Walk:
        """Begins a pass whose place can be saved."""
        return Walk(self, captured)

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TensorSpec` for each component."""
        return element_spec(self._specs)

    def _as_serialized_graph(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a string tensor, a `GraphDef` with a node for this data set and each that it is made of.

        Libraries look there for the transformations, by their op types; it is no program that can be run.

        Args:
          *args, **kwargs: accepted.
        """
        from graphgrad.ir.graph_messages import GraphDef

        graph = GraphDef()
        waiting: list[DatasetBase] = [self]
        while waiting:
            dataset = waiting.pop(0)
            waiting += dataset._inputs
            graph.node.add(name=f"{dataset._kind}_{len(graph.node)}", op=dataset._kind)
        return constant(graph.SerializeToString())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"


DatasetT = TypeVar("DatasetT", bound=DatasetBase)
