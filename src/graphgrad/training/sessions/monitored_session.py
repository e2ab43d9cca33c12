"""Monitored sessions: they initialize or restore, call hooks around each run, and save at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.errors import AbortedError, OutOfRangeError, UnavailableError
from graphgrad.executor.backend import process_group
from graphgrad.frontend.config.config_proto import RunMetadata, RunOptions
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.files.atomic_files import make_folders
from graphgrad.system.log import Log
from graphgrad.training.coordination.coordinator import Coordinator
from graphgrad.training.coordination.queue_runner import start_queue_runners

from .saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from .session_creators import ChiefSessionCreator, Scaffold, SessionCreator, WorkerSessionCreator
from .session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from .sharing import compare_ends, part

_log = Log("tensorflow")

USE_DEFAULT = object()
_LOST = (AbortedError, UnavailableError)  # after these a session is made again


class _Step:
    """The argument of a function of `run_step_fn`."""

    def __init__(self, owner: Any):
        self._owner = owner

    @property
    def session(self) -> Any:
        """The session, without hooks."""
        return self._owner._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs with hooks; see `Session.run`."""
        return self._owner._run(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the loop and the `with` block around it: raises `StopIteration`."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    """A session with hooks."""

    _recovers = True

    def __init__(self, session_creator: Any, hooks: Any, stop_grace_period_secs: float):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or [])
        self._creator = session_creator or ChiefSessionCreator()
        self._grace = stop_grace_period_secs
        for hook in self._hooks:
            hook.begin()
        self._session: Any = None
        self._coord: Any = None
        self._stop = False
        self._open()

    def _open(self) -> None:
        self._stop = False
        while True:
            try:
                self._session = self._creator.create_session()
                self._coord = Coordinator(clean_stop_exception_types=())
                start_queue_runners(self._session, self._coord)
                for hook in self._hooks:
                    hook.after_create_session(self._session, self._coord)
                return
            except _LOST as e:
                if not self._can_recover():
                    raise
                _log.info("An error was raised while a session was being created (%s); it is made again.", e)

    @property
    def graph(self) -> Any:
        """The graph; None once the session is closed."""
        return None if self._session is None else self._session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs, with the hooks before and after.

        Args:
          fetches, feed_dict, options, run_metadata: as for `Session.run`.
        Returns: as `Session.run`.
        Raises: RuntimeError if the session is closed, or has stopped.
        """
        return self._recovering(lambda: self._run(fetches, feed_dict, options, run_metadata))

    def _can_recover(self) -> bool:
        return self._recovers and not process_group.is_lost()

    def _recovering(self, call: Callable[[], Any]) -> Any:
        """Returns what a function returns; calls it again with a session made anew where the session was lost."""
        while True:
            try:
                return call()
            except _LOST as e:
                if not self._can_recover():
                    raise
                self._make_again(e)

    def _make_again(self, error: Exception) -> None:
        _log.info("An error was raised (%s); the session is made again, from the latest checkpoint.", error)
        try:
            self._end_threads()
        except _LOST as e:
            _log.debug("Exception of a thread: %s", e)
        finally:
            self._session.close()
        self._open()

    def _end_threads(self) -> None:
        """Stops the threads of the session and waits for them; raises the error of one of them, if there was one."""
        self._coord.request_stop()
        self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)

    def _run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self._session is None:
            raise RuntimeError("Run called even after should_stop requested: the session is closed. "
                               "Fix: ask should_stop() in the loop, within the `with` block")
        if self._stop:
            raise RuntimeError("Run called even after should_stop requested.")
        try:
            found, stop = _with_hooks(self._session, self._session.run, self._hooks, fetches, feed_dict, options,
                                      run_metadata)
        except Exception:
            # A run that fails stops nothing: its caller may catch the error and go on. Errors of threads are raised
            # when the session is closed; only one that lost the session comes first, for the session is made again.
            if isinstance(self._coord._error, _LOST):
                self._coord.raise_requested_exception()
            raise
        self._stop = self._stop or stop
        return found

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls a function with a context that has `session`, `run_with_hooks` and `request_stop`.

        Args:
          step_fn: takes one argument, named step_context.
        Returns: what it returns.
        Raises: ValueError for another argument.
        """
        import inspect

        names = list(inspect.signature(step_fn).parameters)
        if names not in (["step_context"], ["self", "step_context"]):
            raise ValueError("`step_fn` may either have one `step_context` argument, or two arguments, `self` and "
                             f"`step_context`, if it's an instance method. Got {names} instead.")
        return self._recovering(lambda: step_fn(_Step(self)))

    def should_stop(self) -> bool:
        """Returns whether a hook, or an exception in a thread, requested a stop.

        If the exception means that the session was lost, the session is made again instead.
        """
        if self._session is None:
            return True
        try:
            self._coord.raise_requested_exception()
        except Exception as e:
            if not self._recovers:
                raise
            if not isinstance(e, _LOST) or not self._can_recover():
                return True
            self._make_again(e)
        return self._stop or self._coord.should_stop()

    def close(self) -> None:
        """Calls the hooks' `end`, and closes the session.

        Raises: RuntimeError if it is closed; the exception of a thread, if that was why the session stopped.
        """
        self._close(None)

    def _close(self, failure: Any) -> None:
        if self._session is None:
            raise RuntimeError("Session is already closed.")
        try:
            if failure is None:
                for hook in self._hooks:
                    hook.end(self._session)
                compare_ends(self._session)
        finally:
            session, self._session = self._session, None
            try:
                self._end_threads()
            finally:
                part(session)
                session.close()
                if not self._graph_was_finalized:
                    session.graph._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._session is None

    def _tf_sess(self) -> Any:
        return self._session

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, value: Any, tb: Any) -> bool:
        clean = kind is not None and issubclass(kind, (OutOfRangeError, StopIteration))
        self._close(None if clean else kind)
        return clean


def _key(key: Any) -> Any:
    return key if isinstance(key, str) else id(key)


def _merged(options: Any, more: Any) -> Any:
    """Returns the options of a run that does what both ask for; None if neither asks for anything."""
    if options is None or more is None:
        return more if options is None else options
    merged = RunOptions()
    merged.CopyFrom(options)
    for name in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs"):
        setattr(merged, name, max(getattr(options, name), getattr(more, name)))
    return merged


def _with_hooks(session: Any, run: Callable[..., Any], hooks: list[Any], fetches: Any, feed_dict: Any, options: Any,
                run_metadata: Any) -> tuple[Any, bool]:
    """Asks hooks, runs and tells them; returns what was fetched, and whether a hook requested a stop."""
    context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
    asked: dict[Any, Any] = {"caller": fetches}
    feeds = dict(feed_dict) if feed_dict else {}
    own = {_key(k) for k in feeds}
    for hook in hooks:
        args = hook.before_run(context)
        if args is None:
            continue
        if args.fetches is not None:
            asked[id(hook)] = args.fetches
        for key, value in (args.feed_dict or {}).items():
            if _key(key) in own:
                raise RuntimeError(f"Two hooks (or a hook and the caller) feed {key}: {type(hook).__name__}. "
                                   "Fix: feed it in one place")
            own.add(_key(key))
            feeds[key] = value
        options = _merged(options, args.options)
    if options is not None and run_metadata is None:
        run_metadata = RunMetadata()
    results = run(asked, feeds or None, options, run_metadata)
    for hook in hooks:
        hook.after_run(context, SessionRunValues(results.get(id(hook)), options, run_metadata))
    return results["caller"], context.stop_requested


class HookedSession:
    """Runs of a session with hooks, which neither makes the session nor closes it.

    Args:
      sess: the session.
      hooks: `SessionRunHook`s that have begun.
    Reference: TensorFlow 2.21 `monitored_session._HookedSession`.
    """

    def __init__(self, sess: Any, hooks: Any):
        self._sess, self._hooks, self._stop = sess, list(hooks), False

    @property
    def graph(self) -> Any:
        """The session's graph."""
        return self._sess.graph

    def should_stop(self) -> bool:
        """Returns whether a hook requested a stop."""
        return self._stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs, as `Session.run`; hooks may add fetches and feeds.

        Args:
          fetches, feed_dict, options, run_metadata: as there.
        Raises: RuntimeError for what two hooks feed, or a hook and the caller.
        """
        found, stop = _with_hooks(self._sess, self._sess.run, self._hooks, fetches, feed_dict, options, run_metadata)
        self._stop = self._stop or stop
        return found


class MonitoredSession(_Monitored):
    """A session with hooks that restores or initializes itself, and is recreated after an `AbortedError`.

    Args:
      session_creator: what makes the session; a `ChiefSessionCreator` by default.
      hooks: `SessionRunHook`s.
      stop_grace_period_secs: for how long threads may go on at the end.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.MonitoredSession`.

    >>> step = tf.train.get_or_create_global_step()
    >>> count = tf.assign_add(step, 1)
    >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=3)]) as session:
    ...     while not session.should_stop():
    ...         last = session.run(count)
    >>> last
    np.int64(3)
    """

    StepContext = _Step

    def __init__(self, session_creator: Any = None, hooks: Any = None, stop_grace_period_secs: float = 120):
        super().__init__(session_creator, hooks, stop_grace_period_secs)


class SingularMonitoredSession(_Monitored):
    """A session with hooks that is not recreated after errors and can be passed to savers.

    Args:
      hooks: `SessionRunHook`s.
      scaffold: a `Scaffold`.
      master: the target of a `Server`; "" for none.
      config: a `ConfigProto`.
      checkpoint_dir: a directory whose latest checkpoint is restored, if there is one.
      stop_grace_period_secs: for how long threads may go on at the end.
      checkpoint_filename_with_path: a checkpoint, in place of a directory.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SingularMonitoredSession`.
    """

    _recovers = False

    def __init__(self, hooks: Any = None, scaffold: Any = None, master: str = "", config: Any = None,
                 checkpoint_dir: Any = None, stop_grace_period_secs: float = 120,
                 checkpoint_filename_with_path: Any = None):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """Returns the session, without hooks."""
        return self._session


def MonitoredTrainingSession(master: str = "", is_chief: bool = True, checkpoint_dir: Any = None, scaffold: Any = None,
                             hooks: Any = None, chief_only_hooks: Any = None, save_checkpoint_secs: Any = USE_DEFAULT,
                             save_summaries_steps: Any = USE_DEFAULT, save_summaries_secs: Any = USE_DEFAULT,
                             config: Any = None, stop_grace_period_secs: float = 120, log_step_count_steps: Any = 100,
                             max_wait_secs: float = 7200, save_checkpoint_steps: Any = USE_DEFAULT,
                             summary_dir: Any = None, save_graph_def: bool = True) -> MonitoredSession:
    """Makes a `MonitoredSession` with the hooks of training: checkpoints, summaries, steps per second.

    Args:
      master: the target of a `Server`; "" for none.
      is_chief: whether to initialize and to save; the other workers of a cluster wait for the chief's values.
      checkpoint_dir: where checkpoints are restored from and saved to; None: neither.
      scaffold: a `Scaffold`.
      hooks, chief_only_hooks: more `SessionRunHook`s.
      save_checkpoint_secs, save_checkpoint_steps: the interval of checkpoints; 600 seconds by default, none if both are
        None.
      save_summaries_steps, save_summaries_secs: the interval of summaries; 100 steps by default.
      config: a `ConfigProto`.
      stop_grace_period_secs: for how long threads may go on at the end.
      log_step_count_steps: the interval of logging steps per second; None or 0: never.
      max_wait_secs: accepted: GRAPHGRAD_PROCESSES_TIMEOUT says how long to wait for other workers.
      summary_dir: where summaries go; checkpoint_dir by default.
      save_graph_def: whether to write graph.pbtxt.
    Returns: a `MonitoredSession`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.MonitoredTrainingSession`.

    >>> _ = tf.train.get_or_create_global_step()
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(tf.train.get_global_step())
    np.int64(0)
    """
    summaries_steps, summaries_secs = _how_often(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoint_steps, checkpoint_secs = _how_often(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    all_hooks: list[SessionRunHook] = []
    if not is_chief:
        creator: SessionCreator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, list(hooks or []), stop_grace_period_secs)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        make_folders(summary_dir)
        if log_step_count_steps:
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if summaries_steps or summaries_secs:
            all_hooks.append(SummarySaverHook(scaffold=scaffold, save_steps=summaries_steps, save_secs=summaries_secs,
                                              output_dir=summary_dir))
    if checkpoint_dir and (checkpoint_secs or checkpoint_steps):
        make_folders(checkpoint_dir)
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=checkpoint_steps or None,
                                             save_secs=checkpoint_secs or None, scaffold=scaffold,
                                             save_graph_def=save_graph_def))
    all_hooks = [*(hooks or []), *all_hooks, *(chief_only_hooks or [])]
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _how_often(steps: Any, secs: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Returns steps and seconds; `default` where neither is given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs
