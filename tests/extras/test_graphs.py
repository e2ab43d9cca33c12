"""Graphs as messages: written, read, frozen, saved with their variables; also to and from TensorFlow 2.21."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.executor.runtime.session import HostSession
from graphgrad.frontend.graph import collection_protos
from graphgrad.ir import graphdef
from graphgrad.ir.opdef import registry

from . import graph_cases

TESTS = pathlib.Path(__file__).parents[1]
RECORDED = np.load(TESTS / "recorded" / "graphs.npz")
_FEEDS = {"x:0": graph_cases.X, "rows:0": graph_cases.ROWS}


def _put(folder: pathlib.Path, kind: str) -> str:
    """A recorded checkpoint of TensorFlow's, in files; its path."""
    for part, file in (("meta", ".meta"), ("index", ".index"), ("data", ".data-00000-of-00001")):
        (folder / f"model{file}").write_bytes(RECORDED[f"{kind}/{part}"].tobytes())
    return str(folder / "model")


def _same(found: dict[str, Any], kind: str) -> None:
    for name, value in found.items():
        np.testing.assert_allclose(value, RECORDED[f"{kind}/values/{name}"], rtol=2e-5, atol=1e-6, err_msg=name)


# -- from and to TensorFlow --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["resource", "reference"])
def test_a_graph_of_tensorflow(tmp_path: pathlib.Path, kind: str) -> None:
    """A checkpoint with its graph goes on here where TensorFlow left off: also one with reference variables."""
    path = _put(tmp_path, kind)
    with tf.Graph().as_default(), HostSession() as sess:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(sess, path)
        assert [v.op.name for v in tf.trainable_variables()] == ["kernel", "table"]
        assert tf.get_collection("train_op")[0].name == "step" and tf.get_collection("names") == ["a name"]
        assert len(tf.global_variables()) == 9
        _same(graph_cases.values(sess), kind)
        grad, = tf.gradients(tf.get_collection("ends")[0], [tf.trainable_variables()[1]])
        assert grad.dense_shape is not None
        again = saver.save(sess, str(tmp_path / "again"))
        assert tf.train.load_variable(again, "kernel").shape == (3, 3, 2, 4)


def test_what_tensorflow_reads(tmp_path: pathlib.Path) -> None:
    """The file is the one, byte for byte, that TensorFlow trained on; what it computed is what we compute."""
    with tf.Graph().as_default(), HostSession() as sess:
        sess.run(graph_cases.build(tf))
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
        assert pathlib.Path(path + ".meta").read_bytes() == RECORDED["ours/meta"].tobytes()
        _same(graph_cases.values(sess), "ours")


def test_a_saved_model_of_tensorflow(tmp_path: pathlib.Path) -> None:
    """`saved_model.loader.load` reads TensorFlow's saved models."""
    (tmp_path / "saved_model.pb").write_bytes(RECORDED["saved_model/pb"].tobytes())
    (tmp_path / "variables").mkdir()
    for part, file in (("index", "index"), ("data", "data-00000-of-00001")):
        (tmp_path / "variables" / f"variables.{file}").write_bytes(RECORDED[f"resource/{part}"].tobytes())
    with tf.Graph().as_default() as graph, HostSession() as sess:
        message = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], str(tmp_path))
        signature = message.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        loss = graph.get_tensor_by_name(signature.outputs["loss"].name)
        value = sess.run(loss, {signature.inputs["x"].name: graph_cases.X, "rows:0": graph_cases.ROWS})
        np.testing.assert_allclose(value, RECORDED["resource/values/loss:0"][0], rtol=1e-5)
        with pytest.raises(RuntimeError, match="tags .'other'. could not be found"):
            tf.saved_model.loader.load(sess, ["other"], str(tmp_path))


# -- round trips here --------------------------------------------------------------------


def test_round_trip() -> None:
    """A graph read from its message is the same: operations, attributes, values, gradients."""
    with tf.Graph().as_default() as graph:
        init = graph_cases.build(tf)
        with tf.device("/cpu:0"), tf.control_dependencies([init]):
            tf.no_op(name="late")
        message = graph.as_graph_def()
        with HostSession() as sess:
            sess.run(init)
            expected = graph_cases.values(sess)
    with tf.Graph().as_default() as copy, HostSession() as sess:
        tf.import_graph_def(message.SerializeToString(), name="")
        assert str(copy.as_graph_def()) == str(message)
        late = copy.get_operation_by_name("late")
        assert late.device == "/device:CPU:0" and [c.name for c in late.control_inputs] == [init.name]
        sess.run(init.name)
        for name, value in graph_cases.values(sess).items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_prefix_map_and_elements() -> None:
    """Names get a prefix, inputs are replaced, elements come back in their order."""
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [2], name="a")
        tf.split(a * 3.0, 2, name="parts")
        with graph.colocate_with(a):
            tf.identity(a, name="b")
    with tf.Graph().as_default() as g, HostSession() as sess, tf.name_scope("outer"):
        second, op, b = tf.import_graph_def(graph.as_graph_def(), {"a:0": tf.constant([1.0, 2.0])},
                                            ["parts:1", "mul", "b"], name="in")
        assert (second.name, op.type) == ("outer/in/parts:1", "Mul")
        assert b.colocation_groups() == [b"loc:@outer/in/a"]
        assert sess.run(second).tolist() == [6.0]
        tf.import_graph_def(graph.as_graph_def())
        tf.import_graph_def(graph.as_graph_def())
        assert g.get_operation_by_name("outer/import_1/a") is not None
        assert tf.import_graph_def(graph.as_graph_def(), name="none") is None


