"""Scopes, containers and what a graph knows of op types; small functions on them."""

from __future__ import annotations

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context
from tests.support.sessions import run_in_numpy

pytestmark = pytest.mark.usefixtures("graph")


def test_scopes_and_graphs() -> None:
    """Where operations are made; what a graph knows of op types."""
    graph = tf.get_default_graph()
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf2.get_current_name_scope() == "a/b"
    assert not tf2.inside_function() and not tf.executing_eagerly_outside_functions() and graph.get() is graph
    assert graph.op_def_for_type("MatMul").name == "MatMul"
    types = ["MatMul", "VarHandleOp", "RandomUniform", "If", "Add"]
    assert [t for t in types if graph.op_def_for_type(t).is_stateful] == ["VarHandleOp", "RandomUniform", "If"]
    with pytest.raises(RuntimeError, match="(?s)Op type not registered 'Nix'.*Fix:"):
        graph.op_def_for_type("Nix")
    with graph.container("c") as name:
        assert name == "c"
    seen = []
    with context.use(context.EAGER):
        assert tf2.get_current_name_scope() == "" and tf.executing_eagerly_outside_functions()
        tf2.function(lambda: seen.append((tf2.inside_function(), tf.executing_eagerly_outside_functions())))()
    assert seen == [(True, True)]
    assert tf.dimension_at_index(tf.TensorShape([1, None]), 0) == 1
    assert tf.dimension_at_index(tf.TensorShape(None), 3).value is None
    with pytest.raises(IndexError):
        tf.dimension_at_index(tf.TensorShape([1]), 3)
    slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]))
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    with pytest.raises(ValueError, match="(?s)requested dtype int32.*Fix:"):
        tf.convert_to_tensor_or_indexed_slices(slices, tf.int32)
    assert run_in_numpy(tf.string_strip([" a "])).tolist() == [b"a"]
    assert run_in_numpy(tf.sparse_matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True)).tolist() == [[11.0]]
