"""Models that TensorFlow saved: the loaded objects compute, differentiate and train as they do there."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.training.checkpoints.saved_object_messages import SavedModel

from .saved_model_cases import CASES, plain, unpacked

_RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "recorded" / "saved_models" / "results.json").read_text())


def same(found: Any, recorded: Any, path: str = "") -> None:
    """Compares nested results."""
    if isinstance(recorded, dict):
        assert isinstance(found, dict) and set(found) == set(recorded), path
        for key, value in recorded.items():
            same(found[key], value, f"{path}/{key}")
    elif isinstance(recorded, list):
        assert isinstance(found, list) and len(found) == len(recorded), path
        for i, value in enumerate(recorded):
            same(found[i], value, f"{path}/{i}")
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=2e-5, abs=2e-6), path
    else:
        assert found == recorded, path


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str, tmp_path: pathlib.Path) -> None:
    """In eager mode and in functions: results, gradients to the second order, state, training."""
    loaded = tf.saved_model.load(unpacked(name, tmp_path))
    same(plain(tf, CASES[name][1](tf, loaded)), _RECORDED[name])


@pytest.mark.parametrize("name", [name for name in CASES if name != "old"])
def test_saved_again(name: str, tmp_path: pathlib.Path) -> None:
    """What was loaded is saved, and loaded again; in each function names are unique, as TensorFlow demands."""
    loaded = tf.saved_model.load(unpacked(name, tmp_path))
    again = tmp_path / "again"
    tf.saved_model.save(loaded, str(again), signatures=dict(loaded.signatures) or None)
    for function in SavedModel.FromString((again / "saved_model.pb").read_bytes()).meta_graphs[
            0].graph_def.library.function:
        names = [n.name for n in function.node_def]
        assert len(names) == len(set(names)), function.signature.name
    same(plain(tf, CASES[name][1](tf, tf.saved_model.load(again))), _RECORDED[name])


def test_in_a_graph(tmp_path: pathlib.Path) -> None:
    """In a graph of 1.x: three runs, of which each counts; gradients of the first and second order."""
    v1, recorded = tf.compat.v1, _RECORDED["linear"]
    with tf.Graph().as_default(), v1.Session() as sess:
        loaded = v1.saved_model.load_v2(unpacked("linear", tmp_path), tags=["serve"])
        x = v1.placeholder(tf.float32, [None, 2])
        value = [[0.5, -1.0], [2.0, 0.25]]
        y = loaded.f(x)
        (dx,) = tf.gradients(tf.reduce_sum(y * y), x)
        (dw,) = tf.gradients(tf.reduce_sum(dx * dx), loaded.w)
        assert loaded.w.name == "kernel:0" and [v.name for v in v1.trainable_variables()] == [
            "kernel:0", "bias:0", "half:0"]
        sess.run(v1.global_variables_initializer())
        sess.run(loaded.calls.assign(5))
        for expected in recorded["inside"]:
            for found, wanted in zip(sess.run([y, dx, dw], {x: value}), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)
        assert sess.run(loaded.calls) == 8
        step = v1.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_sum(loaded.f(x) ** 2), None,
                                                                [loaded.w, loaded.b])
        sess.run(loaded.calls.assign(8))
        for _ in range(3):
            sess.run(step, {x: value})
        np.testing.assert_allclose(sess.run(loaded.w), recorded["w"], rtol=2e-5)


def test_tables_in_a_graph(tmp_path: pathlib.Path) -> None:
    """Tables are filled by the initializers of tables; those that functions change begin as they were saved."""
    v1, recorded = tf.compat.v1, _RECORDED["tables"]
    with tf.Graph().as_default(), v1.Session() as sess:
        loaded = v1.saved_model.load_v2(unpacked("tables", tmp_path))
        words = tf.constant(["blue", "one", "red", "two"])
        rows, changed = loaded.embed(words), loaded.insert("b", tf.constant(3, tf.int64))
        sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
        found = sess.run([rows["ids"], rows["numbers"], changed])
        assert [v.tolist() for v in found] == [recorded["embed"]["ids"], recorded["embed"]["numbers"],
                                               recorded["insert"][0]]


def test_models_of_old(tmp_path: pathlib.Path) -> None:
    """A model of 1.x has its graph, variables and files, parts of it become functions, and it is trained."""
    path = unpacked("old", tmp_path)
    loaded = tf.saved_model.load(path, tags={"serve"})
    assert sorted(v.name for v in loaded.variables) == ["b:0", "count:0", "w:0"]
    assert [v.name for v in loaded.variables if v.trainable] == ["w:0", "b:0"]
    assert loaded.asset_paths[0].asset_path.numpy().endswith(b"assets/names.txt")
    assert loaded.graph.get_tensor_by_name("y:0").shape.as_list() == [None, 2]
    w = next(v for v in loaded.variables if v.name == "w:0")
    x = tf.constant([[0.5, -0.25], [1.0, 0.5]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(loaded.signatures["serving_default"](x)["y"] ** 2)
        (dw,) = tape.gradient(y, [w])
        total = tf.reduce_sum(dw)
    (ddw,) = outer.gradient(total, [w])
    w.assign_sub(0.1 * dw)
    assert tf.reduce_sum(loaded.signatures["serving_default"](x)["y"] ** 2) < y and np.abs(ddw.numpy()).max() > 0
    with pytest.raises(ValueError, match="(?s)'z:0' is not in the model's graph.*Fix:"):
        loaded.prune("x:0", "z:0")
    with pytest.raises(RuntimeError, match=r"(?s)tags \['train'\] could not be found.*Fix:"):
        tf.saved_model.load(path, tags=["train"])
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        loaded = v1.saved_model.load_v2(path)
        both = loaded.signatures["both"](x=tf.constant([[0.5, -0.25]]), w=tf.constant(["right"]))
        sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
        found = sess.run(both)
        assert found["ids"].tolist() == [1]
        np.testing.assert_allclose(found["y"], _RECORDED["old"]["f"][0]["y"][:1], rtol=1e-5)


def test_what_is_loaded(tmp_path: pathlib.Path) -> None:
    """Variables have their names, dtypes and marks; traces their signatures; the model the version of its writer."""
    loaded = tf.saved_model.load(unpacked("linear", tmp_path))
    assert loaded.tensorflow_version == "2.21.0"
    assert [loaded.w.trainable, loaded.scale.trainable, loaded.half.dtype] == [True, False, tf.float16]
    trace = loaded.signatures["serving_default"]
    assert trace.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], tf.float32, name="x")})
    assert isinstance(trace.structured_outputs["output_0"], tf.TensorSpec) and len(trace.structured_outputs) == 1
    assert trace.structured_outputs["output_0"].shape[1:] == [2]
    assert {v.name for v in trace.variables} == {"kernel:0", "bias:0", "scale:0", "calls:0"}
    assert list(loaded.signatures) == ["serving_default"] and len(loaded.power.concrete_functions) == 5
    spec = tf.TensorSpec([3, 2], tf.float32)
    assert loaded.power.get_concrete_function(spec, n=1) is loaded.power.concrete_functions[4]
    assert trace(tf.zeros([1, 2]))["output_0"].shape == [1, 2]  # there is but one argument
    with pytest.raises(TypeError, match="(?s)0 positional arguments but 2 were given.*Fix:"):
        tf.saved_model.load(unpacked("nested", tmp_path)).signatures["g"](tf.zeros([2, 1]), tf.zeros([2, 2]))
    with pytest.raises(ValueError, match="(?s)Could not find matching concrete function.*Option 5.*Fix:"):
        loaded.power(tf.constant("text"))


def test_variables_as_arguments(tmp_path: pathlib.Path) -> None:
    """A function that was traced for a variable takes variables; TensorFlow's loaded one takes none."""
    loaded = tf.saved_model.load(unpacked("composite", tmp_path))
    other = tf.Variable([1.0, 1.0, 2.0])
    for v in (loaded.w, other, loaded.w):
        with tf.GradientTape() as tape:
            y = loaded.scaled(v, tf.constant(3.0))
        assert y.numpy().tolist() == (3.0 * v.numpy()).tolist() and tape.gradient(y, v).numpy().tolist() == [3.0] * 3


