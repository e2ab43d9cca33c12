"""Forked processes: XLA's threads do not survive a fork, so NumPy does all runs there.

Variables have the values that they had when the process was forked. A forked process that never runs a graph pays
nothing.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from graphgrad.errors import FailedPreconditionError
from graphgrad.ir.values.variable_store import Cell
from graphgrad.system.log import Log

from . import xla

_log = Log("graphgrad")
is_fork = False  # whether this process was forked from one in which XLA ran

_settled: list[None] = []
_REMEDY = "start processes with multiprocessing.get_context('spawn'), or fork before the first run"


def _note() -> None:
    global is_fork
    is_fork = is_fork or xla.is_made()
    _settled.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note)

def settle(waits: int) -> None:
    """Prepares such a process for its first run.

    Args:
      waits: how many operations of the run may wait for each other.
    Raises: FailedPreconditionError where values are on an accelerator, or where operations wait for each other.
    """
    if not _settled:
        if xla.device().platform != "cpu":
            raise FailedPreconditionError(None, None, (
                f"this process was forked from one that used an accelerator, whose memory it does not have.\n  Fix: "
                f"{_REMEDY}"))
        for thing in gc.get_objects():
            if type(thing) is Cell:  # threads of the parent process may have held locks
                lock: Any = thing.lock
                lock._at_fork_reinit()
        _settled.append(None)
        _log.warning("This process was forked from one in which XLA ran. XLA's threads are not here, so NumPy does its "
                     "runs, which takes longer. Fix: %s", _REMEDY)
    if waits > 1:
        raise FailedPreconditionError(None, None, (
            "several operations of this run may wait for each other, and this process was forked from one in which XLA "
            f"ran: its steps are not here.\n  Fix: {_REMEDY}"))
