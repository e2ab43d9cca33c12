"""Transformations by functions of the elements."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import OpError
from graphgrad.ir import context
from graphgrad.ir.dtypes import int64
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec

from .data_structure import flatten, pack
from .dataset_base import OTHERS, Called, DatasetBase, DatasetT, number
from .elements import Element, _now, _runner, _symbolic, applied, dataset_class, fixed, parallel, positive, traced
from .passes import Values
from .values import state_of, stepped


def map_(self: DatasetT, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None,
         synchronous: Any = None, use_unbounded_threadpool: bool = False, name: str | None = None) -> DatasetT:
    """Applies a function to each element.

    Args:
      map_func: a function of tensors, called once to build a graph, which NumPy executes for each element. A
        tuple is passed as several arguments.
      num_parallel_calls, deterministic, synchronous, use_unbounded_threadpool, name: accepted.
    """
    parallel(num_parallel_calls)
    graph, structure = traced_for(self, map_func)
    return mapped(self, graph, pack(structure, (t._spec for t in graph.outputs)))


def mapped(self: DatasetT, graph: FuncGraph, specs: Any) -> DatasetT:
    """Makes the data set of `map`.

    Args:
      graph: the function of an element, as a graph.
      specs: what it returns.
    """
    made = self._then(lambda given: map(_runner(graph, given), self._passes(given)), specs, _symbolic(graph),
                      self._size)
    return made._as("MapDataset", self, OTHERS, called=Called("f", graph), attrs={"preserve_cardinality": True})


def filter_(self: DatasetT, predicate: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the elements for which a function is true.

    Args:
      predicate: a function of tensors that returns a bool scalar.
      name: accepted.
    """
    return filtered(self, predicate_for(self, predicate))


def filtered(self: DatasetT, graph: FuncGraph) -> DatasetT:
    """Makes the data set of `filter`; the graph is that of the predicate."""

    def passes(given: Values) -> Iterator[Element]:
        run = _runner(graph, given)
        return filter(lambda e: bool(run(e)[0]), self._passes(given))  # continues after an error

    made = self._then(passes, captured=_symbolic(graph))
    return made._as("FilterDataset", self, OTHERS, called=Called("predicate", graph))


