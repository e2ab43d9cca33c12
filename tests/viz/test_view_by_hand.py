"""What a reader does with a live picture, in a headless Chromium: finds a NaN, uses keys, points, reads in the dark."""

from __future__ import annotations

import html
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.effort import long

from .test_view_in_browser import pytestmark as needs_chromium
from .test_view_in_browser import said_by

pytestmark = needs_chromium

# Around each probe; it tells what `said` holds.
_AROUND = """
const faults = [];
addEventListener("error", e => faults.push(String(e.message)));
console.error = (...a) => faults.push(a.join(" "));
addEventListener("load", () => {
  const G = window.graphgrad, said = {}, canvas = document.getElementById("canvas");
  const key = (k, where = document.activeElement) =>
    where.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
  const named = name => [...Array(G.n).keys()].find(i => G.nameOf(i) === name);
  const box = item => document.getElementById("box" + item);
  const point = element => element.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  const panel = () => document.getElementById("panel").textContent;
  const seen = element => {  // within the picture, and large enough to be read
    const r = element.getBoundingClientRect(), c = canvas.getBoundingClientRect();
    return r.left >= c.left && r.right <= c.right && r.top >= c.top && r.bottom <= c.bottom && r.height > 20;
  };
  try { PROBE } catch (e) { faults.push(e.stack); }
  document.documentElement.setAttribute("data-said", JSON.stringify({ ...said, faults }));
});
"""


def told(view: Any, probe: str, folder: pathlib.Path, size: str = "1400,900") -> dict[str, Any]:
    """Returns what a probe said of a page; nothing may fail."""
    said = said_by(view.html, _AROUND.replace("PROBE", probe), folder, size)
    assert said.pop("faults") == []
    return said


def layered(layers: int, bad: int) -> tuple[tf.Graph, tf.Tensor]:
    """A net in which one layer takes logarithms of negative numbers; its training, with an initializer."""
    with tf.Graph().as_default() as graph:
        h = tf.placeholder(tf.float32, [None, 4], name="x")
        for i in range(layers):
            with tf.variable_scope(f"layer{i}"):
                w = tf.get_variable("w", [4, 4], initializer=tf.ones_initializer())
                h = tf.tanh(tf.matmul(h, w))
                if i == bad:
                    h = tf.log(h, name="logarithm") + h
        loss = tf.reduce_mean(h, name="loss")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        tf.global_variables_initializer()
    return graph, loss


def test_nan(tmp_path: pathlib.Path) -> None:
    """Where a NaN came from is in sight at once, can be read, and a key goes there; boxes around it are marked, too."""
    graph, loss = layered(14, bad=7)
    with tf.Session(graph=graph) as sess:
        sess.run("init")
        tf.debugging.enable_check_numerics()
        try:
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(loss, {"x:0": -np.ones([2, 4])})
        finally:
            tf.debugging.disable_check_numerics()
    said = told(tf.view_graph(graph, error=caught.value), """
      said.marked = [...document.querySelectorAll(".box.marked")].map(b => b.getAttribute("aria-label"));
      const origin = named("layer7/logarithm");
      said.seen = seen(box(origin));
      said.panel = panel();
      key("m", canvas);
      said.first = panel();
      key("Escape", canvas);
      said.around = document.querySelector("#panel h2").textContent;
      G.collapse();
      said.closed = [...document.querySelectorAll(".box.marked")].map(b => b.getAttribute("aria-label"));
    """, tmp_path, "800,600")
    assert said["seen"]
    assert any("layer7/logarithm" in label for label in said["marked"]) and len(said["marked"]) == 3, said["marked"]
    assert "NaN" in said["panel"] and "test_view_by_hand.py" in said["panel"] and "to the next mark" in said["panel"]
    assert "layer7/logarithm" in said["first"] and "Detected Infinity or NaN" in said["first"]
    assert said["around"] == "layer7"
    assert len(said["closed"]) == 1 and said["closed"][0].startswith("Forward")


