"""The text format of protocol buffers: what is written is read; what is no message is refused with its line."""

from __future__ import annotations

import math

import pytest

from graphgrad.ir.graph_messages import AttrValue, GraphDef, NodeDef, TensorProto
from graphgrad.ir.proto.quoting import quoted, unquoted
from graphgrad.ir.proto.text import ParseError, parse


def test_all_that_the_format_allows() -> None:
    """Comments, both brackets, lists, several strings, signs between fields, numbers of every kind."""
    text = r"""
    # a graph
    node { name: "a" 'b' "\x63\144\u00e9"  op: 'Const', input: ["x", "y"];
      attr < key: "dtype" value: { type: DT_FLOAT } >
      attr { key: "n" value { i: -0x10 } } attr { value { list { f: [1.5, -inf, 2e-3f, nan] b: [true, false, 1] } } }
    }
    node: [{ name: "second" }, { name: "third" }]
    versions { producer: 017 min_consumer: +1 }"""
    with pytest.raises(ParseError, match=r"line 8: unexpected '\+'"):
        parse(GraphDef, text)
    found = parse(GraphDef, text.replace("+1", "1"))
    first = found.node[0]
    assert first.name == "abcd\u00e9" and list(first.input) == ["x", "y"] and len(found.node) == 3
    assert first.attr["dtype"].type == 1 and first.attr["n"].i == -16
    assert list(first.attr[""].list.b) == [True, False, True]
    one, infinite, small, nothing = first.attr[""].list.f
    assert (one, infinite, small) == (1.5, -math.inf, 0.002) and math.isnan(nothing) and found.versions.producer == 15
    assert str(parse(GraphDef, str(found))) == str(found)


@pytest.mark.parametrize(("kind", "text", "problem"), [
    (GraphDef, "node {", "line 1: expected the name of a field, found 'the end'"),
    (GraphDef, "node {\n nam: 'x' }", 'line 2: Message type "tensorflow.NodeDef" has no field named "nam"'),
    (NodeDef, "name 'x'", "expected ':' after name"), (NodeDef, "name: x", "expected a string"),
    (NodeDef, "name: 'x\n'", "unexpected"), (NodeDef, r"name: '\q'", "no string"),
    (NodeDef, r"name: '\377'", "line 1"), (NodeDef, "input: ['a' 'b' ; 'c']", "expected ',' or '\\]'"),
    (TensorProto, "dtype: DT_NONE", "'DT_NONE' is no value"), (TensorProto, "int_val: 2147483648", "out of range"),
    (TensorProto, "int_val: 1.5", "no integer"), (TensorProto, "uint64_val: -1", "out of range"),
    (TensorProto, "float_val: one", "no number"), (TensorProto, "bool_val: 2", "true or false"),
    (TensorProto, "bool_val: {", "expected a value"), (AttrValue, "list < >} ", "expected the name of a field"),
    (AttrValue, "list { func { attr { value { " * 60, "nested more than"),
    (AttrValue, "i: " + "9" * 10_000, "out of range"),
])
def test_refused(kind: type, text: str, problem: str) -> None:
    """What is no message of that type."""
    with pytest.raises(ParseError, match=problem):
        parse(kind, text)


def test_strings() -> None:
    """All bytes come back."""
    for value in (bytes(range(256)), "h\u00e9 \U0001f600\n".encode(), b"", b"'\"\\"):
        assert unquoted(quoted(value)) == value
    assert unquoted(r'"\a\b\f\v\?\U0001f600"') == b"\a\b\f\v?" + "\U0001f600".encode()