def test_refused() -> None:
    """What is no graph, has unknown operations, or entries that are not there."""
    message = tf.GraphDef()
    message.node.add(name="a", op="NoSuchOp")
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="c")
        with pytest.raises(ValueError, match=r"(?s)not there: NoSuchOp.*test_graphs.py.*Fix:"):
            tf.import_graph_def(message)
        message.node[0].op = "Merge"
        with pytest.raises(ValueError, match="enable_control_flow_v2"):
            tf.import_graph_def(message)
        with pytest.raises(TypeError, match="must be a GraphDef proto"):
            tf.import_graph_def({})
        with pytest.raises(ValueError, match=r"Attempted to map inputs that were not found in graph_def: \[z:0\]"):
            tf.import_graph_def(graph.as_graph_def(), {"z:0": tf.constant(1.0)})
        with pytest.raises(TypeError, match="input_map` must be a dictionary"):
            tf.import_graph_def(graph.as_graph_def(), [1])
        with pytest.raises(ValueError, match="return_element 'nothing:0' not found"):
            tf.import_graph_def(graph.as_graph_def(), return_elements=["nothing:0"])
        cycle = tf.GraphDef()
        cycle.node.add(name="a", op="Identity", input=["b"])
        cycle.node.add(name="b", op="Identity", input=["a"])
        with pytest.raises(ValueError, match="form a cycle"):
            tf.import_graph_def(cycle)


@pytest.mark.parametrize("fault", ["element", "output", "dtype", "unused", "unknown", "missing", "twice"])
def test_all_or_nothing(fault: str) -> None:
    """An import that fails leaves nothing behind, and the names free."""
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, [], name="x"), 3.0, name="b")
    message = graph.as_graph_def()
    arguments: dict[str, Any] = {"element": {"return_elements": ["zz:0"]}, "output": {"return_elements": ["b:3"]}}
    if fault in ("unknown", "missing"):
        node = message.node.add()
        node.name, node.op = "u", "NoSuchOp" if fault == "unknown" else "NoOp"
        node.input.append("^gone")
    if fault == "twice":
        message.node.add().CopyFrom(message.node[0])
    with tf.Graph().as_default() as graph:
        given = tf.constant(1, name="given")
        arguments |= {"dtype": {"input_map": {"x:0": given}}, "unused": {"input_map": {"zz:0": given}}}
        with pytest.raises(ValueError):
            tf.import_graph_def(message, name="", **arguments.get(fault, {}))
        assert [op.name for op in graph.get_operations()] == ["given"]
        assert tf.constant(1.0, name="b").name == "b:0" and given.consumers() == []
        assert graph.get_tensor_by_name("b:0").op.type == "Const"


def test_names_that_are_taken() -> None:
    """Nodes whose names are taken in the graph get others, as in TensorFlow."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(tf.identity(x, name="b_1"), name="b")
    message = graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="b")
        x, b = tf.import_graph_def(message, return_elements=["x:0", "b:0"], name="")
        assert [op.name for op in graph.get_operations()] == ["b", "x", "b_1", "b_2"]
        with tf.Session() as sess:
            assert sess.run(b, {x: 5.0}) == 5.0


def test_a_long_chain() -> None:
    """Neither writing nor reading recurses on the graph's depth."""
    with tf.Graph().as_default() as graph:
        y = tf.constant(1.0)
        for _ in range(3000):
            y = tf.negative(y)
    message = graph.as_graph_def()
    message.node.reverse()
    with tf.Graph().as_default():
        end, = tf.import_graph_def(message, return_elements=[y.name])
        assert end.op.inputs[0].op.type == "Neg"


# -- parts of graphs ---------------------------------------------------------------------


