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
        """Starts a task."""
        command = [sys.executable, "-m", "graphgrad", "run", str(self._path), *self._given, f"--job_name={job}",
                   f"--task_index={task}"]
        process = subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        self.processes[job, task] = process
        lines = self.lines.setdefault((job, task), [])

        def read() -> None:
            assert process.stdout is not None
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
