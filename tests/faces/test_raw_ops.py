"""`tf.raw_ops`: TensorFlow's names, arguments, defaults and errors.

`tests/recorded/raw_ops.json.gz` holds the signatures of TensorFlow 2.21; `tests/record/ops/raw_ops.py` writes it.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
import graphgrad.compat.v2 as tf2
from graphgrad.compat.raw_op import RawOp
from graphgrad.ir import context
from graphgrad.ir.opdef import registry
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")

_PATH = pathlib.Path(__file__).parents[1] / "recorded" / "raw_ops.json.gz"
_TABLES = "write down what differs in the tables of graphgrad/compat/raw_op.py"
_TYPES = {"bool": "bool", "int": "int", "float": "float", "string": "string", "list(int)": "list"}


def _recorded() -> dict[str, Any]:
    everything: dict[str, Any] = json.loads(gzip.decompress(_PATH.read_bytes()))
    return {name: everything[name] for name in dir(tf.raw_ops) if name in everything}


def _plain(value: Any) -> Any:
    """A default as the recording has it."""
    if value is inspect.Parameter.empty:
        return "required"
    if type(value).__name__ == "DType":
        return f"tf.{value.name}"
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def test_signatures() -> None:
    """Every raw op that is here has TensorFlow's arguments, all of them by keyword, with its defaults."""
    wrong = []
    for name, (parameters, _, _) in _recorded().items():
        ours = dict(inspect.signature(getattr(tf.raw_ops, name)).parameters)
        assert ours.pop("name").default is None
        assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in ours.values())
        found = {k: _plain(p.default) for k, p in ours.items()}
        if found != parameters:
            wrong.append((name, {k: (found.get(k), parameters.get(k)) for k in {*found, *parameters}
                                 if found.get(k) != parameters.get(k)}))
    assert not wrong, _TABLES


def test_outputs_have_tensorflows_names() -> None:
    """Several results come as a tuple with names."""
    wrong = {name: outputs for name, (_, _, outputs) in _recorded().items()
             if len(outputs) > 1 and [a.name for a in registry[name].outputs] != outputs}
    assert not wrong, _TABLES
    found = tf.raw_ops.TopKV2(input=[1.0, 3.0, 2.0], k=2)
    assert type(found).__name__ == "TopKV2" and found._fields == ("values", "indices")
    values, indices = run(tuple(found))
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [1, 2]


def test_dir_lists_all_op_types() -> None:
    """`dir` has every op type, those that a program defines too; both faces have the same module."""
    importlib.import_module("graphgrad.ops")
    names = set(dir(tf.raw_ops))
    assert names >= set(registry) and len(_recorded()) >= 600
    assert tf2.raw_ops is tf.raw_ops and tf.raw_ops.MatMul is tf.raw_ops.MatMul
    assert "Multiplies two matrices" in tf.raw_ops.MatMul.__doc__


def test_names_that_differ_from_the_records() -> None:
    """Arguments that TensorFlow calls otherwise than its op does, and those without effect here."""
    x = tf.constant([[3.0, 0.0], [1.0, 2.0]])
    ops = tf.raw_ops
    v = tf.get_variable("v", initializer=x)
    found = run([
        ops.Sum(input=x, axis=0), ops.Where(condition=x), ops.Select(condition=x > 1.0, x=x, y=-x),
        ops.Squeeze(input=x[None], axis=[0]), ops.ExpandDims(input=x, axis=0),
        ops.Split(axis=1, value=x, num_split=2)[1], ops.StatelessRandomUniform(shape=[2], seed=[1, 2]),
        ops.ReadVariableOp(resource=v.handle, dtype=tf.float32), ops.VariableShape(input=v.handle),
        ops.ResourceGather(resource=v.handle, indices=[1], dtype=tf.float32, validate_indices=False)])
    assert found[0].tolist() == [4.0, 2.0] and found[1].tolist() == [[0, 0], [1, 0], [1, 1]]
    assert found[2].tolist() == [[3.0, -0.0], [-1.0, 2.0]] and found[3].shape == (2, 2) and found[4].shape == (1, 2, 2)
    assert found[5].tolist() == [[0.0], [2.0]] and found[6].dtype == np.float32
    assert found[7].tolist() == [[3.0, 0.0], [1.0, 2.0]] and found[8].tolist() == [2, 2]
    assert found[9].tolist() == [[1.0, 2.0]]


def test_what_is_not_here() -> None:
    """A name that is not here is an AttributeError that names the nearest; an attribute's value, UnimplementedError."""
    for name, near in (("Matmul", "MatMul"), ("mat_mul", "MatMul"), ("QuantizedMatMul", "MatMul"), ("Cosh2", "Cosh")):
        with pytest.raises(AttributeError, match=f"has no attribute {name!r}.*Fix: did you mean '.*{near}'"):
            getattr(tf.raw_ops, name)
    assert not hasattr(tf.raw_ops, "Enter")
    v = tf.get_variable("v", [2, 3])
    with pytest.raises(tf.errors.UnimplementedError, match=r"(?s)VariableShape.*out_type=.*test_raw_ops.*Fix:"):
        tf.raw_ops.VariableShape(input=v.handle, out_type=tf.int64)
    with pytest.raises(tf.errors.UnimplementedError, match=r"(?s)PyFunc.*Fix: tf.py_func"):
        tf.raw_ops.PyFunc(input=[1.0], token="f", Tout=[tf.float32])


