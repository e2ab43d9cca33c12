"""`tf.saved_model.load` for models of 1.x: a graph, of which parts become functions."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from graphgrad.extras.import_v1.function_library import FunctionLibrary
from graphgrad.extras.import_v1.import_graph import import_graph_def, import_part
from graphgrad.extras.import_v1.import_limits import refused
from graphgrad.extras.import_v1.import_meta_graph import saved_by, variable_messages
from graphgrad.extras.import_v1.reference_variables import with_resources
from graphgrad.extras.import_v1.saved_model import asset_files
from graphgrad.extras.import_v1.session_handles import ITERATORS, ONE_SHOT, make_one_shot
from graphgrad.extras.import_v1.table_handles import TYPES
from graphgrad.extras.pipelines.asset import Asset
from graphgrad.extras.pipelines.mutable_tables import MutableTable
from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec
from graphgrad.frontend.structure.structured_outputs import marks_of
from graphgrad.frontend.tracking.trackable import AutoTrackable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import as_dtype, variant
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph
from graphgrad.ir.graph_messages import NodeDef
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.variable_store import Cell, Handle
from graphgrad.ops.array.fill import zeros
from graphgrad.training.checkpoints.bundle import BundleReader, read_bundle
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists
from graphgrad.training.checkpoints.saved_items import cell_of
from graphgrad.training.checkpoints.saved_object_messages import StructuredValue

from .load_objects import LoadedSignatures, filling, loaded_table
from .load_structures import structure_of

_INITIALIZERS = ("saved_model_main_op", "legacy_init_op")


class GraphModel(AutoTrackable):
    """A model of 1.x.

    Args:
      message: its `MetaGraphDef`.
      folder: its folder.
      restores: whether variables get their values.

    Attributes:
      signatures: the functions of its signatures, by name.
      variables: its variables.
      asset_paths: its files.
    """

    def __init__(self, message: Any, folder: str, restores: bool):
        self._setattr_tracking = False
        self._message, self._outer = message, current_graph()
        self._library = FunctionLibrary(message.graph_def.library)
        with refused():
            self._nodes = {n.name: n for n in with_resources(list(message.graph_def.node))}
        self._graph: Graph | None = None
        self._held: dict[str, Any] = {}  # variables, tables, iterators, by the names of their nodes
        values = os.path.join(folder, "variables", "variables")
        held = [n for n in self._nodes.values() if n.op == "VarHandleOp"]
        known = self._described(GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.GLOBAL_VARIABLES)
        restores = restores and checkpoint_exists(values)
        found = read_bundle(values, lambda bundle: _values(bundle, held, known)) if restores else {}
        for node in held:
            self._held[node.name] = _variable(node, known.get(node.name), found.get(node.name))
        for node in self._nodes.values():
            if node.op in TYPES:
                self._held[node.name] = loaded_table(node.name, node, self._nodes.values())
            elif node.op in ITERATORS:
                self._held[node.name] = self._iterator(node)
        saved = saved_by(self._nodes) if restores else None
        if saved is not None and saved.tables:
            self._restore_tables(values, saved.tables)
        self._setattr_tracking = True
        self.variables = [v for v in self._held.values() if isinstance(v, Variable)]
        files = asset_files(message, folder)
        self.asset_paths = [Asset(path) for path in files.values()]
        self._setattr_tracking = False
        self._initialize(list(files))
        self.signatures = LoadedSignatures()
        for name, signature in message.signature_def.items():
            if signature.outputs:
                self.signatures._add_signature(name, self._signature(signature))
        self._setattr_tracking = True

    def _restore_tables(self, values: str, tables: dict[str, str]) -> None:
        """Gives tables their entries.

        Args:
          values: the path of the checkpoint.
          tables: for the names of tables in it the names of their nodes.
        """
        held = {name: self._held[node] for name, node in tables.items()
                if isinstance(self._held.get(node), MutableTable)}

        def read(bundle: BundleReader) -> list[list[Any]]:
            names = [[name + piece.suffix for piece in table._pieces] for name, table in held.items()]
            return [[constant(bundle.read(n), bundle.dtype(n)) for n in pair] for pair in names]

        for table, arrays in zip(held.values(), read_bundle(values, read), strict=True):
            filling(self._outer, functools.partial(raw.LookupTableImportV2, table.resource_handle, *arrays))

    def _iterator(self, node: Any) -> Handle:
        """Returns the handle of an iterator, which has its own data set or gets one from what the model runs."""
        handle = Handle(Cell(None, node.name, variant, ()))
        if node.op == ONE_SHOT:
            made = self._library.read(node.attr["dataset_factory"].func.name, ())
            make_one_shot(handle, made.outputs[0])
        return handle

    def _described(self, *keys: str) -> dict[str, Any]:
        """Returns the `VariableDef`s of collections, by the names of variables."""
        made = {}
        for key in keys:
            if key in self._message.collection_def:
                messages = variable_messages(self._message.collection_def[key].bytes_list.value)
                made.update({m.variable_name.partition(":")[0]: m for m in messages})
        return made

    def _initialize(self, files: list[str]) -> None:
        """Runs what the model runs when it is loaded; `files` are the tensors that stand for its files."""
        names = [name for key in _INITIALIZERS if key in self._message.collection_def
                 for name in self._message.collection_def[key].node_list.value]
        if "__saved_model_init_op" in self._message.signature_def:
            names += [t.name for t in self._message.signature_def["__saved_model_init_op"].outputs.values()]
        if not names:  # as in TensorFlow
            names = list(self._message.collection_def[GraphKeys.TABLE_INITIALIZERS].node_list.value) if (
                GraphKeys.TABLE_INITIALIZERS in self._message.collection_def) else []
            names += [known.initializer_name for known in self._described(GraphKeys.LOCAL_VARIABLES).values()]
        names = list(dict.fromkeys(n.partition(":")[0] for n in names))
        if not names:
            return
        filling(self._outer, functools.partial(self.prune(files, names), *[a.asset_path for a in self.asset_paths]))

    def _signature(self, message: Any) -> ConcreteFunction:
        arguments = sorted((a for name, info in message.inputs.items() for a in _arguments(name, info, self._kind_of)),
                           key=lambda a: a[0])
        specs = {argument: spec for argument, _, spec in arguments}
        outputs, made = {}, {}
        for name in sorted(message.outputs):
            outputs[name], made[name] = _names_of(message.outputs[name])
        feeds = [tensor for _, tensor, _ in arguments]
        return self._function(feeds, outputs, ((), specs), list(specs), specs_of=made)

    @property
    def graph(self) -> Graph:
        """The whole graph, apart from its functions; for looking."""
        if self._graph is None:
            self._graph = Graph()
            with self._graph.as_default():
                import_graph_def(self._message.graph_def, name="")
        return self._graph

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None) -> ConcreteFunction:
        """Makes a function of a part of the graph.

        Args:
          feeds: names of tensors, nested, or tensors of `graph`: the arguments, in order.
          fetches: names of tensors and operations, nested, or what has such a name: the results.
          name: a name.
          input_signature: the arguments' structure; they are positional by default.
        Returns: the function.
        Raises: ValueError for names that are not there.
        """
        given = nest.flatten(feeds)
        return self._function(given, fetches, input_signature, [_name(f).partition(":")[0] for f in given], name)

    def _function(self, feeds: Sequence[Any], fetches: Any, signature: Any, names: Sequence[str],
                  name: str | None = None, specs_of: Any = None) -> ConcreteFunction:
        wanted = [_name(f) for f in nest.flatten(fetches)]
        cut = {_full(_name(f)) for f in feeds}
        nodes = self._needed(wanted, cut)
        graph = FuncGraph(name or "pruned", self._outer)
        graph.keeps_effects = True
        given = {}
        for feed, argument in zip(feeds, names, strict=True):
            dtype, shape = self._kind_of(_name(feed))
            given[_full(_name(feed))] = graph.add_input(dtype, shape, argument.rpartition("/")[2])
        count = len(graph.inputs)
        with use(self._outer):
            handles = {n: v if isinstance(v, Handle) else v.handle if isinstance(v, Variable) else v.resource_handle
                       for n, v in self._held.items()}
        for node in {n.partition(":")[0] for m in nodes for n in m.input} & set(handles):
            given.setdefault(f"{node}:0", graph.capture(handles[node]))
        found = iter(import_part(graph, nodes, self._library, given, wanted))
        results = [next(found) for _ in wanted]
        graph.outputs = [t for t in results if t is not None]
        specs = [None if t is None else TensorSpec(t._spec.shape, t.dtype) for t in results]
        arguments = tuple([TensorSpec(p._spec.shape, p.dtype, p.op.name) for p in graph.inputs[:count]])
        made = nest.pack_sequence_as(fetches, specs)
        for key, spec in (specs_of or {}).items():  # of several tensors
            made[key] = made[key] if spec is None else spec
        return ConcreteFunction(graph, count, marks_of(made), "xla", signature or (arguments, {}))

    def _kind_of(self, name: str) -> tuple[Any, Any]:
        """Returns dtype and shape of a tensor that is fed."""
        node = self._nodes.get(name.partition(":")[0])
        if node is None:
            raise ValueError(f"{name!r} is not in the model's graph. Fix: see signatures, or graph.get_operations()")
        if node.op.startswith("Placeholder") and "dtype" in node.attr:
            shape = node.attr["shape"].shape.shape() if "shape" in node.attr else None
            return as_dtype(int(node.attr["dtype"].type)), shape
        tensor = self.graph.get_tensor_by_name(_full(name))
        return tensor.dtype, tensor._spec.shape

    def _needed(self, wanted: Iterable[str], cut: set[str]) -> list[Any]:
        """Returns the nodes that some names depend on, without what is fed or held."""
        found: dict[str, Any] = {}
        waiting = list(wanted)
        fed = {c.partition(":")[0] for c in cut if c.endswith(":0")}
        while waiting:
            name = waiting.pop()
            node = name.removeprefix("^").partition(":")[0]
            if node in found or node in self._held or node in fed or (not name.startswith("^") and _full(name) in cut):
                continue
            if node not in self._nodes:
                raise ValueError(f"{name!r} is not in the model's graph. Fix: see signatures, or "
                                 "graph.get_operations()")
            found[node] = self._nodes[node]
            waiting += self._nodes[node].input
        return [_without_outer_waits(n, found) for n in found.values()]


def _without_outer_waits(node: Any, there: dict[str, Any]) -> Any:
    """Removes control inputs from operations that are fed or held."""
    kept = [n for n in node.input if not n.startswith("^") or n[1:] in there]
    if len(kept) == len(node.input):
        return node
    made = NodeDef.FromString(node.SerializeToString())
    made.input[:] = kept
    return made


def _arguments(name: str, info: Any, kind_of: Callable[[str], tuple[Any, Any]]) -> list[tuple[str, str, TensorSpec]]:
    """Returns the arguments of an input: their names, the names of their tensors, and their specs."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        parts = info.coo_sparse
        given = [(f"{name}_indices", parts.indices_tensor_name), (f"{name}_values", parts.values_tensor_name),
                 (f"{name}_dense_shape", parts.dense_shape_tensor_name)]
    elif kind == "composite_tensor":
        given = [(f"{name}_component_{i}", c.name) for i, c in enumerate(info.composite_tensor.components)]
    else:
        return [(name, info.name, TensorSpec(info.tensor_shape.shape(), as_dtype(int(info.dtype)), name))]
    found = []
    for argument, tensor in given:
        dtype, shape = kind_of(tensor)
        found.append((argument, tensor, TensorSpec(shape, dtype, argument)))
    return found