def flat_map(self: DatasetT, map_func: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the elements of the data sets that a function returns for the elements, in sequence.

    Args:
      map_func: a function of tensors that returns a data set.
      name: accepted.
    Raises: TypeError if it returns anything else.
    """
    return interleave(self, map_func, 1)


def interleave(self: DatasetT, map_func: Any, cycle_length: Any = None, block_length: Any = None,
               num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None) -> DatasetT:
    """Makes a data set of the elements of the data sets that a function returns for the elements, interleaved.

    Args:
      map_func: a function of tensors that returns a data set.
      cycle_length: the number of data sets that are interleaved; one for each core by default.
      block_length: the number of elements taken from each in turn; one by default.
      num_parallel_calls, deterministic, name: accepted.
    Raises: TypeError if the function returns anything else.
    """
    graph, inner = nested(self, map_func)
    parallel(num_parallel_calls)
    cycle = -1 if cycle_length is None else fixed(cycle_length, "cycle_length")
    cycle = (os.cpu_count() or 1) if cycle == -1 else positive(cycle, "cycle_length")
    block = 1 if block_length is None else positive(fixed(block_length, "block_length"), "block_length")
    return interleaved(self, graph, inner, cycle, block)


def interleaved(self: DatasetT, graph: FuncGraph, inner: Any, cycle: int, block: int) -> DatasetT:
    """Makes the data set of `interleave`.

    Args:
      graph: the function of an element; it returns the tensors that a data set needs.
      inner: that data set.
      cycle: how many are interleaved.
      block: the number of elements taken from each in turn.
    """

    def passes(given: Values) -> Iterator[Any]:
        run = _runner(graph, given)
        elements = self._passes(given)
        slots: list[Any] = []

        def opened() -> Iterator[Any] | None:
            element = next(elements, None)
            if element is None:
                return None
            started: Iterator[Any] = inner._start(run(element), given.draws)
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

    made = self._then(passes, inner._specs, _symbolic(graph))
    return made._as("InterleaveDataset", self, OTHERS, number(cycle), number(block), called=Called("f", graph, inner))


def enumerate_(self: DatasetT, start: int = 0, name: str | None = None) -> DatasetT:
    """Makes a data set of pairs: a number that counts from `start`, int64, and the element."""
    first = fixed(start, "start")

    def passes(given: Values) -> Iterator[Any]:
        return ([np.asarray(i, np.int64), *element] for i, element in enumerate(self._passes(given), first))

    made = self._then(passes, (Spec.of(int64, ()), self._specs), size=self._size)
    counted = dataset_class().range(first, np.iinfo(np.int64).max)
    return made._as("ZipDataset", counted, self, attrs={"N": 2})


def take_while(self: DatasetT, predicate: Any, name: str | None = None) -> DatasetT:
    """Makes a data set of the elements before the first one for which a function is false.

    Args:
      predicate: a function of tensors that returns a bool scalar.
      name: accepted.
    """
    return taken_while(self, predicate_for(self, predicate))


def taken_while(self: DatasetT, graph: FuncGraph) -> DatasetT:
    """Makes the data set of `take_while`; the graph is that of the predicate."""

    def passes(given: Values) -> Iterator[Element]:
        run = _runner(graph, given)
        return itertools.takewhile(lambda e: bool(run(e)[0]), self._passes(given))

    made = self._then(passes, captured=_symbolic(graph))
    return made._as("TakeWhileDataset", self, OTHERS, called=Called("predicate", graph))


def scan(self: DatasetT, initial_state: Any, scan_func: Any, name: str | None = None) -> DatasetT:
    """Applies a function of a state and an element, one after the other.

    Args:
      initial_state: the state before the first element, a structure of tensors.
      scan_func: a function of state and element that returns the next state and an element.
      name: accepted.
    Raises: TypeError if it returns anything else, or a state of another kind.

    >>> sums = tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))
    >>> sess.run(sums.batch(4).make_one_shot_iterator().get_next())
    array([0, 1, 3, 6])
    """
    values, states = state_of(initial_state)
    graph, result, states = stepped(scan_func, states, self._specs, True)
    specs = pack(result[1], (t._spec for t in graph.outputs[len(flatten(states)):]))
    return scanned(self, graph, values, specs)


def scanned(self: DatasetT, graph: FuncGraph, values: list[Any], specs: Any) -> DatasetT:
    """Makes the data set of `scan`.

    Args:
      graph: the function of the state and an element, as a graph; it returns both, too.
      values: the first state.
      specs: of the elements that it returns.
    """
    count = len(values)

    def passes(given: Values) -> Iterator[Element]:
        run = _runner(graph, given)
        state = [np.asarray(_now(v, given)) for v in values]
        for element in self._passes(given):
            found = run([*state, *element])
            state = found[:count]
            yield found[count:]

    symbolic = [v for v in values if isinstance(v, Tensor)]
    made = self._then(passes, specs, [*symbolic, *_symbolic(graph)], self._size)
    types = tuple([t.dtype for t in graph.outputs[:count]])
    return made._as("ScanDataset", self, *values, OTHERS, called=Called("f", graph), attrs={"Tstate": types})


def unique(self: DatasetT, name: str | None = None) -> DatasetT:
    """Makes a data set without repeated elements.

    Args:
      name: accepted.
    Raises: TypeError for elements of several components, or of dtypes other than integers and strings.
    """
    spec = self._specs
    if not isinstance(spec, Spec) or spec.dtype.name not in ("int32", "int64", "string"):
        raise TypeError("`tf.data.Dataset.unique` does not support this element type: it must be one tensor of "
                        f"int32, int64 or string, not {flatten(spec)}. Fix: map() to one")

    def passes(given: Values) -> Iterator[Element]:
        seen = set()
        for element in self._passes(given):
            key = element[0].shape, tuple(element[0].ravel().tolist())
            if key not in seen:
                seen.add(key)
                yield element

    return self._then(passes)


def ignore_errors(self: DatasetT, log_warning: bool = False, name: str | None = None) -> DatasetT:
    """Makes a data set without the elements that cannot be computed.

    Args:
      log_warning: whether they are logged.
      name: accepted.
    """

    def passes(given: Values) -> Iterator[Element]:
        elements = iter(self._passes(given))
        while True:
            try:
                yield next(elements)
            except StopIteration:
                return
            except (OpError, ArithmeticError, ValueError) as e:
                if log_warning:
                    from graphgrad.system.log import Log

                    Log(__name__).warning("Error raised with error message %s", e)

    return self._then(passes)


def traced_for(self: DatasetBase, function: Any) -> tuple[FuncGraph, Any]:
    """Traces a function of elements to a graph; returns it and the structure of its results."""
    return traced(function, self._specs)


def predicate_for(self: DatasetBase, predicate: Any) -> FuncGraph:
    graph, _ = traced_for(self, predicate)
    if len(graph.outputs) != 1 or not graph.outputs[0].dtype.is_bool:
        raise ValueError("`predicate` must return a bool scalar. Fix: compare, e.g. tf.equal(x, 0)")
    return graph


def nested(self: DatasetBase, map_func: Any) -> tuple[FuncGraph, Any]:
    """Traces a function that returns a data set to a graph of the tensors that the data set needs."""
    graph = FuncGraph(getattr(map_func, "__name__", "flat_map"), context.current_graph())
    graph.keeps_effects = True
    with context.use(graph):
        result = applied(graph, map_func, self._specs)
        if not isinstance(result, DatasetBase):
            raise TypeError("The `map_func` argument must return a `Dataset` object. "
                            f"Got {type(result).__name__}. Fix: use map() for a function that gives tensors")
        graph.outputs = [t if t.graph is graph else graph.capture(t) for t in result._captured]
    return graph, result