def test_freezing(tmp_path: pathlib.Path) -> None:
    """Variables become constants; what is not needed goes; the file can be read again."""
    with tf.Graph().as_default(), HostSession() as sess:
        sess.run(graph_cases.build(tf))
        expected = sess.run("loss:0", _FEEDS)
        frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["loss"])
        kept = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["loss"], ["kernel"])
        assert [n.op for n in kept.node if n.name in ("kernel", "table")] == ["Const", "VarHandleOp"]
    assert not {n.op for n in frozen.node} & {"VarHandleOp", "ReadVariableOp", "ResourceGather", "While"}
    smaller = tf.graph_util.remove_training_nodes(frozen)
    assert not any(n.op == "Identity" for n in smaller.node)
    path = tf.train.write_graph(smaller, str(tmp_path), "frozen.pb", as_text=False)
    with tf.Graph().as_default(), HostSession() as sess:
        loss, = tf.import_graph_def(pathlib.Path(path).read_bytes(), return_elements=["loss:0"], name="")
        assert sess.run(loss, _FEEDS) == expected
    with pytest.raises(ValueError, match="nothing is not in graph"):
        tf.graph_util.extract_sub_graph(frozen, ["nothing"])
    with pytest.raises(TypeError, match="must be an iterable of strings"):
        tf.graph_util.extract_sub_graph(frozen, "loss")


def test_freezing_needs_values() -> None:
    """A variable without a value cannot become a constant."""
    with tf.Graph().as_default(), HostSession() as sess:
        tf.identity(tf.Variable(1.0), name="y")
        with pytest.raises(errors.FailedPreconditionError, match="has no value"):
            tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])


def test_text(tmp_path: pathlib.Path) -> None:
    """A graph as text, in the form of protocol buffers."""
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [None, 2], name="x")
        path = tf.train.write_graph(graph, str(tmp_path / "new"), "graph.pbtxt")
    text = pathlib.Path(path).read_text()
    assert text.startswith('node {\n  name: "x"\n  op: "Placeholder"\n')
    assert "key: \"dtype\"\n    value {\n      type: DT_FLOAT\n" in text


# -- meta graphs and saved models --------------------------------------------------------


def test_import_scope(tmp_path: pathlib.Path) -> None:
    """A graph comes into a scope; its variables are restored under the names that they have in the checkpoint."""
    with tf.Graph().as_default(), HostSession() as sess:
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        tf.identity(v * 2.0, name="y")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver(max_to_keep=7).save(sess, str(tmp_path / "m"), global_step=3)
    assert path.endswith("m-3")
    with tf.Graph().as_default(), HostSession() as sess:
        saver = tf.train.import_meta_graph(path + ".meta", import_scope="deep/er")
        assert [v.name for v in tf.global_variables()] == ["deep/er/v:0"]
        saver.restore(sess, path)
        assert sess.run("deep/er/y:0").tolist() == [2.0, 2.0]
        assert saver.as_saver_def().max_to_keep == 7
    with tf.Graph().as_default():
        tf.constant(1.0)
        assert tf.train.import_meta_graph(tf.train.export_meta_graph(), import_scope="copy") is None
        with pytest.raises(ValueError, match="export_scope is not supported"):
            tf.train.export_meta_graph(export_scope="a")


def test_without_the_graph(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """`write_meta_graph=False` writes no graph; a graph that calls Python is written, with a warning."""
    with tf.Graph().as_default(), HostSession() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        tf.train.Saver().save(sess, str(tmp_path / "a"), write_meta_graph=False)
        tf.py_func(np.sin, [1.0], tf.float64)
        with caplog.at_level("WARNING"):
            tf.train.Saver().save(sess, str(tmp_path / "b"))
    assert [path.name for path in tmp_path.glob("*.meta")] == ["b.meta"]
    assert "calls Python functions" in caplog.text and "test_graphs.py" in caplog.text


def test_saved_model_round_trip(tmp_path: pathlib.Path) -> None:
    """`simple_save` writes what `load` reads; a directory that is in use is refused."""
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.multiply(x, tf.Variable(3.0, name="v"), name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": y})
        with pytest.raises(AssertionError, match="isn't empty"):
            tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": y})
        with pytest.raises(AssertionError, match="has not been saved yet"):
            tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "other")).add_meta_graph(["serve"])
    assert tf.saved_model.loader.maybe_saved_model_directory(folder)
    with tf.Graph().as_default() as graph, HostSession() as sess:
        signature = tf.saved_model.loader.load(sess, ["serve"], folder, "in").signature_def["serving_default"]
        assert tf.saved_model.signature_def_utils.is_valid_signature(signature)
        y = tf.saved_model.utils.get_tensor_from_tensor_info(signature.outputs["y"], graph, "in")
        assert sess.run(y, {"in/x:0": [1.0, 2.0]}).tolist() == [3.0, 6.0]
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.loader.load(sess, ["serve"], str(tmp_path))


# -- arrays and records ------------------------------------------------------------------


