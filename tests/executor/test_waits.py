"""Waits that nobody could end are errors; long ones say what they wait for."""

from __future__ import annotations

import contextlib
import logging
import os
import pathlib
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir import blocking

_SOURCE = str(pathlib.Path(__file__).resolve().parents[2] / "src")

# In a process of its own: what runs the tests has threads, too.
_PROGRAM = """
import faulthandler, threading
faulthandler.dump_traceback_later(300, exit=True)
import graphgrad.compat.v1 as tf

def refused(call, *names):
    try:
        call()
    except tf.errors.DeadlineExceededError as e:
        assert all(n in str(e) for n in ("can never end", "Fix:", *names)), str(e)
    else:
        raise AssertionError("no error")

with tf.Graph().as_default(), tf.Session() as sess:
    queue = tf.FIFOQueue(1, tf.float32, [[]], name="line")
    put, take = queue.enqueue(1.0, name="put"), tf.add(queue.dequeue(name="take"), 1.0)
    # Nobody fills it, and nobody empties it; the operation, the queue, and the line that built the operation.
    refused(lambda: sess.run(take), "QueueDequeueV2 'take'", "dequeue of FIFOQueue", "line'", "Built at <string>:16")
    sess.run(put)
    refused(lambda: sess.run(put), "QueueEnqueueV2 'put'", "enqueue of FIFOQueue", "line'", "Built at <string>:16")
    assert sess.run(take) == 2.0  # what was given up is not in the queue

    # A thread that makes the move, late.
    ready = threading.Event()
    def late():
        ready.wait()
        sess.run(put)
    thread = threading.Thread(target=late)
    thread.start()
    threading.Timer(1.5, ready.set).start()
    assert sess.run(take) == 2.0
    thread.join()

    # A thread that ends without a move.
    thread = threading.Thread(target=lambda: ready.wait())
    ready.clear()
    thread.start()
    threading.Timer(0.5, ready.set).start()
    refused(lambda: sess.run(take), "take")

    # Two that wait for each other. If the other one is refused first, this one is alone then.
    other = tf.FIFOQueue(1, tf.float32, [[]], name="other")
    wish, close = other.dequeue(name="wish"), other.close()
    def wishing():
        try:
            sess.run(wish)
        except (tf.errors.DeadlineExceededError, tf.errors.OutOfRangeError):
            pass
    thread = threading.Thread(target=wishing)
    thread.start()
    refused(lambda: sess.run(take), "take")
    sess.run(close)
    thread.join()
    wish = tf.FIFOQueue(1, tf.float32, [[]], name="third").dequeue()

    # Only in one of the two is there a limit of time.
    outcome = []
    def limited():
        try:
            sess.run(wish, options=tf.RunOptions(timeout_in_ms=1500))
        except tf.errors.DeadlineExceededError as e:
            outcome.append("can never end" in str(e))
        sess.run(put)
    thread = threading.Thread(target=limited)
    thread.start()
    assert sess.run(take) == 2.0
    thread.join()
    assert outcome == [False]
print("done")
"""


def test_waits_that_nobody_could_end() -> None:
    env = {**os.environ, "PYTHONPATH": _SOURCE}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=env, check=False, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


@contextlib.contextmanager
def _told(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, list[str]]]:
    """An event that is set once a wait is logged, and what was logged; each wait is a long one."""
    monkeypatch.setattr(blocking, "_LONG", 0.0)
    told, texts = threading.Event(), list[str]()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())
            told.set()

    handler = Handler()
    logging.getLogger("graphgrad").addHandler(handler)
    try:
        yield told, texts
    finally:
        logging.getLogger("graphgrad").removeHandler(handler)


def _after(told: threading.Event, move: Callable[[], object]) -> threading.Thread:
    """A thread that makes a move once the wait is logged."""
    thread = threading.Thread(target=lambda: (told.wait(), move()))
    thread.start()
    return thread


def test_long_waits_for_queues_say_so(graph, monkeypatch) -> None:
    queue = tf.FIFOQueue(1, tf.float32, [[]], name="line")
    put, take = queue.enqueue(1.0), queue.dequeue()
    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        thread = _after(told, lambda: sess.run(put))
        assert sess.run(take) == 1.0
        thread.join()
    (text,) = texts  # once
    what, built, called = text.split("\n")
    assert what.endswith("seconds: dequeue of FIFOQueue '_0_line': another thread's move")
    assert re.fullmatch(r"  QueueDequeueV2 'line_Dequeue', built at test_waits.py:\d+:  put, take = .*", built)
    assert re.fullmatch(r"  Called at test_waits.py:\d+:  assert sess.run\(take\) == 1.0", called)


