"""Cluster specs and servers: one process is supported, more are rejected."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.ir.graph import Operation
from graphgrad.system.device_names import merge
from graphgrad.training.optimizers.optimizer import Optimizer


class ClusterSpec:
    """The tasks of a cluster: job name -> the addresses of its tasks.

    Args:
      cluster: a dictionary from names to lists of addresses (or to dictionaries, task -> address), or a ClusterSpec.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.train.ClusterSpec`.

    >>> cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "c:1"]})
    >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
    (2, 'c:1')
    """

    def __init__(self, cluster: Any):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._jobs
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

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow


class Server:
    """A stand-in for a server in a cluster of one task: sessions with its target run here.

    Args:
      server_or_cluster_def: a `ClusterSpec` or what makes one.
      job_name, task_index: this process's task; may be omitted if there is one.
      protocol, config, start: accepted; without effect.
    Raises: UnimplementedError if the cluster has more than one task.
    Reference: TensorFlow 2.21 `tf.distribute.Server`.
    """

    def __init__(self, server_or_cluster_def: Any, job_name: Any = None, task_index: Any = None, protocol: Any = None,
                 config: Any = None, start: bool = True):
        cluster = ClusterSpec(server_or_cluster_def)
        if sum(cluster.num_tasks(job) for job in cluster.jobs) > 1:
            raise UnimplementedError(None, None, f"A cluster of several tasks ({cluster.as_dict()}) is not offered: "
                                     "one process computes. Fix: run the program as a single worker, without "
                                     "tf.train.Server")
        self._cluster = cluster

    @property
    def target(self) -> str:
        """The target for sessions: '', this process."""
        return ""

    @property
    def server_def(self) -> Any:
        """The cluster."""
        return self._cluster

    def start(self) -> None:
        """Does nothing: there is nothing to start."""

    def join(self) -> None:
        """Waits for ever, as TensorFlow's servers do."""
        while True:
            time.sleep(3600)

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Makes a stand-in for a server without a cluster.

        Args:
          config, start: accepted; without effect.
        """
        return Server({"local": ["localhost:0"]})


_OF_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                 "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                 "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                 "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                 "DecisionTreeResource")


def replica_device_setter(ps_tasks: int = 0, ps_device: Any = "/job:ps", worker_device: Any = "/job:worker",
                          merge_devices: bool = True, cluster: Any = None, ps_ops: Any = None,
                          ps_strategy: Any = None) -> Callable[[Operation], str] | None:
    """Makes a function for `tf.device` that assigns variables to parameter servers, in turn, and the rest to a worker.

    One process computes, whatever the names are.

    Args:
      ps_tasks: the number of parameter servers; 0 for none.
      ps_device, worker_device: the devices' names.
      merge_devices: accepted; names are merged.
      cluster: a `ClusterSpec`, whose job 'ps' (or what ps_device names) is counted.
      ps_ops: the op types of variables.
      ps_strategy: a function from an operation to the number of its server.
    Returns: the function; None without parameter servers.
    Raises: TypeError if `ps_strategy` is not a function.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.replica_device_setter`.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        name = ps_device.partition("/job:")[2].partition("/")[0] or "ps"
        ps_tasks = len(jobs[name]) if name in jobs else 0
    if ps_tasks == 0:
        return None
    ops = tuple(ps_ops) if ps_ops is not None else _OF_VARIABLES
    if ps_strategy is None:
        ps_strategy = _in_turn(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    strategy: Callable[[Any], int] = ps_strategy

    def choose(op: Any) -> str:
        own = op.device or ""
        if op.type in ops:
            base = ps_device if "/task:" in ps_device else f"{ps_device}/task:{strategy(op)}"
            return merge(base, own)
        return merge(worker_device or "", own)

    return choose


def _in_turn(tasks: int) -> Callable[[Any], int]:
    count = 0

    def next_one(op: Any) -> int:
        nonlocal count
        count += 1
        return (count - 1) % tasks

    return next_one


class SyncReplicasOptimizer(Optimizer):
    """Not supported: there are no replicas whose gradients could be aggregated.

    Args:
      opt, replicas_to_aggregate, total_num_replicas, variable_averages, variables_to_average, use_locking, name: as
        TensorFlow has them.
    Raises: UnimplementedError, always; so do its methods, if a subclass does not call this constructor.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SyncReplicasOptimizer`.
    """

    def __init__(self, opt: Any, replicas_to_aggregate: int, total_num_replicas: Any = None,
                 variable_averages: Any = None, variables_to_average: Any = None, use_locking: bool = False,
                 name: str = "sync_replicas"):
        raise _one_process("SyncReplicasOptimizer", f"a batch {replicas_to_aggregate} times as large")

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Raises UnimplementedError: not supported.

        Args:
          *args, **kwargs: as those of the optimizer that it was given.
        Raises: UnimplementedError, always.
        """
        raise _one_process("SyncReplicasOptimizer.compute_gradients")

    # TensorFlow's has no `skip_gradients_aggregation` here either.
    # Silenced: other arguments than the base's, as in TensorFlow.
    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,  # type: ignore[override]
                        name: str | None = None) -> Any:
        """Raises UnimplementedError: not supported.

        Args:
          grads_and_vars, global_step, name: as TensorFlow has them.
        Raises: UnimplementedError, always.
        """
        raise _one_process("SyncReplicasOptimizer.apply_gradients")

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Raises UnimplementedError: not supported.

        Args:
          *args, **kwargs: as those of the optimizer that it was given.
        Raises: UnimplementedError, always.
        """
        raise _one_process("SyncReplicasOptimizer.get_slot")

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Raises UnimplementedError: not supported.

        Args:
          *args, **kwargs: as those of the optimizer that it was given.
        Raises: UnimplementedError, always.
        """
        raise _one_process("SyncReplicasOptimizer.get_slot_names")

    def variables(self) -> Any:
        """Raises UnimplementedError: not supported."""
        raise _one_process("SyncReplicasOptimizer.variables")


def _one_process(what: str, batch: str = "a larger batch") -> UnimplementedError:
    return UnimplementedError(None, None, f"{what} brings gradients of several processes together; here one process "
                              f"computes. Fix: use the optimizer that it was given, with {batch}")