def test_refused(tmp_path: pathlib.Path) -> None:
    """What is no model, or one with other tags or without its values, is refused with TensorFlow's classes."""
    with pytest.raises(OSError, match="(?s)SavedModel file does not exist.*Fix:"):
        tf.saved_model.load(str(tmp_path))
    path = pathlib.Path(unpacked("nested", tmp_path))
    with pytest.raises(ValueError, match="(?s)incompatible argument to `tags`"):
        tf.saved_model.load(path, tags=["train"])
    (path / "variables" / "variables.index").unlink()
    with pytest.raises(FileNotFoundError, match="(?s)variables.*Fix:"):
        tf.saved_model.load(path)
    loaded = tf.saved_model.load(path, options=tf.saved_model.LoadOptions(experimental_skip_checkpoint=True))
    with pytest.raises(tf.errors.FailedPreconditionError):
        loaded.bare(tf.zeros([2, 1]), tf.zeros([2, 2]))
    (path / "saved_model.pb").write_bytes(b"\x0a\x05ab")
    with pytest.raises(OSError, match="(?s)Cannot parse file.*Fix:"):
        tf.saved_model.load(path)


@pytest.mark.parametrize("change", [
    lambda o: o.nodes[0].children[0].__setattr__("node_id", 999), lambda o: o.nodes.clear(),
    lambda o: o.nodes[1].ClearField("variable"), lambda o: o.concrete_functions.clear(),
    lambda o: next(iter(o.concrete_functions.values())).bound_inputs.append(-1),
    lambda o: o.nodes[1].variable.__setattr__("dtype", 99),
    lambda o: [n.function.ClearField("function_spec") for n in o.nodes if n.HasField("function")],
])
def test_objects_that_do_not_fit(change: Any, tmp_path: pathlib.Path) -> None:
    """Objects that name others which are not there, or are of no kind, are no model."""
    path = pathlib.Path(unpacked("linear", tmp_path)) / "saved_model.pb"
    model = SavedModel.FromString(path.read_bytes())
    change(model.meta_graphs[0].object_graph_def)
    path.write_bytes(model.SerializeToString())
    with pytest.raises((ValueError, TypeError), match="(?s)Fix:|no DType|Cannot convert"):
        tf.saved_model.load(path.parent)


@pytest.mark.parametrize("seed", range(3))
def test_damaged(seed: int, tmp_path: pathlib.Path) -> None:
    """Files in which bytes have changed end with an error of TensorFlow's classes, or with a model, never otherwise."""
    draw = random.Random(seed)
    path = pathlib.Path(unpacked("nested", tmp_path)) / "saved_model.pb"
    whole = path.read_bytes()
    for _ in range(6):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 3, 30])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(bytes(data))
        try:
            loaded = tf.saved_model.load(path.parent)
            loaded.bare(tf.zeros([2, 1]), tf.zeros([2, 2]))
        except (tf.errors.OpError, OSError, ValueError, TypeError, AttributeError, AssertionError, DecodeError):
            continue
