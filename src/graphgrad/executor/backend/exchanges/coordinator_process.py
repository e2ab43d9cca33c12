"""The process in which JAX's coordination service runs, where no `graphgrad launch` has one; run as a program.

The engine ends every process whose service is gone, without an error of Python's. So the first process of a group does
not run the service itself: if it is killed or stopped, the others are told as of any other.

    python coordinator_process.py HOST:PORT SIZE SECONDS

It says on the standard output that it listens, or why not. It belongs to the group as one more process, to read what
the others say. When its standard input ends, the first process is gone; then it stays until all others have left, or
are silent. This file is run by its path; it needs nothing of the package.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from importlib import import_module
from typing import Any

HEARTBEAT, LEAVING = 10, 3  # seconds: without a sign of life for the service; to take leave
# What processes say at the service: signs of life, that they have left; and that the group is over, so that a process
# that is started again does not come to an earlier group.
BEATS, LEFT, OVER = "graphgrad/beat/", "graphgrad/left/", "graphgrad/over"
_SILENT, _STEP, _LAST = 15.0, 0.25, 1.5  # seconds


class Others:
    """Those of the group that still need the service.

    Args:
      client: the connection to the service.
      size: the number of processes.
    """

    def __init__(self, client: Any, size: int):
        self._client, self._size = client, size
        self._seen: dict[int, tuple[str, float]] = {}

    def _said(self, key: str) -> dict[int, str]:
        with contextlib.suppress(RuntimeError):
            return {int(name.rpartition("/")[2]): text for name, text in self._client.key_value_dir_get(key)}
        return {}

    def are_there(self) -> bool:
        """Returns whether one has not left, and has given a sign of life not long ago; the first process is gone."""
        left, beats, now = self._said(LEFT), self._said(BEATS), time.monotonic()
        for rank in range(1, self._size):
            beat = beats.get(rank, "")
            if rank not in self._seen or self._seen[rank][0] != beat:
                self._seen[rank] = beat, now
        return any(rank not in left and now - self._seen[rank][1] < _SILENT for rank in range(1, self._size))


def _complaint(address: str) -> str:
    """Returns why nobody can listen at an address; "" if one can. The service itself would share a port."""
    host, _, port = address.rpartition(":")
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except OSError as e:
        return e.strerror or str(e)
    return ""


def main(address: str, size: int, limit: int) -> None:
    """Serves, until everyone is gone.

    Args:
      address: host and port.
      size: the number of processes.
      limit: how many seconds they have to come.
    """
    gone = threading.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        gone.set()
        if not joined.is_set():
            os._exit(0)

    joined = threading.Event()
    engine: Any = import_module("jaxlib._jax")
    why, service = _complaint(address), None
    try:
        if not why:
            service = engine.get_distributed_runtime_service(address, size + 1, heartbeat_timeout=HEARTBEAT,
                                                             shutdown_timeout=LEAVING, recoverable=True)
    except RuntimeError as e:
        why = str(e).partition("\n")[0]
    print(f"error {why}" if service is None else "ready", flush=True)
    if service is None:
        return
    threading.Thread(target=watch, daemon=True).start()
    client = engine.get_distributed_runtime_client(address, size, init_timeout=limit, heartbeat_timeout=HEARTBEAT,
                                                   shutdown_timeout=LEAVING, shutdown_on_destruction=False)
    with contextlib.suppress(RuntimeError):
        client.connect()
        joined.set()
    gone.wait()
    with contextlib.suppress(RuntimeError):
        client.key_value_set(OVER, "", True)
    others = Others(client, size)
    while others.are_there():
        time.sleep(_STEP)
    time.sleep(_LAST)  # who has said that it leaves does so
    os._exit(0)  # the service's threads are not waited for


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
