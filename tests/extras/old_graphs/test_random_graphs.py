"""Random graphs as TensorFlow 1 built them compute here what they computed there, in three runs.

To compare more of them than the suite does: `GRAPHGRAD_OLD_GRAPHS=FILE pytest tests/extras/old_graphs` with a file that
tests/record/old/random_graphs.py has written.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import pathlib
import zlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import long

from .random_graphs import RUNS

_PATH = pathlib.Path(os.environ.get("GRAPHGRAD_OLD_GRAPHS", pathlib.Path(__file__).parents[2] / "recorded" /
                                    "old_random_graphs.jsonl.gz"))
_RECORDED = [r for r in map(json.loads, gzip.decompress(_PATH.read_bytes()).splitlines()) if len(r) > 2]
_OWN = "GRAPHGRAD_OLD_GRAPHS" in os.environ
_REFUSED = {  # where reading says that it does not recognise the control flow, and why
    10: "the gradient of a branch reads what an assignment in the branch gave",
    14: "a tensor array is made anew in each iteration, and differentiated",
    21: "a gradient that is taken in a branch keeps values of a loop before it",
    24: "the gradient of a branch reads what an assignment in the branch gave",
}
_GRAPHS = [pytest.param(r, id=str(r[0]), marks=() if i < 12 or _OWN else long("12 graphs say most"))
           for i, r in enumerate(_RECORDED)]
_PARTS = ("y", "dy/dx", "dy/dv", "dy/dw", "v", "w")


def _imported(seed: int, graph: str) -> None:
    meta = tf.MetaGraphDef.FromString(zlib.decompress(base64.b64decode(graph)))
    if seed in _REFUSED:
        with pytest.raises(ValueError, match="is not recognised: (its result|it gets the handle|a gradient)"):
            tf.train.import_meta_graph(meta)
        pytest.xfail(_REFUSED[seed])
    tf.train.import_meta_graph(meta)


def _compare(found: list[Any], recorded: list[Any], run: int) -> None:
    for part, a, b in zip(_PARTS, found, recorded, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10, err_msg=f"{part} in run {run}")


@pytest.mark.parametrize("recorded", _GRAPHS)
def test_as_recorded(recorded: Any) -> None:
    """The results, the gradients that are in the graph, and the variables."""
    seed, graph, init, fetches, values = recorded
    with tf.Graph().as_default(), HostSession() as sess:
        _imported(seed, graph)
        sess.run(init)
        for i, (x, there) in enumerate(zip(RUNS, values, strict=True)):
            _compare(sess.run(fetches, {"x:0": x}), there, i + 1)


@pytest.mark.parametrize("recorded", _GRAPHS)
def test_differentiated_here(recorded: Any) -> None:
    """The gradient by x, taken anew, is that of the graph."""
    seed, graph, init, fetches, values = recorded
    with tf.Graph().as_default() as g, HostSession() as sess:
        _imported(seed, graph)
        y, x = g.get_tensor_by_name(fetches[0]), g.get_tensor_by_name("x:0")
        (dx,) = tf.gradients(y, [x], unconnected_gradients="zero")
        sess.run(init)
        _compare(sess.run([y, dx], {x: RUNS[0]}), values[0], 1)