def test_waits_inside_of_loops_name_the_operation_inside(graph, monkeypatch) -> None:
    queue = tf.FIFOQueue(1, tf.float32, [[]], name="line")
    put = queue.enqueue(1.0)
    total = tf.while_loop(lambda x: x < 1.0, lambda x: x + queue.dequeue(name="inner"), [0.0])
    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        thread = _after(told, lambda: sess.run(put))
        assert sess.run(total) == 1.0
        thread.join()
    assert re.search(r"QueueDequeueV2 '.*inner', built at test_waits.py:\d+:  total = ", texts[0])


def test_long_waits_for_files_that_queues_name_say_so(graph, monkeypatch, tmp_path) -> None:
    (tmp_path / "one").write_text("a line\n")
    queue = tf.FIFOQueue(1, tf.string, [[]], name="names")
    put, line = queue.enqueue(str(tmp_path / "one")), tf.TextLineReader().read(queue, name="read")
    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        thread = _after(told, lambda: sess.run(put))
        assert sess.run(line)[1] == b"a line"
        thread.join()
    assert re.search(r"dequeue of FIFOQueue '_\d_names'", texts[0])
    assert "ReaderReadV2 'read', built at test_waits.py:" in texts[0]


def test_long_waits_for_threads_say_so(monkeypatch) -> None:
    coordinator = tf.train.Coordinator()
    with _told(monkeypatch) as (told, texts):
        coordinator.join([_after(told, lambda: None)])
    assert "Coordinator.join: a stop (request_stop), or the end of the threads Thread-" in texts[0]


def test_long_waits_for_variables_say_so(graph, monkeypatch) -> None:
    v = tf.Variable(1.0, name="v", use_resource=True)
    more = v.assign_add(1.0)
    holds, ends = threading.Event(), threading.Event()

    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        sess.run(v.initializer)

        def hold() -> None:  # as a run does that changes v
            with sess._cells[v.op.name].lock:
                holds.set()
                ends.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        holds.wait()
        thread = _after(told, ends.set)
        assert sess.run(more) == 2.0
        thread.join()
        holder.join()
    what, built, called = texts[0].split("\n")
    assert what.endswith("seconds: another thread's run that changes variable v")
    assert re.fullmatch(r"  AssignAddVariableOp '\w+', built at test_waits.py:\d+:  more = v.assign_add\(1.0\)", built)
    assert re.fullmatch(r"  Called at test_waits.py:\d+:  assert sess.run\(more\) == 2.0", called)


def test_waits_for_variables_that_take_too_long_name_the_operation(graph) -> None:
    v = tf.Variable(1.0, name="v", use_resource=True)
    more = v.assign_add(1.0)
    holds, ends = threading.Event(), threading.Event()

    with tf.Session() as sess:
        sess.run(v.initializer)

        def hold() -> None:
            with sess._cells[v.op.name].lock:
                holds.set()
                ends.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        holds.wait()
        try:
            with pytest.raises(tf.errors.DeadlineExceededError, match=(  # the operation and its line
                    r"(?s)variable v\n  AssignAddVariableOp '\w+', built at test_waits.py:\d+:  more = .*Fix:")):
                sess.run(more, options=tf.RunOptions(timeout_in_ms=200))
        finally:
            ends.set()
            holder.join()


def test_long_waits_for_steps_say_so(graph, monkeypatch) -> None:
    step = tf.train.get_or_create_global_step()
    move, hook = step.assign(3), tf.train.GlobalStepWaiterHook(3)
    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        sess.run(step.initializer)
        hook.begin()
        thread = _after(told, lambda: sess.run(move))
        hook.before_run(types.SimpleNamespace(session=sess))
        thread.join()
    assert "GlobalStepWaiterHook: other threads, until the step is 3" in texts[0]


def test_long_waits_for_checkpoints_say_so(graph, monkeypatch, tmp_path) -> None:
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess, _told(monkeypatch) as (told, texts):
        sess.run(tf.global_variables_initializer())
        thread = _after(told, lambda: saver.save(sess, str(tmp_path / "model")))
        assert next(tf.train.checkpoints_iterator(str(tmp_path))) == str(tmp_path / "model")
        thread.join()
    assert f"checkpoints_iterator: another process, until it saves into {tmp_path}" in texts[0]
    assert "Called at test_waits.py:" in texts[0]
