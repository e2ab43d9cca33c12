"""`SessionManager`: creates sessions and restores or initializes their variables.

Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionManager`.
"""

from __future__ import annotations

import time
from typing import Any

from graphgrad.executor.runtime.session import Session
from graphgrad.ir.context import get_default_graph
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.checkpoint_state import latest_checkpoint

from .sharing import share

_log = Log("tensorflow")


class SessionManager:
    """Makes sessions with restored or initialized variables.

    Args:
      local_init_op: the operation that initializes local variables; run in each session.
      ready_op: the names of variables that have no value; if there are none, the session is ready.
      ready_for_local_init_op: the same of what `local_init_op` needs.
      graph: the graph; the default one if not given.
      recovery_wait_secs: how long to wait from try to try.
      local_init_run_options: for the run of local_init_op.
      local_init_feed_dict: feeds for it.
    Raises: ValueError for a ready_for_local_init_op without local_init_op.

    >>> v = tf.Variable(3.0)
    >>> manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    >>> with manager.prepare_session("", init_op=tf.global_variables_initializer()) as session:
    ...     session.run(v)
    np.float32(3.0)
    """

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
                 graph: Any = None, recovery_wait_secs: float = 30, local_init_run_options: Any = None,
                 local_init_feed_dict: Any = None):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             f"ready_for_local_init_op [{ready_for_local_init_op}]")
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph if graph is not None else get_default_graph()
        self._wait = recovery_wait_secs
        self._options, self._feeds = local_init_run_options, local_init_feed_dict

    def _restored(self, master: str, saver: Any, checkpoint_dir: Any, path: Any, wait: bool, max_wait_secs: float,
                  config: Any) -> tuple[Any, bool]:
        """Makes a session; returns it and whether it was restored."""
        if checkpoint_dir and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        session = Session(master, graph=self._graph, config=config)
        if saver is None or not (checkpoint_dir or path):
            return session, False
        until = time.monotonic() + max_wait_secs
        while not path and (path := latest_checkpoint(checkpoint_dir)) is None:
            if not wait or time.monotonic() >= until:
                return session, False
            _log.info("Waiting for checkpoint to be available.")
            time.sleep(min(self._wait, max(0.0, until - time.monotonic())))
        saver.restore(session, path)
        return session, True

    def prepare_session(self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: Any = None,
                        checkpoint_filename_with_path: Any = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None, init_feed_dict: Any = None,
                        init_fn: Any = None) -> Any:
        """Makes a session that is restored from the latest checkpoint, or else initialized.

        Args:
          master: the target of a `Server`; "" for none.
          init_op: the operation that initializes, where there is no checkpoint.
          saver: the `Saver` to restore with.
          checkpoint_dir, checkpoint_filename_with_path: a directory of checkpoints, or one of them.
          wait_for_checkpoint: whether to wait for a checkpoint, max_wait_secs at most.
          config: a `ConfigProto`.
          init_feed_dict: feeds for init_op.
          init_fn: a function of the session, called after init_op.
        Returns: the session.
        Raises: RuntimeError if there is nothing to initialize with, or something has no value after all.
        """
        session, loaded = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                         wait_for_checkpoint, max_wait_secs, config)
        if not loaded:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given. "
                                   "Fix: init_op=tf.global_variables_initializer()")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        share(session, True)
        problem = self._local(session)
        if problem:
            raise RuntimeError(f"Init operations did not make model ready for local_init.  Init op: {_name(init_op)}, "
                               f"init fn: {init_fn}, error: {problem}. Fix: initialize them in init_op or init_fn")
        problem = _missing(session, self._ready_op)
        if problem:
            raise RuntimeError(f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: "
                               f"{init_fn}, local_init_op: {_name(self._local_init_op)}, error: {problem}. Fix: "
                               "initialize them in init_op or init_fn")
        return session

    def recover_session(self, master: str, saver: Any = None, checkpoint_dir: Any = None,
                        checkpoint_filename_with_path: Any = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None) -> tuple[Any, bool]:
        """Makes a session, restored if there is a checkpoint.

        Args:
          master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config: as
            of `prepare_session`.
        Returns: the session, and whether it is ready.
        """
        session, loaded = self._restored(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                         wait_for_checkpoint, max_wait_secs, config)
        problem = self._local(session)
        if problem or not loaded:
            return session, False
        return session, not _missing(session, self._ready_op)

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float = float("inf")) -> Any:
        """Waits until another worker of the cluster has initialized the variables; makes a session with its values.

        Args:
          master, config: as for `prepare_session`.
          max_wait_secs: accepted: GRAPHGRAD_PROCESSES_TIMEOUT says how long to wait.
        Returns: the session.
        Raises: DeadlineExceededError if the model is not ready, or other workers do not come.
        """
        from graphgrad.errors import DeadlineExceededError

        session = Session(master, graph=self._graph, config=config)
        share(session, False)
        problem = self._local(session) or _missing(session, self._ready_op)
        if problem:
            raise DeadlineExceededError(None, None, f"Session was not ready after waiting: {problem}. Fix: let "
                                        "the chief initialize them, in prepare_session")
        return session

    def _local(self, session: Any) -> str:
        """Runs the initializer of local variables; returns what is missing, if it could not."""
        problem = _missing(session, self._ready_for_local_init_op)
        if not problem and self._local_init_op is not None:
            session.run(self._local_init_op, feed_dict=self._feeds, options=self._options)
        return problem


def _missing(session: Any, op: Any) -> str:
    """Returns the uninitialized variables that an operation names; '' if there are none."""
    names = None if op is None else session.run(op)
    if names is None or not len(names):
        return ""
    return "Variables not initialized: " + ", ".join(n.decode() for n in names)


def _name(op: Any) -> Any:
    return getattr(op, "name", op)
