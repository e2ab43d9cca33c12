"""Pictures of graphs: what is folded, what stands where, what is written."""

from __future__ import annotations

import itertools
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import graphgrad.compat.v1 as tf
from graphgrad import explain_gradient
from graphgrad.viz import draw
from graphgrad.viz.box_text import width_of
from graphgrad.viz.boxes import FORWARD, GraphPart, View, marks_of
from graphgrad.viz.fold import fold
from graphgrad.viz.layout import BOX_HEIGHT, place

pytest.importorskip("igraph")


def network(layers: int, graph: tf.Graph) -> tf.Tensor:
    """A classifier whose layers are scopes, with its gradients; its loss."""
    with graph.as_default():
        h = tf.placeholder(tf.float32, [None, 8], name="x")
        variables = []
        for i in range(layers):
            with tf.name_scope(f"layer_{i}"):
                w = tf.Variable(tf.ones([8, 8]), name="w")
                variables.append(w)
                h = tf.tanh(tf.matmul(h, w))
        with tf.name_scope("loss"):
            loss = tf.reduce_sum(tf.square(h))
        tf.gradients(loss, variables)
        tf.global_variables_initializer()
    return loss


def view_of(graph: tf.Graph, **options: int) -> View:
    return fold(graph, graph.get_operations(), **options)


def names(view: View, part: GraphPart = FORWARD) -> set[str]:
    return {b.name for b in view.boxes if b.part == part}


def test_parts() -> None:
    """Forward, gradient, gradient of gradient, and what is built on gradients are told apart."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.tanh(x, name="y")
        (g,) = tf.gradients(y, x)
        penalty = tf.square(g, name="penalty")
        tf.gradients(penalty, x)
    parts = {op.name: b.part for b in view_of(graph, depth=9).boxes for op in b.ops}
    assert parts["y"] == FORWARD
    assert parts["gradients/y_grad/TanhGrad"] == GraphPart(1, 0)
    assert parts["penalty"] == GraphPart(1, 1)
    assert {p for n, p in parts.items() if n.startswith("gradients_1/penalty_grad/")} == {GraphPart(2, 0)}


def test_plumbing_is_left_out() -> None:
    """Variables swallow initialisers and reads; the initialisation op goes."""
    graph = tf.Graph()
    network(2, graph)
    view = view_of(graph, depth=9)
    assert not [b for b in view.boxes if "Assign" in b.name or "Initializer" in b.name or b.name == "init"]
    (w,) = [b for b in view.boxes if b.name == "layer_0/w"]
    assert w.kind == "variable" and not w.folded
    shown = fold(graph, graph.get_operations(), depth=9, initializers=True)
    assert any(b.name == "init" for b in shown.boxes)


def test_depth() -> None:
    """A depth of 1 folds the layers, and their gradients likewise."""
    graph = tf.Graph()
    network(3, graph)
    view = view_of(graph, depth=1)
    assert {"layer_0", "layer_1", "layer_2", "loss", "x"} <= names(view)
    assert {"gradients/layer_0", "gradients/layer_2", "gradients/loss"} <= names(view, GraphPart(1, 0))
    assert all(b.folded for b in view.boxes if b.name.startswith("layer_"))


def test_budget() -> None:
    """Scopes of one pattern are unfolded together or not at all, and the budget holds."""
    graph = tf.Graph()
    network(10, graph)
    for budget in (25, 40, 60, 90):
        view = view_of(graph, budget=budget)
        assert len(view.boxes) <= budget
        folded = {b.name for b in view.boxes if b.folded and b.name.startswith("layer_")}
        assert len(folded) in (0, 10)
    assert not any(b.folded for b in view_of(graph, budget=1000).boxes)


def test_bundles() -> None:
    """Parallel branches become one box, a hundred of them with their gradients."""
    graph = tf.Graph()
    with graph.as_default():
        xs = [tf.placeholder(tf.float32, [3]) for _ in range(100)]
        y = tf.add_n([tf.tanh(x) for x in xs])
        tf.gradients(tf.reduce_sum(tf.square(y)), xs)
    view = view_of(graph)
    assert len(view.boxes) < 20
    assert {b.main.type for b in view.boxes if b.copies == 100} == {"Placeholder", "Tanh", "TanhGrad"}
    assert sum(len(b.ops) for b in view.boxes) == view.shown
    assert "100 × TanhGrad" in draw(graph)


def test_every_operation_is_accounted_for() -> None:
    """Each operation of a view is in exactly one box, and arrows join boxes of the view."""
    graph = tf.Graph()
    network(4, graph)
    for options in ({"depth": 1}, {"depth": 2}, {"depth": 9}, {"budget": 30}):
        view = view_of(graph, **options)
        inside = [op for b in view.boxes for op in b.ops]
        assert len(inside) == len(set(inside)) == view.shown
        assert {a.source for a in view.arrows} | {a.target for a in view.arrows} <= set(view.boxes)


def test_layout() -> None:
    """Forward flows down, gradients up and level with what they are of; no boxes overlap."""
    graph = tf.Graph()
    network(6, graph)
    view = view_of(graph, depth=9)
    widths = {b: width_of(b) for b in view.boxes}
    placed = place(view, widths)
    for a in view.arrows:
        if a.source.part == a.target.part:
            down = placed.centre[a.source][1] < placed.centre[a.target][1]
            assert down == (a.source.part == FORWARD)
    boxes = list(view.boxes)
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            (ax, ay), (bx, by) = placed.centre[a], placed.centre[b]
            assert abs(ax - bx) >= (widths[a] + widths[b]) / 2 or abs(ay - by) >= BOX_HEIGHT, (a, b)
    row = {op.name: placed.centre[b][1] for b in boxes for op in b.ops}
    for i in range(6):
        assert row[f"gradients/layer_{i}/Tanh_grad/TanhGrad"] == row[f"layer_{i}/Tanh"]


def test_svg(tmp_path: pathlib.Path) -> None:
    """The document is well-formed, names what it shows, and quotes the user's line."""
    graph = tf.Graph()
    loss = network(2, graph)
    text = draw(graph, tmp_path / "new" / "graph.svg")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert (tmp_path / "new" / "graph.svg").read_text() == text
    said = "".join(root.itertext())
    assert "MatMul" in said and "?×8" in said and "test_viz.py" in said
    part = draw(loss)
    assert "Gradients" not in part and "Square" in part


