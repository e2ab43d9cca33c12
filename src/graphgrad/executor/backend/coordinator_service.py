"""The service that lets processes find each other: JAX's coordination service."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from graphgrad.system.late_imports import load

from .exchanges.coordinator_process import HEARTBEAT, LEAVING
from .membership import Member, timeout
from .process_client import quiet

_AGAIN, _STEP = 20.0, 0.5  # seconds: until the service of an earlier group must have ended, and between tries


class CoordinatorService:
    """The service that lets processes find each other.

    Args:
      address: host and port to listen at; nothing else is listened at.
      size: the number of processes.
    Raises: RuntimeError if the port is taken.
    """

    def __init__(self, address: str, size: int):
        with quiet():
            self._service = load("jaxlib._jax").get_distributed_runtime_service(
                address, size, heartbeat_timeout=HEARTBEAT, shutdown_timeout=LEAVING, recoverable=True)

    def close(self) -> None:
        """Ends the service."""
        service, self._service = self._service, None
        if service is not None:
            with quiet():
                service.shutdown()


def host(who: Member) -> Member:
    """Starts the coordinator, if this is process 0, as a process of its own; returns which process this is.

    Raises: RuntimeError if the port is taken.
    """
    if who.rank == 0 and who.size > 1:
        until = time.monotonic() + min(_AGAIN, timeout())
        while why := _start(who):
            if time.monotonic() >= until:
                raise RuntimeError(f"no coordinator can listen at {who.address}: {why}. Fix: give it a free port")
            time.sleep(_STEP)
    return who


def _start(who: Member) -> str:
    """Starts the process of the coordinator; returns why it does not listen, "" if it does."""
    program = os.path.join(os.path.dirname(__file__), "exchanges", "coordinator_process.py")
    # Not in this one's group: Ctrl-C, or the end of this process, are not the others'.
    made = subprocess.Popen([sys.executable, program, who.address, str(who.size), str(timeout())],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}, start_new_session=True)
    assert made.stdout is not None
    with made.stdout:
        said = made.stdout.readline().decode().strip()
    if said == "ready":
        _hosted.append(made)  # its standard input ends with this process
        return ""
    made.wait()
    assert made.stdin is not None
    made.stdin.close()
    return said.removeprefix("error ") or "it ended"


_hosted: list[subprocess.Popen[bytes]] = []
