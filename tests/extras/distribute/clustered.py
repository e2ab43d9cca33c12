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

from .fault_programs import TASKS

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
        self.was_over = False  # whether the others had ended when a task was to be started again
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
            assert time.monotonic() < until, f"{job} {task} never printed {text}: {self.said()}"
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
                        raise AssertionError(f"{job} {task} hangs: {self.said()}") from None
        finally:
            self.end()
        for reader in self._readers:
            reader.join(10)

    def end(self) -> None:
        """Ends what is left."""
        for process in self.processes.values():
            process.kill()
            process.wait()

    def said(self) -> str:
        """Returns what the tasks have printed, without the middle of long results."""
        lines = [f"{job} {task}: {line[:70] if line.startswith('RESULT') else line}"
                 for (job, task), found in self.lines.items() for line in found]
        return "\n".join(lines)

    def results(self, job: str = "worker") -> list[Any]:
        """Returns what each task has printed last as its result."""
        found = []
        for (kind, _), lines in self.lines.items():
            if kind == job:
                texts = [line.removeprefix("RESULT ") for line in lines if line.startswith("RESULT ")]
                assert texts, "\n".join(lines)
                found.append(json.loads(texts[-1]))
        return found


def fault(folder: pathlib.Path, kind: str, workers: int, delay: float, fewer: bool, victim: int = -1,
          training: str = "synchronous", server: bool = False) -> Tasks:
    """Trains, and kills or stops a task; returns the tasks, which have ended.

    It is ended and started again, unless fewer are to go on; a server is not needed.

    Args:
      folder: where the program and its checkpoints are.
      kind: "SIGKILL" or "SIGSTOP".
      workers: how many there are.
      delay: for how many seconds the victim has trained by then; below 0, since it was started.
      fewer: whether the others go on alone.
      victim: which worker; the last one by default.
      training: "synchronous" or "asynchronous".
      server: whether the victim is the parameter server.
    Raises: AssertionError if a task hangs, if one that was left alone fails, or if steps are lost.
    """
    environment = {"GRAPHGRAD_FEWER_PROCESSES": "3" if fewer else "", "GRAPHGRAD_PROCESSES_TIMEOUT": "100"}
    tasks = Tasks(folder, TASKS, workers, 1, environment, logdir=folder / "checkpoints", steps=80, kind=training)
    victim %= workers
    hit = ("ps", 0) if server else ("worker", victim)
    try:
        if delay >= 0:
            tasks.wait_for_line("begun", "worker", victim)
        time.sleep(abs(delay))
        tasks.processes[hit].send_signal(getattr(signal, kind))
        if not fewer:
            time.sleep(0.5 if kind == "SIGKILL" else 12.0)
            tasks.processes[hit].kill()
            tasks.was_over = any(tasks.processes["worker", i].poll() == 0 for i in range(workers) if i != victim)
            if not tasks.was_over and not server:  # a server has nothing that workers need
                tasks.start(*hit)
            fewer = tasks.was_over and not server
        tasks.wait(*([victim] if fewer else []))
    finally:
        tasks.end()
    for task, process in tasks.processes.items():
        if task != hit or not (fewer or server):
            assert process.returncode == 0, (task, tasks.said())
    values = [found for i, found in enumerate(tasks.results()) if server or i != victim or not fewer]
    for found in values:
        assert found["step"] >= 80 and found["w"] == values[0]["w"], tasks.said()
    return tasks
