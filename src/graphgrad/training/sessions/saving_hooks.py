"""Hooks that save checkpoints and summaries and report step rates."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.context import get_default_graph
from graphgrad.system.log import Log
from graphgrad.training.summaries.file_writer import FileWriterCache
from graphgrad.training.summaries.summary_messages import Summary

from .session_hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook, _global_step, step_after_run

_log = Log("tensorflow")


class CheckpointSaverListener:
    """Base of listeners that a `CheckpointSaverHook` calls around each save.

    Reference: TensorFlow 2.21 `tf.compat.v1.train.CheckpointSaverListener`.
    """

    def begin(self) -> None:
        """Runs once before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Runs before a checkpoint is written.

        Args:
          session: the session.
          global_step_value: the step.
        """

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Runs after a checkpoint was written.

        Args:
          session: the session.
          global_step_value: the step.
        Returns: True to stop the training.
        """

    def end(self, session: Any, global_step_value: int) -> None:
        """Runs at the end.

        Args:
          session: the session.
          global_step_value: the step.
        """


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints, at the start, at intervals of steps or seconds, and at the end.

    Args:
      checkpoint_dir: the directory.
      save_secs, save_steps: the interval; one of the two.
      saver: a `Saver`; one of this and `scaffold`, or else the one of the collection SAVERS.
      checkpoint_basename: the files' name.
      scaffold: a `Scaffold`.
      listeners: `CheckpointSaverListener`s.
      save_graph_def: whether to write graph.pbtxt as well.
    Raises: ValueError if both `saver` and `scaffold` are given.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.CheckpointSaverHook`.
    """

    def __init__(self, checkpoint_dir: Any, save_secs: float | None = None, save_steps: int | None = None,
                 saver: Any = None, checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
                 listeners: Any = None, save_graph_def: bool = True):
        _log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._by_clock = save_secs is not None
        self._listeners = list(listeners or [])
        self._save_graph_def = save_graph_def
        self._steps_per_run = 1

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _global_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Saves for the first time; see `SessionRunHook`."""
        step = int(session.run(self._global_step_tensor))
        if self._save_graph_def:
            from graphgrad.training.checkpoints.graph_files import write_graph

            write_graph(get_default_graph(), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(get_default_graph())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step; see `SessionRunHook`."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Saves if it is time; see `SessionRunHook`."""
        stale = int(run_values.results)
        if self._is_time(stale + self._steps_per_run):
            step = int(run_context.session.run(self._global_step_tensor))
            if self._is_time(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves for the last time; see `SessionRunHook`."""
        step = int(session.run(self._global_step_tensor))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _is_time(self, step: int) -> bool:
        """Returns whether to save; where several processes save together, the first one's clock counts."""
        due = self._timer.should_trigger_for_step(step)
        written = getattr(self._get_saver(), "_written", None) if self._by_clock else None
        return due if written is None else bool(written.decide(due))

    def _save(self, session: Any, step: int) -> bool:
        """Saves; returns whether a listener requests a stop."""
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def)
        self._summary_writer.add_session_log(_checkpoint_log(self._save_path), step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                _log.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                stop = True
        return stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_default_graph().get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError("No items in collection savers. Please add a saver to the collection or provide a saver "
                               "or scaffold.")
        if len(savers) > 1:
            raise RuntimeError("More than one item in collection savers. Please indicate which one to use by passing "
                               "it to the constructor.")
        self._saver = savers[0]
        return self._saver


def _checkpoint_log(path: str) -> Any:
    from graphgrad.training.summaries.summary_messages import SessionLog

    return SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path)


class StepCounterHook(SessionRunHook):
    """Counts steps per second, for the log and a summary.

    Args:
      every_n_steps, every_n_secs: the interval; one of the two.
      output_dir: where to write summaries.
      summary_writer: what to write them with.
    Raises: ValueError unless exactly one interval is given.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.StepCounterHook`.
    """

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: Any = None,
                 summary_writer: Any = None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer, self._output_dir = summary_writer, output_dir

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = _global_step("StepCounterHook")
        self._summary_tag = f"{self._global_step_tensor.op.name}/sec"

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step; see `SessionRunHook`."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs if it is time; see `SessionRunHook`."""
        stale = int(run_values.results)
        if self._timer.should_trigger_for_step(stale + 1):
            step = int(run_context.session.run(self._global_step_tensor))
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds:
                    self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            summary = Summary()
            summary.value.add(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(summary, global_step)
        _log.info("%s: %g", self._summary_tag, rate)


class SummarySaverHook(SessionRunHook):
    """Saves summaries, at intervals of steps or seconds.

    Args:
      save_steps, save_secs: the interval; one of the two.
      output_dir: where.
      summary_writer: what to write with, in place of `output_dir`.
      scaffold: a `Scaffold` whose `summary_op` is run; or
      summary_op: the operation (or a list of them).
    Raises: ValueError unless exactly one of `scaffold` and `summary_op` is given.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SummarySaverHook`.
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: Any = None,
                 summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = step_after_run("SummarySaverHook")

    def before_run(self, run_context: Any) -> Any:
        """Asks for the summaries if it is time; see `SessionRunHook`."""
        self._request = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request:
            op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
            if op is not None:
                requests["summary"] = op if isinstance(op, (list, tuple)) else [op]
        return SessionRunArgs(requests)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes them; see `SessionRunHook`."""
        if self._summary_writer is None:
            return
        step = int(run_values.results["global_step"])
        if self._next_step is None or self._request:
            step = int(run_context.session.run(self._global_step_tensor))
        if self._next_step is None:
            self._summary_writer.add_session_log(_start_log(), step)
        if self._request:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Flushes the file; see `SessionRunHook`."""
        if self._summary_writer is not None:
            self._summary_writer.flush()


def _start_log() -> Any:
    from graphgrad.training.summaries.summary_messages import SessionLog

    return SessionLog(status=SessionLog.START)


