"""Operations on data sets in graphs that are read: the data sets are made as a program would make them here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.extras.data import batches, combine, mapping, order, sources, stored, values
from graphgrad.extras.data.data_structure import flatten, taken_apart
from graphgrad.extras.data.dataset import Dataset
from graphgrad.extras.data.dataset_components import DatasetParts
from graphgrad.extras.data.in_function import Elements
from graphgrad.frontend.control_flow.cond_while import cond, while_loop
from graphgrad.frontend.structure import nest
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import as_dtype, int64
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, relax
from graphgrad.ops.array.constant import identity

from .node_order import shape_of_argument

_SAME = frozenset({"IdentityN", "Identity"})


def dataset_of(tensor: Tensor, specs: Any = ()) -> Any:
    """Returns the data set that a variant is.

    Args:
      tensor: the variant.
      specs: of its elements, for one that comes from outside of the graph.
    """
    while tensor.op.type in _SAME:
        tensor = tensor.op.inputs[tensor.value_index]
    if tensor.op.type == "DatasetVariant":
        return tensor.op.attrs["of_values"].dataset
    return DatasetParts.of(specs).made([tensor])


class DatasetNode:
    """A node that makes or reads a data set, with what it needs.

    Args:
      node: the `NodeDef`.
      inputs: its inputs.
      library: the functions of its graph.
      inline: adds the operations of a function, see `function_calls.results_of`.
    """

    def __init__(self, node: Any, inputs: Sequence[Tensor], library: Any, inline: Any):
        self.node, self.inputs, self.library, self.inline = node, list(inputs), library, inline
        self.state_shapes: list[Any] = []  # of what is scanned

    def specs(self) -> tuple[Spec, ...]:
        """Returns the specs of the elements, as the node has them."""
        types = self._list("output_types") or self._list("Toutput_types")
        shapes = self.node.attr["output_shapes"].list.shape
        return tuple([Spec.of(t, s.shape()) for t, s in zip(types, shapes, strict=True)])

    def element_specs(self, name: str = "f") -> tuple[Spec, ...]:
        """Returns the specs of what a function of the node is given, without states and other arguments."""
        message = self.library.message(self.node.attr[name].func.name)
        kinds = [Spec.of(as_dtype(int(a.type)), shape_of_argument(message, i))
                 for i, a in enumerate(message.signature.input_arg)]
        return tuple(kinds[self.count("Tstate") : len(kinds) - self.count("Targuments")])

    def _list(self, name: str) -> list[Any]:
        return [as_dtype(int(t)) for t in self.node.attr[name].list.type] if name in self.node.attr else []

    def count(self, name: str) -> int:
        """Returns how many dtypes an attribute has."""
        return len(self.node.attr[name].list.type) if name in self.node.attr else 0

    def source(self, specs: Any = None) -> Any:
        """Returns the data set that it gets first; its elements are like its own unless `specs` says what they are."""
        return dataset_of(self.inputs[0], self.specs() if specs is None else specs)

    def value(self, i: int) -> Any:
        """Returns the value of an input if it is known, else the input."""
        known = constant_value(self.inputs[i])
        return self.inputs[i] if known is None else known

    def number(self, i: int) -> Any:
        """Returns an integer of the inputs; a tensor where it is not known."""
        found = self.value(i)
        return found if isinstance(found, Tensor) else int(found)

    def fixed(self, i: int, what: str) -> Any:
        """Returns the value of an input that has to be known; raises NotImplementedError if it is not."""
        found = self.value(i)
        if isinstance(found, Tensor):
            raise NotImplementedError(f"{self.node.op} '{self.node.name}': {what} is a tensor, which is not supported. "
                                      "Fix: save the function with a constant there")
        return found

    def function(self, name: str, given: Sequence[Tensor]) -> FuncGraph:
        """Returns a function of the node, whose last arguments are given."""
        graph: FuncGraph = self.library.read(self.node.attr[name].func.name, given)
        return graph

    def called(self, given: Sequence[Tensor], name: str = "f") -> list[Any]:
        """Adds a call of a function of the node to the graph that is being built; returns its results."""
        message = self.library.message(self.node.attr[name].func.name)
        graph: Any = get_default_graph()
        inside = [t if t.graph is graph else graph.capture(t) for t in given]
        results, effects = self.inline(message, inside, graph.unique_name(message.signature.name.lstrip("_")), graph)
        with graph.control_dependencies(effects):
            return [identity(t) for t in results]


# -- data sets -------------------------------------------------------------------------


def _rows(specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """Returns specs without their first dimension."""
    return tuple([Spec.of(s.dtype, s.shape and s.shape[1:]) for s in specs])


def _batch(n: DatasetNode, drop: int | None) -> Any:
    return batches.batch(n.source(_rows(n.specs())), n.number(1), drop is not None and bool(n.fixed(drop, "drop")))


def _padded(n: DatasetNode, drops: bool) -> Any:
    specs = _rows(n.specs())
    count = len(specs)
    shapes = tuple([n.fixed(2 + i, "a padded shape").tolist() for i in range(count)])
    fills = tuple([n.value(2 + count + i) for i in range(count)])
    source = n.source(specs)
    flat = source._then(source._passes, specs, size=source._size)._as("", source)
    return batches.padded_batch(flat, n.number(1), shapes, fills, drops and bool(n.fixed(2 + 2 * count, "drop")))


def _map(n: DatasetNode) -> Any:
    graph = n.function("f", n.inputs[1 : 1 + n.count("Targuments")])
    return mapping.mapped(n.source(n.element_specs()), graph, n.specs())


def _filter(n: DatasetNode) -> Any:
    return mapping.filtered(n.source(), n.function("predicate", n.inputs[1:]))


def _take_while(n: DatasetNode) -> Any:
    made = mapping.taken_while(n.source(), n.function("predicate", n.inputs[1:]))
    made._node = n
    return made


def _interleave(n: DatasetNode) -> Any:
    count = 1 + n.count("Targuments")
    graph = n.function("f", n.inputs[1:count])
    inner = dataset_of(graph.outputs[0], n.specs())
    graph.outputs = [t if t.graph is graph else graph.capture(t) for t in inner._captured]
    cycle, block = (1, 1) if n.node.op == "FlatMapDataset" else (n.fixed(count, "cycle_length"),
                                                                 n.fixed(count + 1, "block_length"))
    return mapping.interleaved(n.source(n.element_specs()), graph, inner, max(1, int(cycle)), int(block))


def _scan(n: DatasetNode) -> Any:
    count = n.count("Tstate")
    graph = n.function("f", n.inputs[1 + count :])
    made = mapping.scanned(n.source(n.element_specs()), graph, [n.value(1 + i) for i in range(count)], n.specs())
    n.state_shapes = [TensorShape(relax(t._spec.shape, o._spec.shape))
                      for t, o in zip(n.inputs[1 : 1 + count], graph.outputs, strict=False)]
    made._node = n
    return made


def _shuffle(n: DatasetNode) -> Any:
    known = n.node.op != "ShuffleDatasetV2"
    seeds = (int(n.fixed(2, "seed")), int(n.fixed(3, "seed2"))) if known else (0, 0)
    again = n.node.attr["reshuffle_each_iteration"].b if "reshuffle_each_iteration" in n.node.attr else True
    return order.reordered(n.source(), n.number(1), seeds if any(seeds) else None, again, False)


def _range(n: DatasetNode) -> Any:
    made: Any = Dataset.range(*[n.number(i) for i in range(3)], output_type=n.specs()[0].dtype)
    return made


def _zip(n: DatasetNode) -> Any:
    return combine.zip_(Dataset, tuple([dataset_of(t) for t in n.inputs]))


def _window(n: DatasetNode) -> Any:
    specs = [Spec.of(int64, None)] * len(n.specs())  # what they are their readers know
    size, shift, stride = (int(n.fixed(i, "a size")) for i in (1, 2, 3))
    return batches.window(n.source(tuple(specs)), size, shift, stride, bool(n.fixed(4, "drop_remainder")))


def _cache(n: DatasetNode) -> Any:
    return stored.cache(n.source(), n.value(1))


def _same(n: DatasetNode) -> Any:
    source = n.source()
    return source._then(source._passes, size=source._size)._as("", source)


_DATASETS: dict[str, Callable[[DatasetNode], Any]] = {
    "BatchDataset": lambda n: _batch(n, None), "BatchDatasetV2": lambda n: _batch(n, 2),
    "CacheDataset": _cache, "CacheDatasetV2": _cache,
    "ConcatenateDataset": lambda n: combine.concatenate(n.source(), dataset_of(n.inputs[1], n.specs())),
    "FilterDataset": _filter, "FinalizeDataset": _same, "FlatMapDataset": _interleave,
    "IgnoreErrorsDataset": lambda n: mapping.ignore_errors(n.source()), "InterleaveDataset": _interleave,
    "MapDataset": _map, "MaxIntraOpParallelismDataset": _same, "ModelDataset": _same, "OptionsDataset": _same,
    "PaddedBatchDataset": lambda n: _padded(n, False), "PaddedBatchDatasetV2": lambda n: _padded(n, True),
    "ParallelBatchDataset": lambda n: _batch(n, 3), "ParallelFilterDataset": _filter,
    "ParallelInterleaveDatasetV2": _interleave, "ParallelInterleaveDatasetV3": _interleave,
    "ParallelInterleaveDatasetV4": _interleave, "ParallelMapDataset": _map, "ParallelMapDatasetV2": _map,
    "PrefetchDataset": _same, "PrivateThreadPoolDataset": _same, "RangeDataset": _range,
    "RepeatDataset": lambda n: order.repeat(n.source(), n.number(1)), "RewriteDataset": _same, "ScanDataset": _scan,
    "ShardDataset": lambda n: order.shard(n.source(), n.number(1), n.number(2)),
    "ShuffleDataset": _shuffle, "ShuffleDatasetV2": _shuffle, "ShuffleDatasetV3": _shuffle,
    "SkipDataset": lambda n: order.skip(n.source(), n.number(1)),
    "TakeDataset": lambda n: order.take(n.source(), n.number(1)), "TakeWhileDataset": _take_while,
    "TensorDataset": lambda n: sources.from_tensors(Dataset, tuple([n.value(i) for i in range(len(n.inputs))])),
    "TensorSliceDataset": lambda n: sources.from_tensor_slices(
        Dataset, tuple([n.value(i) for i in range(len(n.inputs))])),
    "UnbatchDataset": lambda n: batches.unbatch(n.source([Spec.of(s.dtype, s.shape and (None, *s.shape))
                                                           for s in n.specs()])),
    "UniqueDataset": lambda n: mapping.unique(n.source(n.specs()[0])), "WindowDataset": _window, "ZipDataset": _zip,
}


# -- what reads them -------------------------------------------------------------------


def _reduced(n: DatasetNode) -> list[Any]:
    """Adds a loop over the elements; what was scanned or ends early becomes a part of it, and so has gradients."""
    count = n.count("Tstate")
    first, others = n.inputs[1 : 1 + count], n.inputs[1 + count :]
    dataset, stages = n.source(n.element_specs()), list[DatasetNode]()
    while getattr(dataset, "_node", None) is not None:
        stages.insert(0, dataset._node)
        dataset = dataset._inputs[0]
    starts = [s.inputs[1 : 1 + s.count("Tstate")] for s in stages]
    elements = Elements(dataset)

    def step(i: Any, goes_on: Any, *rest: Any) -> Any:
        states = nest.pack_sequence_as(starts, list(rest[count:]))
        found = stage(0, flatten(elements.item(i)), states, list(rest[:count]))
        return [raw.AddV2(i, np.int32(1)), *nest.flatten(found)]

    def stage(k: int, element: list[Any], states: list[Any], result: list[Any]) -> Any:
        if k == len(stages):
            return identity(True), n.called([*result, *element, *others]), states
        one = stages[k]
        if one.node.op == "TakeWhileDataset":
            (fits,) = one.called([*element, *one.inputs[1:]], "predicate")
            return cond(fits, lambda: stage(k + 1, element, states, result),
                        lambda: nest.map_structure(identity, (False, result, states)))
        size = one.count("Tstate")
        after = one.called([*states[k], *element, *one.inputs[1 + size :]])
        return stage(k + 1, after[size:], [*states[:k], after[:size], *states[k + 1 :]], result)

    shapes = [TensorShape(()), TensorShape(()), *(TensorShape(s.shape) for s in n.specs()),
              *(shape for s in stages for shape in s.state_shapes)]
    loop = while_loop(lambda i, goes_on, *_: raw.LogicalAnd(goes_on, elements.has(i)), step,
                      [np.int32(0), identity(True), *first, *nest.flatten(starts)], shape_invariants=shapes)
    return list(loop[2 : 2 + count])


def _begun(n: DatasetNode) -> Any:
    """Begins a pass; returns the operation."""
    dataset = dataset_of(n.inputs[0])
    if len(n.inputs) == 1:
        return raw.DatasetPass(dataset._captured, dataset=dataset).op
    return raw.MakeIterator(dataset._captured, n.inputs[1], dataset=dataset)


def _next(n: DatasetNode) -> list[Any]:
    types, shapes = tuple([s.dtype for s in n.specs()]), tuple([s.shape for s in n.specs()])
    return list(raw.DatasetTake(n.inputs[0], [], output_types=types, output_shapes=shapes))


def _single(n: DatasetNode) -> list[Any]:
    return flatten(values.get_single_element(n.source()))


_READERS: dict[str, Callable[[DatasetNode], list[Any]]] = {
    "DatasetCardinality": lambda n: [values.cardinality(n.source(()))],
    "DatasetToSingleElement": _single, "IteratorGetNext": _next, "IteratorGetNextSync": _next,
    "IteratorGetNextAsOptional": lambda n: [raw.OwnedIteratorGetNextAsOptional(n.inputs[0], [])],
    "ReduceDataset": _reduced,
}
_HANDLES = {"AnonymousMemoryCache", "AnonymousSeedGenerator", "DummyMemoryCache", "DummySeedGenerator"}


def results_of(n: DatasetNode) -> tuple[list[Any], list[Any]]:
    """Adds what a node does.

    Args:
      n: the node.
    Returns: its results, a variant for a data set; operations that have to run for its effects.
    """
    if n.node.op in _HANDLES:  # nobody reads them
        return [raw.EmptyTensorList(np.zeros(0, np.int32), np.int32(-1), element_dtype=int64)], []
    if n.node.op.startswith("AnonymousIterator"):
        return [], []
    if n.node.op == "MakeIterator":
        return [], [_begun(n)]
    if n.node.op in _READERS:
        return _READERS[n.node.op](n), []
    made = _DATASETS[n.node.op](n)
    return list(taken_apart(made).parts), []
