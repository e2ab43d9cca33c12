"""The service that lets processes find each other: JAX's coordination service."""

from __future__ import annotations

from graphgrad.system.late_imports import load

from .membership import Member
from .process_client import quiet
from .process_worker import LEAVING

HEARTBEAT = 10  # seconds without a sign of life, for the service


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
    """Runs the coordinator in process 0; returns which process this is."""
    if who.rank == 0 and who.size > 1:
        hosted.append(CoordinatorService(who.address, who.size))
    return who


hosted: list[CoordinatorService] = []  # it ends with the process
