"""`Supervisor`: restores or initializes a session, and saves and summarizes while a program trains.

Reference: TensorFlow 2.21 `tf.compat.v1.train.Supervisor`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables import clusters
from graphgrad.frontend.variables.variable_functions import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.context import use as use_graph
from graphgrad.ops.control.group import group
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.graph_files import write_graph
from graphgrad.training.checkpoints.saver import Saver
from graphgrad.training.coordination.coordinator import Coordinator, LooperThread
from graphgrad.training.coordination.queue_runner import start_queue_runners
from graphgrad.training.optimizers.global_step import get_global_step
from graphgrad.training.summaries.file_writer import FileWriter
from graphgrad.training.summaries.summaries_v1 import merge_all
from graphgrad.training.summaries.summary_messages import SessionLog, Summary

from .session_manager import SessionManager
from .sharing import compare_ends, part

_log = Log("tensorflow")


class Supervisor:
    """Supervises a training program: restores or initializes, starts queue runners, saves checkpoints and summaries.

    Args:
      graph: the graph; the default one if not given. It is finalized.
      ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver, global_step, summary_writer: what
        `SessionManager` and the services need; made or found in collections by default, None for none.
      is_chief: whether this process initializes, saves and summarizes for the workers of a cluster; a single process
        always does.
      init_feed_dict, init_fn, local_init_run_options: as for `SessionManager`.
      logdir: the directory for checkpoints and summaries; None for none.
      save_summaries_secs, save_model_secs: the intervals of writing them; 0 for never.
      recovery_wait_secs: as for `SessionManager`.
      stop_grace_secs: how long threads may go on after a stop was requested.
      checkpoint_basename: the name of checkpoints.
      session_manager: a `SessionManager`.
    Raises: RuntimeError in eager mode.

    >>> v = tf.Variable(2.0)
    >>> supervisor = tf.train.Supervisor()
    >>> with supervisor.managed_session() as session:
    ...     session.run(v)
    np.float32(2.0)
    """

    USE_DEFAULT = 0

    def __init__(self, graph: Any = None, ready_op: Any = 0, ready_for_local_init_op: Any = 0, is_chief: bool = True,
                 init_op: Any = 0, init_feed_dict: Any = None, local_init_op: Any = 0, logdir: Any = None,
                 summary_op: Any = 0, saver: Any = 0, global_step: Any = 0, save_summaries_secs: float = 120,
                 save_model_secs: float = 600, recovery_wait_secs: float = 30, stop_grace_secs: float = 120,
                 checkpoint_basename: str = "model.ckpt", session_manager: Any = None, summary_writer: Any = 0,
                 init_fn: Any = None, local_init_run_options: Any = None):
        self._graph = graph if graph is not None else get_default_graph()
        self._is_chief, self._init_fn, self._init_feed_dict = is_chief, init_fn, init_feed_dict
        if not is_chief and clusters.current() is not None:
            logdir = None  # the chief writes
        self._logdir, self._stop_grace_secs = logdir, stop_grace_secs
        self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
        with use_graph(self._graph):
            self._init_op = _given(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._ready_op = _given(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local = _given(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, _global_missing)
            self._local_init_op = _given(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            self._saver = _given(saver, GraphKeys.SAVERS, _default_saver)
            self._global_step = get_global_step() if _is_default(global_step) else global_step
            self._summary_op = _given(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._writer: Any = None
            if logdir and _is_default(summary_writer):
                self._writer = FileWriter(logdir)
            elif not _is_default(summary_writer):
                self._writer = summary_writer
            if self._saver is not None:
                self._saver.build()
            self._manager = session_manager or SessionManager(
                self._local_init_op, self._ready_op,
                None if self._local_init_op is None else self._ready_for_local, self._graph, recovery_wait_secs,
                local_init_run_options)
        self._save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
        self._coord = Coordinator()
        self._session: Any = None
        self._graph.finalize()

    # -- properties -----------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        """Whether this process initializes and saves."""
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        """The `SessionManager`."""
        return self._manager

    @property
    def coord(self) -> Coordinator:
        """The `Coordinator` of its threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """The operation that initializes."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Feeds for it."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The names of variables without a value."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of those that `local_init_op` needs."""
        return self._ready_for_local

    @property
    def local_init_op(self) -> Any:
        """The operation that initializes local variables and tables."""
        return self._local_init_op

    @property
    def summary_writer(self) -> Any:
        """The writer of summaries, or None."""
        return self._writer

    @property
    def summary_op(self) -> Any:
        """The operation that computes summaries, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float:
        """How often summaries are written."""
        return self._save_summaries_secs

    @property
    def save_model_secs(self) -> float:
        """How often checkpoints are written."""
        return self._save_model_secs

    @property
    def save_path(self) -> Any:
        """Where checkpoints are written."""
        return self._save_path

    @property
    def saver(self) -> Any:
        """The `Saver`."""
        return self._saver

    @property
    def global_step(self) -> Any:
        """The global step, or None."""
        return self._global_step

    # -- sessions -------------------------------------------------------------------

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200,
                                    start_standard_services: bool = True) -> Any:
        """Makes a restored or initialized session; starts queue runners and services.

        Args:
          master, config, wait_for_checkpoint, max_wait_secs: as for `SessionManager.prepare_session`.
          start_standard_services: whether to save and summarize in threads.
        Returns: the session.
        """
        self._coord.clear_stop()
        if self._writer is not None:
            self._writer.reopen()
        if not self._is_chief and clusters.current() is not None:
            session = self._session = self._manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
            self.start_queue_runners(session)
            return session
        session = self._session = self._manager.prepare_session(
            master, init_op=self._init_op, saver=self._saver, checkpoint_dir=self._logdir,
            wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
            init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._writer is not None:
            self._writer.add_graph(self._graph)
            self._writer.add_session_log(SessionLog(status=SessionLog.START), self._step(session))
        if start_standard_services:
            self.start_standard_services(session)
        self.start_queue_runners(session)
        return session

    PrepareSession = prepare_or_wait_for_session

    @contextlib.contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Any]:
        """Opens a `with` block with a session; stops the threads and closes the session at its end.

        The end of the data (an OutOfRangeError) ends it quietly.

        Args:
          master, config, start_standard_services: as for `prepare_or_wait_for_session`.
          close_summary_writer: whether to close the summary writer at the end.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            with use_graph(self._graph), session.as_default():
                yield session
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def _step(self, session: Any) -> Any:
        return None if self._global_step is None else int(session.run(self._global_step))

    # -- services -------------------------------------------------------------------

    def start_standard_services(self, sess: Any) -> list[Any]:
        """Starts the threads that save and summarize.

        Args:
          sess: the session.
        Returns: the threads.
        """
        threads: list[Any] = []
        if not self._logdir:
            _log.warning("Standard services need a 'logdir' passed to the SessionManager")
            return threads
        if self._save_summaries_secs and self._writer is not None:
            if self._summary_op is not None:
                threads.append(self.loop(self._save_summaries_secs, self._summarize, (sess,)))
            if self._global_step is not None:
                self._last = time.time(), self._step(sess)
                threads.append(self.loop(self._save_summaries_secs, self._count, (sess,)))
        if self._saver is not None and self._save_model_secs:
            threads.append(self.loop(self._save_model_secs, self._save, (sess,)))
        return threads

    StartStandardServices = start_standard_services

    def _summarize(self, sess: Any) -> None:
        self.summary_computed(sess, sess.run(self._summary_op))

    def _count(self, sess: Any) -> None:
        (before, step), now, new = self._last, time.time(), self._step(sess)
        self._last = now, new
        if now > before and step is not None:
            tag = f"{self._global_step.op.name}/sec"
            value = Summary.Value(tag=tag, simple_value=(new - step) / (now - before))
            self._writer.add_summary(Summary(value=[value]), new)

    def _save(self, sess: Any) -> None:
        self._saver.save(sess, self._save_path, global_step=self._global_step)

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[Any]:
        """Starts queue runners.

        Args:
          sess: the session.
          queue_runners: which; those of the graph by default.
        Returns: the threads.
        """
        if queue_runners is None:
            return start_queue_runners(sess, self._coord)
        threads: list[Any] = []
        for runner in queue_runners:
            threads.extend(runner.create_threads(sess, coord=self._coord, daemon=True, start=True))
        return threads

    StartQueueRunners = start_queue_runners

    def loop(self, timer_interval_secs: float | None, target: Any, args: Any = None, kwargs: Any = None) -> Any:
        """Starts a `LooperThread`.

        Args:
          timer_interval_secs, target, args, kwargs: as there.
        Returns: the thread.
        """
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    Loop = loop

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary.

        Args:
          sess: the session.
          summary: the summary, serialized or not.
          global_step: the step; that of the session by default.
        Raises: RuntimeError if there is no summary writer.
        """
        if self._writer is None:
            raise RuntimeError("Writing a summary requires a summary writer. Fix: Supervisor(logdir=...)")
        self._writer.add_summary(summary, self._step(sess) if global_step is None else global_step)

    SummaryComputed = summary_computed

    # -- the end --------------------------------------------------------------------

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; see `Coordinator.request_stop`."""
        self._coord.request_stop(ex)

    RequestStop = request_stop

    def should_stop(self) -> bool:
        """Returns whether a stop was requested."""
        return self._coord.should_stop()

    ShouldStop = should_stop

    def stop_on_exception(self) -> Any:
        """Turns exceptions in a `with` block into requests to stop."""
        return self._coord.stop_on_exception()

    StopOnException = stop_on_exception

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    WaitForStop = wait_for_stop

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Stops the threads, and closes the summary writer.

        Args:
          threads: threads to wait for besides.
          close_summary_writer: whether to close it.
          ignore_live_threads: as for `Coordinator.join`.
        Raises: the error that caused the stop; RuntimeError for threads that do not end.
        """
        self._coord.request_stop()
        try:
            self._coord.join(threads, self._stop_grace_secs, ignore_live_threads)
        finally:
            if self._session is not None:
                compare_ends(self._session)
                part(self._session)
            if close_summary_writer and self._writer is not None:
                self._writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._writer.close()

    Stop = stop


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def _given(value: Any, key: str, make: Any) -> Any:
    """Returns the argument; else the content of the collection, or a new value, which is added to it."""
    if not _is_default(value):
        return value
    found = get_default_graph().get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        get_default_graph().add_to_collection(key, made)
    return made


def _global_missing() -> Any:
    return report_uninitialized_variables(global_variables())


def _local_init() -> Any:
    return group(local_variables_initializer(), *get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS))


def _default_saver() -> Any:
    return Saver() if global_variables() else None


def basic_train_loop(supervisor: Supervisor, train_step_fn: Any, args: Any = None, kwargs: Any = None,
                     master: str = "") -> None:
    """Calls a function with a session repeatedly, until a stop of the supervisor is requested.

    Args:
      supervisor: the `Supervisor`.
      train_step_fn: the function; it gets the session, and what follows.
      args, kwargs: further arguments for it.
      master: accepted.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.basic_train_loop`.

    >>> step = tf.Variable(0)
    >>> add, supervisor = step.assign_add(1), tf.train.Supervisor()
    >>> def train(session):
    ...     if session.run(add) == 3:
    ...         supervisor.request_stop()
    >>> tf.train.basic_train_loop(supervisor, train)
    """
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))
