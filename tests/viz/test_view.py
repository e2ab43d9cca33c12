"""The live picture: what its page holds, without a browser."""

from __future__ import annotations

import html.parser
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.graph import Graph, Operation
from graphgrad.viz.nesting import MANY, sub_graphs
from graphgrad.viz.repeats import Stretch, numbered, runs_in


def data_of(view: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(re.search(r'type="application/json">(.*?)</script>', view.html, re.S)[1])
    return found


def names_of(data: dict[str, Any]) -> list[str]:
    """The full names, as the page puts them together."""
    pairs = zip((data["texts"][i] for i in data["scope"]), (
        name or data["texts"][kind] for name, kind in zip(data["name"], data["type"])))
    return [f"{scope}/{name}" if scope else name for scope, name in pairs]


def everything(graph: Graph) -> list[Operation]:
    """The operations of a graph and of its sub-graphs, each sub-graph once."""
    found, waiting, seen = [], [graph], {id(graph)}
    for g in waiting:
        found += g.get_operations()
        for op in g.get_operations():
            new = [b for _, b in sub_graphs(op) if id(b) not in seen]
            seen.update(map(id, new))
            waiting += new
    return found


def deep_net(layers: int) -> Graph:
    """A net without name scopes, with its gradients and a loop and a branch at its end."""
    with tf.Graph().as_default() as graph:
        h = tf.placeholder(tf.float32, [None, 8])
        variables = []
        for _ in range(layers):
            w = tf.Variable(tf.ones([8, 8]))
            variables.append(w)
            h = tf.tanh(tf.matmul(h, w) + 1.0)
        total = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * tf.reduce_mean(h)), [0, 1.0])[1]
        loss = tf.reduce_sum(tf.square(h)) + tf.cond(total > 0.0, lambda: total, lambda: -total)
        tf.gradients(loss, variables)
    return graph


def random_graph(rng: np.random.RandomState) -> Graph:
    with tf.Graph().as_default() as graph:
        known = [tf.placeholder(tf.float32, [3], name="x")]
        for _ in range(rng.randint(5, 80)):
            with tf.name_scope(str(rng.choice(["a", "b", "a/c", "d"]))):
                x, y = (known[rng.randint(len(known))] for _ in range(2))
                known.append(rng.choice([tf.tanh, tf.exp, tf.negative])(x) if rng.rand() < 0.5 else x * y)
        for _ in range(rng.randint(3)):
            known += [g for g in tf.gradients(known[-1], known[:2]) if g is not None]
    return graph


@pytest.mark.parametrize("seed", range(6))
def test_everything_is_there(seed: int) -> None:
    """Each operation stands in one group under the root; inputs, order and gradients are those of the graph."""
    graph = deep_net(seed) if seed < 2 else random_graph(np.random.RandomState(seed))
    ops = everything(graph)
    data = data_of(tf.view_graph(graph))
    assert names_of(data) == [op.name for op in ops]
    assert [data["texts"][i] for i in data["type"]] == [op.type for op in ops]
    at = {id(op): i for i, op in enumerate(ops)}
    for i, op in enumerate(ops):
        inputs = [(i - d, 0) if isinstance(d, int) else (i - d[0], d[1]) for d in data["in"][i]]
        assert inputs == [(at[id(t.op)], t.value_index) for t in op.inputs]
        assert [i - d for d in data["wait"].get(str(i), ())] == [at[id(c)] for c in op.control_inputs]
        original = at.get(id(op._original_op))
        assert data["of"][i] == (0 if original is None else i - original)
    parent = data["groups"]["parent"]
    assert parent[0] == -1 and all(0 <= p < g for g, p in enumerate(parent) if g)
    assert set(data["group"]) <= set(range(len(parent)))


def test_sizes_of_levels() -> None:
    """No box holds many others, however long the graph, with scopes or without."""
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float32, [2])
        rng = np.random.RandomState(0)
        for _ in range(3000):
            y = rng.choice([tf.tanh, tf.exp, tf.negative, tf.sin])(y)
        tf.gradients(y, x)
    groups = data_of(tf.view_graph(graph))
    parents = groups["groups"]["parent"]
    members = np.bincount([*groups["group"], *parents[1:]])
    assert members.max() <= MANY + 2


def test_layers_without_scopes() -> None:
    """Repeated layers are found by their structure, and the gradient has the same boxes."""
    groups = data_of(tf.view_graph(deep_net(12)))["groups"]
    labels = [label for label in groups["label"] if "12 ×" in label or "11 ×" in label]
    assert any("MatMul" in label and "Tanh" in label for label in labels), labels
    boxes = [g for g, label in enumerate(groups["label"]) if label in labels]
    likes = {tuple(v) if isinstance(v, list) else v for v in groups["like"].values()}
    assert any((g,) in likes for g in boxes)


