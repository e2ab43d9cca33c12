"""Models that the builder of 1.x writes, read here and in TensorFlow, which `record/old/builder_models.py` asks."""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.extras.import_v1.saved_model import read_saved_model
from tests.extras.saved_model_cases import plain, unpacked
from tests.extras.test_saved_model_load import same

from .builder_cases import CASES

_RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "recorded" / "saved_models" / "builder.json").read_text())
v1 = tf.compat.v1


@pytest.mark.parametrize("name", CASES)
def test_written_by_tensorflow(name: str, tmp_path: pathlib.Path) -> None:
    """Graphs, values, files and what is run at first are read."""
    same(plain(tf, CASES[name][1](tf, unpacked(f"builder_{name}", tmp_path))), _RECORDED[name])


@pytest.mark.parametrize("name", CASES)
def test_written_here(name: str, tmp_path: pathlib.Path) -> None:
    """What is written here is read here as TensorFlow reads it, also when it has been moved."""
    CASES[name][0](tf, tmp_path)
    model = str(shutil.move(tmp_path / "model", tmp_path / "moved"))
    same(plain(tf, CASES[name][1](tf, model)), _RECORDED[name])


def test_text_and_bytes(tmp_path: pathlib.Path) -> None:
    """A text holds the same message as the bytes, TensorFlow's text, too."""
    for name in CASES:
        message = read_saved_model(unpacked(f"builder_{name}", tmp_path))
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pbtxt").write_text(str(message))
        assert read_saved_model(str(tmp_path / name)) == message
    (tmp_path / "text" / "saved_model.pbtxt").write_text("meta_graphs {\n  nodes {\n")
    with pytest.raises(OSError, match=r'(?s)Cannot parse file .*pbtxt: line 2: .* no field named "nodes".*Fix:'):
        tf.saved_model.load(tmp_path / "text")


@pytest.mark.parametrize(("change", "error", "text"), [
    (lambda b, s, x: b.add_meta_graph(["a"]), AssertionError, "has not been saved yet"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], assets_collection=["x"]), TypeError, "must be a Tensor"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], assets_collection=[x]), TypeError, "of type constant"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], assets_collection=[tf.constant(1)]), TypeError, "string"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], assets_collection=[tf.constant(["a", "b"])]), TypeError,
     "scalar"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], assets_collection=[tf.constant("")]), ValueError,
     "is invalid"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], main_op=x), TypeError, "to be an Operation"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], {"s": v1.saved_model.build_signature_def(
        {"x": v1.TensorInfo()})}), AssertionError, "'encoding'"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], {"s": v1.saved_model.build_signature_def(
        {"x": v1.TensorInfo(name="x:0")})}), AssertionError, "dtype"),
    (lambda b, s, x: b.add_meta_graph_and_variables(s, ["a"], {"__saved_model_init_op": v1.saved_model.
                                                               predict_signature_def({"x": x}, {"x": x})}), KeyError,
     "reserved for initialization"),
])
def test_refused(change: Any, error: Any, text: str, tmp_path: pathlib.Path) -> None:
    """What the builder does not take, in TensorFlow's words."""
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [], name="x")
        with pytest.raises(error, match=text):
            change(v1.saved_model.Builder(str(tmp_path / "model")), sess, x)


def test_a_second_operation(tmp_path: pathlib.Path) -> None:
    """A graph has one operation that is run when it is loaded; a file that is missing is named in a warning."""
    with tf.Graph().as_default(), v1.Session() as sess:
        builder = v1.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(sess, ["a"], main_op=tf.no_op(), assets_collection=[tf.constant("none")])
        with pytest.raises(ValueError, match="more than one main op|one or more main ops"):
            builder.add_meta_graph(["b"], legacy_init_op=tf.no_op())
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(sess, ["a"])
        builder.save()
    assert not (tmp_path / "model" / "assets").exists()


def test_stripped_defaults(tmp_path: pathlib.Path) -> None:
    """Attributes with defaults are left out, where asked for, and only those."""
    CASES["training"][0](tf, tmp_path)
    whole, stripped = read_saved_model(str(tmp_path / "model")).meta_graphs
    found = [{name for n in graph.graph_def.node for name in n.attr} for graph in (whole, stripped)]
    assert {"transpose_a", "Tperm", "container"} <= found[0] - found[1] and {"T", "dtype", "shape"} <= found[1]
    assert stripped.meta_info_def.stripped_default_attrs and not whole.meta_info_def.stripped_default_attrs