@pytest.mark.parametrize("array", [
    np.arange(6, dtype=np.float32).reshape(2, 3), np.array(2.5), np.array([1 + 2j], np.complex64),
    np.array([True, False]), np.zeros((0, 3), np.int64), np.array([1.5], np.float16)], ids=str)
def test_tensor_protos(array: Any) -> None:
    """An array becomes a message and comes back."""
    back = tf.make_ndarray(tf.make_tensor_proto(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_tensor_proto_arguments() -> None:
    """Dtypes, shapes and what does not fit."""
    assert tf.make_ndarray(tf.make_tensor_proto(1, tf.float32, [2, 2])).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert tf.make_ndarray(tf.make_tensor_proto(["a", b"b"])).tolist() == [b"a", b"b"]
    with pytest.raises(ValueError, match="do not fill"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), but got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="run the tensor first"):
        tf.make_tensor_proto(tf.constant(1.0))


def test_examples() -> None:
    """An `Example` has TensorFlow's bytes, and `parse_single_example` reads it."""
    example = tf.train.Example(features=tf.train.Features(feature={
        "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -2])),
        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])),
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"xy"]))}))
    assert example.SerializeToString() == (
        b"\n2\n\x0b\n\x01b\x12\x06\n\x04\n\x02xy\n\r\n\x01f\x12\x08\x12\x06\n\x04\x00\x00\x00?\n\x14\n\x01i"
        b"\x12\x0f\x1a\r\n\x0b\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01")  # TensorFlow's
    with tf.Graph().as_default(), HostSession() as sess:
        parsed = tf.parse_single_example(example.SerializeToString(), {
            "i": tf.FixedLenFeature([2], tf.int64), "f": tf.FixedLenFeature([], tf.float32),
            "b": tf.FixedLenFeature([], tf.string)})
        values = sess.run(parsed)
    assert (values["i"].tolist(), values["f"], values["b"]) == ([1, -2], 0.5, b"xy")
    again = tf.train.Example.FromString(example.SerializeToString())
    assert again == example and again.features.feature["f"].float_list.value == [0.5]
    assert again.features.feature["i"].WhichOneof("kind") == "int64_list"
    example.features.feature["new"].int64_list.value.append(3)
    assert "new" in tf.train.Example.FromString(example.SerializeToString()).features.feature
    with pytest.raises(TypeError, match="does not fit field value of type bytes"):
        tf.train.BytesList(value=["text"])


def test_attributes_are_those_of_tensorflow() -> None:
    """Of each op type that both have, what is written are TensorFlow's attributes; others begin with an underscore."""
    recorded = json.loads(gzip.decompress((TESTS / "recorded" / "attributes.json.gz").read_bytes()))
    derived = {"If": {"Tcond"}, **{f"ResourceScatterNd{k}": {"T"} for k in ("Add", "Max", "Min", "Sub", "Update")}}
    wrong = {}
    for name, opdef in registry.items():
        if name not in recorded or name == "IteratorGetNextAsOptional":  # which does not keep types and shapes here
            continue
        args = [*opdef.inputs, *opdef.outputs]
        ours = {n for a in args for n in (a.type_attr, a.number_attr, a.list_attr) if n is not None}
        ours |= {k for k, v in opdef.attrs.items() if k not in ("func", "one_shot")}
        ours -= {*graphdef.OWN.get(name, ()), "sum_duplicates"}
        ours = {n for n in ours if not n.startswith("_")}
        ours |= {*graphdef._THEIRS.get(name, {}), *derived.get(name, ())}
        if ours != set(recorded[name]):
            wrong[name] = ours ^ set(recorded[name])
    assert wrong == {}


def test_collections_that_libraries_write() -> None:
    """Items of a registered collection are written as its messages and read from them; None is left out."""
    collection_protos.register_proto_function("notes", tf.Summary, to_proto=_as_summary, from_proto=_of_summary)
    with pytest.raises(ValueError, match="Registering two proto functions with name 'notes'"):
        collection_protos.register_proto_function("notes")
    with pytest.raises(TypeError, match="to_proto must be callable"):
        collection_protos.register_proto_function("others", to_proto=3)  # type: ignore[arg-type]  # which is the error
    with tf.Graph().as_default():
        for note in (("a", 1.0), None, ("b", 2.0)):
            tf.add_to_collection("notes", note)
        meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        assert tf.get_collection("notes") == [("a", 1.0, None), ("b", 2.0, None)]


def _as_summary(note: Any, export_scope: Any = None) -> Any:
    return note and tf.Summary(value=[tf.Summary.Value(tag=note[0], simple_value=note[1])])


def _of_summary(message: Any, import_scope: Any = None) -> Any:
    return message.value[0].tag, message.value[0].simple_value, import_scope
