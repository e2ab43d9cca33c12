"""The cluster that this process belongs to by a `tf.train.Server`: which variables its workers share.

TensorFlow's workers share what is placed on a task that all of them name, usually a parameter server. Here each worker
has a copy, and all change their copies alike: what they add is summed over all of them first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.context import Inherited
from graphgrad.ir.opdef import raw
from graphgrad.system.device_names import parse

_WORKERS = ("chief", "master", "worker")  # jobs whose tasks compute, in the order of their numbers


class Tasks:
    """The tasks of a cluster, and which one this is.

    Args:
      jobs: the addresses of each job's tasks.
      job, task: this task.

    Attributes:
      workers: the tasks that compute: (job, number).
      rank: this task's place among them; -1 for a parameter server.
    """

    def __init__(self, jobs: Mapping[str, Mapping[int, str]], job: str, task: int):
        self.jobs, self.job, self.task = jobs, job, task
        named = [name for name in _WORKERS if name in jobs] or [name for name in jobs if name != "ps"]
        self.workers = [(name, i) for name in named for i in sorted(jobs[name])]
        self.rank = self.workers.index((job, task)) if (job, task) in self.workers else -1

    @property
    def tasks(self) -> list[tuple[str, int]]:
        """All tasks: (job, number)."""
        return [(name, i) for name, tasks in self.jobs.items() for i in tasks]


_joined: list[Tasks] = []


class _AsGiven(Inherited):
    """Whether this thread builds changes that are the same in all processes."""

    value = False


_given = _AsGiven()


def join(cluster: Tasks | None) -> None:
    """Lets this process belong to a cluster; to none for None."""
    _joined[:] = [] if cluster is None else [cluster]


def current() -> Tasks | None:
    """Returns the cluster of several workers that this process belongs to; None for none."""
    return _joined[0] if _joined and len(_joined[0].workers) > 1 else None


@contextlib.contextmanager
def as_given() -> Iterator[None]:
    """Lets a block change shared variables by what is given, which is the same in all processes."""
    before = _given.value
    _given.value = True
    try:
        yield
    finally:
        _given.value = before


def is_shared(variable: Any) -> bool:
    """Returns whether the workers of a cluster share a variable, and changes are still to be summed."""
    cluster = current()
    if cluster is None or _given.value or getattr(variable, "_graph", None) is None:
        return False
    place = dict(parse(variable.device))
    if place.get("job") not in cluster.jobs or "task" not in place:
        return False
    here = place["job"], int(place["task"])
    if here in cluster.workers and ("ps" in cluster.jobs or here != cluster.workers[0]):
        return False  # each worker's own
    local = variable._graph.get_collection(GraphKeys.LOCAL_VARIABLES)
    return not any(v is variable for v in local)


def summed(delta: Any, variable: Any) -> Any:
    """Returns the sum, over all workers, of what they add to a variable that they share."""
    return raw.ProcessesAllReduce([delta], label=f"what is added to {variable.name}")[0]
