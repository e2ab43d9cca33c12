"""Traces that Perfetto and chrome://tracing open: of a run, of the hook, of `tf.profiler.experimental`."""

from __future__ import annotations

import glob
import gzip
import json
import threading
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.executor.runtime.step_stats import StepStats
from graphgrad.extras.profiling.timeline import Timeline, parts_of

_FIELDS = {"X": {"name", "cat", "pid", "tid", "ts", "dur", "args"}, "C": {"name", "pid", "ts", "args"},
           "s": {"name", "cat", "id", "pid", "tid", "ts"}, "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
           "M": {"name", "pid", "args"}}
_METADATA = {"process_name": "name", "process_sort_index": "sort_index", "thread_name": "name"}


def check(text: str) -> list[dict[str, Any]]:
    """Checks a trace against the Trace Event Format, as its readers use it; returns its events."""
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    for e in events:
        assert _FIELDS[e["ph"]] <= e.keys(), e
        assert all(type(e[k]) is int and e[k] >= 0 for k in ("pid", "tid", "ts", "dur", "id") if k in e), e
        if e["ph"] == "M":
            assert _METADATA[e["name"]] in e["args"]
        if e["ph"] == "C":
            assert all(type(v) is int for v in e["args"].values())
    named = {e["pid"] for e in events if e.get("name") == "process_name"}
    assert {e["pid"] for e in events} == named
    threads = {(e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in spans} <= threads
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and all(starts[i]["ts"] <= ends[i]["ts"] for i in starts)
    for e in [*starts.values(), *ends.values()]:  # each is within a span, or at its edge
        assert any((s["pid"], s["tid"]) == (e["pid"], e["tid"]) and s["ts"] <= e["ts"] <= s["ts"] + s["dur"]
                   for s in spans), e
    return events


def _host_between() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [20, 20], name="x")
    y = tf.py_func(lambda v: v + 1, [tf.matmul(x, x, name="before")], tf.float32, name="between")
    y.set_shape([20, 20])
    return x, tf.reduce_sum(tf.matmul(y, y), name="after")


def _traced(session: Any, fetch: Any, feeds: Any) -> Any:
    metadata = tf.RunMetadata()
    session.run(fetch, feeds, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    return metadata


def test_of_a_run(graph: Any) -> None:
    """Steps, the arrows between them, and memory; each can be left out."""
    x, z = _host_between()
    with tf.Session() as session:
        run = _traced(session, z, {x: np.ones((20, 20), np.float32)})
    assert [step.reads for step in run.report.steps] == [(), (0,), (1,)]
    timeline = Timeline(run.step_stats)
    events = check(timeline.generate_chrome_trace_format(show_dataflow=True, show_memory=True))
    spans = [e for e in events if e["ph"] == "X"]
    assert [s["name"].partition(":")[0] for s in spans] == ["cluster", "host", "cluster"]
    assert spans[1]["args"]["name"] == "between" and spans[1]["args"]["input0"] == spans[0]["args"]["name"]
    assert sum(e["ph"] == "f" for e in events) == 2
    alive = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"].endswith(": alive")]
    assert alive == [step.live_bytes for step in run.report.steps]
    kinds = {e["ph"] for e in check(timeline.generate_chrome_trace_format(show_dataflow=False))}
    assert kinds == {"M", "X"}
    analysis = timeline.analyze_step_stats()
    assert analysis.allocator_maximums["graphgrad"].num_bytes == max(alive)
    assert check(analysis.chrome_trace.format_to_string()) == events


def test_of_other_messages() -> None:
    """Labels of any form, several devices, and steps that waited before they began."""
    assert parts_of("a = B(c, d:1)", "n") == ("a", "B", ["c", "d:1"])
    assert parts_of("something else", "n") == ("n", "something else", [])
    assert parts_of("", "n") == ("n", "n", [])
    stats = StepStats()
    for number in range(2):
        device = stats.dev_stats.add(device=f"device:{number}")
        device.node_stats.add(node_name=f"n{number}", all_start_micros=20 - 10 * number, scheduled_micros=5,
                              all_end_rel_micros=4, timeline_label=f"n{number} = Op(n{1 - number})")
    events = check(Timeline(stats).generate_chrome_trace_format())
    assert [(e["pid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"] == [(1, 10, 4), (0, 20, 4)]
    assert [e["pid"] for e in events if e["ph"] in "sf"] == [1, 0]
    waited = check(Timeline(stats).generate_chrome_trace_format(op_time="all", show_dataflow=False))
    assert [(e["ts"], e["dur"]) for e in waited if e["ph"] == "X"] == [(5, 9), (5, 19)]


def test_hook(graph: Any, tmp_path: Any) -> None:
    """It writes at the steps at which TensorFlow's does: not the first, and then at intervals."""
    step = tf.train.get_or_create_global_step()
    x = tf.Variable(1.0)
    train = tf.group(tf.assign_add(step, 1), tf.assign_add(x, 2.0))
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path / "new"), show_memory=True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(7):
            session.run(train)
    files = sorted(tmp_path.glob("new/timeline-*.json"))
    assert [f.name for f in files] == [f"timeline-{n}.json" for n in (2, 4, 6)]
    for file in files:
        assert {"X", "C"} <= {e["ph"] for e in check(file.read_text())}
    (summaries,) = tmp_path.glob("new/events*")
    tf.summary.FileWriterCache.clear()
    tags = [e.tagged_run_metadata.tag for e in tf.train.summary_iterator(str(summaries)) if e.tagged_run_metadata.tag]
    assert tags == ["step_2", "step_4", "step_6"]


@pytest.mark.parametrize("resource", [False, True])
def test_hooks_count_steps(graph: Any, tmp_path: Any, resource: bool) -> None:
    """Intervals are those of TensorFlow's hooks in a training whose step is a reference: 5, 10, 15 and 1, 4, 7, ..."""
    x = tf.get_variable("x", initializer=1.0, use_resource=resource)
    tf.get_variable("global_step", initializer=np.int64(0), trainable=False, use_resource=resource,
                    collections=[tf.GraphKeys.GLOBAL_STEP, tf.GraphKeys.GLOBAL_VARIABLES])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(x * x, global_step=tf.train.get_global_step())
    summary = tf.summary.scalar("x", x)
    hooks = [tf.train.ProfilerHook(save_steps=5, output_dir=str(tmp_path / "p")),
             tf.train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path / "s"), summary_op=summary)]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(16):
            session.run(train)
    assert {f.name for f in tmp_path.glob("p/timeline-*.json")} == {f"timeline-{n}.json" for n in (5, 10, 15)}
    tf.summary.FileWriterCache.clear()
    (summaries,) = tmp_path.glob("s/events*")
    steps = [e.step for e in tf.train.summary_iterator(str(summaries)) if e.summary.value]
    assert steps == [1, 4, 7, 10, 13, 16]


