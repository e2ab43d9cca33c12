"""Trainings that end as a whole when one of their processes is gone, and are started again."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from tests import ROOT

from .clustered import LIMIT, ports
from .fault_programs import HOROVOD, MIRRORED

# What a process that has lost others says; before they have met, it may be the engine's last words.
_ERROR = r"ERROR (Unavailable|Aborted)Error"
_WORDS = re.compile(rf"{_ERROR}|Terminating process because the JAX distributed service|"
                    r"DEADLINE_EXCEEDED|UNAVAILABLE|another process, did not answer")
NOTICED = 10.0  # seconds within which all others get the error, once they have met


class Processes:
    """The processes of one training.

    Args:
      folder: where the program and its checkpoints are.
      kind: "horovod", by `graphgrad launch`, or "mirrored", by TF_CONFIG, each process by itself.
      count: how many.
      program: another program than that of `fault_programs`.
    """

    def __init__(self, folder: pathlib.Path, kind: str, count: int, program: str = ""):
        path = folder / "program.py"
        path.write_text(program or (HOROVOD if kind == "horovod" else MIRRORED))
        self.lines: list[tuple[float, str]] = []
        self.count = count
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "GRAPHGRAD_PROCESSES_TIMEOUT": "30"}
        module = [sys.executable, "-m", "graphgrad"]
        arguments = [str(path), str(folder / "checkpoints")]
        if kind == "horovod":
            self.started = [self._start([*module, "launch", "-n", str(count), *arguments], environment, "")]
            return
        cluster: dict[str, Any] = {"worker": [f"127.0.0.1:{port}" for port in ports(count)]}
        self.started = []
        for i in range(count):
            config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
            self.started.append(self._start([*module, "run", *arguments], {**environment, "TF_CONFIG": config},
                                            f"[{i}] "))

    def _start(self, command: list[str], environment: dict[str, str], mark: str) -> subprocess.Popen[str]:
        made = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        def read() -> None:
            assert made.stdout is not None
            with made.stdout:
                for line in made.stdout:
                    self.lines.append((time.monotonic(), mark + line.rstrip("\n")))

        threading.Thread(target=read, daemon=True).start()
        return made

    def wait_for(self, text: str, number: int) -> str:
        """Waits until a process has printed something, and returns its line."""
        until = time.monotonic() + LIMIT
        while True:
            for _, line in list(self.lines):
                if line.startswith(f"[{number}] {text}"):
                    return line
            assert time.monotonic() < until, f"process {number} never printed {text}: {self.text()}"
            assert any(one.poll() is None for one in self.started), self.text()
            time.sleep(0.02)

    def wait(self, *but: int) -> None:
        """Waits for all processes, or all but some; AssertionError if they hang."""
        until = time.monotonic() + LIMIT
        for i, one in enumerate(self.started):
            if i in but:
                continue
            try:
                one.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"process {i} hangs: {self.text()}") from None

    def end(self) -> None:
        """Ends what is left; `graphgrad launch` ends its own."""
        for one in self.started:
            if one.poll() is None:
                one.send_signal(signal.SIGINT if len(self.started) == 1 else signal.SIGKILL)
                one.wait(30)

    def text(self) -> str:
        """Returns what they have printed."""
        return "\n".join(line for _, line in self.lines[-200:])

    def results(self) -> list[Any]:
        """Returns what each process has printed last as its result."""
        found = []
        for i in range(self.count):
            mark = f"[{i}] RESULT "
            texts = [line.removeprefix(mark) for _, line in self.lines if line.startswith(mark)]
            assert texts, self.text()
            found.append(json.loads(texts[-1]))
        return found


def restart(folder: pathlib.Path, kind: str, number: str, count: int, victim: int, delay: float) -> float | None:
    """Trains, and kills or stops a process; all have to end with an error, and to reach the end when started again.

    Args:
      folder: where the program and its checkpoints are.
      kind: as for `Processes`.
      number: "SIGKILL" or "SIGSTOP".
      count: how many processes.
      victim: which one.
      delay: for how many seconds it has trained by then; below 0, since it has begun.
    Returns: after how many seconds the others have said so; None if the training was over before.
    Raises: AssertionError if a process hangs, does not say what is wrong in time, or if steps are lost.
    """
    first = Processes(folder, kind, count)
    try:
        pid = int(first.wait_for("pid", victim).rpartition(" ")[2])
        if delay >= 0:
            first.wait_for("begun", victim)
        time.sleep(abs(delay))
        done = any('"step": 80' in line for _, line in list(first.lines))
        try:
            os.kill(pid, getattr(signal, number))
        except ProcessLookupError:  # it was quicker
            done = True
        at = time.monotonic()
        first.wait(*([victim] if kind == "mirrored" else []))
    finally:
        first.end()
    time.sleep(0.2)
    said = [when - at for when, line in first.lines if _WORDS.search(line) and not line.startswith(f"[{victim}]")]
    if not done:
        assert said, f"nobody says what is wrong: {first.text()}"
        for other in set(range(count)) - {victim} if delay >= 0 else ():
            when = min((t - at for t, line in first.lines if re.match(rf"\[{other}\] {_ERROR}", line)), default=LIMIT)
            assert when <= NOTICED, f"process {other} has no error after {when:.1f} s: {first.text()}"
        for i, one in enumerate(first.started):
            assert one.returncode or (i == victim and kind == "mirrored"), first.text()
    again = Processes(folder, kind, count)
    try:
        again.wait()
    finally:
        again.end()
    time.sleep(0.2)
    for one in again.started:
        assert one.returncode == 0, again.text()
    for found in again.results():  # a step more than the last one if it was over, as in TensorFlow
        assert found["step"] == 80 + done and found["w"] == again.results()[0]["w"], again.text()
    if done:
        return None
    return max(said, default=0.0) if delay >= 0 else min(said, default=0.0)
