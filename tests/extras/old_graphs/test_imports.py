"""Graphs with TensorFlow 1's own control flow (Switch, Merge, Enter, Exit ...) become functional when imported."""

from __future__ import annotations

import base64
import json
import pathlib
import zlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf

from .import_cases import CASES

pytestmark = pytest.mark.usefixtures("graph")
_RECORDED = json.loads((pathlib.Path(__file__).parents[2] / "recorded" / "old_graphs.json").read_text())


def _graph_def(message: str) -> Any:
    return tf.GraphDef.FromString(zlib.decompress(base64.b64decode(message)))


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    """An imported graph computes what TensorFlow computed with it, and has the same gradient."""
    with tf.Graph().as_default():
        feeds = CASES[name](tf)[1]
    gradients = _RECORDED[name].get("gradients")
    recorded = _RECORDED[name]
    results = tf.import_graph_def(_graph_def(recorded["graph"]), return_elements=recorded["results"], name="")
    kinds = {op.type for op in tf.get_default_graph().get_operations()}
    assert kinds & {"If", "While"} and not kinds & {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}
    if gradients is not None:
        y = next(t for t in results if t.dtype is tf.float32)
        results += tf.gradients(y, [tf.get_default_graph().get_tensor_by_name("x:0")])
    with tf.Session() as sess:
        if name == "updates":
            sess.run("v/Assign")
        for i, expected in enumerate(_RECORDED[name]["values"]):
            run = [values[i] for values in feeds.values()]
            expected = expected if gradients is None else [*expected, gradients[i]]
            for found, value in zip(sess.run(results, dict(zip(feeds, run, strict=True))), expected, strict=True):
                np.testing.assert_allclose(found, value, rtol=1e-6)


def test_names_are_kept() -> None:
    """What went out of a loop or a branch has the name that it had; a scope can be given."""
    (y,) = tf.import_graph_def(_graph_def(_RECORDED["loop"]["graph"]), return_elements=["while/Exit_1:0"], name="again")
    assert y.name == "again/while/Exit_1:0" and y.shape.as_list() == [2, 2]
    n = tf.constant(2)
    (i,) = tf.import_graph_def(_graph_def(_RECORDED["loop"]["graph"]), {"n:0": n}, ["while/Exit:0"], name="mapped")
    with tf.Session() as sess:
        assert sess.run(i, {"mapped/x:0": np.zeros([2, 2])}) == 2


def test_what_is_not_recognised() -> None:
    """Values that come together from nowhere, a frame without a condition."""
    nodes = _graph_def(_RECORDED["branches"]["graph"])
    for node in nodes.node:
        if node.op == "Switch":
            node.op = "Identity"
            del node.input[1:]
    with pytest.raises(ValueError, match=r"(?s)Merge 'cond/Merge'.*not recognised: 0 conditions decide.*Fix:"):
        tf.import_graph_def(nodes)
    nodes = _graph_def(_RECORDED["loop"]["graph"])
    for node in nodes.node:
        if node.op == "LoopCond":
            node.op = "Identity"
    with pytest.raises(ValueError, match=r"(?s)not recognised: the frame 'while/while_context' has 0 conditions.*Fix:"):
        tf.import_graph_def(nodes)
