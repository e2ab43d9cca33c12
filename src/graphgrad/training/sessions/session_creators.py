"""Scaffolds and session creators: how a monitored session initializes or restores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.executor.runtime.session import Session
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.variable_functions import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.control.group import group, no_op
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.checkpoint_state import checkpoint_exists, latest_checkpoint
from graphgrad.training.checkpoints.saver import Saver
from graphgrad.training.summaries.summaries_v1 import merge_all

from .sharing import share, waits_for_a_chief

_log = Log("tensorflow")


class _Fields:
    """The parts of a scaffold, to be read."""

    _saver: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or f"_{name}" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__[f"_{name}"]


class Scaffold(_Fields):
    """The set-up of a session; missing parts are created with the session.

    Args:
      init_op: initializes variables; all global ones by default.
      init_feed_dict: what to feed it.
      init_fn: a function (scaffold, session) that is called after it.
      ready_op: an empty array if all is initialized.
      ready_for_local_init_op: an empty array if `local_init_op` can run.
      local_init_op: initializes what no checkpoint holds; local variables and tables by default.
      summary_op: merges summaries; all by default.
      saver: a `Saver`; one of all variables by default.
      copy_from_scaffold: a `Scaffold` whose parts are used where none are given.
      local_init_feed_dict: what to feed `local_init_op`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.Scaffold`.
    """

    _FIELDS = ("init_op", "init_feed_dict", "init_fn", "ready_op", "ready_for_local_init_op", "local_init_op",
               "summary_op", "saver", "local_init_feed_dict")

    def __init__(self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Any = None, ready_op: Any = None,
                 ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
                 saver: Any = None, copy_from_scaffold: Any = None, local_init_feed_dict: Any = None):
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        given = dict(zip(self._FIELDS, (init_op, init_feed_dict, init_fn, ready_op, ready_for_local_init_op,
                                        local_init_op, summary_op, saver, local_init_feed_dict)))
        if init_fn is not None:
            given["init_fn"] = self._bound(init_fn)
        for name, value in given.items():
            if value is None and copy_from_scaffold is not None:
                value = getattr(copy_from_scaffold, f"_{name}")
            setattr(self, f"_{name}", value)

    def _bound(self, init_fn: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda session: init_fn(self, session)

    def finalize(self) -> Scaffold:
        """Creates missing parts, and finalizes the graph."""
        graph = get_default_graph()
        self._default("init_op", GraphKeys.INIT_OP, self.default_init_op)
        self._default("ready_op", GraphKeys.READY_OP, self.default_ready_op)
        self._default("ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP,
                      self.default_ready_for_local_init_op)
        self._default("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op)
        self._default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            savers = graph.get_collection(GraphKeys.SAVERS)
            if len(savers) > 1:
                raise RuntimeError("More than one item in collection savers. Please indicate which one to use by "
                                   "passing it to the constructor.")
            self._saver = savers[0] if savers else Saver(sharded=True, allow_empty=True)
            if not savers:
                graph.add_to_collection(GraphKeys.SAVERS, self._saver)
        self._saver.build()
        graph.finalize()
        _log.info("Graph was finalized.")
        return self

    def _default(self, name: str, key: str, make: Callable[[], Any]) -> None:
        value = getattr(self, f"_{name}")
        if isinstance(value, (list, tuple)):
            value = group(*value)
        if value is None:
            value = self.get_or_default(name, key, make)
        setattr(self, f"_{name}", value)

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Returns the content of a collection; else the result of a function, which is added to it.

        Args:
          arg_name: named in errors.
          collection_key: the collection.
          default_constructor: the function.
        Raises: RuntimeError if the collection holds several.
        """
        found = get_default_graph().get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f"More than one item in the collection {collection_key!r}. Please indicate which one to "
                               "use by passing it to the tf.train.Scaffold constructor as: "
                               f"tf.train.Scaffold({arg_name}=item to use)")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            get_default_graph().add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_init_op() -> Any:
        """Makes the operation that initializes all global variables."""
        return group(global_variables_initializer(), *get_default_graph().get_collection("shared_initializers"))

    @staticmethod
    def default_ready_op() -> Any:
        """Returns the names of variables that have no value."""
        return report_uninitialized_variables()

    @staticmethod
    def default_ready_for_local_init_op() -> Any:
        """Returns the names of global variables that have no value."""
        return report_uninitialized_variables(global_variables())

    @staticmethod
    def default_local_init_op() -> Any:
        """Makes the operation that initializes local variables and tables."""
        tables = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
        with name_scope("init_tables"):
            first = group(*tables) if tables else no_op()
        return group(local_variables_initializer(), first)


class SessionCreator:
    """Base of session creators for a `MonitoredSession`; a subclass has `create_session`.

    Reference: TensorFlow 2.21 `tf.compat.v1.train.SessionCreator`.
    """

    def create_session(self) -> Any:
        """Makes a session."""
        raise NotImplementedError("a subclass has create_session")


class _Creator(SessionCreator):
    """The base of both creators."""

    def __init__(self, scaffold: Any = None, master: str = "", config: Any = None, checkpoint_dir: Any = None,
                 checkpoint_filename_with_path: Any = None):
        if checkpoint_dir is not None and checkpoint_filename_with_path is not None:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._checkpoint_dir, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Any:
        """Makes the session."""
        scaffold = self._scaffold
        scaffold.finalize()
        session = Session(self._master, graph=get_default_graph(), config=self._config)
        if not self._waits(session):
            self._initialize(session)
        share(session, not self._waits(session))
        _check_ready(session, scaffold.ready_for_local_init_op, "ready for local_init", "init_op or init_fn")
        session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
        _check_ready(session, scaffold.ready_op, "ready", "init_op, local_init_op or init_fn")
        return session

    def _waits(self, session: Any) -> bool:
        """Returns whether another process initializes the session's variables."""
        return False

    def _initialize(self, session: Any) -> None:
        scaffold = self._scaffold
        path = self._path or (latest_checkpoint(self._checkpoint_dir) if self._checkpoint_dir else None)
        if self._path or (path and checkpoint_exists(path)):  # one that is named has to be there
            _log.info("Restoring parameters from %s", path)
            scaffold.saver.restore(session, path)
        else:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(session)


def _check_ready(session: Any, ready_op: Any, what: str, places: str) -> None:
    missing = None if ready_op is None else session.run(ready_op)
    if missing is not None and missing.size:
        raise RuntimeError(f"Init operations did not make model {what}. Variables not initialized: "
                           f"{', '.join(n.decode() for n in missing)}. Fix: initialize them in {places}")


class ChiefSessionCreator(_Creator):
    """Makes a session that is restored from a checkpoint, or initialized.

    Args:
      scaffold: a `Scaffold`.
      master: the target of a `Server`; "" for none.
      config: a `ConfigProto`.
      checkpoint_dir: a directory whose latest checkpoint is restored, if there is one.
      checkpoint_filename_with_path: a checkpoint, in place of a directory.
    Raises: RuntimeError if something is not initialized after all; ValueError for a named checkpoint that is not there.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.ChiefSessionCreator`.
    """


class WorkerSessionCreator(_Creator):
    """Makes a session whose variables the chief of the cluster initializes; without a cluster as the chief's creator.

    Args:
      scaffold, master, config: as for `ChiefSessionCreator`.
      max_wait_secs: accepted: GRAPHGRAD_PROCESSES_TIMEOUT says how long to wait.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.WorkerSessionCreator`.
    """

    def __init__(self, scaffold: Any = None, master: str = "", config: Any = None, max_wait_secs: float = 1800):
        super().__init__(scaffold, master, config)

    def _waits(self, session: Any) -> bool:
        return waits_for_a_chief(session)