def test_names_are_escaped() -> None:
    """What XML would take for its own is escaped."""
    with tf.Graph().as_default():
        text = draw(tf.constant("<&>", name="a"), title="a < b & c")
    ElementTree.fromstring(text)


def test_cycles_between_folded_scopes() -> None:
    """Scopes that depend on each other, as folded ones may, are drawn all the same."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        for _ in range(3):
            with tf.name_scope("a/"):
                x = tf.tanh(x)
            with tf.name_scope("b/"):
                x = tf.square(x)
    ElementTree.fromstring(draw(graph, depth=1))


def test_thousands_of_operations() -> None:
    """A deep graph without scopes does not exhaust the stack."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        y = x
        for _ in range(1500):
            y = tf.tanh(y)
        tf.gradients(y, x)
    ElementTree.fromstring(draw(graph))


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to draw, several graphs, a wrong kind of thing, no igraph: each says what to do."""
    with pytest.raises(ValueError, match="no operations to draw"):
        draw(tf.Graph())
    with pytest.raises(ValueError, match="no tensors"):
        draw([])
    with tf.Graph().as_default():
        a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(1.0)
    with pytest.raises(ValueError, match="several graphs"):
        draw([a, b])
    with pytest.raises(TypeError, match="cannot draw a int"):
        draw(3)
    with pytest.raises(ValueError, match="depth must be 1"):
        draw(a, depth=0)
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ImportError, match=r"pip install 'graphgrad\[draw\]'"):
        draw(a)


def test_explained_gradient() -> None:
    """The way that a gradient takes, where it is cut, and what it never reaches are marked."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        h = tf.tanh(x, name="hidden")
        y = tf.reduce_sum(tf.exp(tf.round(h, name="rounded"), name="e"), name="y")
        why = tf.explain_gradient(y, x)
        flows = tf.explain_gradient(y + tf.reduce_sum(h), x)
        apart = tf.explain_gradient(tf.constant(1.0), x)
    view = view_of(graph, depth=9)
    marks = marks_of(why, view)
    assert {(a.name, b.name) for a, b in marks.way} == {("y", "e"), ("e", "rounded")}
    assert {(a.name, b.name) for a, b in marks.beyond} == {("rounded", "hidden"), ("hidden", "x")}
    assert [b.name for b in marks.cuts] == ["rounded"]
    svg = draw(why)
    assert "is None: 1 cut" in svg and "The gradient ends here: rounded: its gradient function gives None" in svg
    assert svg.count('class="arrow way"') == 2 and svg.count('class="arrow beyond"') == 2
    ElementTree.fromstring(svg)
    assert 'class="arrow way"' in draw(flows) and "y does not depend on x" in draw(apart)


