"""Between-graph replication of 1.x: one program, started once for each task, beside what TensorFlow gives."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import process_group as processes
from graphgrad.executor.backend import rendezvous
from graphgrad.frontend.variables import clusters
from tests import ROOT
from tests.support.effort import long

from .clustered import FLAGS, Tasks, ports

_SYNCHRONOUS = """
server, setter, me, n = task()
x, y = np.linspace(-1.0, 1.0, 24).reshape(8, 3), np.linspace(0.0, 1.0, 8).reshape(8, 1)
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5) if me == 0 else np.full((3, 1), 9.0))
    table = tf.get_variable("table", initializer=np.full((5, 2), 1.0))
    rows = tf.gather(table, [me, 2, 4])
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x[me::n], w)) - y[me::n])) + tf.reduce_mean(rows ** 2)
    average = tf.train.ExponentialMovingAverage(0.9)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(0.05), replicas_to_aggregate=n,
                                               total_num_replicas=n, variable_averages=average,
                                               variables_to_average=[w])
    train = optimizer.minimize(loss, global_step=step)
losses = []
with tf.train.MonitoredTrainingSession(
        master=server.target, is_chief=me == 0, checkpoint_dir=FLAGS.logdir, save_checkpoint_secs=None,
        hooks=[optimizer.make_session_run_hook(me == 0, num_tokens=0)], save_checkpoint_steps=5,
        save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None) as session:
    for _ in range(5):
        session.run(train)
        losses.append([float(v) for v in session._tf_sess().run([loss, step])])
    names = [v.op.name for v in tf.global_variables()]
    values = dict(zip(names, session._tf_sess().run(tf.global_variables())))
    print("RESULT", json.dumps([losses, {k: np.asarray(v).tolist() for k, v in values.items()}]), flush=True)
