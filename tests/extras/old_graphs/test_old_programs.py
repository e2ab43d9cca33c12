"""Graphs of TensorFlow 1 compute here what they computed there, in three runs, with gradients and steps."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import pathlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.proto.text import parse
from tests.support.effort import long

_RECORDED = json.loads(gzip.decompress(
    (pathlib.Path(__file__).parents[2] / "recorded" / "old_programs.json.gz").read_bytes()))
_ENGINES: dict[str, Callable[[], Any]] = {"numpy": HostSession, "xla": tf.Session}


@functools.cache
def _meta(name: str) -> Any:
    return tf.MetaGraphDef.FromString(zlib.decompress(base64.b64decode(_RECORDED[name]["graph"])))


def _plain(value: Any) -> Any:
    if hasattr(value, "dense_shape"):
        dense = np.zeros(value.dense_shape, value.values.dtype)
        np.add.at(dense, value.indices, value.values)
        return dense
    return value


def _same(found: Any, expected: Any, what: str) -> None:
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        a = np.asarray(_plain(a))
        if a.dtype.kind in "OSU":
            assert [v.decode() if isinstance(v, bytes) else v for v in a.ravel().tolist()] == b, what
        else:
            np.testing.assert_allclose(a, np.reshape(b, a.shape), rtol=2e-5, atol=2e-6, err_msg=f"{what}, result {i}")


def _gradients(recorded: Any, outputs: list[Any]) -> list[Any]:
    graph = tf.get_default_graph()
    xs = [graph.get_tensor_by_name(x) for x in recorded["xs"]]
    grads = tf.gradients(outputs[0], xs)
    assert [g is None for g in grads] == [g is None for g in recorded["gradients"]]
    return [g for g in grads if g is not None]


def _runs(recorded: Any, sess: Any, outputs: list[Any], minimize: bool) -> None:
    """All that was recorded, in its order."""
    runs = [{k: v[i] for k, v in recorded["feeds"].items()} for i in range(3)]
    grads = _gradients(recorded, outputs) if "gradients" in recorded else []
    for i, run in enumerate(runs):
        _same(sess.run(outputs, run), recorded["values"][i], f"run {i}")
    if "gradients" in recorded:
        _same(sess.run(grads, runs[0]), [g for g in recorded["gradients"] if g is not None], "gradients")
    if recorded["train"]:
        for run in runs:
            sess.run(recorded["train"], run)
        _same(sess.run(outputs, runs[0]), recorded["trained"], "trained")
    if "minimized" in recorded and minimize:
        step = tf.train.GradientDescentOptimizer(0.05).minimize(outputs[0])
        for run in runs:
            sess.run(step, run)
        _same(sess.run(outputs, runs[0]), recorded["minimized"], "minimized")


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


_COMPILED = ("assignments", "reference_branches", "adam", "loop_gradient", "branch_in_loop_gradient", "array_methods",
             "symbolic_gradient", "functional_branches", "old_matrices", "input_queues")
_RUNS = [pytest.param(name, engine, marks=() if engine == "numpy" or name in _COMPILED else long("ten are compiled"))
         for name in _RECORDED for engine in _ENGINES]


@pytest.mark.parametrize(("name", "engine"), _RUNS)
def test_meta_graphs(name: str, engine: str) -> None:
    """With its collections, a graph computes what it did; so do its gradients and the steps of another optimizer."""
    recorded = _RECORDED[name]
    tf.train.import_meta_graph(_meta(name))
    graph = tf.get_default_graph()
    outputs = [graph.get_tensor_by_name(n) for n in recorded["outputs"]]
    with _ENGINES[engine]() as sess:
        sess.run(recorded["init"], recorded["init_feeds"])
        if not recorded.get("queues"):
            _runs(recorded, sess, outputs, True)
            return
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        _runs(recorded, sess, outputs, True)
        coordinator.request_stop()
        sess.close()
        coordinator.join(threads, stop_grace_period_secs=2, ignore_live_threads=True)


@pytest.mark.parametrize("name", [n for n, r in _RECORDED.items() if not r.get("queues")])
def test_graph_defs(name: str) -> None:
    """The graph alone, from its bytes or its text, in the scope in which it was built."""
    recorded = _RECORDED[name]
    message = _meta(name).graph_def.SerializeToString()
    if "text" in recorded:
        message = tf.GraphDef()
        message.CopyFrom(parse(tf.GraphDef, recorded["text"]))
        message.versions.producer = recorded["producer"]
    outputs = tf.import_graph_def(message, return_elements=recorded["outputs"], name="")
    with HostSession() as sess:
        if "text" not in recorded:  # that has no variables
            sess.run(recorded["init"], recorded["init_feeds"])
        _runs(recorded, sess, outputs, False)

