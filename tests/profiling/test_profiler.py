"""`tf.profiler`: counts equal TensorFlow's; times and bytes of runs add up; every output and every refusal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.extras.profiling.profile_messages import OpLogProto, ProfileProto
from tests import ROOT
from tests.profiling import profile_cases

_BUILDER = tf.profiler.ProfileOptionBuilder


def test_counts_of_tensorflow(graph: Any) -> None:
    """Parameters, float operations, and what is shown under which options are those that TensorFlow gave."""
    recorded = json.loads((ROOT / "tests/recorded/profiles.json").read_text())
    assert json.loads(json.dumps(profile_cases.profiles(tf))) == recorded and len(recorded) > 60


def _network() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [8, 20], name="x")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [20, 30], initializer=tf.ones_initializer())
        y = tf.matmul(x, w)
    return x, tf.gradients(tf.reduce_sum(y * y, name="loss"), [w])[0]


def _traced(session: Any, fetch: Any, feeds: Any) -> Any:
    metadata = tf.RunMetadata()
    session.run(fetch, feeds, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    return metadata


@pytest.fixture
def profiler(graph: Any) -> Any:
    """A profiler with two steps, numbers 3 and 7."""
    x, gradient = _network()
    made = tf.profiler.Profiler(graph)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in (3, 7):
            made.add_step(step, _traced(session, gradient, {x: np.ones((8, 20), np.float32)}))
    return made


def _quiet(options: dict[str, Any] | None = None) -> Any:
    return _BUILDER(_BUILDER.time_and_memory(0, 0) if options is None else options).with_empty_output()


def _all_nodes(root: Any) -> list[Any]:
    found = [root]
    for node in found:
        found += node.children
    return found


def test_times_and_bytes(profiler: Any) -> None:
    """The time of a run is divided among its operations, none is lost; bytes are those of results."""
    runs = profiler._runs
    for step in (3, 7, -1):
        chosen = [runs[step]] if step in runs else list(runs.values())
        micros = sum(s.seconds * 1e6 for run in chosen for s in run.report.steps) / len(chosen)
        for profile in (profiler.profile_name_scope, profiler.profile_graph, profiler.profile_operations,
                        profiler.profile_python):
            root = profile(_quiet().with_step(step).build())
            assert abs(root.total_exec_micros - micros) < 1
            assert root.total_cpu_exec_micros == root.total_exec_micros and not root.total_accelerator_exec_micros
    by_name = {n.name: n for n in _all_nodes(profiler.profile_name_scope(_quiet().build()))}
    product = by_name["layer/MatMul"]
    assert product.output_bytes == product.requested_bytes == 8 * 30 * 4 and product.run_count == 1
    assert [d.size for d in product.input_shapes[0].dim] == [8, 20] and product.float_ops == 2 * 8 * 20 * 30
    assert product.devices == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    assert by_name["layer/w"].parameters == 600 and [d.size for d in by_name["layer/w"].shapes[0].dim] == [20, 30]


def test_lines(profiler: Any) -> None:
    """Lines are those of the program; what is built for a gradient is told apart."""
    root = profiler.profile_python(_quiet(_BUILDER.float_operation()).build())
    nodes = _all_nodes(root)[1:]
    named = {g.name: n.name for n in nodes for g in n.graph_nodes}
    assert named["layer/MatMul"].endswith(":_network")
    gradient = next(name for name in named if name.startswith("gradients/layer/MatMul_grad"))
    assert named[gradient] == named["layer/MatMul"] + " (gradient)"


def test_text(profiler: Any, tmp_path: Any, capsys: Any) -> None:
    """A profile is printed, or written to a file; a timeline is one of each step."""
    options = _BUILDER(_BUILDER.trainable_variables_parameter())
    profiler.profile_name_scope(options.build())
    assert capsys.readouterr().out == ("node name | # parameters\n_TFProfRoot (--/600 params)\n"
                                       "  layer (--/600 params)\n    layer/w (20x30, 600/600 params)\n")
    profiler.profile_operations(_BUILDER(_BUILDER.float_operation()).with_file_output(f"{tmp_path}/floats").build())
    lines = (tmp_path / "floats").read_text().splitlines()
    assert lines[0] == "node name | # float_ops" and lines[1].startswith("MatMul  ") and "(100.00%, " in lines[1]
    everything = _BUILDER(_BUILDER.time_and_memory(0, 0)).select(
        ["micros", "bytes", "params", "float_ops", "occurrence", "device", "op_types", "input_shapes"])
    profiler.profile_name_scope(everything.build())
    text = capsys.readouterr().out
    assert "layer/MatMul (" in text and "0:(8, 20), 1:(20, 30)" in text and "MatMul" in text
    profiler.profile_graph(_BUILDER().with_timeline_output(f"{tmp_path}/timeline").build())
    for step in (3, 7):
        assert json.loads((tmp_path / f"timeline_{step}").read_text())["traceEvents"]
    assert capsys.readouterr().out == ""


def test_unknown_shapes_are_told(graph: Any, capsys: Any) -> None:
    """What depends on dimensions that are not known is not counted, and that is said."""
    tf.placeholder(tf.float32, [None, 3]) + 1.0
    assert tf.profiler.profile(graph, options=_BUILDER.float_operation()).total_float_ops == 0
    assert "1 operations have dimensions that are not known" in capsys.readouterr().out


def test_advice(profiler: Any, capsys: Any) -> None:
    """What takes most of the time, from the largest on."""
    made = profiler.advise(None)
    assert sorted(made.checkers) == ["AcceleratorUtilizationChecker", "ExpensiveOperationChecker", "OperationChecker"]
    types, scopes, lines = made.checkers["ExpensiveOperationChecker"].reports
    assert types.startswith("top 1 operation type: MatMul, cpu: ") and scopes.startswith("top 1 graph node: ")
    assert ".py:" in lines and types in capsys.readouterr().out
    assert sorted(profiler.advise({"OperationChecker": {}}).checkers) == ["OperationChecker"]
    assert not tf.profiler.advise(profiler._graph).checkers["ExpensiveOperationChecker"].reports


def test_messages(profiler: Any, tmp_path: Any) -> None:
    """What a program says of its operations is read and written; a whole profiler is a message."""
    log = OpLogProto()
    log.log_entries.add(name="layer/MatMul", float_ops=5, types=["mine"])
    mine = _quiet(_BUILDER.float_operation()).with_accounted_types(["mine"]).build()
    assert tf.profiler.profile(profiler._graph, op_log=log, options=mine).total_float_ops == 5
    tf.profiler.write_op_log(profiler._graph, str(tmp_path / "new"), log)
    read = OpLogProto.FromString((tmp_path / "new" / "tfprof_log").read_bytes())
    entries = {e.name: e for e in read.log_entries}
    assert entries["layer/MatMul"].float_ops == 5 and entries["layer/w"].types == ["_trainable_variables"]
    last = entries["layer/MatMul"].code_def.traces[-1]
    assert read.id_to_string[last.function_id] == "_network" and read.id_to_string[last.file_id] == __file__
    whole = ProfileProto.FromString(profiler.serialize_to_string())
    assert whole.steps == [3, 7]
    assert any(n.name == "layer/MatMul" and sorted(n.execs) == [3, 7] for n in whole.nodes.values())


def test_read_from_a_file(profiler: Any) -> None:
    """A `RunMetadata` that was written has the times of its steps."""
    run = profiler._runs[3]
    again = tf.RunMetadata.FromString(run.SerializeToString())
    total = tf.profiler.profile(profiler._graph, again, options=_quiet().build()).total_exec_micros
    assert abs(total - sum(s.seconds * 1e6 for s in run.report.steps if s.names)) <= len(run.report.steps)


@pytest.mark.parametrize("error, text, call", [
    (errors.InvalidArgumentError, "(?s)unknown cmd: lines.*Fix: choose", lambda: tf.profiler.profile(cmd="lines")),
    (errors.InvalidArgumentError, "(?s)sort by 'size'.*Fix: choose", lambda: tf.profiler.profile(
        options=_BUILDER().order_by("size").build())),
    (errors.InvalidArgumentError, r"(?s)'\(' is no regular expression.*Fix", lambda: tf.profiler.profile(
        options=_BUILDER().with_accounted_types(["("]).build())),
    (errors.UnimplementedError, "(?s)not written for pprof.*Fix: with_timeline", lambda: tf.profiler.profile(
        options=_BUILDER().with_pprof_output("x").build())),
    (errors.InvalidArgumentError, "(?s)step 2 has no steps.*Fix.*FULL_TRACE",
     lambda: tf.profiler.Profiler().add_step(2, tf.RunMetadata())),
    (TypeError, "graph must be a tf.Graph, not a str", lambda: tf.profiler.profile("graph")),
])
def test_refusals(graph: Any, error: type[Exception], text: str, call: Any) -> None:
    """Each has a remedy."""
    with pytest.raises(error, match=text):
        call()


def test_unknown_step(profiler: Any) -> None:
    """A step that is not there is refused, with those that are."""
    with pytest.raises(errors.InvalidArgumentError, match=r"(?s)no step 4.*Fix: choose from \[3, 7\]"):
        profiler.profile_graph(_quiet().with_step(4).build())


def test_eager_mode() -> None:
    """There is no default graph to profile in eager mode; a function's graph can be profiled."""
    with pytest.raises(ValueError, match=r"(?s)eager mode has no graph.*Fix: profile\(graph\)"):
        tf2.compat.v1.profiler.profile()
    graph = tf2.function(lambda x: x @ x).get_concrete_function(tf2.TensorSpec([4, 4])).graph
    options = _quiet(_BUILDER.float_operation()).build()
    assert tf2.compat.v1.profiler.profile(graph, options=options).total_float_ops == 128
