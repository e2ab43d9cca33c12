"""Options of saving and loading, fingerprints, and the slots of optimizers."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.extras.saved_model.model_fingerprint import FILE, fingerprint_of
from graphgrad.training.checkpoints.saved_object_messages import SavedModel
from tests.extras.saved_model_cases import CASES as WRITTEN_THERE
from tests.extras.saved_model_cases import unpacked

from .saved_here_cases import ALL_CASES

experimental = tf.saved_model.experimental
v1 = tf.compat.v1


def read(folder: Any) -> Any:
    """Returns the message of a model."""
    return SavedModel.FromString((pathlib.Path(folder) / "saved_model.pb").read_bytes())


def save(name: str, folder: pathlib.Path, **further: Any) -> str:
    """Saves a case; returns the path."""
    root, given = ALL_CASES[name][0](tf, folder)
    tf.saved_model.save(root, str(folder / "model"), **{**given, **further})
    return str(folder / "model")


@pytest.mark.parametrize("name", [name for name in WRITTEN_THERE if name != "old"])
def test_fingerprints(name: str, tmp_path: pathlib.Path) -> None:
    """Those that TensorFlow wrote for its models are those that are computed here."""
    path = unpacked(name, tmp_path)
    model = read(path)
    found = fingerprint_of(model.meta_graphs[0], model.SerializeToString(), f"{path}/variables/variables.index")
    assert experimental.Fingerprint.from_proto(found) == experimental.read_fingerprint(path)
    assert experimental.read_fingerprint(path) == found and found.version.producer == 4


def test_fingerprint_of_what_is_saved(tmp_path: pathlib.Path) -> None:
    """It is written, read, and refused where it is none."""
    path = save("state", tmp_path)
    found = experimental.read_fingerprint(path)
    assert found.singleprint().split("/")[3] == str(found.checkpoint_hash)
    assert str(found).startswith("SavedModel Fingerprint\n  saved_model_checksum: ")
    with pytest.raises(FileNotFoundError, match="(?s)Could not find fingerprint.*Fix:"):
        experimental.read_fingerprint(tmp_path)
    pathlib.Path(path, FILE).write_bytes(b"\x09abc")
    with pytest.raises(RuntimeError, match="(?s)Could not read fingerprint.*Fix:"):
        experimental.read_fingerprint(path)
    with pytest.raises(ValueError, match="(?s)could not be deserialized"):
        experimental.Fingerprint.from_proto(3)
    with pytest.raises(ValueError, match="(?s)invalid fingerprint values.*Fix:"):
        experimental.Fingerprint(1, 2).singleprint()


@pytest.mark.parametrize(("given", "error", "text"), [
    ({"namespace_whitelist": "x"}, TypeError, "must be a list of strings"),
    ({"namespace_whitelist": [3]}, ValueError, "must be a string"),
    ({"experimental_variable_policy": "some"}, ValueError, "(?s)invalid VariablePolicy.*Fix:"),
    ({"experimental_image_format": True}, ValueError, "(?s)disabled in OSS.*Fix:"),
])
def test_refused(given: Any, error: Any, text: str) -> None:
    """Options that there are not."""
    with pytest.raises(error, match=text):
        tf.saved_model.SaveOptions(**given)


def test_devices_tags_and_names(tmp_path: pathlib.Path) -> None:
    """Devices of variables, further tags and names of functions are in the file, and come back."""
    path = save("options", tmp_path)
    (graph,) = read(path).meta_graphs
    (variable,) = (n.variable for n in graph.object_graph_def.nodes if n.HasField("variable"))
    (handle,) = (n for n in graph.graph_def.node if n.op == "VarHandleOp")
    assert handle.device == variable.device and "CPU:0" in variable.device.upper()
    assert list(graph.meta_info_def.tags) == ["serve", "extra"]
    types = {n.op for f in graph.graph_def.library.function for n in f.node_def}
    assert {"NoOp", "Identity"} < types and not {"Assert", "CheckNumerics"} & types
    loaded = tf.saved_model.load(path, options=tf.saved_model.LoadOptions(
        experimental_load_function_aliases=True, experimental_variable_policy="save_variable_devices"))
    assert loaded.function_aliases == {"powers": loaded.power} and "CPU:0" in loaded.v.device.upper()
    again = tf.saved_model.SaveOptions(function_aliases={**loaded.function_aliases,
                                                         "cubic": loaded.power.concrete_functions[1]})
    tf.saved_model.save(loaded, str(tmp_path / "again"), options=again)
    info = read(tmp_path / "again").meta_graphs[0].meta_info_def
    assert sorted(info.function_aliases.values()) == ["cubic", "powers"]
    with pytest.raises(TypeError, match="Functions in `function_aliases`"):
        tf.saved_model.save(loaded, str(tmp_path / "wrong"),
                            options=tf.saved_model.SaveOptions(function_aliases={"v": loaded.v}))


def test_defaults_in_a_session(tmp_path: pathlib.Path) -> None:
    """An input with a default need not be fed."""
    path = save("options", tmp_path)
    with tf.Graph().as_default(), v1.Session() as sess:
        signature = v1.saved_model.load(sess, ["serve", "extra"], path).signature_def["serving_default"]
        y, x, scale = (signature.outputs["output_0"].name, signature.inputs["x"].name, signature.inputs["scale"].name)
        assert sess.run([y, y], {x: 3.0}) == [15.0, 15.0] and sess.run(y, {x: 3.0, scale: 2.0}) == 12.0
        assert signature.defaults["scale"].array() == 2.5
        made = v1.saved_model.build_signature_def(defaults={"x": tf.constant([1, 2])})
        assert made.defaults["x"].array().tolist() == [1, 2]
        with pytest.raises(ValueError, match="(?s)Unable to convert object.*Fix:"):
            v1.saved_model.build_signature_def(defaults={"x": v1.placeholder(tf.float32)})


def test_name_spaces_and_warnings(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                  caplog: pytest.LogCaptureFixture) -> None:
    """Types of operations of other name spaces are refused where they are listed."""
    from graphgrad.extras.saved_model.save import _check_namespaces
    from graphgrad.ir.graph_messages import GraphDef

    graph = GraphDef()
    graph.node.add(name="a", op="mine>Add")
    graph.library.function.add().node_def.add(name="b", op="other>Add")
    _check_namespaces(graph, None)
    _check_namespaces(graph, ["mine", "other"])
    with pytest.raises(ValueError, match=r"(?s)\['other>Add'\].*Fix:"):
        _check_namespaces(graph, ["mine"])
    tf.get_logger().propagate, before = True, tf.get_logger().propagate
    try:
        with caplog.at_level(logging.WARNING):
            save("state", tmp_path, options=tf.saved_model.SaveOptions(save_debug_info=True))
    finally:
        tf.get_logger().propagate = before
    assert "without debug info" in caplog.text


def test_slots(tmp_path: pathlib.Path) -> None:
    """Slots that a file names as such, as TensorFlow writes them, are variables of the object, and are saved again."""
    path = save("optimizer", tmp_path)
    first = tf.saved_model.load(path)
    wanted = [float(first.step()) for _ in range(3)]
    model = read(path)
    nodes = model.meta_graphs[0].object_graph_def.nodes
    (optimizer,) = (n for n in nodes if any(c.local_name == "beta1_power" for c in n.children))
    numbers = {nodes[c.node_id].variable.name: c.node_id for c in nodes[0].children}
    slots = [c for c in optimizer.children if "/" in c.local_name]
    for child in slots:
        slot, variable, _ = child.local_name.split("/")
        optimizer.slot_variables.add(original_variable_node_id=numbers[variable], slot_name=slot,
                                     slot_variable_node_id=child.node_id)
    optimizer.children[:] = [c for c in optimizer.children if "/" not in c.local_name]
    assert len(slots) == 4
    pathlib.Path(path, "saved_model.pb").write_bytes(model.SerializeToString())
    loaded = tf.saved_model.load(path)
    assert sorted(k for k in vars(loaded.optimizer) if "/" in k) == ["m/v", "m/w", "v/v", "v/w"]
    tf.saved_model.save(loaded, str(tmp_path / "again"))
    for model in (loaded, tf.saved_model.load(str(tmp_path / "again"))):
        assert [float(model.step()) for _ in range(3)] == wanted


def test_python_functions(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """Operations that call Python are written, and named in a warning: elsewhere they cannot run. The rest can."""
    root = tf.Module()
    root.v = tf.Variable(2.0)
    spec = [tf.TensorSpec([2])]
    root.f = tf.function(lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32), input_signature=spec)
    root.g = tf.function(lambda x: x * root.v, input_signature=spec)
    tf.get_logger().propagate, before = True, tf.get_logger().propagate
    try:
        with caplog.at_level(logging.WARNING):
            tf.saved_model.save(root, str(tmp_path / "model"))
    finally:
        tf.get_logger().propagate = before
    assert "1 operations; the first is EagerPyFunc" in caplog.text and "test_options.py" in caplog.text
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.g(tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    message = read(tmp_path / "model")
    for function in message.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op == "EagerPyFunc":
                node.attr["token"].s = b"of another process"
    (tmp_path / "model" / "saved_model.pb").write_bytes(message.SerializeToString())
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.g(tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)of another process is not found.*Fix:"):
        loaded.f(tf.ones([2]))