def test_first_look(tmp_path: pathlib.Path) -> None:
    """What comes first is open and readable, also in a small window; an initializer's arrows come when pointed at."""
    graph, _ = layered(14, bad=-1)
    view = tf.view_graph(graph)
    for size in ("1400,900", "800,600"):
        said = told(view, """
          said.open = [...document.querySelectorAll(".box.open")].map(b => b.querySelector(".title").textContent);
          const boxes = [...document.querySelectorAll(".box")], arrows = [...document.querySelectorAll(".arrow.quiet")];
          const entitled = name => boxes.find(b => b.querySelector(".title").textContent === name);
          said.layers = ["layer0", "layer1"].map(entitled).map(seen);
          const page = document.documentElement;
          said.wide = page.scrollWidth <= innerWidth && page.scrollHeight <= innerHeight;
          const shown = () => arrows.filter(a => getComputedStyle(a).visibility === "visible").length;
          said.quiet = arrows.length;
          said.before = shown();
          point(box(named("init")).querySelector(".face"));
          said.after = shown();
        """, tmp_path, size)
        assert said["open"] == ["Forward"] and said["layers"] == [True, True] and said["wide"], size
        assert said["quiet"] == 14 and said["before"] == 0 and said["after"] == 14


def test_keys_and_focus(tmp_path: pathlib.Path) -> None:
    """The focus is never lost, and keys act on what has it."""
    graph, _ = layered(6, bad=-1)
    said = told(tf.view_graph(graph), """
      const active = () => document.activeElement, name = () => active().id || active().className || active().tagName;
      const results = document.getElementById("results"), table = document.getElementById("table");
      canvas.focus();
      key("ArrowDown"); key("ArrowDown");
      said.walked = G.selected();
      key("/");
      said.slash = name();
      G.search.value = "layer3/tanh";
      G.search.dispatchEvent(new Event("input"));
      key("ArrowDown"); key("ArrowDown"); key("ArrowUp");
      said.within = [name(), G.selected() === said.walked, results.hidden];
      document.activeElement.click();
      said.chosen = [name(), results.hidden, document.querySelector("#panel .name").textContent];
      document.querySelector("#panel section button").click();
      said.followed = name();
      key("t");
      said.table = [name(), table.hidden, table.querySelectorAll("tbody tr").length];
      G.search.focus();
      key("Escape");
      said.cleared = [name(), table.querySelectorAll("tbody tr").length];
      key("Escape");
      said.back = [name(), table.hidden];
      const at = box(G.selected()).getBoundingClientRect().width;
      key("c"); key("o"); key("o"); key("o"); key("o");
      said.readable = box(G.n + 1).querySelector(".title").getBoundingClientRect().height > 8;
      said.opened = G.open.size;
    """, tmp_path)
    assert said["slash"] == "search" and said["walked"] >= 0
    assert said["within"][0].startswith("ref") and said["within"][1:] == [True, False]
    assert said["chosen"][:2] == ["canvas", True] and "layer3/Tanh" in said["chosen"][2]
    assert said["followed"] == "canvas"
    assert said["table"][:2] == ["table", False] and 0 < said["table"][2] < 10
    assert said["cleared"][0] == "table" and said["cleared"][1] > 50
    assert said["back"] == ["canvas", True]
    assert said["opened"] > 10 and said["readable"]


