"""Loops that XLA runs end at a signal, or where the time of their run is over; variables stay as they were."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.program.interrupts import Stop
from graphgrad.executor.runtime.session import HostSession

_SOURCE = str(pathlib.Path(__file__).resolve().parents[2] / "src")
_LONG = 2**60  # iterations
_HAS_TIMERS = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such signals")

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

# Where such a signal is heard no more, others are.
with tf.Graph().as_default(), tf.Session() as sess:
    n = tf.placeholder(tf.int64, [])
    end = tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0, tf.int64)])
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    after(0.1, signal.SIGINT)
    assert raised(lambda: sess.run(end, {n: 2**60})) == "KeyboardInterrupt"
    signal.setitimer(signal.ITIMER_REAL, 0)

f = tf2.function(lambda n: tf2.while_loop(lambda i: i < n, lambda i: i + 1, [tf2.constant(0, tf2.int64)]))
f(tf2.constant(5, tf2.int64))
after(0.1, signal.SIGINT)
assert raised(lambda: f(tf2.constant(2**60, tf2.int64))) == "KeyboardInterrupt"
print("done")
"""


# An interrupt comes at each instruction in turn of what begins, calls and ends runs with loops.
_INTERRUPTED = """
import itertools, signal, sys
import graphgrad.compat.v1 as tf
from graphgrad.executor.program import interrupts as stop

class Interrupt(Exception if sys.argv[1] == "keyboard" else OSError):  # TimeoutError is an OSError
    pass

def too_late(*args):
    raise Interrupt

def tracer(countdown):
    def trace(frame, event, arg):
        if frame.f_code.co_filename != stop.__file__:
            return None
        frame.f_trace_opcodes = True
        countdown[0] -= 1
        if countdown[0] == 0:
            too_late()
        return trace
    return trace

signal.signal(signal.SIGALRM, too_late)
with tf.Graph().as_default(), tf.Session() as sess:
    n = tf.placeholder(tf.int64, [])
    end = tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0, tf.int64)])
    sess.run(end, {n: 5})
    for fresh in (True, False):
        for instruction in itertools.count(1):
            signal.set_wakeup_fd(-1)  # whatever the run before has left
            if fresh and instruction <= 200:
                stop._forget()  # the thread and its pipe are made in this run
            countdown = [instruction]
            sys.settrace(tracer(countdown))
            try:
                sess.run(end, {n: 5})
            except Interrupt:
                caught = True
            else:
                caught = False
            sys.settrace(None)
            assert caught == (countdown[0] <= 0), (instruction, "is lost")
            if not caught:
                break
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001)
                sess.run(end, {n: 2**60})
            except Interrupt:
                pass
        assert instruction > 50, "nothing was traced"
print("done")
"""


def _run(program: str, *arguments: str) -> None:
    """Runs a program that ends by itself, or hangs: at a limit that has nothing to do with how fast the machine is."""
    env = {**os.environ, "PYTHONPATH": _SOURCE, "GRAPHGRAD_FIRST_RUN": "xla"}
    command = [sys.executable, "-X", "faulthandler", "-c", _DUMP + program, *arguments]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


_DUMP = "import faulthandler; faulthandler.dump_traceback_later(600, exit=True)\n"


@_HAS_TIMERS
def test_signals_and_deadlines() -> None:
    """Handlers' exceptions come through in all kinds of loops; without one, the loop is done to its end."""
    _run(_PROGRAM)


@_HAS_TIMERS
@pytest.mark.parametrize("kind", ["keyboard", "timeout"])
def test_interrupts_of_the_bookkeeping(kind: str) -> None:
    """Wherever an interrupt falls, it comes through, and the loops of later runs end at signals."""
    _run(_INTERRUPTED, kind)


def test_what_lets_the_run_go_on_ends_it_a_few_times_only() -> None:
    """Also where a signal's word comes late; other signals, and other threads, end it nevertheless."""
    stop, ended = Stop(), []

    def program(args):
        stop.hear({1})
        if len(ended) == 4:
            stop.hear({2})
        elif len(ended) == 5:
            stop.end()
        ended.append(bool(stop.numbers[0]))
        return args

    assert stop.call(program, [1], tf.no_op()) == [1]
    assert ended == [True] * 4 + [True] * 2 + [False]
    assert stop.call(program, [1], tf.no_op()) == [1]
    assert ended[7:] == [True] * 4 + [False]  # it is heard anew by the next run


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