"""

_ASYNCHRONOUS = """
server, setter, me, n = task()
x, y = np.linspace(-1.0, 1.0, 24).reshape(8, 3), np.linspace(0.0, 1.0, 8).reshape(8, 1)
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
    table = tf.get_variable("table", initializer=np.full((5, 2), 1.0))
    mean = tf.get_variable("mean", initializer=np.array(1.0), trainable=False)
    rows = tf.gather(table, [me, 2, 2])
    loss = tf.reduce_mean(tf.square(tf.matmul(x[me::n], w) - y[me::n])) + tf.reduce_mean(rows ** 2)
    kinds = {"sgd": lambda: tf.train.GradientDescentOptimizer(0.1), "adam": lambda: tf.train.AdamOptimizer(0.05),
             "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9)}
    train = tf.group(kinds[FLAGS.kind]().minimize(loss, global_step=step), mean.assign_sub(0.1 * (mean - me)))
supervisor = tf.train.Supervisor(is_chief=me == 0, logdir=FLAGS.logdir, global_step=step, save_model_secs=0,
                                 save_summaries_secs=0)
with supervisor.prepare_or_wait_for_session(server.target) as session:
    count = 0
    while count < FLAGS.steps:
        _, count = session.run([train, step])
        count = session.run(step)
    print("RESULT", json.dumps([int(count), *(v.tolist() for v in session.run([w, table, mean]))]), flush=True)
    supervisor.stop()
"""

# Recorded from TensorFlow 2.21, by the synchronous program.
_LOSSES = [[1.193158580706303, 1.0], [1.0833953755736871, 2.0], [0.9815512967491719, 3.0], [0.8895559391221082, 4.0],
           [0.8095453620548502, 5.0]]  # of worker 1
_W = [0.25030062356840777, 0.25131309325530654, 0.25483315993329897]
_ROW = np.array([[1], [1], [1], [0], [1]]) * np.ones((1, 2))  # that no worker has
# TensorFlow's chief has begun the next update by then, which shrinks the slots of rows before it waits for gradients.
_VALUES: dict[str, Any] = {
    "global_step": 5, "w": [[v] for v in _W], "table": np.where(_ROW, 0.751478823275679, 1.0),
    "beta1_power": 0.5314409136772156, "beta2_power": 0.994015097618103,
    "w/Adam": [[0.07981086731401757], [0.05514597289724585], [0.030481078480474124]],
    "w/Adam_1": [[0.00019223898972379978], [9.436506786860891e-05], [3.199738147200195e-05]],
    "table/Adam": 0.10931257748608625 / 0.9 * _ROW, "table/Adam_1": 0.00045152509598595663 / 0.999 * _ROW,
    "w/ExponentialMovingAverage": [[0.43429597451886837], [0.4344351364502008], [0.4349045136854254]]}


def test_synchronous_training(tmp_path: pathlib.Path) -> None:
    """Losses, variables and the checkpoint are TensorFlow's; workers are equal to the bit; servers end with them."""
    tasks = Tasks(tmp_path, _SYNCHRONOUS, workers=2, servers=2, logdir=tmp_path / "checkpoints")
    tasks.wait()
    found = tasks.results()
    assert tasks.results("ps") == ["joined", "joined"]
    assert all(process.returncode == 0 for process in tasks.processes.values())
    assert found[0][1] == found[1][1]
    np.testing.assert_allclose(found[1][0], _LOSSES, rtol=1e-13)
    reader = tf.train.load_checkpoint(str(tmp_path / "checkpoints"))
    assert sorted(reader.get_variable_to_shape_map()) == sorted(found[0][1]) == sorted(_VALUES)
    for name, value in _VALUES.items():
        np.testing.assert_allclose(found[0][1][name], value, rtol=1e-6 if "Adam" in name else 1e-13)
        np.testing.assert_array_equal(reader.get_tensor(name), found[0][1][name])


def _alone(kind: str, workers: int, steps: int) -> list[Any]:
    """What asynchronous workers make of the variables if all read before the first one writes, in NumPy."""
    x, y = np.linspace(-1.0, 1.0, 24).reshape(8, 3), np.linspace(0.0, 1.0, 8).reshape(8, 1)
    values = [np.full((3, 1), 0.5), np.full((5, 2), 1.0)]
    slots = [[np.zeros_like(v), np.zeros_like(v)] for v in values]
    mean, count, powers = 1.0, 0, [0.9, 0.999]
    while count < steps:
        every = []
        for me in range(workers):
            a, b = x[me::workers], y[me::workers]
            dense = 2 * a.T @ (a @ values[0] - b) / len(a)
            sparse = np.zeros((5, 2))
            np.add.at(sparse, [me, 2, 2], 2 * values[1][[me, 2, 2]] / 6)
            every.append([(dense, np.ones_like(dense)), (sparse, np.isin(np.arange(5), [me, 2])[:, None])])
        mean -= sum(0.1 * (mean - me) for me in range(workers))
        for gradients in every:
            for i, (g, there) in enumerate(gradients):
                m, v = slots[i]
                if kind == "sgd":
                    values[i] -= 0.1 * g
                elif kind == "momentum":
                    m[:] = np.where(there, 0.9 * m + g, m)
                    values[i] -= np.where(there, 0.05 * m, 0.0)
                else:
                    m[:], v[:] = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                    rate = 0.05 * np.sqrt(1 - powers[1]) / (1 - powers[0])
                    values[i] -= rate * m / (np.sqrt(v) + 1e-8)
            powers = [powers[0] * 0.9, powers[1] * 0.999]
        count += workers
    return [count, *values, mean]


@pytest.mark.parametrize(("kind", "workers"), [
    ("adam", 2), pytest.param("adam", 3, marks=long("two workers say the same")),
    pytest.param("sgd", 2, marks=long("Adam is the harder case")),
    pytest.param("momentum", 2, marks=long("Adam is the harder case"))])
def test_asynchronous_training(tmp_path: pathlib.Path, kind: str, workers: int) -> None:
    """Without a SyncReplicasOptimizer, workers apply all gradients in turn; each step counts for all of them."""
    tasks = Tasks(tmp_path, _ASYNCHRONOUS, workers=workers, kind=kind, steps=7, logdir="")
    tasks.wait()
    found = tasks.results()
    assert all(values == found[0] for values in found)
    for value, wanted in zip(found[0], _alone(kind, workers, 7), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=5e-5 if kind == "adam" else 1e-6)  # 0.999 ** i in float32
    said = {line[line.index("Asynchronous") :] for line in tasks.lines["worker", 0] if "compute in step" in line}
    assert len(said) == 1 and f"Each step counts {workers}" in said.pop()


def test_launch(tmp_path: pathlib.Path) -> None:
    """`graphgrad launch --ps` starts the tasks, each with its flags."""
    path = tmp_path / "program.py"
    path.write_text(FLAGS + """
server, setter, me, n = task()
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=2.0)
    train = tf.train.GradientDescentOptimizer(0.25).minimize(w * (me + 1.0), global_step=step)
with tf.Session(server.target) as session:  # which gets the first worker's values when it first needs the others
    session.run(tf.global_variables_initializer() if me == 0 else tf.no_op())
    session.run(train)
    print("RESULT", session.run([w, step]), flush=True)
""")
    done = subprocess.run([sys.executable, "-m", "graphgrad", "launch", "-n", "2", "--ps", "1", str(path)],
                          env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True,
                          text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    lines = {line for line in done.stdout.splitlines() if "RESULT" in line}
    value = "[np.float32(1.25), np.int64(2)]"
    assert lines == {f"[worker 0] RESULT {value}", f"[worker 1] RESULT {value}", '[ps 0] RESULT "joined"'}


# -- one process -----------------------------------------------------------------------


def test_sessions_of_a_server() -> None:
    """Sessions with the target of a server share its variables, also after one was closed, as TensorFlow's do."""
    server = tf.train.Server.create_local_server()
    assert server.target.startswith("grpc://localhost:") and server.server_def.job_name == "localhost"
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=1.0)
        first, second = tf.Session(server.target), tf.Session(server.target)
        first.run(v.initializer)
        assert second.run(v.assign_add(1.0)) == 2.0
        first.close()
        assert tf.Session(server.target).run(v) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            tf.Session().run(v)
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        v = tf.get_variable("v", initializer=[1, 2])
        session.run(v.initializer)
        assert session.run(v).tolist() == [1, 2]


def test_devices_of_a_cluster() -> None:
    """Operations on tasks of the cluster run here; other tasks are refused."""
    server = tf.train.Server({"worker": {1: f"localhost:{ports(1)[0]}"}})
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        with tf.device("/job:worker/task:1/cpu:0"):
            x = tf.constant(1.0) + 1.0
        with tf.device("/job:worker/task:0"):
            y = x + 1.0
        assert session.run(x) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)assigned to /job:worker/task:0 but.*Fix:"):
            session.run(y)