def test_an_explanation_in_a_branch_of_what_is_outside() -> None:
    with tf.Graph().as_default():
        x, drawn = tf.placeholder(tf.float32, [], name="x"), []

        def branch() -> tf.Tensor:
            y = tf.stop_gradient(x) * 2.0 + tf.sin(x)
            drawn.append(draw(explain_gradient(y, x)))
            return y

        tf.cond(x > 0.0, branch, lambda: x)
    assert "Sin" in drawn[0] and "neither None nor zero" in drawn[0]


def test_folding_by_structure() -> None:
    """Without name scopes, too, there are at most as many boxes as asked for, on two screens; labels are whole."""
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [None, 8], name="a_name_that_is_longer_than_what_boxes_had_room_for_once")
        weights = [tf.Variable(tf.ones([8, 8])) for _ in range(12)]
        for w in weights:
            h = tf.tanh(tf.matmul(h, w) + x)
        tf.gradients(tf.reduce_sum(tf.gradients(h, x)[0] ** 2), weights)
    for budget in (20, 40):
        view = view_of(graph, budget=budget)
        assert len(view.boxes) <= budget
        inside = [op for b in view.boxes for op in b.ops]
        assert len(inside) == len(set(inside)) == view.shown
    picture = draw(graph, max_boxes=40)
    assert int(ElementTree.fromstring(picture).attrib["width"]) <= 3840
    assert "a_name_that_is_longer_than_what_boxes_had_room_for_once<" in picture


def test_captured_variables_have_their_names() -> None:
    """What a sub-graph takes from outside has the name that it has there."""
    with tf.Graph().as_default():
        w = tf.Variable(2.0, name="weights")
        x = tf.constant([1.0, 2.0], name="points")
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * w, lambda: x)
        body = y.op.inputs[0].op.attrs["then_branch"]
    assert ">weights<" in draw(body) and ">points<" in draw(body)


def test_labels_of_folded_parts() -> None:
    """A folded part is called after what it consists of, each kind once in a row, without the root of all groups."""
    with tf.Graph().as_default() as graph:
        h = tf.placeholder(tf.float32, [None, 4])
        for _ in range(40):
            w, b = (tf.Variable(tf.ones(shape), use_resource=True) for shape in ([4, 4], [4]))
            h = tf.nn.relu(tf.matmul(h, w) + b)
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
    told = re.findall(r'<text class="(?:type|name)"[^>]*>([^<]*)</text>', draw(graph))
    repeated = [text.partition(" · ")[0].rpartition(" × ")[2].split(", ") for text in told if " × " in text]
    assert len(repeated) > 4 and not any(text.startswith("all operations") for text in told)
    assert not any(a == b for words in repeated for a, b in itertools.pairwise(words))
