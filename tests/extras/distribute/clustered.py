"""Programs of 1.x for several tasks, and how the tests start them: by hand, a process for each task."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from tests import ROOT

LIMIT = 150.0  # seconds, for all processes of a test

FLAGS = """
import json
import time
import numpy as np
import tensorflow as tf
if not hasattr(tf, "placeholder"):
    tf = tf.compat.v1
    tf.disable_eager_execution()

for name in ("ps_hosts", "worker_hosts", "job_name", "logdir", "kind"):
    tf.app.flags.DEFINE_string(name, "", "")
tf.app.flags.DEFINE_integer("task_index", 0, "")
tf.app.flags.DEFINE_integer("steps", 5, "")
FLAGS = tf.app.flags.FLAGS


def task():
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        print("RESULT", json.dumps("joined"), flush=True)
        raise SystemExit
    setter = tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)
    return server, setter, FLAGS.task_index, len(FLAGS.worker_hosts.split(","))
"""


def ports(count: int) -> list[int]:
    """Returns free ports."""
    found = [socket.socket() for _ in range(count)]
    for one in found:
        one.bind(("127.0.0.1", 0))
    numbers = [int(one.getsockname()[1]) for one in found]
    for one in found:
        one.close()
    return numbers


class Tasks:
    """The processes of a cluster.

    Args:
      folder: where the program is written.
      program: its text, which follows `FLAGS`.
      workers, servers: how many there are.
      environment: what the processes' environment says besides.
      **flags: the program's own flags.
    """

    def __init__(self, folder: pathlib.Path, program: str, workers: int = 2, servers: int = 1,
                 environment: Any = None, **flags: Any):
        self._path = folder / "program.py"
        self._path.write_text(FLAGS + program)
        hosts = [f"localhost:{port}" for port in ports(workers + servers)]
        self._given = [f"--ps_hosts={','.join(hosts[:servers])}", f"--worker_hosts={','.join(hosts[servers:])}",
                       *(f"--{name}={value}" for name, value in flags.items())]
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(environment or {})}
        self.lines: dict[tuple[str, int], list[str]] = {}
        self.processes: dict[tuple[str, int], subprocess.Popen[str]] = {}
        self._readers: list[threading.Thread] = []
        for job, count in (("ps", servers), ("worker", workers)):
            for i in range(count):
                self.start(job, i)

    def start(self, job: str, task: int) -> None:
        """Starts a task; again, if it was killed."""
        if (job, task) in self.processes:
            self.processes[job, task].wait(LIMIT)
        command = [sys.executable, "-m", "graphgrad", "run", str(self._path), *self._given, f"--job_name={job}",
                   f"--task_index={task}"]
        process = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        self.processes[job, task] = process
        lines = self.lines.setdefault((job, task), [])

        def read() -> None:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    lines.append(line.rstrip("\n"))

        self._readers.append(threading.Thread(target=read, daemon=True))
        self._readers[-1].start()

    def wait_for_line(self, text: str, job: str, task: int) -> None:
        """Waits until a task has printed something."""
        until = time.monotonic() + LIMIT
        while not any(text in line for line in self.lines[job, task]):
            assert time.monotonic() < until, f"{job} {task} never printed {text}: {self.lines}"
            time.sleep(0.02)

    def signal(self, number: signal.Signals, task: int) -> None:
        """Sends a signal to a worker."""
        self.processes["worker", task].send_signal(number)

    def wait(self, *but: int) -> None:
        """Waits for all tasks except some workers; AssertionError if they hang."""
        until = time.monotonic() + LIMIT
        try:
            for (job, task), process in self.processes.items():
                if job == "ps" or task not in but:
                    try:
                        process.wait(max(0.1, until - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        raise AssertionError(f"{job} {task} hangs: {self.lines}") from None
        finally:
            self.end()
        for reader in self._readers:
            reader.join(10)

    def end(self) -> None:
        """Ends what is left."""
        for process in self.processes.values():
            process.kill()
            process.wait()

    def results(self, job: str = "worker") -> list[Any]:
        """Returns what each task has printed last as its result."""
        found = []
        for (kind, _), lines in self.lines.items():
            if kind == job:
                texts = [line.removeprefix("RESULT ") for line in lines if line.startswith("RESULT ")]
                assert texts, "\n".join(lines)
                found.append(json.loads(texts[-1]))
        return found


def fault(folder: pathlib.Path, kind: str, workers: int, delay: float, fewer: bool) -> Tasks:
    """Trains, and kills or stops a worker that is not the chief; returns the tasks, which have ended.

    A worker that was killed is started again, unless fewer are to go on.

    Args:
      folder: where the program and its checkpoints are.
      kind: "SIGKILL" or "SIGSTOP".
      workers: how many there are.
      delay: for how many seconds the victim has trained by then.
      fewer: whether the others go on alone.
    Raises: AssertionError if a task hangs, if one that was left alone fails, or if steps are lost.
    """
    environment = {"GRAPHGRAD_FEWER_PROCESSES": "3" if fewer else "", "GRAPHGRAD_PROCESSES_TIMEOUT": "100"}
    tasks = Tasks(folder, TRAINING, workers, 1, environment, logdir=folder / "checkpoints", steps=80)
    victim = workers - 1
    try:
        tasks.wait_for_line("begun", "worker", victim)
        time.sleep(delay)
        tasks.signal(getattr(signal, kind), victim)
        if not fewer:
            time.sleep(0.5)
            tasks.start("worker", victim)
        tasks.wait(*([victim] if fewer else []))
    finally:
        tasks.end()
    for (job, task), process in tasks.processes.items():
        if job == "ps" or task != victim or not fewer:
            assert process.returncode == 0, (job, task, tasks.lines)
    for found in tasks.results()[: workers - fewer]:
        assert found["step"] >= 80 and found["w"] == tasks.results()[0]["w"], tasks.lines
    return tasks


TRAINING = """
server, setter, me, n = task()
with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
    loss = tf.reduce_mean(tf.square(tf.matmul(np.ones((2, 3)) * (me + 1), w) - 1.0))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.001, 0.9), n)
    train = optimizer.minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(server.target, me == 0, FLAGS.logdir, save_checkpoint_steps=10,
                                       save_checkpoint_secs=None, save_summaries_steps=None, save_summaries_secs=None,
                                       hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps)]) as session:
    first = True
    while not session.should_stop():
        _, count, value = session.run([train, step, w])
        count, value = session._tf_sess().run([step, w])
        print("RESULT", json.dumps({"step": int(count), "w": value.tolist()}), flush=True)
        if first:
            print("begun", flush=True)
        first = False
        time.sleep(0.02)
"""
