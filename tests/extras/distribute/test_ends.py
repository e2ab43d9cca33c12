"""Workers whose data end at different steps: those of a cluster go on alone, other processes say who has ended."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import Any

import numpy as np
import pytest

from tests.support.effort import long

from .clustered import Tasks
from .restarted import Processes

_TRAINING = """
server, setter, me, n = task()
steps = [int(s) for s in FLAGS.logdir.split(",")][me]
data = tf.data.Dataset.from_tensors(np.full((2, 3), me + 1.0)).repeat(steps)
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
    x = tf.data.make_one_shot_iterator(data).get_next()
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    if FLAGS.kind != "asynchronous":
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, n)
    train = optimizer.minimize(loss, global_step=step)
    result = tf.group(train)
    with tf.control_dependencies([result]):
        values = [step.read_value(), w.read_value()]
done = 0
if FLAGS.kind == "supervised":
    supervisor = tf.train.Supervisor(is_chief=me == 0, global_step=step, save_model_secs=0, save_summaries_secs=0)
    with supervisor.managed_session(server.target) as session:
        while not supervisor.should_stop():
            last, done = session.run(values), done + 1
            print("RESULT", json.dumps([done, int(last[0]), last[1].tolist()]), flush=True)
else:
    with tf.train.MonitoredTrainingSession(server.target, me == 0, save_checkpoint_secs=None) as session:
        print("RESULT", json.dumps([done, 0, 0.0]), flush=True)
        while not session.should_stop():
            last, done = session.run(values), done + 1
            print("RESULT", json.dumps([done, int(last[0]), last[1].tolist()]), flush=True)
time.sleep(0.5 * me)
"""


def _expected(kind: str, steps: list[int]) -> list[Any]:
    """What each worker has after its last step, in NumPy: its steps, the global step, and the weights."""
    w, momentum, count, found = np.full((3, 1), 0.5), np.zeros((3, 1)), 0, [[0, 0, 0.0] for _ in steps]
    for i in range(max(steps)):
        there = [n for n, limit in enumerate(steps) if limit > i]
        gradients = [2 * (n + 1.0) * (3 * (n + 1) * w.mean() - 1.0) * np.ones((3, 1)) for n in there]
        for g in gradients if kind == "asynchronous" else [np.mean(gradients, 0)]:
            momentum = 0.9 * momentum + g
            w, count = w - 0.01 * momentum, count + 1
        for n in there:
            found[n] = [i + 1, count, w.tolist()]
    return found


@pytest.mark.parametrize(("kind", "steps"), [
    ("synchronous", [7, 3, 5]), ("asynchronous", [3, 7]),
    pytest.param("synchronous", [2, 6], marks=long("the chief may end first in asynchronous training, too")),
    pytest.param("synchronous", [4, 0], marks=long("a worker without data ends as others do")),
    pytest.param("supervised", [3, 6], marks=long("a Supervisor tells the others as a MonitoredTrainingSession does")),
    pytest.param("asynchronous", [6, 2, 4], marks=long("with two workers, too"))])
def test_workers_end_one_after_another(tmp_path: pathlib.Path, kind: str, steps: list[int]) -> None:
    """Those that are left go on with the step that they are in: none is lost, and none is taken twice."""
    tasks = Tasks(tmp_path, _TRAINING, workers=len(steps), kind=kind, logdir=",".join(map(str, steps)))
    tasks.wait()
    assert all(process.returncode == 0 for process in tasks.processes.values()), tasks.lines
    for found, wanted in zip(tasks.results(), _expected(kind, steps), strict=True):
        assert found[:2] == wanted[:2], tasks.lines
        np.testing.assert_allclose(found[2], wanted[2], rtol=1e-5)  # 0.9 in float32
    first, last = steps.index(min(steps)), steps.index(max(steps))
    said = "\n".join(tasks.lines["worker", last])
    assert f"worker {first} has ended its training at global step" in said
    assert "joined" in tasks.results("ps")


_HOROVOD = """
import sys, time
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd
if not hasattr(tf, "placeholder"):
    tf = tf.compat.v1
    tf.disable_eager_execution()

hvd.init()
step = tf.train.get_or_create_global_step()
data = tf.data.Dataset.from_tensors(np.ones((2, 3))).repeat(3 if hvd.rank() == 1 else 6)
w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.data.make_one_shot_iterator(data).get_next(), w) - 1.0))
train = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.001, 0.9)).minimize(loss, step)
try:
    with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as session:
        while not session.should_stop():
            session.run(train)
