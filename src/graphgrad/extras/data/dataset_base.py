"""What every data set has: a structure of elements, the tensors that it needs, and an iterator for each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import resource, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.effects import effects_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.values.variable_store import VariablesInRun

from .dataset_components import element_spec
from .elements import Element, plain
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


# -- what data sets are in files: operations of TensorFlow's ----------------------------

OTHERS = "other arguments"  # in the inputs of a recipe: what its function captures
NO_ATTRS: Mapping[str, Any] = {}


class Called(NamedTuple):
    """A function that an operation on data sets calls.

    Attributes:
      attr: the attribute of the operation.
      graph: the function: arguments, then captures.
      inner: the data set that it returns, made of its results; None if these are what it returns.
    """

    attr: str
    graph: FuncGraph
    inner: Any = None

    @property
    def captured(self) -> list[Any]:
        """The tensors that it uses besides its arguments."""
        return list(self.graph.captured)


class Recipe(NamedTuple):
    """An operation that makes a data set.

    Attributes:
      op: its type; empty if the data set is its only input, a variant.
      inputs: data sets, tensors and arrays, in its order; `OTHERS` once where there is a function.
      attrs: attributes that do not follow from these.
      called: its function.
      types: the name of the attribute with the dtypes of the elements.
    """

    op: str
    inputs: Sequence[Any]
    attrs: Mapping[str, Any] = NO_ATTRS
    called: Called | None = None
    types: str = "output_types"


def number(value: Any) -> Any:
    """Returns a number as an operation's input: an int64, unless it is a tensor."""
    return np.int64(value) if isinstance(value, int) else value


def functions_of(dataset: Any) -> list[FuncGraph]:
    """Returns the functions that passes through a data set call."""
    found: dict[int, FuncGraph] = {}
    waiting, seen = [dataset], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        waiting += [*one._inputs, *one._later]
        found.update((id(f), f) for f in one._functions)
        if (recipe := one._recipe) is not None:
            waiting += [v for v in recipe.inputs if hasattr(v, "_recipe")]
            if recipe.called is not None:
                waiting += [] if recipe.called.inner is None else [recipe.called.inner]
                found[id(recipe.called.graph)] = recipe.called.graph
    return list(found.values())


def handles(dataset: Any) -> list[Any]:
    """Returns the handles of tables and variables that the functions of a data set use, each once."""
    return list({id(t): t for f in functions_of(dataset) for t in f.captured
                 if isinstance(t, EagerTensor) and t.dtype is resource}.values())


def acts(dataset: Any) -> bool:
    """Returns whether passes through a data set have effects, or depend on variables, which others change."""
    return (any(t.dtype is resource for t in dataset._captured)
            or any(t._value.dtype is not variant for t in handles(dataset))
            or any(map(effects_of, functions_of(dataset))))


class RowsByNumber(NamedTuple):
    """Elements that are rows of arrays: in this form they are shuffled and joined to batches without being made.

    Attributes:
      arrays: a function of a pass that returns an array for each component.
      order: one that begins the pass and returns the numbers of the rows; a range if they are consecutive.
    """

    arrays: Callable[[Values], list[Any]]
    order: Callable[[Values], Iterator[int] | range]


class DatasetBase:
    """A sequence of elements; its transformations are the methods of `Dataset`."""

    _specs: Any  # a Spec for each leaf
    _captured: list[Any]  # tensors outside, computed when a pass begins
    _passes: Callable[[Values], Iterator[Element]]
    _size: int = UNKNOWN  # the number of elements, as far as it is known
    _options: Any = None
    _inputs: Sequence[DatasetBase] = ()  # those that a pass begins with
    _later: Sequence[DatasetBase] = ()  # those that a pass reads later
    _functions: Sequence[FuncGraph] = ()  # what it calls, besides what its recipe calls
    _kind = "Dataset"  # the op type by which libraries recognize a transformation
    _prepare: Callable[[Values], None] | None = None  # what happens when a pass begins, before its first element
    _source: SeedsOfPasses | None = None  # what the random orders of its passes are drawn from
    _recipe: Recipe | None = None  # what it is in files
    _in_rows: RowsByNumber | None = None  # its elements as rows of arrays, where they are that

    @classmethod
    def _of(cls, specs: Any, captured: Sequence[Any], passes: Callable[[Values], Iterator[Element]],
            size: int = UNKNOWN) -> Self:
        self = object.__new__(cls)
        self._specs, self._captured, self._passes, self._size = specs, list(captured), passes, size
        return self

    def _then(self, passes: Callable[[Values], Iterator[Element]], specs: Any = None, captured: Sequence[Any] = (),
              size: int = UNKNOWN, functions: Sequence[FuncGraph] = ()) -> Self:
        made = self._of(self._specs if specs is None else specs, [*self._captured, *captured], passes, size)
        made._options = self._options
        made._inputs = [self]
        made._functions = functions
        return made

    def _as(self, op: str, *inputs: Any, **rest: Any) -> Self:
        """Notes the operation that it is in files, see `Recipe`; returns itself."""
        self._recipe = Recipe(op, inputs, **rest)
        return self

    def _start(self, captured: Sequence[Any], draws: Draws | None = None) -> Iterator[Element]:
        given = Values({id(t): plain(v) for t, v in zip(self._captured, captured, strict=True)}, draws or Draws())
        waiting: list[DatasetBase] = [self]
        while waiting:
            dataset = waiting.pop(0)
            waiting += dataset._inputs
            if dataset._prepare is not None:
                dataset._prepare(given)
        return self._passes(given)

    def _passes_alike(self, captured: Sequence[Any], variables: VariablesInRun) -> Callable[[], Iterator[Element]]:
        """Returns a function that begins a pass, each time with the random order of the one before.

        Args:
          captured: the values that it needs.
          variables: those that its functions use.
        """
        last: list[Draws] = []

        def start() -> Iterator[Element]:
            root, made = (last[0].root, last[0].made) if last else (None, ())
            last[:] = [Draws(root, made, variables)]
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