@pytest.mark.parametrize(("op_type", "arguments", "error", "text"), [
    ("MatMul", {"a": [[1.0]]}, TypeError, r"missing 1 required argument\(s\): 'b'"),
    ("MatMul", {}, TypeError, r"missing 2 required argument\(s\): 'a', 'b'"),
    ("MatMul", {"a": [[1.0]], "b": [[1.0]], "transpos_a": True}, TypeError,
     "unexpected keyword argument 'transpos_a'.*did you mean 'transpose_a'"),
    ("MatMul", {"a": [[1.0]], "b": None}, ValueError, "Tried to convert 'b'.*None values not supported"),
    ("MatMul", {"a": [[1.0]], "b": [[1.0]], "transpose_a": 3}, TypeError, "Expected bool for argument 'transpose_a'"),
    ("Conv2D", {"input": [[[[1.0]]]], "filter": [[[[1.0]]]], "strides": 1, "padding": "SAME"}, TypeError,
     "Expected list for argument 'strides'"),
    ("Conv2D", {"input": [[[[1.0]]]], "filter": [[[[1.0]]]], "strides": [1] * 4, "padding": 2}, TypeError,
     "Expected string for argument 'padding'"),
    ("LeakyRelu", {"features": [1.0], "alpha": "x"}, TypeError, "Expected float for argument 'alpha'"),
    ("OneHot", {"indices": [1], "depth": 2, "on_value": 1.0, "off_value": 0.0, "axis": "x"}, TypeError,
     "Expected int for argument 'axis'"),
    ("Cast", {"x": 1, "DstT": "nothing"}, TypeError, "nothing"),
    ("CheckNumerics", {"tensor": 1.0}, TypeError, "missing 1 required argument.*'message'"),
])
@pytest.mark.parametrize("eager", [False, True])
def test_errors(op_type: str, arguments: dict[str, Any], error: type[Exception], text: str, eager: bool) -> None:
    """What does not fit is an error of TensorFlow's class, with the op and the user's line."""
    with context.use(context.EAGER if eager else tf.Graph()):
        with pytest.raises(error, match=f"(?s){text}") as caught:
            getattr(tf.raw_ops, op_type)(**arguments)
    if op_type != "Cast":
        assert op_type in str(caught.value) and "test_raw_ops.py:" in str(caught.value) and "Fix:" in str(caught.value)


def test_arguments_have_no_positions() -> None:
    """Arguments are given by name."""
    with pytest.raises(TypeError, match=r"(?s)only takes keyword args \(possible keys: \['a', 'b', 'transpose_a'"):
        tf.raw_ops.MatMul([[1.0]], [[1.0]])


def test_kinds_of_attributes() -> None:
    """Where TensorFlow says of which kind an attribute is, another kind is a TypeError."""
    wrong = []
    for name, (_, kinds, _) in _recorded().items():
        raw: RawOp = getattr(tf.raw_ops, name)
        for key, kind in kinds.items():
            if kind not in _TYPES or key in raw._unused or raw._attrs[key][1] is None:
                continue
            try:
                raw._attribute(key, *raw._attrs[key], object())
            except TypeError as e:
                if f"Expected {_TYPES[kind]} for argument '{key}'" not in str(e):
                    wrong.append((name, key, str(e)))
            else:
                wrong.append((name, key, kind))
    assert not wrong, _TABLES


def test_eager() -> None:
    """Raw ops run at once in eager mode; those without results give None."""
    with context.use(context.EAGER):
        assert tf2.raw_ops.Sum(input=[[1.0, 2.0]], axis=[1]).numpy().tolist() == [3.0]
        assert tf2.raw_ops.TopKV2(input=[1.0, 2.0], k=1).values.numpy().tolist() == [2.0]
        assert tf2.raw_ops.NoOp() is None


def test_windows_over_nothing() -> None:
    """Kernels that slide windows give zeros where an input has no elements."""
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with context.use(context.EAGER):
        given = [tf2.zeros([0, n, n, 1]) for n in (4, 2, 2)]
        found = tf2.raw_ops.MaxPoolGrad(orig_input=given[0], orig_output=given[1], grad=given[2], **window)
        assert found.shape == (0, 4, 4, 1)
        found = tf2.raw_ops.Conv2DBackpropFilter(input=tf2.zeros([0, 4, 4, 1]), filter_sizes=[2, 2, 1, 1],
                                                 out_backprop=tf2.zeros([0, 3, 3, 1]), strides=[1, 1, 1, 1],
                                                 padding="VALID")
        assert not found.numpy().any() and found.shape == (2, 2, 1, 1)
