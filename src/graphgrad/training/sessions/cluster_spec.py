"""`ClusterSpec`: the tasks of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphgrad.frontend.config.config_proto import ClusterDef, JobDef


class ClusterSpec:
    """The tasks of a cluster: job name -> the addresses of its tasks.

    Args:
      cluster: a dictionary from names to lists of addresses (or to dictionaries, task -> address), a ClusterSpec, or a
        ClusterDef.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.train.ClusterSpec`.

    >>> cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "c:1"]})
    >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
    (2, 'c:1')
    """

    def __init__(self, cluster: Any):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._jobs
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, Mapping):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            "addresses, or a `ClusterDef` protocol buffer")
        self._jobs: dict[str, dict[int, str]] = {}
        for job, tasks in cluster.items():
            if isinstance(tasks, Mapping):
                self._jobs[job] = {int(i): str(a) for i, a in tasks.items()}
            elif isinstance(tasks, (list, tuple)):
                self._jobs[job] = dict(enumerate(map(str, tasks)))
            else:
                raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")

    @property
    def jobs(self) -> list[str]:
        """The jobs' names."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Returns the number of tasks of a job; raises ValueError if there is no such job.

        Args:
          job_name: the job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Returns the numbers of a job's tasks; raises ValueError if there is no such job.

        Args:
          job_name: the job.
        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Returns the address of a task; raises ValueError if there is none.

        Args:
          job_name: the job.
          task_index: the task.
        """
        job = self._job(job_name)
        if task_index not in job:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return job[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Returns the addresses of a job's tasks, by number; raises ValueError if there is no such job.

        Args:
          job_name: the job.
        """
        job = self._job(job_name)
        return [job.get(i) for i in range(max(job, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """Returns the cluster as a dictionary."""
        return {name: list(job.values()) if sorted(job) == list(range(len(job))) else dict(job)
                for name, job in self._jobs.items()}

    def as_cluster_def(self) -> ClusterDef:
        """Returns the cluster as a protocol buffer."""
        return ClusterDef(job=[JobDef(name=name, tasks=dict(tasks)) for name, tasks in sorted(self._jobs.items())])

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow
