"""`MultiWorkerMirroredStrategy` in two processes, beside what TensorFlow gives for the same program."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.backend import process_group as processes
from graphgrad.ir import context
from tests import ROOT

_PROGRAM = """
    import json
    import sys
    import numpy as np
    import graphgrad as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    me = strategy.cluster_resolver.task_id
    x, y = np.linspace(-1, 1, 24).reshape(8, 3), np.linspace(0, 1, 8).reshape(8, 1)
    with strategy.scope():
        w, v = (tf.Variable(np.full((3, 1), 0.5) + me) for _ in range(2))  # process 0's values count
        a = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        first = tf.Variable(0.0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
        rows = tf.Variable(np.ones((3, 2)))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat(4))
    context = tf.distribute.get_replica_context

    def replica(x, y):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum((tf.matmul(x, w) - y) ** 2) / 8
            other = tf.reduce_sum(tf.gather(rows, [me, 2])) + tf.reduce_sum((tf.matmul(x, v) - y) ** 2) / 8
        gradient = context().all_reduce("SUM", tape.gradient(loss, w))
        w.assign_sub(0.1 * gradient)
        optimizer.apply_gradients(zip(tape.gradient(other, [v, rows]), [v, rows]))
        a.assign_add(1.0)
        first.assign_add(1.0 + me)
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica, args=batch), axis=None)

    def parts(data):
        return [[part.numpy().tolist() for part in strategy.experimental_local_results(e)] for e in data]

    def shared(policy):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policy
        return parts(strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4).with_options(options)))

    losses = [float(step(batch)) for batch in data]
    run = strategy.run
    print(json.dumps([
        losses, w.numpy().tolist(), float(a.numpy()), float(first.numpy()), strategy.num_replicas_in_sync,
        float(run(lambda: context().all_reduce("MEAN", {"a": tf.constant(1.0) + me}))["a"]),
        parts(strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))),
        parts(strategy.distribute_datasets_from_function(lambda c: tf.data.Dataset.range(8).shard(
            c.num_input_pipelines, c.input_pipeline_id).batch(c.get_per_replica_batch_size(4)))),
        run(lambda: context().all_gather(tf.fill([me + 1], me), axis=0)).numpy().tolist(),
        strategy.gather(run(lambda: tf.fill([2, me + 1], me)), axis=1).numpy().tolist(),
        float(strategy.reduce("MEAN", run(lambda: tf.range(2.0 + me)), axis=0)),
        strategy.extended.should_checkpoint, v.numpy().tolist(), rows.numpy().tolist(),
        shared(tf.data.experimental.AutoShardPolicy.DATA), shared(tf.data.experimental.AutoShardPolicy.OFF)]))
"""

# Recorded from TensorFlow 2.21, by this program without its optimizer.
_LOSSES = [0.5740615716986227, 0.44850716482097697, 0.3704436415108805, 0.3216958600671454]
_W = [[0.2688542672055721], [0.3034793899579515], [0.3381045127103309]]
_PARTS = [[[[0, 1]], [[4, 5]], [[8]]], [[[2, 3]], [[6, 7]], [[9]]]]
_OWN = [[[[0, 2]], [[4, 6]]], [[[1, 3]], [[5, 7]]]]
_FIRST = [4.0, 8.0]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_two_workers(tmp_path: pathlib.Path) -> None:
    """TF_CONFIG says who is there; losses are equal to the bit in both, and those of TensorFlow to rounding."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(_PROGRAM))
    cluster = {"worker": [f"localhost:{_free_port()}", f"localhost:{_free_port()}"]}
    workers = []
    for i in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TF_CONFIG": config}
        workers.append(subprocess.Popen([sys.executable, str(path)], env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True))
    try:
        outputs = [worker.communicate(timeout=120) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    found: list[Any] = []
    for worker, (out, err) in zip(workers, outputs, strict=True):
        assert worker.returncode == 0, err
        found.append(json.loads(out.splitlines()[-1]))
    assert found[0][:3] == found[1][:3]
    for i, values in enumerate(found):
        np.testing.assert_allclose(values[0], _LOSSES, rtol=1e-12)
        np.testing.assert_allclose(values[1], _W, rtol=1e-12)
        assert values[2:6] == [8.0, _FIRST[i], 2, 1.5] and values[6:8] == [_PARTS[i], _OWN[i]]
        assert values[8:10] == [[0, 1, 1], [[0, 1, 1], [0, 1, 1]]] and values[11] is (i == 0)
        np.testing.assert_allclose(values[12], _W, rtol=1e-6)
        np.testing.assert_allclose(values[10], 0.8, rtol=1e-6)
        assert values[14] == _PARTS[i] and values[15] == [[[0, 1]], [[2, 3]], [[4, 5]], [[6, 7]], [[8]], [[9]]]
        np.testing.assert_allclose(values[13], [[0.6, 0.6], [0.6, 0.6], [0.2, 0.2]], rtol=1e-6)


@pytest.mark.parametrize(("config", "kind", "text"), [
    ({"cluster": {"worker": ["a:1"]}}, ValueError, "is none of its cluster's.*Fix:"),
    ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}, ValueError, "is none of its cluster's"),
    ({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "worker", "index": 0}},
     tf.errors.UnimplementedError, r"tasks \['ps'\] is not offered.*Fix:"),
])
def test_clusters_that_make_no_sense(config: Any, kind: type, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster without this process, or with parameter servers, is refused."""
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(kind, match=f"(?s){text}"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of one process, and none at all, is one replica; a process belongs to one cluster."""
    processes.forget()
    task = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}, "task": task}))
    try:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        resolver = strategy.cluster_resolver
        assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 0, "")
        with context.use(context.EAGER):
            with strategy.scope():
                v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
            strategy.run(lambda: v.assign_add(2.0))
            assert strategy.reduce("SUM", strategy.run(lambda: v.read_value()), axis=None).numpy() == 3.0
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1", "b:1"]},
                                                    "task": {"type": "worker", "index": 1}}))
        with pytest.raises(RuntimeError, match=r"(?s)number 0 of 1 already.*Fix:"):
            tf.distribute.MultiWorkerMirroredStrategy()
    finally:
        processes.forget()