def _names_of(info: Any) -> tuple[Any, Any]:
    """Returns the names of an output's tensors, and the spec of what they are together; None for a tensor."""
    kind = info.WhichOneof("encoding")
    if kind == "coo_sparse":
        parts = info.coo_sparse
        spec: Any = SparseTensorSpec(info.tensor_shape.shape(), as_dtype(int(info.dtype)))
        return (parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name), spec
    if kind == "composite_tensor":
        spec = structure_of(StructuredValue(type_spec_value=info.composite_tensor.type_spec))
        return tuple([c.name for c in info.composite_tensor.components]), spec
    return info.name, None


def _name(element: Any) -> str:
    return element if isinstance(element, str) else str(element.name)


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _values(bundle: BundleReader, nodes: Sequence[Any], known: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for node in nodes:
        name, part = node.name, None
        if node.name in known and known[node.name].HasField("save_slice_info_def"):
            info = known[node.name].save_slice_info_def
            name, part = info.full_name, (tuple(info.full_shape), tuple(info.var_offset), tuple(info.var_shape))
        if bundle.has(name):
            found[node.name] = bundle.read(name, part)
    return found


def _variable(node: Any, known: Any, value: Any) -> Variable:
    dtype, shape = as_dtype(int(node.attr["dtype"].type)), node.attr["shape"].shape.shape()
    first = zeros([n or 0 for n in shape or ()], dtype) if value is None else constant(value, dtype)
    made = Variable(first, trainable=known is None or bool(known.trainable), name=node.name, dtype=dtype, shape=shape)
    if value is None and made._graph is None:
        cell_of(made, None).held = None
    return made