except tf.errors.UnavailableError as e:
    print("ERROR", str(e).replace("\\n", " "), flush=True)
    sys.exit(1)
print("ended", flush=True)
"""

_MIRRORED = """
import sys, time
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id
with strategy.scope():
    w = tf.Variable([1.0])

@tf.function
def train():
    return strategy.reduce("SUM", strategy.run(lambda: w + 1.0), axis=None)

try:
    for _ in range(3 if me == FIRST else 6):
        train()
except tf.errors.UnavailableError as e:
    print("ERROR", str(e).replace("\\n", " "), flush=True)
    sys.exit(1)
print("ended", flush=True)
"""


@pytest.mark.parametrize(("kind", "first"), [
    ("horovod", 1), ("mirrored", 0), pytest.param("mirrored", 1, marks=long("the first process is the harder case"))])
def test_processes_that_end_early(tmp_path: pathlib.Path, kind: str, first: int) -> None:
    """Elsewhere the others' next sum is an error that says who has ended."""
    program = _HOROVOD if kind == "horovod" else _MIRRORED.replace("FIRST", str(first))
    processes = Processes(tmp_path, kind, 2, program)
    try:
        processes.wait()
    finally:
        processes.end()
    lines = processes.text()
    (said,) = [line for line in lines.splitlines() if "ERROR" in line]
    assert f"process {1 - first} of 2 asks for a sum over all processes, and others have ended" in said, lines
    when = "at global step 3" if kind == "horovod" else "after"
    assert f"process {first} has ended its training {when}" in said and "Fix: give all" in said, lines
    assert f"[{first}] ended" in lines
    if kind == "mirrored":
        assert processes.started[first].returncode == 0 and processes.started[1 - first].returncode == 1


_TWICE = """
server, setter, me, n = task()
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=1.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), n)
    train = optimizer.minimize(w * (me + 1.0), global_step=step)
for last in (3, 6):
    with tf.train.MonitoredTrainingSession(server.target, me == 0, FLAGS.logdir, save_checkpoint_steps=3,
                                           save_checkpoint_secs=None, save_summaries_steps=None,
                                           hooks=[tf.train.StopAtStepHook(last_step=last)]) as session:
        while not session.should_stop():
            session.run(train)
        found = session._tf_sess().run([step, w])
    print("RESULT", json.dumps([int(found[0]), float(found[1])]), flush=True)
    time.sleep(me)
"""


def test_one_training_after_another(tmp_path: pathlib.Path) -> None:
    """Workers that end a training together meet again for the next one, also if one of them comes later."""
    tasks = Tasks(tmp_path, _TWICE, workers=2, logdir=tmp_path / "checkpoints")
    tasks.wait()
    assert tasks.results() == [[6, 1.0 - 6 * 0.25 * 1.5]] * 2, tasks.said()
    assert "has ended its training" not in tasks.said()


_ERROR = """
import graphgrad as tf
import graphgrad.horovod as hvd

hvd.init()
for i in range(6):
    try:
        hvd.allreduce(tf.constant([1.0]))
    except tf.errors.UnavailableError as e:
        print("ERROR", str(e).replace("\\n", " "), flush=True)
        raise
    if hvd.rank() == 1 and i == 2:
        raise ValueError("no such file")
"""


@long("an error ends a process as the end of its program does")
def test_an_error_in_one_process(tmp_path: pathlib.Path) -> None:
    """The others say which error has ended it."""
    processes = Processes(tmp_path, "horovod", 2, _ERROR)
    try:
        processes.wait()
    finally:
        processes.end()
    (said,) = [line for line in processes.text().splitlines() if "ERROR" in line]
    assert "process 1 has ended its training after 3 sums over all processes, by ValueError: no such file" in said
    assert "Fix: see the error there" in said and processes.started[0].returncode == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=long("silence is noticed alike"))])
def test_the_first_process_is_lost(tmp_path: pathlib.Path, how: signal.Signals) -> None:
    """Where no launcher has the coordinator, the others get an error, too: it outlives the process that started it."""
    processes = Processes(tmp_path, "mirrored", 2)
    try:
        victim = int(processes.wait_for("pid", 0).rpartition(" ")[2])
        for i in (0, 1):
            processes.wait_for("begun", i)
        os.kill(victim, how)
        processes.wait(0)
    finally:
        processes.end()
    said = [line for line in processes.text().splitlines() if line.startswith("[1] ERROR")]
    assert len(said) == 1 and "UnavailableError" in said[0], processes.text()
    assert processes.started[1].returncode == 1
