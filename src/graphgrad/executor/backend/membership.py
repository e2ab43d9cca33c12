"""Which of several processes this one is: as `graphgrad launch` says, as the cluster's manager does, or as they meet.

SLURM's and Kubernetes' variables, and those of other managers, are read by JAX, which knows them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from graphgrad.system.late_imports import load

COORDINATOR, PROCESS, PROCESSES = "GRAPHGRAD_COORDINATOR", "GRAPHGRAD_PROCESS", "GRAPHGRAD_PROCESSES"
LOCAL_PROCESS, LOCAL_PROCESSES = "GRAPHGRAD_LOCAL_PROCESS", "GRAPHGRAD_LOCAL_PROCESSES"
TIMEOUT = "GRAPHGRAD_PROCESSES_TIMEOUT"
PATIENCE = "GRAPHGRAD_SUM_TIMEOUT"

# The managers, as JAX names them, and what they set in the processes that they start.
_MANAGERS = {"SlurmCluster": "SLURM_PROCID", "OmpiCluster": "OMPI_COMM_WORLD_RANK",
             "K8sCluster": "JOB_COMPLETION_INDEX"}


class Member(NamedTuple):
    """Which of the processes this one is.

    Attributes:
      rank, size: its number, and how many there are.
      local_rank, local_size: the same among those on this machine.
      address: the coordinator's host and port; "" for a single process.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    address: str = ""


def member() -> Member:
    """Returns which process this one is, by the environment that `graphgrad launch` sets.

    Raises: ValueError if the environment makes no sense.
    """
    address = os.environ.get(COORDINATOR, "")
    if not address:
        return Member()
    try:
        rank, size = int(os.environ[PROCESS]), int(os.environ[PROCESSES])
        found = Member(rank, size, int(os.environ.get(LOCAL_PROCESS, rank)), int(os.environ.get(LOCAL_PROCESSES, size)),
                       address)
    except (KeyError, ValueError):
        found = Member(-1)
    if not 0 <= found.rank < found.size:
        raise ValueError(f"{COORDINATOR}={address} needs {PROCESS} and {PROCESSES}, a number below another; got "
                         f"{os.environ.get(PROCESS)!r} and {os.environ.get(PROCESSES)!r}.\n"
                         "  Fix: start the program with graphgrad launch")
    return found


def timeout() -> int:
    """Returns how many seconds processes wait for each other to begin, or to say what they ask for."""
    return max(1, int(os.environ.get(TIMEOUT, "60")))


def patience() -> int:
    """Returns how many seconds a sum waits for processes that give signs of life, but do not come."""
    return max(1, int(os.environ.get(PATIENCE, "600")))


def found_by_the_engine() -> Member | None:
    """Returns which process this one is by the variables of a manager that JAX knows; None without several processes.

    Raises: ValueError if the variables make no sense.
    """
    if not any(name in os.environ for name in _MANAGERS.values()):
        return None
    known = [c for c in load("jax._src.clusters").ClusterEnv._cluster_types if c.__name__ in _MANAGERS]
    manager: Any = next((c for c in known if _MANAGERS[c.__name__] in os.environ and c.is_env_present()), None)
    size = 1 if manager is None else int(manager.get_process_count())
    if size < 2:
        return None
    rank, local = int(manager.get_process_id()), manager.get_local_process_id()
    if not 0 <= rank < size:
        raise ValueError(f"{manager.__name__}: process {rank} is none of {size}. Fix: see the manager's variables")
    address = manager.get_coordinator_address(timeout_secs=timeout(),
                                              override_coordinator_port=os.environ.get("JAX_COORDINATOR_PORT"))
    return Member(rank, size, rank if local is None else int(local), size, address)


class Meetings(NamedTuple):
    """How the processes of a cluster find each other.

    Attributes:
      meet: waits for the others; returns which process this one is. It is told why they meet: to "begin", "again" after
        a loss, or to go "on" after some have ended their training.
      part: says there that this process has ended its training.
      name: what the others' errors call this process.
    """

    meet: Callable[[str], Member]
    part: Callable[[], None]
    name: str


_current: list[Meetings] = []


def meet_by(given: Meetings | None) -> None:
    """Says how the processes of a cluster find each other, also after they have lost each other; None for no more."""
    _current[:] = [] if given is None else [given]


def meetings() -> Meetings | None:
    """Returns how the processes of a cluster find each other; None without a cluster."""
    return _current[0] if _current else None