def test_pointing_both_ways(tmp_path: pathlib.Path) -> None:
    """Pointing at an operation lights up its gradient, pointing there the operation; leaving puts both out."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        tf.gradients(tf.reduce_sum(tf.tanh(x, name="h"), name="y"), x)
    said = told(tf.view_graph(graph), """
      const lit = () => [...document.querySelectorAll(".box.kin")].map(b => G.nameOf(Number(b.dataset.item)));
      const there = named("gradients/h_grad/TanhGrad"), here = named("h");
      G.reveal(there); G.reveal(here); G.select(-1);
      point(box(here).querySelector(".face"));
      said.forward = lit();
      point(box(there).querySelector(".face"));
      said.backward = lit();
      canvas.dispatchEvent(new PointerEvent("pointerleave"));
      said.left = lit();
    """, tmp_path)
    assert "gradients/h_grad/TanhGrad" in said["forward"]
    assert said["backward"] == ["h"] and said["left"] == []


def test_loops_say_what_they_repeat(tmp_path: pathlib.Path) -> None:
    """What a loop's gradient computes once more is no gradient: it says what it repeats, and is coloured."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        w = tf.get_variable("w", [3])
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a * a + w, name="wave")), [0, x])[1]
        tf.gradients(y, x)
    said = told(tf.view_graph(graph), """
      const waves = [...Array(G.n).keys()].filter(i => G.typeOf(i) === "Sin");
      said.panels = waves.map(i => { G.reveal(i); return panel(); });
      said.titles = [...document.querySelectorAll(".box .title")].map(t => t.textContent);
      const overlay = document.getElementById("overlay");
      overlay.value = "again";
      overlay.dispatchEvent(new Event("change"));
      said.hot = waves.map(i => box(i).classList.contains("hot"));
      G.search.value = "wave";
      G.search.dispatchEvent(new Event("input"));
      said.found = [...document.querySelectorAll("#results li")].map(l => l.textContent);
    """, tmp_path)
    first, *copies = said["panels"]
    assert copies and "Computed once more by" in first and "Gradient of" not in first
    assert all("Computes once more" in panel and "Gradient of" not in panel for panel in copies)
    assert not any("tape" in title or "Gradient of gradients" in title for title in said["titles"])
    assert said["hot"] == [False] + [True] * len(copies)
    assert len(set(said["found"])) == len(said["found"]) and "wave Sin, in Forward › While › body" in said["found"]


