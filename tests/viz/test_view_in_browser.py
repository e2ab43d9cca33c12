"""The live picture in a headless Chromium: everything can be reached, links go both ways, nothing fails."""

from __future__ import annotations

import html
import json
import pathlib
import re
import shutil
import subprocess
from typing import Any

import pytest

import graphgrad.compat.v1 as tf

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium is installed (Debian: chromium)")

_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
          "--disable-background-networking", "--disable-component-update",
          "--virtual-time-budget=20000", "--dump-dom"]

# Runs in the page; its result is left in an attribute of the document.
_PROBE = """
const faults = [];
addEventListener("error", e => faults.push(String(e.message)));
console.error = (...a) => faults.push(a.join(" "));
addEventListener("load", () => {
  const G = window.graphgrad, said = {};
  try {
    said.atFirst = G.placed.size;
    const gone = [], unseen = [], oneWay = [];
    for (let op = 0; op < G.n; op++) {
      if (G.drawn.has(op)) G.select(op); else G.reveal(op);
      const box = document.getElementById("box" + op);
      if (!box || G.shownFor(op) !== op || !box.getAttribute("aria-label").startsWith(G.nameOf(op))) gone.push(op);
      if (!document.querySelector("#panel .name").textContent.includes(G.nameOf(op))) unseen.push(op);
      for (const other of G.kinOf(op)) if (!G.kinOf(other).includes(op)) oneWay.push([op, other]);
      for (const i of G.inputsOf(op)) if (!G.usersOf(i.op).includes(op)) oneWay.push([op, i.op]);
    }
    const outside = [];
    for (const [item, p] of G.placed) {
      const around = item === G.n ? null : G.placed.get(G.n + G.parentOf(item));
      if (around && (p.x < around.x - .5 || p.y < around.y - .5 || p.x + p.w > around.x + around.w + .5
        || p.y + p.h > around.y + around.h + .5)) outside.push(item);
    }
    const overlapping = [];
    for (const list of G.children) {
      const boxes = list.filter(i => G.placed.has(i)).map(i => [i, G.placed.get(i)]);
      for (const [a, p] of boxes) for (const [b, q] of boxes) if (a < b && p.x < q.x + q.w - .5 && q.x < p.x + p.w - .5
        && p.y < q.y + q.h - .5 && q.y < p.y + p.h - .5) overlapping.push([a, b]);
    }
    const canvas = document.getElementById("canvas");
    const send = k => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
    const relu = [...Array(G.n).keys()].find(i => G.nameOf(i) === "first");
    G.reveal(relu);
    const lit = [...document.querySelectorAll(".box.kin")].map(b => Number(b.dataset.item));
    said.kin = lit.filter(i => i < G.n).map(G.nameOf);
    send("g");
    said.jumped = document.querySelector("#panel .name").textContent;
    G.collapse();
    said.closed = [...G.open].length;
    G.select(G.n + 1); send("Enter");
    said.opened = [...G.open].length;
    send("ArrowDown"); send("Escape"); send("o"); send("0"); send("c");
    G.search.value = "FIRST_grad tanh"; G.search.dispatchEvent(new Event("input"));
    said.found = [...document.querySelectorAll("#results button")].map(b => b.textContent);
    G.search.value = ""; G.search.dispatchEvent(new Event("input"));
    send("t");
    const rows = [];
    for (;;) {
      rows.push(...[...document.querySelectorAll("#table tbody th")].map(c => c.textContent));
      const next = [...document.querySelectorAll("#table .pages button")].find(b => b.textContent === "Next");
      if (next.disabled) break;
      next.click();
    }
    said.rows = rows;
    said.headers = document.querySelectorAll("#table th[scope=col]").length;
    send("t");
    const overlay = document.getElementById("overlay");
    for (const option of overlay.options) if (!option.disabled) { overlay.value = option.value; G.paint(); }
    const slider = document.querySelector("#memory input");
    slider.value = 1;
    slider.dispatchEvent(new Event("input"));
    said.alive = document.querySelector("#panel h2").textContent;
    document.getElementById("theme").click();
    said.theme = document.documentElement.dataset.theme;
    Object.assign(said, { gone, unseen, oneWay, outside, overlapping });
  } catch (e) { faults.push(e.stack); }
  document.documentElement.setAttribute("data-said", JSON.stringify({ ...said, faults }));
});
"""


def said_by(page: str, probe: str, folder: pathlib.Path, size: str = "1400,900") -> dict[str, Any]:
    """Opens a page with a script added to it, in a window of that size; returns what the script left."""
    path = folder / "page.html"
    path.write_text(page.replace("<title>", f"<script>{probe}</script><title>", 1), encoding="utf-8")
    return said_of(path, folder / "profile", size)


def said_of(path: pathlib.Path, profile: pathlib.Path, size: str) -> dict[str, Any]:
    """Opens a file in a window of a size; returns what a script in it left."""
    if _CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: chromium)")
    done = subprocess.run([_CHROMIUM, *_FLAGS, f"--window-size={size}", f"--user-data-dir={profile}", path.as_uri()],
                          capture_output=True, text=True, timeout=240, check=False)
    found = re.search(r'data-said="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(html.unescape(found[1]))
    return told


def test_page(tmp_path: pathlib.Path) -> None:
    """Each operation can be reached in the picture and in the table; boxes do not overlap; keys and search work."""
    with tf.Graph().as_default() as graph:
        x = h = tf.placeholder(tf.float32, [2, 4], name="x")
        with tf.name_scope("net"):
            for _ in range(5):
                h = tf.tanh(h * 2.0 + x)
        y = tf.tanh(tf.reduce_sum(h), name="first")
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a)), [0, y])[1]
        y = tf.cond(y > 0.0, lambda: tf.recompute_grad(tf.exp)(y), lambda: y * 2.0)
        (g,) = tf.gradients(y, x)
        tf.gradients(tf.reduce_sum(g * g), x)
        with tf.Session() as sess:
            metadata = tf.RunMetadata()
            sess.run(g, {x: [[0.1] * 4] * 2}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                     run_metadata=metadata)
    view = tf.view_graph(graph, run_metadata=metadata, title="<b>net</b>")
    said = said_by(view.html, _PROBE, tmp_path)
    assert said["faults"] == []
    for kind in ("gone", "unseen", "oneWay", "outside", "overlapping"):
        assert said[kind] == [], kind
    assert 10 < said["atFirst"] < 150
    assert "gradients/first_grad/TanhGrad" in said["kin"] and "first_grad" in said["jumped"]
    assert said["closed"] == 1 and said["opened"] == 2
    assert said["found"] and all("first_grad" in name and "Tanh" in name for name in said["found"])
    assert len(said["rows"]) == view.operations and said["headers"] >= 8
    assert said["alive"] == "Alive after step 1" and said["theme"] in ("light", "dark")
