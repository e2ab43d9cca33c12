"""Assertions that two graphs, as messages, are the same."""

from __future__ import annotations

from typing import Any


def _nodes(graph_def: Any, checkpoint_v2: bool, shared_names: bool) -> dict[str, Any]:
    from graphgrad.ir.graph_messages import GraphDef, NodeDef

    if not isinstance(graph_def, GraphDef):
        raise TypeError(f"a GraphDef is expected, not {type(graph_def).__name__}. Fix: graph.as_graph_def()")
    found = {}
    for node in graph_def.node:
        node = NodeDef.FromString(node.SerializeToString())
        node.attr.pop("_output_shapes", None)
        if shared_names and node.op.startswith(("HashTable", "MutableHashTable")):
            node.attr.pop("shared_name", None)
        if not (checkpoint_v2 and node.op == "Const" and node.name.endswith(("tensor_names", "shape_and_slices"))):
            found[node.name] = node
    return found


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Checks that two graphs have the same operations, whatever their order.

    Args:
      expected, actual: `GraphDef`s.
    Raises: AssertionError that names the first operation that differs; TypeError for anything but a `GraphDef`.
    Reference: TensorFlow 2.21 `tf.test.assert_equal_graph_def`.
    """
    assert_equal_graph_def_v1(actual, expected)


def assert_equal_graph_def_v1(actual: Any, expected: Any, checkpoint_v2: bool = False,
                              hash_table_shared_name: bool = False) -> None:
    """Checks that two graphs have the same operations, whatever their order.

    Args:
      actual, expected: `GraphDef`s.
      checkpoint_v2: whether the names of saved tensors may differ.
      hash_table_shared_name: whether the shared names of tables may differ.
    Raises: AssertionError that names the first operation that differs; TypeError for anything but a `GraphDef`.
    Reference: TensorFlow 2.21 `tf.compat.v1.test.assert_equal_graph_def`.

    >>> graph = tf.get_default_graph().as_graph_def()
    >>> tf.test.assert_equal_graph_def(graph, graph)
    """
    found, wanted = (_nodes(g, checkpoint_v2, hash_table_shared_name) for g in (actual, expected))
    for name in sorted(found.keys() ^ wanted.keys()):
        where = "unexpected" if name in found else "missing"
        raise AssertionError(f"{where} node '{name}'. Fix: compare graphs of the same operations")
    for name, node in wanted.items():
        if node.SerializeToString() != found[name].SerializeToString():
            raise AssertionError(f"node '{name}' differs:\n{found[name]}\nexpected:\n{node}")
