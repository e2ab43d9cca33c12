"""`tf.__internal__.create_c_op`: an operation that a library makes of a `NodeDef`, in two steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from graphgrad.extras.import_v1.import_graph import import_graph_def
from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Graph, Operation
from graphgrad.ir.graph_messages import GraphDef, NodeDef


class MadeOperation:
    """What `create_c_op` returns, and `Graph._create_op_from_tf_operation` takes: an operation, which is in the graph.

    Args:
      op: the operation.

    Attributes:
      op_def: its `name`, and `attr` with the names of its attributes.
    """

    def __init__(self, op: Operation):
        self._op = op
        names = [SimpleNamespace(name=name) for name in op.node_def.attr if not name.startswith("_")]
        self.op_def = SimpleNamespace(name=op.type, attr=names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)

    def _control_flow_post_processing(self, input_tensors: Any = None) -> None:
        """Does nothing: control flow is functional here."""


def create_c_op(graph: Graph, node_def: Any, inputs: Any, control_inputs: Any, op_def: Any = None,
                extract_traceback: bool = True) -> MadeOperation:
    """Adds an operation to a graph.

    Args:
      graph: the graph.
      node_def: its `NodeDef`; the names of its inputs count for nothing.
      inputs: its inputs, tensors; several for an input that is a list.
      control_inputs: operations that it waits for.
      op_def, extract_traceback: accepted.
    Returns: the operation.
    Raises: ValueError for an invalid one.
    """
    tensors = [convert_to_tensor(t) for t in nest.flatten(inputs)]
    node = NodeDef.FromString(node_def.SerializeToString())
    given = {f"_made_of_{i}:0": t for i, t in enumerate(tensors)}
    node.input[:] = list(given)
    functions = [a.func.name for a in node.attr.values() if a.WhichOneof("value") == "func"]
    library = graph.as_graph_def().library if functions else None
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(control_inputs or []):
        (op,) = import_graph_def(GraphDef(node=[node], **({} if library is None else {"library": library})), given,
                                 [node.name], name="")
    return MadeOperation(op)
