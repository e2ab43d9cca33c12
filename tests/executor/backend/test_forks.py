"""Processes forked from one in which XLA ran: they compute, with NumPy, and nobody is hurt who does not."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, os, sys, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context

with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 4])
    w, half = tf.Variable(tf.ones([4, 3])), tf.Variable(tf.ones([2], tf.bfloat16))
    y = tf.matmul(x, w)
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(y)))
    start, doubled = tf.global_variables_initializer(), half + half
    queue = tf.FIFOQueue(2, [tf.float32])
    put, got = queue.enqueue(1.0), queue.dequeue()
session = tf.Session(graph=graph)
session.run(start)
feed = {x: np.ones((2, 4), np.float32)}
for _ in range(2):
    session.run([train, doubled], feed)
v = tf2.Variable(2.0)

@tf2.function
def power(n):
    return v ** n

with context.use(context.EAGER):
    power(tf2.constant(3.0)), power(tf2.constant(3.0))
    before = session.run(y, feed)

def check():
    np.testing.assert_allclose(session.run(y, feed), before, rtol=1e-6)
    session.run(train, feed)
    assert (session.run(y, feed) < before).all()
    assert session.run(doubled).astype(np.float32).tolist() == [2.0, 2.0]
    with context.use(context.EAGER):
        assert float(power(tf2.constant(3.0))) == 8.0
        v.assign_add(1.0)
        assert float(power(tf2.constant(3.0))) == 27.0
    try:
        session.run([got, put])
        raise AssertionError
    except tf.errors.FailedPreconditionError as e:
        assert "spawn" in str(e)

def forked(work):
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException as e:
            print(repr(e), file=sys.stderr, flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0

forked(check)
forked(lambda: forked(check))
forked(lambda: np.ones((50, 50)) @ np.ones((50, 50)))

# Another thread has its turn while the process is forked.
held, enough = threading.Event(), threading.Event()
def hold():
    with session._cells[w.op.name].lock:
        held.set()
        enough.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
forked(check)
enough.set()
thread.join()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(np.square, [1, 2, 3]) == [1, 4, 9]
np.testing.assert_array_equal(session.run(y, feed), before)  # the children's steps are their own
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_forked_processes_compute():
    env = {**os.environ, "GRAPHGRAD_FIRST_RUN": "xla"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-3000:]
    assert "spawn" in done.stderr
