"""Hooks, which a monitored session calls before and after each run."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.blocking import LongWait
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.system.log import Log
from graphgrad.training.optimizers.global_step import get_global_step

_log = Log("tensorflow")

SessionRunArgs = collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"], defaults=(None, None))
SessionRunArgs.__doc__ = """What a hook adds to a run: fetches, feeds and options.

Args:
  fetches: as of `Session.run`.
  feed_dict: as of `Session.run`.
  options: a `RunOptions`.
Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionRunArgs`.
"""

SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])
SessionRunValues.__doc__ = """What a hook gets after a run: the values of what it fetched, and the run's options.

Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionRunValues`.
"""


class SessionRunContext:
    """The interface of a hook to a run.

    Args:
      original_args: the `SessionRunArgs` of the program's own call.
      session: the session.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionRunContext`.
    """

    def __init__(self, original_args: Any, session: Any):
        self._original_args, self._session, self._stop_requested = original_args, session, False

    @property
    def original_args(self) -> Any:
        """The arguments of the program's own call, a `SessionRunArgs`."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has requested a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes `should_stop` of the monitored session true from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Base of hooks; a subclass has the methods that it needs.

    Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionRunHook`.
    """

    def begin(self) -> None:
        """Runs once before the session is made."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs after the session is created and initialized.

        Args:
          session: the session.
          coord: its `Coordinator`.
        """

    def before_run(self, run_context: Any) -> Any:
        """Runs before each run.

        Args:
          run_context: a `SessionRunContext`.
        Returns: a `SessionRunArgs` with what to add to the run, or None.
        """

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Runs after each run that succeeds.

        Args:
          run_context: a `SessionRunContext`.
          run_values: a `SessionRunValues`.
        """

    def end(self, session: Any) -> None:
        """Runs at the end.

        Args:
          session: the session.
        """


class SecondOrStepTimer:
    """Schedules an action at intervals of seconds or steps.

    Args:
      every_secs, every_steps: the interval; one of the two.
    Raises: ValueError if both are given or none.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SecondOrStepTimer`.

    >>> timer = tf.train.SecondOrStepTimer(every_steps=3)
    >>> [step for step in range(8) if timer.should_trigger_for_step(step) and timer.update_last_triggered_step(step)]
    [0, 3, 6]
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Clears the time of the last trigger."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns whether it is due at a step: at the first one, and at most once for each.

        Args:
          step: the step.
        """
        if self._last_step is None or self._last_time is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> Any:
        """Notes that it was triggered.

        Args:
          step: the step.
        Returns: the seconds and steps since the last time; (None, None) for the first.
        """
        now = time.time()
        passed: tuple[Any, Any] = None, None
        if self._last_step is not None and self._last_time is not None:
            passed = now - self._last_time, step - self._last_step
        self._last_step, self._last_time = step, now
        return passed

    def last_triggered_step(self) -> int | None:
        """Returns the step of the last trigger, or None."""
        return self._last_step


class _Never(SecondOrStepTimer):
    """Is never due."""

    def __init__(self) -> None:
        self.reset()

    def should_trigger_for_step(self, step: int) -> bool:
        return False


