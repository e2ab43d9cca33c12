"""Queue runners: threads that keep queues filled.

Reference: TensorFlow 2.21 `tf.compat.v1.train.QueueRunner`.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from graphgrad.errors import CancelledError, OpError, OutOfRangeError
from graphgrad.executor.runtime.session import get_default_session
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.proto.messages import Message
from graphgrad.system.log import Log

_log = Log("tensorflow")

_CLOSED = {11: OutOfRangeError, 1: CancelledError}  # errors that mean the end of the data, by code


class QueueRunnerDef(Message):
    """A queue runner, as stored in `MetaGraphDef`s."""

    FIELDS = {"queue_name": (1, "string"), "enqueue_op_name": (2, ["string"]), "close_op_name": (3, "string"),
              "cancel_op_name": (4, "string"), "queue_closed_exception_types": (5, ["int"])}
    ENUMS = {"queue_closed_exception_types": {1: "CANCELLED", 11: "OUT_OF_RANGE"}}


class QueueRunner:
    """Fills a queue in threads, one for each operation that adds to it.

    When one of these finds that there are no more data (an OutOfRangeError), its thread ends; the last one closes the
    queue. Other errors stop the threads' `Coordinator`.

    Args:
      queue: the queue.
      enqueue_ops: the operations; the same one several times for as many threads.
      close_op, cancel_op: operations that close the queue; the latter also cancels those that wait for capacity.
      queue_closed_exception_types: the errors that mean an orderly end; OutOfRangeError by default.
      queue_runner_def: a `QueueRunnerDef` to take all of this from.
      import_scope: the name scope in which the operations of queue_runner_def are.
    Raises: ValueError if something is missing; RuntimeError in eager mode.
    """

    def __init__(self, queue: Any = None, enqueue_ops: Any = None, close_op: Any = None, cancel_op: Any = None,
                 queue_closed_exception_types: Any = None, queue_runner_def: Any = None,
                 import_scope: str | None = None):
        if queue_runner_def:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive. Fix: give one of them")
            self._read(queue_runner_def, import_scope)
        else:
            if queue is None or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops. Fix: QueueRunner(queue, [queue.enqueue(...)])")
            types = (OutOfRangeError,) if queue_closed_exception_types is None else queue_closed_exception_types
            if not isinstance(types, tuple) or not types or not all(
                isinstance(t, type) and issubclass(t, OpError) for t in types
            ):
                raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
                                f"saw: {types}")
            self._queue, self._enqueue_ops, self._types = queue, list(enqueue_ops), types
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._lock = threading.Lock()
        # The number of running threads, by session.
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[Exception] = []

    def _read(self, message: Any, scope: str | None) -> None:
        graph = get_default_graph()
        message = QueueRunnerDef.FromString(message.SerializeToString())

        def element(name: str) -> Any:
            return graph.as_graph_element(f"{scope}/{name}" if scope else name)

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(n) for n in message.enqueue_op_name]
        self._close_op, self._cancel_op = element(message.close_op_name), element(message.cancel_op_name)
        codes = [int(c) for c in message.queue_closed_exception_types] or [11]
        self._types = tuple(_CLOSED[c] for c in codes if c in _CLOSED)

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """Makes the queue runner that a `QueueRunnerDef` describes.

        Args:
          queue_runner_def: the message.
          import_scope: the name scope of its operations.
        """
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Makes its `QueueRunnerDef`.

        Args:
          export_scope: the name scope to omit; None is returned for a queue that is not in it.
        """
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.queue.name.startswith(prefix):
            return None
        codes = {v: k for k, v in _CLOSED.items()}
        return QueueRunnerDef(
            queue_name=self.queue.name.removeprefix(prefix),
            enqueue_op_name=[op.name.removeprefix(prefix) for op in self._enqueue_ops],
            close_op_name=self._close_op.name.removeprefix(prefix),
            cancel_op_name=self._cancel_op.name.removeprefix(prefix),
            queue_closed_exception_types=[codes[t] for t in self._types if t in codes],
        )

    # -- properties -----------------------------------------------------------------

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that add to it."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes it."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes it and cancels pending enqueue operations."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[Any, ...]:
        """The errors that mean an orderly end."""
        return self._types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads without a coordinator."""
        return self._raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return str(self._queue.name)

    # -- threads --------------------------------------------------------------------

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list[Any]:
        """Creates a thread for each operation, and with a coordinator one more that closes the queue when it stops.

        Args:
          sess: the session.
          coord: the `Coordinator`.
          daemon: whether the process may end before the threads do.
          start: whether to start them.
        Returns: the threads; none if some of an earlier call are still running.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._raised = []
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, coord),
                                            name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for t in threads:
            if coord:
                coord.register_thread(t)
            t.daemon = t.daemon or daemon
            if start:
                t.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Any) -> None:
        counted = False
        try:
            enqueue = sess.make_callable(enqueue_op) if hasattr(sess, "make_callable") else None
            while not (coord and coord.should_stop()):
                try:
                    if enqueue is None:
                        sess.run(enqueue_op)
                    else:
                        enqueue()
                except self._types:
                    with self._lock:
                        self._running[sess] -= 1
                        counted = True
                        if not self._running[sess]:
                            try:
                                sess.run(self._close_op)
                            except Exception as e:
                                _log.debug("Ignored exception: %s", e)
                        return
        except Exception as e:
            if coord:
                coord.request_stop(e)
            else:
                _log.error("Exception in QueueRunner: %s", e)
                with self._lock:
                    self._raised.append(e)
                raise
        finally:
            if not counted:
                with self._lock:
                    self._running[sess] -= 1

    def _close_on_stop(self, sess: Any, coord: Any) -> None:
        coord.wait_for_stop()
        try:
            sess.run(self._cancel_op)
        except Exception as e:
            _log.debug("Ignored exception: %s", e)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a queue runner to those that `start_queue_runners` starts.

    Args:
      qr: the `QueueRunner`.
      collection: the collection.
    """
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
                        collection: str = GraphKeys.QUEUE_RUNNERS) -> list[Any]:
    """Starts the queue runners of a graph.

    Args:
      sess: a session; the default one if not given.
      coord: a `Coordinator` for the threads.
      daemon: whether the process may end before the threads do.
      start: whether to start them.
      collection: the collection in which the queue runners are.
    Returns: the list of threads.
    Raises: ValueError if there is no session; TypeError if `sess` is not a session.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.start_queue_runners`.

    >>> numbers = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    >>> sess.run(tf.local_variables_initializer())
    >>> coord = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coord)
    >>> [int(sess.run(numbers)) for _ in range(3)]
    [0, 1, 2]
    >>> coord.request_stop()
    >>> coord.join(threads)
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session is registered. Use "
                             "`with sess.as_default()` or pass an explicit session to "
                             "tf.train.start_queue_runners(sess=sess)")
    if not hasattr(sess, "run"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    graph = get_default_graph() if not hasattr(sess, "graph") else sess.graph
    runners = graph.get_collection(collection)
    threads: list[Any] = []
    for qr in runners:
        threads.extend(qr.create_threads(sess, coord=coord, daemon=daemon, start=start))
    return threads


__all__ = ["QueueRunner", "QueueRunnerDef", "add_queue_runner", "start_queue_runners"]
