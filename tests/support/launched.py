"""Programs in several processes of `graphgrad launch`, for tests."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
from typing import Any

from tests import ROOT

_LIMIT = 120  # seconds, for all processes of a program


def start(folder: pathlib.Path, program: str, count: int = 2, *arguments: Any, **options: Any) -> subprocess.Popen[str]:
    """Starts a program in several processes.

    Args:
      folder: where the program's file is put, and where it runs.
      program: its text.
      count: how many processes.
      *arguments: those of the program.
      **options: further variables of the environment.
    """
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **options}
    # Whoever runs the tests in the background may ignore Ctrl-C, and so would what is started.
    return subprocess.Popen([sys.executable, "-m", "graphgrad", "launch", "-n", str(count), str(path),
                             *map(str, arguments)], env=environment, cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def launched(folder: pathlib.Path, program: str, count: int = 2, *arguments: Any,
             **options: Any) -> tuple[int, dict[int, list[str]], str]:
    """Runs a program in several processes; returns the status, the lines that each printed, and the errors.

    Args:
      folder, program, count, *arguments, **options: as for `start`.
    """
    started = start(folder, program, count, *arguments, **options)
    try:
        out, err = started.communicate(timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        started.send_signal(signal.SIGINT)  # which ends the processes, too
        out, err = started.communicate(timeout=20)
        raise AssertionError(f"the processes hang:\n{out}\n{err}") from None
    lines: dict[int, list[str]] = {i: [] for i in range(count)}
    for line in out.splitlines():
        number, _, text = line.removeprefix("[").partition("] ")
        lines[int(number)].append(text)
    return started.returncode, lines, err
