"""When the steps of a run ran: `RunMetadata.step_stats`, timelines for Chrome, and what TensorBoard reads of them."""

from __future__ import annotations

import itertools
import json
import os
import time
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.step_stats import StepStats
from graphgrad.extras.profiling.timeline import Timeline

# What TensorFlow's own StepStats of one step serializes to.
_OF_TENSORFLOW = "0a190a016412140a0161100520032804420761203d204228294805"


def test_as_in_tensorflow() -> None:
    """The message is TensorFlow's."""
    made = StepStats()
    device = made.dev_stats.add(device="d")
    device.node_stats.add(node_name="a", all_start_micros=5, op_end_rel_micros=3, all_end_rel_micros=4,
                          timeline_label="a = B()", scheduled_micros=5)
    assert made.SerializeToString().hex() == _OF_TENSORFLOW


def test_times(graph: Any, tmp_path: Any) -> None:
    """Each step once, one after the other, within the time of the run; sleeping in one of them shows."""
    x = tf.placeholder(tf.float32, [20, 20])

    def slow(v: Any) -> Any:
        time.sleep(0.05)
        return v + 1

    y = tf.py_func(slow, [tf.matmul(x, x, name="before")], tf.float32, name="slow")
    y.set_shape([20, 20])
    z = tf.reduce_sum(tf.matmul(y, y), name="after")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        feeds = {x: np.ones((20, 20), np.float32)}
        session.run(z, feeds)
        begun = time.time()
        session.run(z, feeds, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        ended = time.time()
    steps = metadata.step_stats.dev_stats[0].node_stats
    assert [s.timeline_label.partition(" = ")[2].partition(":")[0] for s in steps] == ["cluster", "host", "cluster"]
    spans = [(s.all_start_micros, s.all_start_micros + s.all_end_rel_micros) for s in steps]
    assert all(a[1] <= b[0] + 2 for a, b in itertools.pairwise(spans))
    assert begun * 1e6 - 5e4 <= spans[0][0] and spans[-1][1] <= ended * 1e6 + 5e4
    assert steps[1].all_end_rel_micros >= 49_000 and steps[1].node_name == "slow"
    events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    assert [e["dur"] for e in events if e["ph"] == "X"] == [s.all_end_rel_micros for s in steps]
    assert json.loads(Timeline(tf.RunMetadata().step_stats).generate_chrome_trace_format()) == {"traceEvents": []}
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_run_metadata(metadata, "step1", 1)
        with pytest.raises(ValueError, match="(?s)tag was already used.*Fix:"):
            writer.add_run_metadata(metadata, "step1", 1)
    (name,) = os.listdir(tmp_path)
    event = list(tf.train.summary_iterator(str(tmp_path / name)))[1]
    tagged = event.tagged_run_metadata
    assert (event.step, tagged.tag) == (1, "step1") and metadata.step_stats.SerializeToString() in tagged.run_metadata
