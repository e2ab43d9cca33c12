"""The systems that are compared, each in a process and an interpreter of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 120  # seconds that one measurement may take
NAMES = {"graphgrad": "graphgrad", "tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
CACHED = ("graphgrad", "jax")  # systems that keep compiled programs on disk


class Failed(Exception):
    """A measurement that could not be made; its text is what the table says instead."""


class Process:
    """A running worker; `ask` sends it one command.

    Args:
      system: a key of `NAMES`.
      python: the interpreter that has the system.
      cores: the numbers of the cores that it stays on.
      cache: a folder for what the system keeps between processes, if it does; none if it is empty.
      script: what runs in the process.
    """

    def __init__(self, system: str, python: str, cores: Sequence[int] = (), cache: str = "", script: str = "worker.py"):
        env = dict(os.environ) | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE.parent / "src"), os.environ.get("PYTHONPATH")])),
            "PYTHONDONTWRITEBYTECODE": "",  # installed packages are compiled to bytecode too
            "JAX_PLATFORMS": "cuda,cpu" if on_gpu() else "cpu",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # the systems share a GPU's memory
            "GRAPHGRAD_CACHE_DIR": cache,
            "JAX_COMPILATION_CACHE_DIR": cache,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        command = [python, str(HERE / script), system, ",".join(map(str, cores))]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by __exit__
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                                         text=True, env=env)
        self.import_seconds = self._answer()["import"]

    def ask(self, do: str, **arguments):
        """Has one command executed; `Failed` if it raised or the process ended."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        too_long = threading.Event()

        def stop():
            too_long.set()
            self._process.kill()

        timer = threading.Timer(LIMIT, stop)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if too_long.is_set():
            raise Failed(f"not done after {LIMIT} s")
        if not line:
            self._errors.seek(0)
            last = (self._errors.read().strip().splitlines() or ["no message"])[-1]
            raise Failed(f"the process ended: {last}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.stdout.close()
        self._errors.close()


def interpreters(**peers: str | None) -> dict[str, str]:
    """System -> interpreter, for the systems that are there."""
    return {"graphgrad": sys.executable} | {system: python for system, python in peers.items() if python}


def on_gpu() -> bool:
    """Whether the systems are to use a GPU; TensorFlow stays on the processor."""
    return os.environ.get("GRAPHGRAD_BENCH_DEVICE") == "gpu"


def cores() -> list[int]:
    """The numbers of the cores that this process may use; none where the system cannot tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def machine() -> str:
    """The machine in words: cores and memory."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return f"{len(cores()) or os.cpu_count()} cores, {pages * size / 2**30:.0f} GiB of memory"
