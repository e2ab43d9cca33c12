"""Graphs from elsewhere that would never end, or fill the memory, are refused soon, or take no more than they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.graph_messages import AttrValue, TensorProto

pytestmark = pytest.mark.usefixtures("graph")


def graph_of(*nodes: tuple[str, str, list[str]]) -> Any:
    """A graph of float operations: name, type, inputs."""
    made = tf.GraphDef()
    for name, op, inputs in nodes:
        node = made.node.add(name=name, op=op)
        node.input.extend(inputs)
        node.attr["T"] = AttrValue(type=1)
    return made


def calling(levels: int, calls: int) -> Any:
    """Functions of which each calls the one before it some times, and a call of the last one."""
    made = graph_of(("x", "Placeholder", []), ("call", "PartitionedCall", ["x"]))
    made.node[0].attr["dtype"] = AttrValue(type=1)
    made.node[1].attr["f"].func.name = f"f{levels - 1}"
    for i in range(levels):
        function = made.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        last = "x"
        for j in range(calls):
            node = function.node_def.add(name=f"c{j}", op="PartitionedCall" if i else "Neg")
            node.input.append(last)
            node.attr["f" if i else "T"] = AttrValue(type=1)
            if i:
                node.attr["f"].func.name = f"f{i - 1}"
            last = f"c{j}:{'output' if i else 'y'}:0"
        function.ret["y"] = last
    return made


@pytest.mark.parametrize("nodes", [
    [("m", "Merge", ["n", "k"]), ("n", "NextIteration", ["m"]), ("k", "NextIteration", ["m"])],
    [("m", "Merge", ["m", "m"])],
    [("a", "Identity", ["b"]), ("b", "Identity", ["a"]), ("s", "Switch", ["a", "b"]), ("m", "Merge", ["s", "s:1"])],
    [("s", "Switch", ["m", "p"]), ("m", "Merge", ["s", "s:1"]), ("p", "Identity", ["p"])],
    [("e", "Enter", ["x"]), ("x", "Exit", ["s"]), ("s", "Switch", ["m", "l"]), ("l", "LoopCond", ["m"]),
     ("m", "Merge", ["e", "n"]), ("n", "NextIteration", ["s:1"])],
    [("a", "Neg", ["b"]), ("b", "Neg", ["a"])], [("a", "Identity", [])], [("a", "Merge", [])], [("a", "Exit", [])],
    [("a", "Neg", ["b:x"])], [("a", "Neg", ["^"])],
])
def test_cycles(nodes: Any) -> None:
    """Operations that wait for each other, or for nothing, form no graph."""
    with pytest.raises(ValueError, match="graph_def"):
        tf.import_graph_def(graph_of(*nodes))


def branching(levels: int) -> Any:
    """Functions with a branch, both sides of which are the function before."""
    made = calling(levels, 1)
    for i, nodes in enumerate([*(f.node_def for f in made.library.function[1:]), made.node]):
        node = nodes[-1]
        node.op = "If"
        node.input.insert(0, "p" if nodes is made.node else "p:output:0")
        for side in ("then_branch", "else_branch"):
            node.attr[side].func.name = f"f{i}"
        node.attr["Tin"].list.type.append(1)
        node.attr["Tout"].list.type.append(1)
        predicate = nodes.add(name="p", op="Const")
        predicate.attr["dtype"] = AttrValue(type=10)
        predicate.attr["value"] = AttrValue(tensor=TensorProto.of(np.array(True), tf.bool))
    return made


def test_calls_without_end() -> None:
    """Functions that call each other become as many operations as their calls, up to a limit; none calls itself."""
    tf.import_graph_def(calling(6, 2), name="few")
    x, y = tf.import_graph_def(branching(4), name="branches", return_elements=["x:0", "call:0"])
    with tf.Session() as sess:
        assert sess.run(y, {x: 2.0}) == -2.0
    for made, text in ((calling(40, 2), "becomes more than"), (branching(40), "becomes more than"),
                       (calling(500, 1), "nested too deeply")):
        with pytest.raises(ValueError, match=f"(?s)graph_def is invalid.*{text}.*test_graphs.py"):
            tf.import_graph_def(made)
    made = calling(3, 1)
    made.library.function[1].node_def[0].attr["f"].func.name = "f2"
    with pytest.raises(ValueError, match="calls itself"):
        tf.import_graph_def(made)
    made.library.function[1].node_def[0].attr["f"].func.name = "g"
    with pytest.raises(ValueError, match="the function 'g' is not in its library"):
        tf.import_graph_def(made)


def constant(proto: TensorProto) -> Any:
    """A graph with a constant."""
    made = graph_of(("c", "Const", []))
    made.node[0].attr.clear()
    made.node[0].attr["dtype"] = AttrValue(type=proto.dtype)
    made.node[0].attr["value"] = AttrValue(tensor=proto)
    return made


def test_huge_constants() -> None:
    """A value that stands for many takes the memory of one, until somebody computes with it."""
    given = ((1, "float_val", 2.0), (7, "string_val", b"a"), (9, "int64_val", 3), (10, "bool_val", True),
             (19, "half_val", 15360), (14, "half_val", 16256), (6, "int_val", -5))
    for dtype, field, value in given:
        proto = TensorProto(dtype=dtype)
        for size in (1 << 20, 1 << 20):
            proto.tensor_shape.dim.add(size=size)
        getattr(proto, field).append(value)
        (c,) = tf.import_graph_def(constant(proto), return_elements=["c:0"])
        assert c.shape.as_list() == [1 << 20, 1 << 20]
        assert c.op.node_def.attr["value"].tensor == proto
    few = TensorProto(dtype=1, float_val=[1.0, 2.0])
    few.tensor_shape.dim.add(size=1 << 40)
    with pytest.raises(ValueError, match="2 values stand for an array"):
        tf.import_graph_def(constant(few))
    for sizes in ([1 << 62, 1 << 62], [-1], [1] * 300):
        proto = TensorProto(dtype=1, float_val=[1.0])
        for size in sizes:
            proto.tensor_shape.dim.add(size=size)
        with pytest.raises(ValueError, match="no array has the shape"):
            tf.import_graph_def(constant(proto))


@pytest.mark.parametrize("fields, expected", [
    ({"float_val": [1.0, 2.0]}, [1, 2, 2]), ({"float_val": [5.0]}, [5, 5, 5]), ({}, [0, 0, 0]),
    ({"float_val": [1.0, 2.0, 3.0, 4.0]}, [1, 2, 3]),
    ({"tensor_content": np.float32([7, 8, 9]).tobytes()}, [7, 8, 9]), ({"tensor_content": b"abcd"}, None),
    ({"tensor_content": bytes(16)}, None),
])
def test_values(fields: Any, expected: Any) -> None:
    """The last value stands for those that are missing; further ones are left out; content has its size."""
    proto = TensorProto(dtype=1, **fields)
    proto.tensor_shape.dim.add(size=3)
    if expected is None:
        with pytest.raises(ValueError, match="bytes are no float32"):
            tf.make_ndarray(proto)
    else:
        assert tf.make_ndarray(proto).tolist() == expected


@pytest.mark.parametrize("content, expected", [
    (b"\x01\x00\x02abc", [b"a", b"", b"bc"]), (b"\x01\x00\x02ab", None), (b"\x01\x00", None), (b"\xff" * 12, None),
    (b"\x01\x00\x02abcd", None)])
def test_texts_as_content(content: bytes, expected: Any) -> None:
    """All lengths, then all bytes, as data sets are written by TensorFlow; anything else is noticed."""
    proto = TensorProto(dtype=7, tensor_content=content)
    proto.tensor_shape.dim.add(size=3)
    if expected is None:
        with pytest.raises(ValueError, match="are not 3 texts"):
            tf.make_ndarray(proto)
    else:
        assert tf.make_ndarray(proto).tolist() == expected


def test_missing_attributes() -> None:
    """An attribute that is missing, or no type, is noticed, whatever came before."""
    made = graph_of(("v", "VarHandleOp", []))
    attr = made.node[0].attr
    del attr["T"]
    attr["dtype"] = AttrValue(type=1)
    tf.import_graph_def(made, name="whole")
    for name, value in (("container", AttrValue(s=b"")), ("dtype", AttrValue(i=1))):
        attr.clear()
        attr[name] = value
        with pytest.raises((TypeError, ValueError), match="dtype"):
            tf.import_graph_def(made, name="broken")