@pytest.mark.parametrize(("arguments", "kind", "text"), [
    (({"worker": ["a:1"], "ps": ["b:1"]},), ValueError, "Must specify an explicit `job_name`"),
    (({"worker": ["a:1", "b:1"]}, "worker"), ValueError, "Must specify an explicit `task_index`"),
    (({"worker": ["a:1"], "ps": ["b:1"]}, "worker", 3), tf.errors.InternalError, 'Task 3 was not defined in job "work'),
    (({"worker": ["a:1"]}, "other", 0), tf.errors.InternalError, 'Job "other" was not defined in cluster'),
])
def test_servers_that_make_no_sense(arguments: Any, kind: type, text: str) -> None:
    """Tasks that are none are refused as in TensorFlow."""
    with pytest.raises(kind, match=text):
        tf.train.Server(*arguments)


def test_a_port_that_is_taken() -> None:
    """Two servers cannot have one address."""
    server = tf.train.Server.create_local_server()
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"worker": [server.target.removeprefix("grpc://")]})


def test_messages() -> None:
    """Clusters and tasks as protocol buffers."""
    cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {0: "b:1", 2: "c:1"}})
    assert tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster
    server = tf.train.Server(cluster, "worker", 2, start=False)
    assert server.target == "" and (server.server_def.job_name, server.server_def.task_index) == ("worker", 2)
    again = tf.train.Server(server.server_def, task_index=0, start=False)
    assert again.server_def.task_index == 0 and tf.train.ClusterSpec(again.server_def.cluster) == cluster
    assert str(server.server_def).startswith('cluster {\n  job {\n    name: "ps"\n')


