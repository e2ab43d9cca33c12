"""`tf.compat.v1.train.ProfilerHook`: timelines of steps of a training."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.frontend.config.config_proto import RunOptions
from graphgrad.ir.files.atomic_files import make_folders
from graphgrad.system.log import Log
from graphgrad.training.sessions.session_hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunHook,
    step_after_run,
)
from graphgrad.training.summaries.file_writer import FileWriterCache

from .profiler import store
from .timeline import Timeline

_log = Log("tensorflow")
_FULL_TRACE = 3  # of RunOptions


class ProfilerHook(SessionRunHook):
    """Writes timelines of runs, at intervals of steps or seconds: `timeline-STEP.json`, which Perfetto opens.

    Args:
      save_steps, save_secs: the interval; one of the two.
      output_dir: the directory; a writer of summaries there gets the metadata of the runs, too.
      show_dataflow: whether arrows lead from steps to those that get their results.
      show_memory: whether memory is shown.
    Raises: ValueError unless one interval is given.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.ProfilerHook`.
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str = "",
                 show_dataflow: bool = True, show_memory: bool = False):
        self._path = os.path.join(output_dir, "timeline-{}.json")
        self._output_dir = output_dir
        self._show_dataflow, self._show_memory = show_dataflow, show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        self._next_step: int | None = None
        self._request = False
        self._writer = FileWriterCache.get(self._output_dir) if self._output_dir else None
        self._global_step_tensor = step_after_run("ProfilerHook")

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step, and for a trace if it is time; see `SessionRunHook`."""
        self._request = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = RunOptions(trace_level=_FULL_TRACE) if self._request else None
        return SessionRunArgs(self._global_step_tensor, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes the timeline; see `SessionRunHook`."""
        step = int(run_values.results)
        if self._next_step is None:  # the first run, which compiles
            self._timer.update_last_triggered_step(step - 1)
        if self._request:
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata)
        self._next_step = step + 1

    def _save(self, step: int, metadata: Any) -> None:
        path = self._path.format(step)
        _log.info("Saving timeline for %d into '%s'.", step, path)
        if self._output_dir:
            make_folders(self._output_dir)
        timeline = Timeline(metadata.step_stats)
        store(path, timeline.generate_chrome_trace_format(self._show_dataflow, self._show_memory))
        if self._writer is not None:
            self._writer.add_run_metadata(metadata, f"step_{step}")
