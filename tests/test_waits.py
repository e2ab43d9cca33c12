"""Waits that nobody could end are errors; long ones say what they wait for."""

from __future__ import annotations

import logging
import os
import pathlib
import subprocess
import sys
import threading

import graphgrad.compat.v1 as tf
from graphgrad.ir import blocking

_SOURCE = str(pathlib.Path(__file__).resolve().parent.parent / "src")

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
    refused(lambda: sess.run(take), "take", "<string>")  # nobody fills it
    sess.run(put)
    refused(lambda: sess.run(put), "put")  # nobody empties it
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


def test_long_waits_say_so(graph, monkeypatch, caplog) -> None:
    monkeypatch.setattr(blocking, "_LONG", 0.0)
    queue = tf.FIFOQueue(1, tf.float32, [[]], name="line")
    put, take = queue.enqueue(1.0), queue.dequeue()
    with tf.Session() as sess, caplog.at_level(logging.WARNING):
        told = threading.Event()

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                told.set()

        def move() -> None:
            told.wait()
            sess.run(put)

        handler = Handler()
        logging.getLogger("graphgrad").addHandler(handler)
        thread = threading.Thread(target=move)
        thread.start()
        assert sess.run(take) == 1.0
        thread.join()
        logging.getLogger("graphgrad").removeHandler(handler)
    assert "dequeue of FIFOQueue '_0_line' has been waiting" in caplog.text
