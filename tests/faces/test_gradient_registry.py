"""TensorFlow's registry of gradients, which libraries write into, is a view of the rules here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as gg
import graphgrad.compat.v1 as tf
from graphgrad.compat import importing
from graphgrad.gradients.core import registry


@pytest.fixture
def ops() -> Iterator[Any]:
    """`tensorflow.python.framework.ops`; what is registered in a test is forgotten."""
    before = {n: registry.registered(n) for n in ("Relu", "Shape", "TensorListReserve")}
    importing.install(2)
    try:
        yield importlib.import_module("tensorflow.python.framework.ops")
    finally:
        importing.uninstall()
        for name in registry.names():
            if name.startswith("Test"):
                registry.remove(name)
        for name, rule in before.items():
            if registry.registered(name) is not rule:
                registry.replace(name, rule)


def test_the_registry_lists_all_gradients(ops: Any) -> None:
    """Op types with gradients are in it, those without are not; None is what has no derivative."""
    view = ops._gradient_registry._registry
    assert "Relu" in view and "While" in view and "NoSuchOp" not in view and 3 not in view
    assert len(view) == len(list(ops._gradient_registry.list())) > 400
    assert view["Shape"]["type"] is None and callable(view["Relu"]["type"])
    assert view["Relu"]["location"].filename.endswith("activations.py")
    assert dict(view["Relu"]).keys() == {"type", "location"}
    assert ops._gradient_registry.lookup(b"Relu") is view["Relu"]["type"]
    for name in ("NoSuchOp", "location"):
        with pytest.raises(LookupError, match="gradient registry has no entry for"):
            ops._gradient_registry.lookup(name)
    with pytest.raises(KeyError):
        view["NoSuchOp"]
    with pytest.raises(KeyError):
        del view["NoSuchOp"]


def test_a_rule_is_replaced_and_put_back(ops: Any) -> None:
    """The idiom of attributions: another rule while gradients are built, under a second name too."""
    view = ops._gradient_registry._registry
    before = view["Relu"]["type"]
    view["TestRelu"] = {"type": lambda op, dy: -dy, "location": view["Relu"]["location"]}
    view["Relu"]["type"] = lambda op, dy: 10.0 * before(op, dy)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([-1.0, 2.0])
        changed = tf.gradients(tf.nn.relu(x), x)[0]
        with tf.get_default_graph().gradient_override_map({"Relu": "TestRelu"}):
            y = tf.nn.relu(x)
        named = tf.gradients(y, x)[0]
        view["Relu"]["type"] = before
        usual = tf.gradients(tf.nn.relu(x), x)[0]
        np.testing.assert_array_equal(sess.run([changed, named, usual]), [[0, 10], [-1, -1], [0, 1]])
    del view["TestRelu"]
    assert "TestRelu" not in view and view["Relu"]["type"] is before


def test_registered_once(ops: Any) -> None:
    """Who looks whether a name is taken, registers it once; what was deleted can be registered again."""
    view = ops._gradient_registry._registry
    for _ in range(2):
        if "TestGuided" not in view:
            ops.RegisterGradient("TestGuided")(lambda op, dy: dy)
    with pytest.raises(KeyError, match="TestGuided"):
        ops.RegisterGradient("TestGuided")(lambda op, dy: dy)
    view.pop("TestGuided")
    ops._gradient_registry.register(tf.negative, "TestGuided")
    assert ops._gradient_registry.lookup("TestGuided") is tf.negative


def test_no_derivative(ops: Any) -> None:
    """None, written as a rule, means that an op has no derivative."""
    view = ops._gradient_registry._registry
    view["TensorListReserve"] = {"type": None, "location": ("UNKNOWN",)}
    assert registry.registered("TensorListReserve") is registry.NOT_DIFFERENTIABLE
    with pytest.raises(TypeError, match="delete the entry"):
        del view["Relu"]["type"]


def test_registries_of_ones_own(ops: Any) -> None:
    """The class of the registry holds anything by name."""
    own = importlib.import_module("tensorflow.python.framework.registry").Registry("colour")
    own.register(abs)
    own.register("red", "r")
    assert list(own.list()) == ["abs", "r"] and own.lookup("r") == "red"
    with pytest.raises(KeyError, match="two colour with name 'r'"):
        own.register("rouge", "r")


def test_noting_an_op_by_hand(ops: Any) -> None:
    """`record_gradient` tells the tapes how eager tensors came about."""
    backprop = importlib.import_module("tensorflow.python.eager.backprop")
    x = gg.constant([1.0, -2.0])
    with gg.GradientTape() as tape:
        tape.watch(x)
        y = gg.constant(np.maximum(x.numpy(), 0))
        backprop.record_gradient("Relu", [x], [], [y])
        backprop.record_gradient("Shape", [x], [], [gg.constant([2])])
        assert importlib.import_module("tensorflow.python.eager.execute").must_record_gradient()
    np.testing.assert_array_equal(tape.gradient(y, x), [1.0, 0.0])
    with pytest.raises(LookupError, match="NoSuchOp"):
        backprop.record_gradient("NoSuchOp", [x], [], [y])
    with tf.Graph().as_default(), pytest.raises(gg.errors.UnimplementedError, match=r"tf\.custom_gradient"):
        backprop.record_gradient("Relu", [tf.constant(1.0)], [], [y])


@pytest.mark.parametrize("name", ["NoSuchClass", "no_such_name"])
def test_missing_names_are_no_modules(ops: Any, name: str) -> None:
    """Who asks whether a module has a name gets no for an answer, not an empty module."""
    assert not hasattr(ops, name)
    for path in ("ops.math_ops", "ops.linalg.linalg_impl", "data.ops.dataset_ops", "training.optimizer"):
        assert not hasattr(importlib.import_module(f"tensorflow.python.{path}"), name)


def test_names_of_its_inside(ops: Any) -> None:
    """Small names that libraries import from `ops`."""
    assert ops.name_scope_v1 is tf.name_scope
    assert ops.name_from_scope_name("a/b/") == "a/b"
    with ops.NullContextmanager():
        sparse = gg.sparse.from_dense([[0.0, 1.0]])
        assert ops.convert_to_tensor_or_composite(sparse) is sparse
        assert ops.convert_to_tensor_or_composite(1.0).dtype == gg.float32


def test_events_written_by_hand(ops: Any, tmp_path: Any) -> None:
    """OpenAI's loggers write events with TensorFlow's compiled writer."""
    inside = importlib.import_module("tensorflow.python.pywrap_tensorflow")
    writer = inside.EventsWriter(str(tmp_path / "log").encode())
    event = tf.Event(wall_time=1.0, step=3, summary=tf.Summary(value=[tf.Summary.Value(tag="gain", simple_value=0.5)]))
    writer.WriteEvent(event)
    writer.Flush()
    path = writer.FileName().decode()
    assert path.startswith(f"{tmp_path}/log.out.tfevents.")
    writer.Close()
    first, second = tf.train.summary_iterator(path)
    assert first.file_version == "brain.Event:2"
    assert second.step == 3 and second.summary.value[0].simple_value == 0.5


def test_all_names_that_are_listed_are_there(ops: Any) -> None:
    """Who goes through `dir` of a module finds what it lists."""
    for path in ("compat.v1.train", "compat.v1.distributions", "python.framework.ops", "python.ops.rnn"):
        module = importlib.import_module(f"tensorflow.{path}")
        assert [name for name in dir(module) if not hasattr(module, name)] == []
    cells = importlib.import_module("tensorflow.python.ops.rnn").rnn_cell_impl
    assert cells.GRUCell is tf.nn.rnn_cell.GRUCell
    assert importlib.import_module("tensorflow.python.ops.rnn").dynamic_rnn is tf.nn.dynamic_rnn
