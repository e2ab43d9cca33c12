"""`tf.compat.v1.profiler`: parameters, float operations, times and bytes of graphs and their runs."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.errors import InvalidArgumentError, UnimplementedError
from graphgrad.extras.profiling.profile_messages import GraphNodeProto, MultiGraphNodeProto
from graphgrad.ir import context
from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.graph import Graph

from .operation_facts import TRAINABLE, Facts, add_run, facts_of
from .options import ProfileOptionBuilder
from .profile_messages import AdviceProto, OpLogProto, ProfileProto
from .profile_text import message, text, time_str
from .timeline import Timeline
from .trees import VIEWS, Node, ProfileChoice, view

_MOST = 3  # of what is expensive


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope",
            options: Any = 0) -> GraphNodeProto | MultiGraphNodeProto:
    """Profiles a graph: parameters and float operations, and with a run's `RunMetadata` also time and bytes.

    A step of a run is one compiled program. Its time is divided among its operations by their float operations and the
    sizes of their results, which is an estimate; a timeline shows the steps as they were measured.

    Args:
      graph: the graph; the default graph by default.
      run_meta: what a run with `trace_level=FULL_TRACE` measured, or None.
      op_log: an `OpLogProto` with types and float operations of operations, or None.
      cmd: the view: "scope" by name scopes, "graph" by what reads what, "op" by types of operations, "code" by the
        program's lines.
      options: of a `ProfileOptionBuilder`; by default the parameters of trainable variables.
    Returns: a `GraphNodeProto`, or a `MultiGraphNodeProto` for "op" and "code"; and it prints the profile, or writes it
      to a file, as the options say.
    Raises: ValueError in eager mode without a graph; InvalidArgumentError for an unknown view, number or pattern;
      UnimplementedError for the output of pprof.
    Reference: TensorFlow 2.21 `tf.compat.v1.profiler.profile`.

    >>> loss = tf.reduce_sum(tf.matmul(tf.ones([2, 3]), tf.ones([3, 4])))
    >>> counted = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    >>> tf.profiler.profile(cmd="op", options=counted.build()).total_float_ops
    node name | # float_ops
    MatMul                   48 float_ops (100.00%, 87.27%)
    Sum                      7 float_ops (12.73%, 12.73%)
    55
    """
    profiler = Profiler(_graph(graph), op_log)
    if run_meta is not None:
        profiler.add_step(-1, run_meta)
    return profiler._profile(cmd, options or ProfileOptionBuilder.trainable_variables_parameter())


def _graph(graph: Any) -> Graph:
    if graph is None:
        if context.executing_eagerly():
            raise ValueError("eager mode has no graph to profile. Fix: profile(graph), such as the `graph` of a "
                             "function's get_concrete_function()")
        return context.get_default_graph()
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be a tf.Graph, not a {type(graph).__name__}")
    return graph


class Profiler:
    """Profiles several steps of a graph.

    Args:
      graph: the graph; the default graph by default.
      op_log: an `OpLogProto` with types and float operations of operations, or None.
    Raises: ValueError in eager mode without a graph.
    Reference: TensorFlow 2.21 `tf.compat.v1.profiler.Profiler`.

    >>> profiler = tf.profiler.Profiler(tf.get_default_graph())
    >>> total = tf.reduce_sum(tf.ones([20]))
    >>> metadata = tf.RunMetadata()
    >>> _ = sess.run(total, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    >>> profiler.add_step(1, metadata)
    >>> options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.time_and_memory(min_bytes=0))
    >>> profiler.profile_operations(options.with_empty_output().build()).total_exec_micros > 0
    True
    """

    def __init__(self, graph: Any = None, op_log: Any = None):
        self._graph = _graph(graph)
        self._op_log = op_log
        self._runs: dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds what a step measured.

        Args:
          step: its number.
          run_meta: its `RunMetadata`.
        Raises: InvalidArgumentError for a `RunMetadata` of a run without a trace.
        """
        if not _devices(run_meta):
            raise InvalidArgumentError(None, None, f"the RunMetadata of step {step} has no steps. Fix: session.run "
                                                   "with options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)")
        self._runs[step] = run_meta

    def profile_python(self, options: dict[str, Any]) -> Any:
        """Profiles the program's lines.

        Args:
          options: of a `ProfileOptionBuilder`.
        Returns: a `MultiGraphNodeProto`.
        """
        return self._profile("code", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """Profiles types of operations.

        Args:
          options: of a `ProfileOptionBuilder`.
        Returns: a `MultiGraphNodeProto`, in which each type is beneath the one before.
        """
        return self._profile("op", options)

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """Profiles name scopes.

        Args:
          options: of a `ProfileOptionBuilder`.
        Returns: a `GraphNodeProto`.
        """
        return self._profile("scope", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        """Profiles operations, each beneath the first one that reads it.

        Args:
          options: of a `ProfileOptionBuilder`.
        Returns: a `GraphNodeProto`.
        """
        return self._profile("graph", options)

    def advise(self, options: dict[str, Any] | None) -> AdviceProto:
        """Says what takes most of the time, and prints it.

        Args:
          options: names of checkers -> options; "ExpensiveOperationChecker" is the one that has something to say.
        Returns: an `AdviceProto`.
        """
        made = AdviceProto()
        for name in options or ("ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "OperationChecker"):
            checker = made.checkers[name]
            if name == "ExpensiveOperationChecker":
                checker.reports.extend(self._expensive())
            print(f"{name}:", *checker.reports, sep="\n")
        return made

    def serialize_to_string(self) -> bytes:
        """Returns operations, and when they ran, as a serialized `ProfileProto`."""
        found, _ = facts_of(self._graph, self._op_log)
        made = ProfileProto(steps=sorted(self._runs))
        times = {step: self._facts(step)[0] for step in self._runs}
        for number, (name, one) in enumerate(found.items()):
            node = made.nodes[number]
            node.name, node.op, node.id = name, one.kind, number
            node.float_ops = round(one.counts["float_ops"])
            node.op_types.extend(sorted(one.types))
            for step, facts in times.items():
                if facts[name].counts["run_count"]:
                    ran = node.execs[step]
                    ran.run_count = 1
                    ran.latest_end_micros = round(facts[name].counts["exec_micros"])
                    ran.devices.extend(facts[name].devices)
        return made.SerializeToString()

    def _facts(self, step: int) -> tuple[dict[str, Facts], int]:
        """Returns what is known, for one step, or for the mean of all if it is negative."""
        found, unknown = facts_of(self._graph, self._op_log)
        if step >= 0 and self._runs and step not in self._runs:
            raise InvalidArgumentError(None, None, f"there is no step {step}. Fix: choose from {sorted(self._runs)}, "
                                                   "or -1 for the mean of all")
        runs = [self._runs[step]] if step in self._runs else list(self._runs.values())
        for run in runs:
            add_run(found, run, 1 / len(runs))
        return found, unknown

    def _profile(self, kind: str, given: dict[str, Any]) -> Any:
        if kind not in VIEWS:
            raise InvalidArgumentError(None, None, f"unknown cmd: {kind}. Fix: choose from {', '.join(VIEWS)}")
        options = ProfileChoice(given)
        found, unknown = self._facts(given.get("step", -1))
        root = view(kind, found, options)
        self._write(root, kind, options, unknown)
        return message(root, kind)

    def _write(self, root: Node, kind: str, options: ProfileChoice, unknown: int) -> None:
        what, _, rest = str(options.given.get("output", "stdout")).partition(":")
        path = rest.partition("outfile=")[2]
        if what == "none":
            return
        if what == "timeline":
            for step, run in self._runs.items():
                store(f"{path}_{max(step, 0)}", Timeline(run.step_stats).generate_chrome_trace_format(show_memory=True))
        elif what == "file":
            store(path, text(root, kind, options, unknown))
        elif what == "stdout":
            print(text(root, kind, options, unknown), end="")
        else:
            raise UnimplementedError(None, None, f"a profile is not written for {what}. Fix: with_timeline_output, "
                                                 "whose files Perfetto opens")

    def _expensive(self) -> list[str]:
        """Describes the most expensive types of operations, scopes and lines."""
        found, _ = self._facts(-1)
        if not self._runs:
            return []
        options = ProfileChoice({"order_by": "micros", "select": ["micros"]})
        types = view("op", found, options)
        rows: list[str] = []
        node = types
        while node.children and len(rows) < _MOST:
            (node,) = node.children
            rows.append(f"top {len(rows) + 1} operation type: {node.name}, {_times(node.own)} "
                        f"({100 * node.own['exec_micros'] / (types.total['exec_micros'] or 1):.2f}%)")
        scopes = [f"top {i} graph node: {n.name}, {_times(n.total)}"
                  for i, n in enumerate(view("scope", found, options).children[:_MOST], 1)]
        lines = [f"{n.name}, {_times(n.total)}" for n in view("code", found, options).children[:_MOST]]
        return ["\n".join(part) for part in (rows, scopes, lines) if part]


def _times(counts: dict[str, float]) -> str:
    cpu, accelerator = counts["cpu_exec_micros"], counts["accelerator_exec_micros"]
    return f"cpu: {time_str(cpu)}, accelerator: {time_str(accelerator)}, total: {time_str(cpu + accelerator)}"


def _devices(run_meta: Any) -> Any:
    devices = getattr(getattr(run_meta, "step_stats", None), "dev_stats", None)
    return devices if isinstance(devices, list) or hasattr(devices, "__len__") else ()


def store(path: str, content: str) -> None:
    """Writes a text to a file.

    Args:
      path: of the file.
      content: the text.
    """
    write_whole(os.path.abspath(path), content.encode())


def advise(graph: Any = None, run_meta: Any = None, options: Any = 0) -> AdviceProto:
    """Says what takes most of the time of a run, and prints it.

    Args:
      graph: the graph; the default graph by default.
      run_meta: what a run with `trace_level=FULL_TRACE` measured.
      options: names of checkers -> options; by default all.
    Returns: an `AdviceProto`: reports by the names of checkers.
    Raises: ValueError in eager mode without a graph; InvalidArgumentError for a run without a trace.
    Reference: TensorFlow 2.21 `tf.compat.v1.profiler.advise`.
    """
    profiler = Profiler(graph)
    if run_meta is not None:
        profiler.add_step(-1, run_meta)
    return profiler.advise(options or None)


def write_op_log(graph: Any, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Writes the float operations, types and lines of a graph's operations to the file `tfprof_log` of a directory.

    Args:
      graph: the graph; the default graph if it is None.
      log_dir: the directory.
      op_log: an `OpLogProto` to which they are added, or None.
      run_meta: accepted.
      add_trace: whether to write the lines.
    Raises: ValueError in eager mode without a graph.
    Reference: TensorFlow 2.21 `tf.compat.v1.profiler.write_op_log`.
    """
    found, _ = facts_of(_graph(graph), op_log)
    made = OpLogProto()
    numbers: dict[str, int] = {}
    for name, one in found.items():
        count, types = round(one.counts["float_ops"]), sorted(one.types & {TRAINABLE})
        if not (count or types or add_trace):
            continue
        entry = made.log_entries.add(name=name, float_ops=count, types=types)
        source = one.op.source if add_trace else None
        lines = []
        while source is not None:
            lines.append(source)
            source = source.caller
        for line in reversed(lines):
            entry.code_def.traces.add(lineno=line.lineno, func_start_line=line.code.co_firstlineno,
                                      file_id=_number(numbers, line.filename),
                                      function_id=_number(numbers, line.code.co_name))
    for string, number in numbers.items():
        made.id_to_string[number] = string
    make_folders(log_dir)
    write_whole(os.path.abspath(os.path.join(log_dir, "tfprof_log")), made.SerializeToString())


def _number(numbers: dict[str, int], string: str) -> int:
    return numbers.setdefault(string, len(numbers) + 1)