@pytest.mark.parametrize("seed", range(8))
def test_runs(seed: int) -> None:
    """Runs do not overlap, and repeat what they say they repeat; a planted one is found."""
    rng = np.random.RandomState(seed)
    numbers = rng.randint(0, 1 + seed % 4, 60)
    period, count = rng.randint(3, 7), rng.randint(3, 6)
    planted = np.tile(100 + rng.permutation(period), count)
    numbers[20 : 20 + len(planted)] = planted
    runs = runs_in(numbers)
    done = 0
    for run in runs:
        assert run.start >= done and run.times >= 2
        done = run.stop
        parts = numbers[run.start : run.stop].reshape(run.times, run.period)
        assert (parts == parts[0]).all()
    assert Stretch(20, period, count) in runs


def test_runs_of_nothing() -> None:
    assert runs_in(numbered(["a", "b", "c"])) == [] and runs_in(numbered([])) == []


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)


def test_names_cannot_break_out(tmp_path: pathlib.Path) -> None:
    """Titles, messages and values are text, whatever they contain."""
    bad = "</script><img src=x onerror=alert(1)><!--"
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, name="x")
        why = tf.explain_gradient(tf.round(x), x)
    why.cuts[0].why = bad
    view = tf.view_graph(why, tmp_path / "new" / "g.html", title=bad)
    tags = _Tags()
    tags.feed(view.html)
    assert "img" not in tags.tags and tags.tags.count("script") == 2
    data = data_of(view)
    assert data["title"] == bad and bad in next(iter(data["why"]["marks"].values()))
    assert (tmp_path / "new" / "g.html").read_text() == view.html
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg|http-equiv", "", view.html)


def test_size() -> None:
    """5,000 operations take less than 500 kB."""
    graph = deep_net(380)
    view = tf.view_graph(graph)
    assert view.operations > 5000
    assert len(view.html.encode()) < 500_000
    assert repr(view).startswith(f"<GraphPage of {view.operations} operations")
    assert view._repr_html_().count("<iframe") == 1 and '"' not in view._repr_html_().split('srcdoc="')[1].split('"')[0]


def test_explained() -> None:
    """The way of a gradient and its cuts are marked."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.reduce_sum(tf.exp(tf.round(tf.tanh(x, name="h"), name="r"), name="e"), name="y")
        data = data_of(tf.view_graph(tf.explain_gradient(y, x)))
    names = names_of(data)
    assert [[names[a], names[b]] for a, b in data["why"]["way"]] == [["y", "e"], ["e", "r"]]
    assert [[names[a], names[b]] for a, b in data["why"]["beyond"]] == [["r", "h"], ["h", "x"]]
    assert [names[int(i)] for i in data["why"]["marks"]] == ["r"]


def test_measured() -> None:
    """Steps, what is alive after them, what is recomputed, and where a NaN came from."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4], name="x")
        f = tf.recompute_grad(lambda a: tf.sqrt(a * 2.0, name="root"))
        (g,) = tf.gradients(tf.reduce_sum(f(x)), x)
        with tf.Session() as sess:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            sess.run(g, {x: np.ones(4)}, options=options, run_metadata=metadata)
            data = data_of(tf.view_graph(graph, run_metadata=metadata))
            tf.debugging.enable_check_numerics()
            try:
                with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                    sess.run(g, {x: np.zeros(4)})
            finally:
                tf.debugging.disable_check_numerics()
    names = names_of(data)
    steps = data["run"]["steps"]
    assert {names[i] for s in steps for i in s["ops"]} <= set(names) and any(s["ops"] for s in steps)
    assert all(s["live"] <= data["run"]["peak"] for s in steps)
    for s in steps:
        assert sum(size for _, size, _ in s["alive"]) == s["live"]
        assert all(names[i] == name.partition(":")[0] for i, _, name in s["alive"] if i >= 0)
    assert any("root" in names[int(i)] and names[int(i)].startswith("gradients/") for i in data["again"])
    failed = data_of(tf.view_graph(graph, error=caught.value))["why"]
    assert failed is not None and "NaN" in failed["text"] and len(failed["marks"]) >= 1
    with pytest.raises(ValueError, match="FULL_TRACE"):
        tf.view_graph(graph, run_metadata=tf.RunMetadata())
    with pytest.raises(TypeError, match="not a int"):
        tf.view_graph(graph, run_metadata=3)
    with pytest.raises(ValueError, match="no operations to show"):
        tf.view_graph(tf.Graph())