def test_hooks_options_are_joined(graph: Any) -> None:
    """A run traces if one hook asks for it, whatever others ask for; each gets the metadata."""
    given = []

    class Asking(tf.train.SessionRunHook):
        def __init__(self, **options: Any) -> None:
            self._options = tf.RunOptions(**options)

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(None, options=self._options)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            given.append((run_values.options.trace_level, run_values.options.timeout_in_ms,
                          len(run_values.run_metadata.step_stats.dev_stats)))

    hooks = [Asking(trace_level=tf.RunOptions.FULL_TRACE), Asking(timeout_in_ms=60_000)]
    total = tf.reduce_sum(tf.random.normal([30]))
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(total)
    assert given == [(3, 60_000, 1)] * 2


@pytest.mark.parametrize("error, text, options", [
    (ValueError, "Either every_secs or every_steps", {}),
    (ValueError, "Can not provide both", {"save_steps": 1, "save_secs": 1.0})])
def test_hook_refusals(error: type[Exception], text: str, options: dict[str, Any]) -> None:
    """One interval."""
    with pytest.raises(error, match=text):
        tf.train.ProfilerHook(**options)


def test_hook_needs_a_step(graph: Any) -> None:
    """Without a global step there is nothing to count."""
    hook = tf.train.ProfilerHook(save_steps=1)
    with pytest.raises(RuntimeError, match=r"(?s)Global step should be created.*Fix: tf\.train\.get_or_create"):
        hook.begin()


def _recorded(logdir: Any) -> list[list[dict[str, Any]]]:
    files = sorted(glob.glob(f"{logdir}/plugins/profile/*/*.trace.json.gz"))
    return [check(gzip.open(f, "rt").read()) for f in files]


def test_recording(tmp_path: Any) -> None:
    """Runs of functions and sessions, and blocks of the program in several threads; nothing before and after."""
    @tf2.function
    def product(x: Any) -> Any:
        return tf2.matmul(x, x)

    x = tf2.ones([8, 8])
    product(x)
    with tf2.profiler.experimental.Trace("before"):
        product(x)
    with tf2.profiler.experimental.Profile(str(tmp_path)):
        with tf2.profiler.experimental.Trace("train", step_num=3, note=[1]) as block:
            product(x)
            block.set_metadata(late=True)

        def other() -> None:
            with tf2.profiler.experimental.Trace("elsewhere"):
                with tf2.Graph().as_default(), tf.Session() as session:
                    session.run(tf.tanh(tf.ones([4])))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    product(x)
    (events,) = _recorded(tmp_path)
    blocks = {e["name"]: e for e in events if e.get("cat") == "Trace"}
    assert blocks.keys() == {"train", "elsewhere"} and blocks["train"]["args"] == {
        "step_num": 3, "note": "[1]", "late": True}
    assert blocks["train"]["tid"] != blocks["elsewhere"]["tid"]
    runs = [e for e in events if e.get("cat") == "Run"]
    assert len(runs) == 2 and all(e["args"]["steps"] >= 1 for e in runs)
    assert any(e.get("cat") == "Op" and "MatMul" in e["name"] for e in events)
    tf2.profiler.experimental.start(tmp_path / "unsaved")
    tf2.profiler.experimental.stop(save=False)
    assert not (tmp_path / "unsaved").exists()


def test_recording_refusals(tmp_path: Any) -> None:
    """One recording at a time, as in TensorFlow; what failed leaves nothing on."""
    with pytest.raises(errors.UnavailableError, match="(?s)No profiler is running.*Fix"):
        tf2.profiler.experimental.stop()
    tf2.profiler.experimental.start(str(tmp_path), tf2.profiler.experimental.ProfilerOptions(host_tracer_level=3))
    try:
        with pytest.raises(errors.AlreadyExistsError, match="(?s)Another profiler is running.*Fix"):
            tf2.profiler.experimental.start(str(tmp_path))
    finally:
        tf2.profiler.experimental.stop()
    for _ in range(2):  # two in one second have folders of their own
        with tf2.profiler.experimental.Profile(str(tmp_path)):
            pass
    assert len(_recorded(tmp_path)) == 3