def test_click_on_memory(tmp_path: pathlib.Path) -> None:
    """A click on a bar lists what is alive then, and lights it up."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [64], name="x")
        y = tf.reduce_sum(tf.py_func(np.sin, [tf.exp(x, name="kept")], tf.float32) * tf.exp(x))
        metadata = tf.RunMetadata()
        with tf.Session() as sess:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            sess.run(y, {x: np.ones(64)}, options=options, run_metadata=metadata)
    steps = metadata.report.steps
    assert len(steps) > 1
    said = told(tf.view_graph(graph, run_metadata=metadata), f"""
      const chart = document.querySelector("#memory svg"), r = chart.getBoundingClientRect();
      const middle = k => r.left + (k + .5) * r.width / {len(steps)};
      const click = k => chart.dispatchEvent(new MouseEvent("click", {{ clientX: middle(k), clientY: r.top + 5 }}));
      said.panels = []; said.alive = [];
      for (let k = 0; k < {len(steps)}; k++) {{
        click(k);
        said.panels.push(panel());
        said.alive.push([...document.querySelectorAll(".box.alive")].length);
      }}
    """, tmp_path)
    for k, step in enumerate(steps):
        assert said["panels"][k].startswith(f"Alive after step {k + 1}")
        assert all(name in said["panels"][k] for name, _ in step.alive[:8])
    assert max(said["alive"]) > 0


def test_in_a_notebook(tmp_path: pathlib.Path) -> None:
    """A page that is not in sight when it is loaded fits itself when it comes into sight, until somebody moves it."""
    graph, _ = layered(3, bad=-1)
    inside = html.escape(tf.view_graph(graph).html)
    page = f"""<!DOCTYPE html><title>notebook</title>
      <iframe srcdoc="{inside}" style="display: none; width: 900px; height: 640px"></iframe>"""
    said = said_by(page, """
      const faults = [];
      addEventListener("error", e => faults.push(String(e.message)));
      addEventListener("load", async () => {
        const frame = document.querySelector("iframe");
        const canvas = frame.contentDocument.getElementById("canvas");
        const widths = () => {
          const c = canvas.getBoundingClientRect();
          const all = [...frame.contentDocument.querySelectorAll(".box")].map(b => b.getBoundingClientRect());
          return [Math.min(...all.map(r => r.left - c.left)), Math.max(...all.map(r => r.right - c.left)) - c.width,
            Math.max(...all.filter(r => r.height).map(r => r.height))];
        };
        const pause = () => new Promise(done => setTimeout(done, 300));
        const settled = async () => {  // a browser without a screen draws when it likes
          for (let k = 0; k < 20; k++) {
            await pause();
            const [left, beyond, high] = widths();
            if (left >= 0 && beyond <= 0 && high > 100) break;
          }
          return widths();
        };
        await pause();
        frame.style.display = "block";
        const shown = await settled();
        frame.style.width = "600px";
        const narrow = await settled();
        canvas.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        frame.style.width = "1200px";
        await pause();
        await pause();
        const kept = widths();
        document.documentElement.setAttribute("data-said", JSON.stringify({ faults, shown, narrow, kept }));
      });
    """, tmp_path)
    assert said["faults"] == []
    for when in ("shown", "narrow"):
        left, beyond, high = said[when]
        assert left >= 0 and beyond <= 0 and high > 100, (when, said)
    assert said["kept"][0] == pytest.approx(said["narrow"][0], abs=1)


_CONTRAST = """
  const rgb = text => {
    const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    c.fillStyle = text;
    c.fillRect(0, 0, 1, 1);
    return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = text => rgb(text).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((a, v, i) => a + v * [.2126, .7152, .0722][i], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  said.poor = [];
  const look = when => {
    for (const b of document.querySelectorAll(".box.closed")) for (const t of b.querySelectorAll("text")) {
      const r = ratio(getComputedStyle(t).fill, getComputedStyle(b.querySelector(".face")).fill);
      if (r < 4.5) said.poor.push([when, b.getAttribute("class"), t.getAttribute("class"), r]);
    }
    const bar = getComputedStyle(document.getElementById("panel")).backgroundColor;
    for (const t of document.querySelectorAll("#panel :is(.ref, .soft, p, dd), header :is(button, label)")) {
      const own = getComputedStyle(t).backgroundColor;
      const r = ratio(getComputedStyle(t).color, own === "rgba(0, 0, 0, 0)" ? bar : own);
      if (r < 4.5) said.poor.push([when, t.className, t.textContent.slice(0, 30), r]);
    }
  };
  said.page = [];
  for (const theme of ["light", "dark"]) {
    document.documentElement.dataset.theme = theme;
    said.page.push(getComputedStyle(document.body).backgroundColor);
    document.getElementById("overlay").value = "none";
    G.paint();
    for (const item of ITEMS) { G.select(item); look(theme + " " + item); }
    document.getElementById("overlay").value = "bytes";
    G.paint();
    look(theme + " bytes");
  }
"""


@long("colours change seldom")
def test_contrast(tmp_path: pathlib.Path) -> None:
    """Texts stand out from what is behind them by 4.5 to 1, in light and dark, with colours of a run."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [8], name="x")
        w = tf.get_variable("w", [8])
        (g,) = tf.gradients(tf.reduce_sum(tf.tanh(x * w * 2.0)), w)
        tf.gradients(tf.reduce_sum(g * g), w)
        tf.assign(w, w - 0.1 * g)
    said = told(tf.view_graph(graph), """
      for (let k = 0; k < 5; k++) G.deeper();
      const ITEMS = [-1, ...Array(G.n).keys()];
    """ + _CONTRAST, tmp_path)
    poor = {(when.split()[0], kind, what): round(r, 2) for when, kind, what, r in said["poor"]}
    assert poor == {} and len(set(said["page"])) == 2