def test_one_worker_alone() -> None:
    """A SyncReplicasOptimizer of one worker is the optimizer that it was given; it says what is out of order."""
    with tf.Graph().as_default():
        w, step = tf.get_variable("w", initializer=2.0), tf.train.get_or_create_global_step()
        made = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.25, 0.9), 1)
        for call, text in ((made.get_chief_queue_runner, "Should be called after apply_gradients"),
                           (made.get_init_tokens_op, "should be called after apply_gradients"),
                           (made.make_session_run_hook(True).begin, "should be called before using the hook"),
                           (lambda: made.apply_gradients([]), "Must supply at least one variable"),
                           (lambda: made.apply_gradients([(w, w)]), "Global step is required")):
            with pytest.raises(ValueError, match=text):
                call()
        train, tokens = made.minimize(w * w, step), made.get_init_tokens_op()
        assert made.get_slot_names() == ["momentum"] and made.get_slot(w, "momentum") is not None
        assert [v.op.name for v in tf.local_variables()] == ["sync_rep_local_step"]
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: -2 \(given\) vs 0 \(needed\)"):
            made.get_init_tokens_op(-2)
        supervisor = tf.train.Supervisor(local_init_op=made.chief_init_op, global_step=step,
                                         ready_for_local_init_op=made.ready_for_local_init_op)
        runner = made.get_chief_queue_runner()
        with supervisor.prepare_or_wait_for_session() as session:
            assert supervisor.start_queue_runners(session, [runner]) == []
            session.run([tokens, train])
            assert session.run([w, step, *tf.local_variables()]) == [1.0, 1, 1]
        with pytest.raises(tf.errors.UnimplementedError, match=r"(?s)3 gradients.*of 1 worker, are.*Fix:"):
            tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 3, 2)


def test_which_variables_are_shared() -> None:
    """Those on parameter servers are; those of a worker are not, but the first one's where there are no servers."""
    jobs = {"ps": {0: "a:1"}, "worker": {0: "b:1", 1: "c:1"}}
    with tf.Graph().as_default():
        made = {}
        for place in ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1", ""):
            with tf.device(place or None):
                made[place] = tf.get_variable(f"v{len(made)}", initializer=1.0)
        with tf.device("/job:ps/task:0"):
            made["local"] = tf.get_local_variable("local", initializer=1.0)
        for given, shared in ((jobs, ["/job:ps/task:0"]), ({"worker": jobs["worker"]}, ["/job:worker/task:0"]),
                              (None, [])):
            clusters.join(None if given is None else clusters.Tasks(given, "worker", 1))
            try:
                assert [place for place, v in made.items() if clusters.is_shared(v)] == shared
                with clusters.as_given():
                    assert not any(map(clusters.is_shared, made.values()))
            finally:
                clusters.join(None)


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long to wait before fewer go on is a number of seconds."""
    for text, wanted in (("", None), ("2.5", 2.5), ("-1", 0.0)):
        monkeypatch.setenv(rendezvous.FEWER, text)
        assert rendezvous.fewer() == wanted
    monkeypatch.setenv(rendezvous.FEWER, "soon")
    with pytest.raises(ValueError, match=r"(?s)'soon' is no number of seconds.*Fix:"):
        rendezvous.fewer()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)is no address of a task.*Fix:"):
        rendezvous.split("localhost")


def test_meeting(tmp_path: pathlib.Path) -> None:
    """A worker that comes alone is told who is missing, in time; another cluster is refused."""
    address = f"127.0.0.1:{ports(1)[0]}"
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"(?s)did not answer at .* within 0 s.*Fix:"):
        rendezvous.Meeting(address, "worker", 1, "same", 0.2)
    helper = rendezvous.start(address, 2, "same")
    meeting = rendezvous.Meeting(address, "worker", 1, "same", 10.0)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"(?s)tasks \[0\] have not come within 0 s.*Fix:"):
        meeting.meet(0.3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)cluster is another one.*Fix:"):
        rendezvous.Meeting(address, "worker", 0, "other", 10.0)
    meeting.close()
    assert helper.stdin is not None
    helper.stdin.close()
    assert helper.wait(20) == 0
    assert not processes.is_lost()
