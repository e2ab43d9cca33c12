"""Several processes of `graphgrad launch`: sums over them, Horovod's names, and what happens when one fails."""

from __future__ import annotations

import json
import os
import pathlib
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
import graphgrad.horovod as hvd
from graphgrad import cli
from graphgrad.commands.launch import _Greetings
from graphgrad.executor.backend import membership
from graphgrad.executor.backend import process_group as processes
from graphgrad.ir import context
from tests.support.effort import long
from tests.support.launched import launched, start


@pytest.fixture
def alone() -> Iterator[None]:
    """This process, without others."""
    processes.forget()
    yield
    processes.forget()


_TRAINING = """
    import json
    import numpy as np
    import tensorflow as tf
    import horovod.tensorflow as hvd
    from graphgrad.executor.backend import process_group as processes

    hvd.init()
    me, count = hvd.rank(), hvd.size()
    x, y = np.linspace(-1.0, 1.0, 24).reshape(8, 3), np.linspace(0.0, 1.0, 8).reshape(8, 1)
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5 + me))
    table = tf.get_variable("table", initializer=np.full((4, 2), 1.0 + me))
    rows = tf.gather(table, np.arange(8)[me::count] % 3)
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x[me::count], w)) - y[me::count])) + tf.reduce_mean(rows ** 2)
    step = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.2, 0.9)).minimize(loss)
    mean = hvd.allreduce(loss, name="loss")
    p = tf.constant([1.0 + me, 2.0])
    several = [hvd.allgather(tf.fill([me + 1, 2], float(me))), hvd.broadcast(tf.constant([me, 7]), 1),
               hvd.allreduce(p, op=hvd.Sum), hvd.allreduce(tf.constant([2 * me, 4])),
               *hvd.grouped_allreduce([p, tf.cast(p, tf.float16), tf.cast(p, tf.int32)], op=hvd.Sum),
               hvd.allreduce(p, compression=hvd.Compression.fp16),
               *tf.gradients([hvd.allreduce(p, op=hvd.Sum) * (me + 1.0), hvd.allgather(p) ** 2 / 2.0,
                              hvd.broadcast(p, 1) * (me + 2.0)], p)]
    fed = tf.placeholder(tf.float32, [1000])
    total = hvd.allreduce(fed, op=hvd.Sum)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(hvd.broadcast_global_variables(0))
        kept = [sess.run(total, {fed: np.full(1000, me + 10.0 * k)}) for k in range(3)]
        assert [(a.min(), a.max()) for a in kept] == [(1, 1), (21, 21), (41, 41)]  # none is written over
        before = processes.group().summed_bytes
        losses = [sess.run([mean, step])[0].hex() for _ in range(4)]
        moved = processes.group().summed_bytes - before
        print(json.dumps([losses, [v.tolist() for v in sess.run([w, table])], moved, hvd.local_rank(), hvd.local_size(),
                          [np.asarray(v).tolist() for v in sess.run(several)]]))
"""


def _alone() -> tuple[list[float], list[Any]]:
    """The same training, in one process, on the whole batch."""
    x, y = np.linspace(-1.0, 1.0, 24).reshape(8, 3), np.linspace(0.0, 1.0, 8).reshape(8, 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
        table = tf.get_variable("table", initializer=np.full((4, 2), 1.0))
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) - y)) + tf.reduce_mean(
            tf.gather(table, np.arange(8) % 3) ** 2)
        step = tf.train.MomentumOptimizer(0.2, 0.9).minimize(loss)
        sess.run(tf.global_variables_initializer())
        return [float(sess.run([loss, step])[0]) for _ in range(4)], sess.run([w, table])


