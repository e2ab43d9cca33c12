"""`MultiWorkerMirroredStrategy`: replicas in several processes, each with its copy of the variables."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.executor.backend import membership
from graphgrad.executor.backend import process_group as processes
from graphgrad.frontend.distribute.contexts import (
    ReduceOp,
    Standing,
    at,
    device_block,
    reduce_op,
    require_replica_context,
)
from graphgrad.frontend.distribute.strategy import InputContext, ReplicaContext, Strategy, StrategyV1, ValueContext
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.variable_settings import VariableSynchronization
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float64, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.training.sessions.cluster_spec import ClusterSpec

from . import process_ops as process_ops  # registers the operations
from .collectives import check_axis, divided
from .mirrored import MirroredExtended, devices_of
from .process_ops import gathered

_TASKS = ("chief", "worker")  # in the order of their numbers


class CommunicationImplementation(enum.Enum):
    """What carries sums over processes; accepted: it is gloo here.

    Reference: TensorFlow 2.21 `tf.distribute.experimental.CommunicationImplementation`.

    >>> tf.distribute.experimental.CommunicationImplementation.AUTO.value
    'AUTO'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class TFConfigClusterResolver:
    """Reads the cluster from the environment variable TF_CONFIG.

    Args:
      task_type, task_id: what replaces the variable's own.
      rpc_layer, environment: accepted.
    Reference: TensorFlow 2.21 `tf.distribute.cluster_resolver.TFConfigClusterResolver`.

    >>> tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().as_dict()
    {}
    """

    def __init__(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None,
                 environment: Any = None):
        self._config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        task = self._config.get("task", {})
        self.task_type = task.get("type") if task_type is None else task_type
        given = task.get("index") if task_id is None else task_id
        self.task_id = None if given is None else int(given)
        self.rpc_layer, self.environment = rpc_layer, environment

    def cluster_spec(self) -> ClusterSpec:
        """Returns the tasks and their addresses; none without the variable."""
        return ClusterSpec(self._config.get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        """Returns the target for sessions: '', this process."""
        return ""


def _member(resolver: TFConfigClusterResolver) -> membership.Member:
    """Returns which process of a cluster this one is; of those that `graphgrad launch` started if there is none."""
    cluster = resolver.cluster_spec()
    if not cluster.jobs:
        return membership.member()
    others = [job for job in cluster.jobs if job not in (*_TASKS, "evaluator")]
    if others:
        raise UnimplementedError(None, None, f"MultiWorkerMirroredStrategy with tasks {others} is not offered: all "
                                 "processes are workers. Fix: leave parameter servers out of TF_CONFIG")
    addresses = [(job, i) for job in _TASKS if job in cluster.jobs for i in cluster.task_indices(job)]
    here = (resolver.task_type, resolver.task_id)
    if here not in addresses:
        raise ValueError(f"TF_CONFIG's task {here} is none of its cluster's: {addresses}. Fix: "
                         '{"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}}')
    return membership.Member(addresses.index(here), len(addresses), addresses.index(here), len(addresses),
                            cluster.task_address(*addresses[0]))


class _WorkerContext(ReplicaContext):
    """The context of this process's replica."""

    def __init__(self, strategy: Any, number: int):
        super().__init__(strategy, number)
        self._local_replica_id = 0

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the sum or the mean of all replicas' values; every process must call it.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: a tensor, or a structure of tensors.
          options: accepted.
        Gradient: the gradients of all replicas, combined in the same way.
        """
        require_replica_context(self)
        return nest.pack_sequence_as(value, self._strategy.extended._reduce_all(reduce_op, nest.flatten(value)))

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Returns all replicas' values, one behind the other; every process must call it.

        Args:
          value: a tensor, or a structure of tensors.
          axis: the axis that grows.
          options: accepted.
        """
        require_replica_context(self)
        return nest.map_structure(lambda v: self._strategy.extended._gather(v, axis), value)


class _MultiWorkerExtended(MirroredExtended):
    """What one replica does that has others in other processes."""

    def __init__(self, strategy: Any, device: str, group: processes.ProcessGroup):
        super().__init__(strategy, [device])
        self._group = group
        self._made = 0

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._group.who.size

    def _in_multi_worker_mode(self) -> bool:
        return True

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]  # the same for all processes elsewhere
        """Whether this process writes checkpoints."""
        return self._group.who.rank == 0

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]  # as above
        """Whether this process writes summaries."""
        return self._group.who.rank == 0

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if kwargs.get("synchronization") is VariableSynchronization.ON_READ and self._group.who.size > 1:
            raise UnimplementedError(None, None, "variables synchronized on read are not offered in several processes. "
                                     "Fix: keep a value for each process, and all_reduce it where it is read")
        initial, dtype = kwargs["initial_value"], kwargs.get("dtype")
        self._made += 1
        label = f"initial value of variable {self._made} {kwargs.get('name') or ''}"

        def first() -> Any:
            value = convert_to_tensor(initial() if callable(initial) else initial,
                                      None if dtype is None else as_dtype(dtype))
            return raw.ProcessesBroadcast([value], root=0, label=label)[0]

        return super()._create(next_creator, **{**kwargs, "initial_value": first})

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function in this process's replica."""
        context = _WorkerContext(self._strategy, self._group.who.rank)
        with at(Standing(self._strategy, context)), device_block(self.worker_devices[0]):
            return fn(*args, **(kwargs or {}))

    # -- combining ---------------------------------------------------------------------

    def _reduce_all(self, op: Any, values: Sequence[Any]) -> list[Any]:
        """Returns the sums or means of values over all processes; tensors travel together."""
        mean, count = reduce_op(op) is ReduceOp.MEAN, self._group.who.size
        result = [v if isinstance(v, IndexedSlices) else convert_to_tensor(v) for v in values]
        dense = [i for i, v in enumerate(result) if not isinstance(v, IndexedSlices)]
        sums = raw.ProcessesAllReduce([result[i] for i in dense], label="all_reduce") if dense else []
        for i, total in zip(dense, sums, strict=True):
            result[i] = divided(total, count) if mean else total
        sparse = [i for i, v in enumerate(result) if isinstance(v, IndexedSlices)]
        for i, s in zip(sparse, gathered([result[i] for i in sparse], "rows"), strict=True):
            result[i] = IndexedSlices(divided(s.values, count), s.indices, s.dense_shape) if mean else s
        return result

    def _over_processes(self, op: ReduceOp | None, value: Any) -> Any:
        return value if op is None else self._reduce_all(op, [value])[0]

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the replicas' values combined.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: this replica's value.
          destinations, options: accepted: each process gets the result.
        """
        return self._reduce_all(reduce_op, [value])[0]

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> Any:
        """Returns what `reduce_to` does for each of some pairs; the values travel together."""
        return self._reduce_all(reduce_op, [value for value, _ in value_destination_pairs])

    def _reduce_over(self, op: ReduceOp, value: Any, axis: int | None) -> Any:
        if axis is None:
            return self._reduce_all(op, [value])[0]
        tensor = convert_to_tensor(value)
        total = raw.Sum(tensor, axis)
        if op is ReduceOp.SUM:
            return self._reduce_all(op, [total])[0]
        wide = float64 if total.dtype.is_integer else total.dtype
        size = raw.Cast(raw.GatherV2(raw.Shape(tensor), axis % tensor.shape.rank, 0), DstT=int64)
        total, count = self._reduce_all(ReduceOp.SUM, [total, size])
        return raw.RealDiv(raw.Cast(total, DstT=wide), raw.Cast(count, DstT=wide))

    def _gather(self, value: Any, axis: int) -> Any:
        tensor = convert_to_tensor(value)
        check_axis(tensor.shape, axis)
        rank = tensor.shape.rank
        axis = axis % rank
        order = [axis, *(i for i in range(rank) if i != axis)]
        (whole,) = raw.ProcessesAllGather([raw.Transpose(tensor, order) if axis else tensor], label=f"gather {axis}")
        return raw.Transpose(whole, [order.index(i) for i in range(rank)]) if axis else whole

    # -- values and data ---------------------------------------------------------------

    def _distribute(self, dataset: Any) -> Any:
        from .input import DistributedDataset

        who = self._group.who
        if who.size > 1 and hasattr(dataset, "element_spec"):
            from graphgrad.extras.data.dataset_options import AutoShardPolicy

            from . import auto_shard

            policy = auto_shard.policy_of(dataset)
            by_files = policy is AutoShardPolicy.FILE or (
                policy is AutoShardPolicy.AUTO and auto_shard.reads_files(dataset))
            if by_files:
                dataset = auto_shard.shard_files(dataset, who.size, who.rank)
            if by_files or policy in (AutoShardPolicy.OFF, AutoShardPolicy.HINT):
                return DistributedDataset(auto_shard.in_parts(dataset, who.size), self.worker_devices)
        return DistributedDataset(dataset, [*self.worker_devices] * who.size, who.rank)

    def _distribute_from_function(self, dataset_fn: Callable[..., Any]) -> Any:
        from .input import DistributedDatasetsFromFunction

        who = self._group.who
        return DistributedDatasetsFromFunction(dataset_fn(InputContext(who.size, who.rank, who.size)),
                                               self.worker_devices)

    def _values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        return value_fn(ValueContext(self._group.who.rank, self._group.who.size))


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes, one in each, with equal variables; every process runs the same program.

    The environment variable TF_CONFIG says which processes there are, and which one this is; or `graphgrad launch` has
    started them. Without either there is one.

    Args:
      cluster_resolver: what replaces the one that reads TF_CONFIG.
      communication_options: accepted.
    Raises: ValueError for a TF_CONFIG that makes no sense; UnavailableError if other processes do not come.
    Reference: TensorFlow 2.21 `tf.distribute.MultiWorkerMirroredStrategy`.

    >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None):
        resolver = cluster_resolver or TFConfigClusterResolver()
        who = _member(resolver)
        group = processes.join(who) if resolver.cluster_spec().jobs else processes.group()
        Strategy.__init__(self, _MultiWorkerExtended(self, devices_of(None)[0], group))
        self.cluster_resolver = resolver


class MultiWorkerMirroredStrategyV1(StrategyV1, MultiWorkerMirroredStrategy):
    """A `MultiWorkerMirroredStrategy` with the arguments of TensorFlow 1.

    Args:
      communication: accepted.
      cluster_resolver: as for `MultiWorkerMirroredStrategy`.
    Reference: TensorFlow 2.21 `tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy`.

    >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(self, communication: Any = CommunicationImplementation.AUTO, cluster_resolver: Any = None):
        MultiWorkerMirroredStrategy.__init__(self, cluster_resolver)
