"""Notebooks: what Jupyter gets to show, in a kernel and without one."""

from __future__ import annotations

import base64
import html.parser
import io
import pathlib
import re
from typing import Any

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as v1
from graphgrad.notebook import pictures
from tests import ROOT

_VOID = {"br", "img", "polyline", "path", "rect", "line", "circle", "meta", "hr"}


class _Checked(html.parser.HTMLParser):
    """Checks that elements are closed in the order in which they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def _html(value: Any) -> str:
    text = value._repr_html_()
    assert text is not None
    checked = _Checked()
    checked.feed(text)
    assert not checked.open and len(text) < 40_000
    return str(text)


def test_what_is_shown() -> None:
    """Graphs, tensors, gradients, operations, explanations and reports, with pictures of the graph, small."""
    pytest.importorskip("igraph")
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w = v1.get_variable("w", [3, 2])
        y = tf.reduce_sum(tf.tanh(x @ w), name="y")
        (g,) = tf.gradients(y, x)
        shown = _html(graph)
        assert "<svg" in shown and "MatMul" in shown and "<code" in shown
        assert "sum(tanh(x @ w))" in _html(y) and "<svg" in _html(y) and "test_notebooks.py" in _html(y)
        assert "for the gradient of" in _html(g) and "MatMul" in _html(g)
        assert "Operation y" in _html(y.op)
        why = tf.explain_gradient(tf.cast(tf.argmax(x @ w, 0), tf.float32), x)
        assert "is None" in _html(why) and "ArgMax" in _html(why) and "<svg" in _html(why)
        sess.run(v1.global_variables_initializer())
        report = sess.explain([y, g], {x: np.ones((4, 3), "f")})
        assert re.search(r"<b>\d+ steps, \d+ programs", _html(report)) and "MatMul" in _html(report)
        assert "of a tensor" in _html(tf.IndexedSlices(w, [0, 1, 2], [3, 2]))


def test_pictures_show_themselves() -> None:
    """What `draw` returns is the text of a document, and a picture in a notebook."""
    pytest.importorskip("igraph")
    from graphgrad.viz import draw

    with tf.Graph().as_default():
        svg = draw(tf.tanh(v1.placeholder(tf.float32, [3], name="x")))
    assert isinstance(svg, str) and svg.count("<svg") == 1 and "Tanh" in svg
    shown = svg._repr_svg_()
    assert type(shown) is str and shown.startswith("<svg") and svg.endswith(shown)
    checked = _Checked()
    checked.feed(shown)
    assert not checked.open


def test_variables_and_functions() -> None:
    """A variable shows its value where it has one; a trace shows its graph."""
    pytest.importorskip("igraph")
    shown = _html(tf.Variable([[1.0, -2.0], [3.0, 4.0]], name="v"))
    assert "Variable v:0" in shown and "-2" in shown and "<img" in shown and "trainable" in shown
    with tf.Graph().as_default():
        built = _html(v1.get_variable("w", [3, 2], trainable=False))
    assert "Variable w:0" in built and "(3, 2) float32" in built and "test_notebooks.py" in built
    trace = tf.function(lambda x: tf.tanh(x)).get_concrete_function(tf.TensorSpec([2]))
    assert "Tanh" in _html(trace) and "signature" in _html(trace) and "<svg" in _html(trace)


def test_text_is_no_markup() -> None:
    """Values and names are escaped."""
    assert "&lt;script&gt;" in _html(tf.constant(["<script>"])) and "<script>" not in _html(tf.constant(["<script>"]))


@hypothesis.given(hnp.arrays(st.sampled_from([np.float32, np.float64, np.int32, np.uint8, np.bool_, np.float16]),
                             hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7)))
@hypothesis.settings(max_examples=60, deadline=None, database=None)
def test_any_value_has_a_picture(value: np.ndarray[Any, Any]) -> None:
    """Infinities, NaNs, empty arrays and large numbers, too; Pillow can read it."""
    text = pictures.picture(value)
    found = re.search(r"base64,([^\"]+)", text)
    if found:
        from PIL import Image

        image = Image.open(io.BytesIO(base64.b64decode(found[1])))
        image.load()
        assert image.mode == "RGB"
        if value.ndim == 2:
            assert image.size == value.shape[::-1]
    assert len(_html(tf.constant(value))) < 10_000


def test_heat_maps_show_signs() -> None:
    """Blue below zero, red above, white at zero; what is not finite stands out."""
    colours = pictures._heat(np.array([[-1.0, 0.0, 1.0, np.nan]]))[0].astype(int)
    assert colours[0][2] > colours[0][0] and colours[2][0] > colours[2][2]
    assert min(colours[1]) > 240 and tuple(colours[3]) == (255, 0, 255)


def test_lines_have_gaps() -> None:
    """What is not finite is no part of the line; a value between two such is a dot."""
    text = pictures.picture(np.array([1.0, 2.0, np.nan, 3.0, np.inf, 1.0, 2.0]))
    assert [len(points.split()) for points in re.findall(r'points="([^"]*)"', text)] == [2, 2, 2]
    assert pictures.picture(np.full(5, np.nan)).count("polyline") == 0


_CELLS = [
    "%load_ext graphgrad",
    "%tensorflow_version 1.x",
    "import tensorflow as tf\nx = tf.placeholder(tf.float32, [], name='x')\ny = x * x",
    "y",
    "with tf.Session() as sess:\n    print(float(sess.run(tf.gradients(y, x)[0], {x: 3.0})))",
    "tf.gradients(y, [x, tf.constant(1.0)])",
    "[1, 2], ['a']",
    "try:\n    tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))\nexcept ValueError as error:\n    print(error)",
]


def test_in_jupyter(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unmodified notebook for TensorFlow 1 runs in a real kernel after two magics, and tensors show themselves."""
    nbclient = pytest.importorskip("nbclient", reason="pip install 'graphgrad[notebook]'")
    pytest.importorskip("ipykernel", reason="pip install 'graphgrad[notebook]'")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in _CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    (shown,) = notebook.cells[3].outputs
    assert "Tensor mul:0" in shown["data"]["text/html"] and "tf.Tensor" in shown["data"]["text/plain"]
    assert "In[3]:3" in shown["data"]["text/html"], "cells are named by their numbers"
    # On a busy machine the line that tells what takes long is there, too, on the standard error.
    assert "".join(o["text"] for o in notebook.cells[4].outputs if o["name"] == "stdout") == "6.0\n"
    (shown,) = notebook.cells[5].outputs
    assert "gradients" in shown["data"]["text/html"] and "<b>[1]</b> <code" in shown["data"]["text/html"]
    assert set(notebook.cells[6].outputs[0]["data"]) == {"text/plain"}
    assert "Built at In[8]:2:  tf.matmul(" in notebook.cells[7].outputs[0]["text"]
