"""Evaluation of a checkpoint: a number of runs in a monitored session, then the values that are wanted."""

from __future__ import annotations

import time
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.system.log import Log

from .monitored_session import MonitoredSession
from .session_creators import ChiefSessionCreator
from .session_hooks import FinalOpsHook, SessionRunArgs, SessionRunHook

_log = Log("tensorflow")
_FEW = 20  # runs that are logged one by one


def get_or_create_eval_step() -> Any:
    """Returns the graph's counter of evaluation runs, a local variable.

    Raises: ValueError if there are several.
    Reference: TensorFlow 2.21 `training.evaluation._get_or_create_eval_step`.
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: keep one of them in the collection")
    return found[0] if found else get_variable(
        "eval_step", [], int64, Zeros(), trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(SessionRunHook):
    """A hook that ends an evaluation after a number of runs.

    Args:
      num_evals: how many; None for as many as there are data.
      log_progress: whether runs are logged, of many each tenth part.
    Reference: TensorFlow 2.21 `training.evaluation._StopAfterNEvalsHook`.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._interval = 1 if num_evals is None or num_evals < _FEW else num_evals // 10

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: Any) -> Any:
        """Asks for the number of runs."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs the number, and requests a stop after the last run."""
        done, of = run_values.results["evals_completed"], self._num_evals
        if self._log_progress and (of is None or done % self._interval == 0 or done == of):
            _log.info("Evaluation [%s]", done if of is None else f"{done}/{of}")
        if of is not None and done >= of:
            run_context.request_stop()


def _counted(eval_ops: Any, hooks: list[Any]) -> Any:
    """Returns the operations and one that counts runs, of which the hooks learn."""
    step = get_or_create_eval_step()
    count = step.assign_add(1)
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = count
    else:
        eval_ops = [*(eval_ops if isinstance(eval_ops, (list, tuple)) else [eval_ops]), count]
    before = list(eval_ops.values()) if isinstance(eval_ops, dict) else eval_ops
    with get_default_graph().control_dependencies(before):
        value = raw.Identity(step.read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(value)
    return eval_ops


def evaluate_once(checkpoint_path: Any, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                  feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None, hooks: Any = None,
                  config: Any = None) -> Any:
    """Evaluates the model at a checkpoint.

    Args:
      checkpoint_path: the checkpoint to restore.
      master: which session; "" here.
      scaffold: a `tf.compat.v1.train.Scaffold`.
      eval_ops: what to run until a hook requests a stop or data end: an operation, a list or a dict of such.
      feed_dict: feeds of these runs.
      final_ops: what to fetch at the end.
      final_ops_feed_dict: feeds of that.
      hooks: a list of `SessionRunHook`, such as `StopAfterNEvalsHook`.
      config: a `ConfigProto`.
    Returns: the values of `final_ops`, None without.
    Reference: TensorFlow 2.21 `training.evaluation._evaluate_once`.
    """
    hooks = list(hooks or [])
    get_or_create_eval_step()
    if eval_ops is not None:
        eval_ops = _counted(eval_ops, hooks)
    _log.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime()))
    start = time.time()
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(creator, [*hooks, final]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    _log.info("Inference Time : %.5fs", time.time() - start)
    _log.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values
