"""Data sets of loaded models that were made outside of the functions that use them."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.import_v1.table_handles import TYPES
from graphgrad.frontend.tracking.trackable import AutoTrackable
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import as_dtype, resource
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph_messages import FunctionDef
from graphgrad.ir.opdef import raw

from .load_objects import filling, loaded_table

_FILL = "LookupTableImportV2"


class LoadedDataset(AutoTrackable):
    """A data set that functions of a loaded model use; each makes it for itself, with common tables.

    Args:
      name: the function that makes it.
      library: the functions of the model.
      graph: the graph to load to; None in eager mode.
    """

    def __init__(self, name: str, library: Any, graph: Any):
        message = library.message(name)
        seen = {name}
        while (inner := _called_alone(message)) is not None and inner not in seen:
            seen.add(inner)
            message = library.message(inner)
        self._message = FunctionDef.FromString(message.SerializeToString())
        self.tables: list[Any] = []
        self._take_tables_out(graph)

    def _take_tables_out(self, graph: Any) -> None:
        """Makes the tables, which become arguments of the function."""
        nodes = list(self._message.node_def)
        constants = {n.name: n.attr["value"].tensor for n in nodes if n.op == "Const"}
        fills = {n.input[0].partition(":")[0]: n for n in nodes if n.op == _FILL}
        places = {}
        for node in [n for n in nodes if n.op in TYPES]:
            table = loaded_table(f"table_{node.name}", node, nodes)
            fill = fills.get(node.name)
            if fill is not None:
                parts = [constants[name.partition(":")[0]] for name in fill.input[1:3]]
                entries = [constant(p.array(), as_dtype(int(p.dtype))) for p in parts]
                vars(table)["_initialize"] = _Filling(table.resource_handle, entries)
                filling(graph, vars(table)["_initialize"])
            places[node.name] = f"given_table_{len(self.tables)}"
            self._message.signature.input_arg.add(name=places[node.name], type=resource.enum)
            self.tables.append(table)
        gone = {n.name for n in nodes if n.op in TYPES or n.op == _FILL}
        kept = [n for n in nodes if n.name not in gone]
        for node in kept:
            inputs = [places.get(name.partition(":")[0], name) for name in node.input]
            node.input[:] = [name for name in inputs if not (name.startswith("^") and name[1:] in gone)]
        del self._message.node_def[:]
        self._message.node_def.extend(kept)

    def inside(self, inline: Any) -> Any:
        """Makes the data set in the graph that is being built; returns its variant.

        Args:
          inline: adds the operations of a function, see `import_v1.function_calls.results_of`.
        """
        graph: Any = get_default_graph()
        handles = [table.resource_handle for table in self.tables]
        given = [graph.capture(h) if isinstance(h, EagerTensor) or h.graph is not graph else h for h in handles]
        results, _ = inline(self._message, given, self._message.signature.name.lstrip("_"))
        return results[0]


def _called_alone(message: Any) -> str | None:
    """Returns the name of the function that a function without arguments passes everything on to, if there is one."""
    calls = [n for n in message.node_def if n.op in ("PartitionedCall", "StatefulPartitionedCall")]
    others = [n for n in message.node_def if n.op not in ("PartitionedCall", "StatefulPartitionedCall", "Identity",
                                                           "NoOp")]
    return calls[0].attr["f"].func.name if len(calls) == 1 and not others else None


class _Filling:
    """Fills a table; call it.

    Args:
      handle: the table's.
      entries: the keys, and the values.
    """

    def __init__(self, handle: Any, entries: list[Any]):
        self._handle, self._entries = handle, entries

    def __call__(self) -> Any:
        return raw.LookupTableImportV2(self._handle, *self._entries)