def test_training(tmp_path: pathlib.Path) -> None:
    """Two processes give one's losses to rounding, bit-equal among themselves, and sum no more bytes than needed."""
    status, lines, errors = launched(tmp_path, _TRAINING)
    assert status == 0, errors
    first, second = (json.loads(lines[i][0]) for i in range(2))
    assert first[0] == second[0] and first[1] == second[1]  # bits
    losses, variables = _alone()
    np.testing.assert_allclose([float.fromhex(v) for v in first[0]], losses, rtol=1e-12)
    for found, wanted in zip(first[1], variables, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # A step sums the loss and the gradient of w; four rows travel with their numbers, which go ahead once.
    assert first[2] == second[2] == 4 * (8 + 3 * 8 + 2 * 8 + 4 * (2 * 8 + 8)) + 2 * 8
    assert (first[3:5], second[3:5]) == ([0, 2], [1, 2])
    same = [[[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [1, 7], [3.0, 4.0], [1.0, 4.0], [3.0, 4.0], [3.0, 4.0], [3, 4],
            [1.5, 2.0]]
    assert first[5][:8] == second[5][:8] == same
    # d/dp: 1 + 2 of the sums; twice the value of the gathered squares; 2 + 3 of what process 1 has given to all.
    assert first[5][8] == [3.0 + 2 * 1.0, 3.0 + 2 * 2.0]
    assert second[5][8] == [3.0 + 2 * 2.0 + 5.0, 3.0 + 2 * 2.0 + 5.0]


def test_a_killed_process(tmp_path: pathlib.Path) -> None:
    """The others' sums fail at once, and say so again; the command's status is that of the process that was killed."""
    status, lines, errors = launched(tmp_path, """
        import os, signal, time
        import graphgrad as tf
        import graphgrad.horovod as hvd

        hvd.init()
        hvd.allreduce(tf.constant([1.0]))
        if hvd.rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        begun = time.monotonic()
        for _ in range(2):
            try:
                hvd.allreduce(tf.constant([1.0]))
            except tf.errors.OpError as e:
                print(type(e).__name__, time.monotonic() - begun < 300, "Fix:" in str(e))
    """)
    assert status == 128 + signal.SIGKILL and "process 1 ended with status 137 (signal 9)" in errors
    assert lines[0] == ["UnavailableError True True", "AbortedError True True"]


_STOPPED = """
    import os, signal, sys, time
    import graphgrad as tf
    import graphgrad.horovod as hvd

    hvd.init()
    pids = hvd.allgather(tf.constant([os.getpid()])).numpy()
    if hvd.rank() == 1 and {stops}:
        os.kill(os.getpid(), signal.SIGSTOP)
    if hvd.rank() == 1:
        time.sleep(600)
    os.environ["GRAPHGRAD_SUM_TIMEOUT"] = "{patience}"  # from now on: on a busy machine to meet at first takes long
    begun = time.monotonic()
    try:
        hvd.allgather(tf.constant([1]))
    except tf.errors.UnavailableError as e:
        print(time.monotonic() - begun < 300, str(e).replace("\\n", " "))
    os.kill(pids[1], signal.SIGKILL)
"""


@long("a process that is killed is noticed in the same way")
@pytest.mark.parametrize(("stops", "text"), [(True, "process 1 has given no sign of life for 6 s"),
                                             (False, "not all processes have asked for it within 3 s")])
def test_a_process_that_stands_still(tmp_path: pathlib.Path, stops: bool, text: str) -> None:
    """A process that is stopped, or never comes, is noticed."""
    status, lines, errors = launched(tmp_path, _STOPPED.format(stops=stops, patience=600 if stops else 3))
    assert status == 128 + signal.SIGKILL, errors
    assert lines[0][0].startswith("True") and text in lines[0][0] and "Fix:" in lines[0][0]


def test_a_process_that_is_stopped_while_others_end(tmp_path: pathlib.Path) -> None:
    """Nobody waits for it: it is ended, and the launcher says so."""
    status, _, errors = launched(tmp_path, """
        import os, signal
        if os.environ["GRAPHGRAD_PROCESS"] == "1":
            os.kill(os.getpid(), signal.SIGSTOP)
    """)
    assert status == 128 + signal.SIGKILL, errors
    assert "process 1 is stopped, and those that are not have ended" in errors


def test_programs_that_differ(tmp_path: pathlib.Path) -> None:
    """Processes that ask for different sums say so, and nobody waits."""
    status, lines, errors = launched(tmp_path, """
        import sys
        import graphgrad as tf
        import graphgrad.horovod as hvd

        hvd.init()
        hvd.allreduce(tf.ones([2]), name="same")
        try:
            hvd.allreduce(tf.ones([2 + hvd.rank()]), name="other")
        except tf.errors.InvalidArgumentError as e:
            print(str(e).replace("\\n", " "))
            sys.exit(3 + hvd.rank())
    """)
    assert status in (3, 4) and "ended with status" in errors
    for i in range(2):
        assert "different programs: for the second kind of sum" in lines[i][0] and "Fix:" in lines[i][0]
        assert "other float32[2]" in lines[1][0] and "other float32[3]" in lines[1][0]


@long("the command line is Python's subprocess")
def test_ctrl_c(tmp_path: pathlib.Path) -> None:
    """Ctrl-C ends all processes, and gives the status 130."""
    started = start(tmp_path, """
        import os, time
        print(os.getpid())
        time.sleep(600)
    """)
    assert started.stdout is not None
    pids = [int(started.stdout.readline().partition("] ")[2]) for _ in range(2)]
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    assert started.returncode == 130
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@long("a process that does not come is the engine's matter")
def test_a_process_that_does_not_come(tmp_path: pathlib.Path) -> None:
    """The others wait for as long as they are told to; then the engine ends them."""
    status, _, errors = launched(tmp_path, """
        import graphgrad.horovod as hvd
        from graphgrad.executor.backend import membership

        if membership.member().rank == 0:
            hvd.init()
    """, GRAPHGRAD_PROCESSES_TIMEOUT="3")
    assert status != 0 and "process 0 ended with status" in errors and "DEADLINE_EXCEEDED" in errors


@pytest.mark.parametrize(("arguments", "text"), [
    (["-n", "0"], "are no part of 0"), (["-n", "2", "--process", "1"], "from number 1 on are no part of 2"),
    (["-n", "1", "--processes", "2"], "need --coordinator HOST:PORT")])
def test_options(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers of processes that make no sense are refused."""
    assert cli.main(["launch", *arguments, "program.py"]) == 2
    assert text in capsys.readouterr().err


def test_what_the_engine_says_is_left_out() -> None:
    """Threads that connect at once may mix what they say; what a program prints is passed on."""
    greetings = _Greetings()
    said = ["[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1", "1",
            "[Gloo] Rank [Gloo] Rank 2 is connected to 3 peer ranks. Expected number of connected peer ranks is : 3",
            "3", "3", "", "[Gloo] is fine"]
    assert [greetings.has(line) for line in said] == [True, False, True, True, False, False, False]


def test_who(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is told which one it is by its environment."""
    for name in (membership.COORDINATOR, membership.PROCESS, membership.PROCESSES, membership.LOCAL_PROCESS,
                 membership.LOCAL_PROCESSES):
        monkeypatch.delenv(name, raising=False)
    assert membership.member() == (0, 1, 0, 1, "")
    monkeypatch.setenv(membership.COORDINATOR, "127.0.0.1:1")
    for rank, size in (("", ""), ("2", "2"), ("-1", "2"), ("a", "2")):
        monkeypatch.setenv(membership.PROCESS, rank)
        monkeypatch.setenv(membership.PROCESSES, size)
        with pytest.raises(ValueError, match=r"(?s)needs GRAPHGRAD_PROCESS and.*Fix: start.*graphgrad launch"):
            membership.member()
    monkeypatch.setenv(membership.PROCESS, "1")
    assert membership.member() == (1, 2, 1, 2, "127.0.0.1:1")


def test_one_process(alone: None) -> None:
    """A single process needs nobody: sums are the values themselves."""
    with pytest.raises(ValueError, match="has not been initialized"):
        hvd.size()
    hvd.init()
    assert hvd.is_initialized() and (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)
    with context.use(context.EAGER):
        v, x = tf2.Variable([1.0, 2.0]), tf2.constant([3.0, 4.0])
        assert hvd.allreduce(x).numpy().tolist() == hvd.allgather(x).numpy().tolist() == [3.0, 4.0]
        assert hvd.broadcast(x, 0).numpy().tolist() == [3.0, 4.0]
        with hvd.DistributedGradientTape(tf2.GradientTape()) as tape:
            loss = tf2.reduce_sum(v * v)
        assert tape.gradient(loss, [v])[0].numpy().tolist() == [2.0, 4.0]
        assert hvd.allreduce(x, prescale_factor=0.5, postscale_factor=4.0).numpy().tolist() == [6.0, 8.0]
        hvd.broadcast_variables([v], 0)
    hvd.shutdown()
    assert not hvd.is_initialized()


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: hvd.allreduce(1.0, op="Max"), tf.errors.UnimplementedError, "op='Max' is not offered.*Fix:"),
    (lambda: hvd.allreduce(1.0, True, op=hvd.Sum), ValueError, "supersedes average"),
    (lambda: hvd.allgather(1.0), ValueError, "a scalar has no first axis.*Fix:"),
    (lambda: hvd.broadcast(1.0, 1), ValueError, "root_rank 1 is none of the 1 processes.*Fix:"),
    (lambda: hvd.init(comm=[0]), tf.errors.UnimplementedError, "some of the processes is not offered.*Fix:"),
    (lambda: hvd.DistributedOptimizer(3), ValueError, "takes an optimizer of tf.compat.v1.train, not 3.*Fix:"),
    (lambda: hvd.DistributedOptimizer(tf.train.AdamOptimizer(), backward_passes_per_step=2),
     tf.errors.UnimplementedError, "backward_passes_per_step.*Fix:"),
    (lambda: hvd.broadcast_global_variables(0), RuntimeError, "does not support eager execution"),
])
def test_errors(alone: None, call: Any, kind: type, text: str) -> None:
    """What is not offered is refused, with a remedy."""
    hvd.init()
    with context.use(context.EAGER), pytest.raises(kind, match=f"(?s){text}"):
        call()