def _element(obj: Any) -> Any:
    """Returns a tensor, or the graph element of a name."""
    return get_default_graph().as_graph_element(obj) if isinstance(obj, (str, bytes)) else obj


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors, at intervals of runs or seconds.

    Args:
      tensors: a dictionary from tags to tensors or names, or a list of them.
      every_n_iter, every_n_secs: the interval; one of the two, or none with `at_end`.
      at_end: whether to log once more at the end.
      formatter: a function from a dictionary, tag -> value, to a text.
    Raises: ValueError for arguments that do not go together.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.LoggingTensorHook`.
    """

    def __init__(self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None,
                 at_end: bool = False, formatter: Callable[[dict[str, Any]], str] | None = None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = list(tensors)
        self._tensors = tensors if isinstance(tensors, dict) else {item: item for item in tensors}
        self._formatter = formatter
        self._at_end = at_end
        self._timer = _Never() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self) -> None:
        """Looks the tensors up."""
        self._timer.reset()
        self._iter_count = 0
        self._current = {tag: _element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: Any) -> Any:
        """Requests the values if it is time; see `SessionRunHook`."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current) if self._should_trigger else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs them; see `SessionRunHook`."""
        if self._should_trigger:
            self._log(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs once more, with `at_end`; see `SessionRunHook`."""
        if self._at_end:
            self._log(session.run(self._current))

    def _log(self, values: dict[str, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                _log.info("%s", self._formatter(values))
                return
            text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order)
        _log.info("%s", text if seconds is None else f"{text} ({seconds:.3f} sec)")


class StopAtStepHook(SessionRunHook):
    """Requests a stop after a number of steps, or at a step.

    Args:
      num_steps: the number of steps from the start of this session.
      last_step: the value of the global step at which to stop.
    Raises: ValueError if both are given or none.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.StopAtStepHook`.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step: Any = last_step

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        self._global_step_tensor = _global_step("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs after the session is created and initialized."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = int(session.run(self._global_step_tensor)) + self._num_steps

    def before_run(self, run_context: Any) -> Any:
        """Asks for the step; see `SessionRunHook`."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Requests a stop if it was the last one; see `SessionRunHook`."""
        step = int(run_values.results) + 1
        if step >= self._last_step:
            # The run may have read the step before it changed it, so it is read again.
            step = int(run_context.session.run(self._global_step_tensor))
            if step >= self._last_step:
                run_context.request_stop()


def _global_step(who: str) -> Any:
    step = get_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {who}. "
                           "Fix: tf.train.get_or_create_global_step(), given to minimize as global_step")
    return step


def step_after_run(who: str) -> Any:
    """Returns a tensor that reads the global step after what was built so far has changed it."""
    step = _global_step(who)
    with step.graph.as_default(), name_scope(f"{step.op.name}/"):
        return raw.Identity(step.read_value() if isinstance(step, Variable) else step)


class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN; raised by `NanTensorHook`."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the training if the loss is NaN.

    Args:
      loss_tensor: the loss.
      fail_on_nan_loss: whether to raise `NanLossDuringTrainingError`; otherwise it requests a stop.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.NanTensorHook`.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True):
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: Any) -> Any:
        """Requests the loss; see `SessionRunHook`."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Checks it; see `SessionRunHook`."""
        if np.isnan(run_values.results):
            _log.error("Model diverged with loss = NaN.")
            if self._fail_on_nan_loss:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Makes the first run wait until the global step, increased by other threads, has a value.

    Args:
      wait_until_step: the value.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.GlobalStepWaiterHook`.
    """

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Finds the global step; raises RuntimeError if there is none."""
        self._waiting = self._wait_until_step > 0
        self._global_step_tensor = _global_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: Any) -> Any:
        """Waits; see `SessionRunHook`."""
        wait = LongWait(lambda: f"GlobalStepWaiterHook: other threads, until the step is {self._wait_until_step}")
        while self._waiting:
            if int(run_context.session.run(self._global_step_tensor)) >= self._wait_until_step:
                self._waiting = False
            else:
                wait.look()
                time.sleep(0.5)


class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end of a session.

    Args:
      final_ops: tensors or operations, in any nesting.
      final_ops_feed_dict: what to feed.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.FinalOpsHook`.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None):
        self._final_ops, self._final_ops_feed_dict = final_ops, final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The evaluated values; None before the end."""
        return self._final_ops_values

    def end(self, session: Any) -> None:
        """Evaluates; see `SessionRunHook`."""
        if self._final_ops is not None:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)


class FeedFnHook(SessionRunHook):
    """Feeds the results of a function.

    Args:
      feed_fn: a function without arguments that returns a feed dictionary.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.FeedFnHook`.
    """

    def __init__(self, feed_fn: Callable[[], Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: Any) -> Any:
        """Calls the function; see `SessionRunHook`."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
