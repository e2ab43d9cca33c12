"""`MirroredStrategy` and `OneDeviceStrategy`: replicas on the devices of one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.executor.plan import placement
from graphgrad.frontend.config.devices import list_logical_devices
from graphgrad.frontend.distribute.contexts import ReduceOp, Standing, at, device_block
from graphgrad.frontend.distribute.contexts import reduce_op as combining
from graphgrad.frontend.distribute.strategy import (
    InputContext,
    ReplicaContext,
    Strategy,
    StrategyExtended,
    StrategyV1,
    ValueContext,
)
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.variable_creators import variable_creator_scope
from graphgrad.ops.control.group import group as group_operations
from graphgrad.system.device_names import merge

from . import lockstep, mirrored_variables
from .collectives import check_axis, combine, concat, copies, reduce_over
from .mirrored_variables import DistributedVariable
from .replica_values import DistributedValues, Mirrored, PerReplica, part_of, parts, together


class MirroredExtended(StrategyExtended):
    """What several replicas of one process do.

    Args:
      strategy: the strategy.
      devices: the replicas' devices, by full name.
    """

    _replicated = True
    experimental_require_static_shapes = False

    def __init__(self, strategy: Any, devices: Sequence[str]):
        super().__init__(strategy)
        self.worker_devices = tuple(devices)

    def _creating(self) -> list[Any]:
        return [variable_creator_scope(self._create)]

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        devices = self.worker_devices if beside is None else [v.device for v in parts(beside, 1)]
        return mirrored_variables.make(self._strategy, devices, next_creator, kwargs)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Returns whether a variable was made in the scope of the strategy."""
        return getattr(v, "_strategy", None) is self._strategy

    def _use_merge_call(self) -> bool:
        return True

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function in each replica."""
        return lockstep.run(self._strategy, self.worker_devices, fn, args, kwargs)

    # -- combining ---------------------------------------------------------------------

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the replicas' values combined, with a copy on each device where the result is needed.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: the values.
          destinations: a variable, a value of replicas, or devices; the first device if not given.
          options: accepted.
        """
        op = combining(reduce_op)
        devices = self._devices_of(destinations)
        if not isinstance(value, DistributedValues):
            if op is ReduceOp.SUM:
                value = PerReplica([value] * len(self.worker_devices))
            else:
                return copies(value, devices)
        return copies(combine(op, list(value._values), devices[0]), devices)

    def _devices_of(self, destinations: Any) -> Sequence[str]:
        if isinstance(destinations, (DistributedVariable, DistributedValues)):
            return self.worker_devices
        if isinstance(destinations, str):
            return [_full(destinations)]
        if isinstance(destinations, (list, tuple)) and destinations and isinstance(destinations[0], str):
            return [_full(d) for d in destinations]
        return [getattr(destinations, "device", "") or self.worker_devices[0]]

    def _over_processes(self, op: ReduceOp | None, value: Any) -> Any:
        """Combines a value over processes, of which there is one; without an operation, each keeps its own."""
        return value

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Returns a tensor with a copy on each of some devices."""
        return copies(tensor, self._devices_of(destinations))

    def _reduce_over(self, op: ReduceOp, value: Any, axis: int | None) -> Any:
        return reduce_over(op, value, axis, self.worker_devices[0])

    def _gather(self, value: Any, axis: int) -> Any:
        def one(v: Any) -> Any:
            given = list(v._values) if isinstance(v, DistributedValues) else [v]
            for part in given:
                check_axis(part.shape, axis)
            return concat(given, axis, self.worker_devices[0])

        return nest.map_structure(one, value)

    # -- updating ----------------------------------------------------------------------

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function on each copy of a variable, on its device.

        Args:
          var: the variable.
          fn: a function of it and further arguments.
          args, kwargs: the arguments, each replica's part of them.
          group: whether the results are grouped.
        """
        if not isinstance(var, DistributedVariable):
            raise AssertionError(f"{getattr(var, 'name', var)} was not made in the scope of the strategy, so it has no "
                                 "copies to update. Fix: make it in `with strategy.scope():`")
        return self._on_each([v.device for v in var._copies],
                             lambda i: fn(var, *part_of(i, args), **part_of(i, kwargs or {})), group)

    def update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None,
                        group: bool = True) -> Any:
        """Calls a function on each device where there are copies of variables without owner."""
        return self._on_each(self.worker_devices, lambda i: fn(*part_of(i, args), **part_of(i, kwargs or {})), group)

    def _on_each(self, devices: Sequence[str], call: Callable[[int], Any], group: bool) -> Any:
        results = []
        for i, device in enumerate(devices):
            with at(Standing(self._strategy, None, i)), device_block(device):
                results.append(call(i))
        if not group:
            return together(results, Mirrored)
        return group_operations(*[r for r in nest.flatten(results) if r is not None])

    def non_slot_devices(self, var_list: Any) -> Any:
        """Returns where variables without owner live: on all devices."""
        return self.worker_devices

    def value_container(self, value: Any) -> Any:
        """Returns the variable that a copy belongs to."""
        return getattr(value, "_distributed", value)

    # -- values and data ---------------------------------------------------------------

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return tuple(value._values) if isinstance(value, (DistributedValues, DistributedVariable)) else (value,)

    def _distribute(self, dataset: Any) -> Any:
        from .input import DistributedDataset

        return DistributedDataset(dataset, self.worker_devices)

    def _distribute_from_function(self, dataset_fn: Callable[..., Any]) -> Any:
        from .input import DistributedDatasetsFromFunction

        context = InputContext(1, 0, len(self.worker_devices))
        return DistributedDatasetsFromFunction(dataset_fn(context), self.worker_devices)

    def _initializable(self, dataset: Any) -> Any:
        return dataset._initializable()

    def _values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        count = len(self.worker_devices)
        return together([value_fn(ValueContext(i, count)) for i in range(count)])


class MirroredStrategy(Strategy):
    """Replicas on several devices of one process, each with a copy of the variables.

    Each step, the replicas work on parts of a batch; their gradients are summed, and every copy gets the same update.

    Args:
      devices: the devices' names; all accelerators if not given, or all processors' devices if there are none.
      cross_device_ops: accepted; sums are taken on the first device, in the order of the replicas.
    Raises: AssertionError if a device is named twice.
    Reference: TensorFlow 2.21 `tf.distribute.MirroredStrategy`.

    >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    >>> doubled = strategy.run(lambda: 2 * tf.distribute.get_replica_context().replica_id_in_sync_group)
    >>> sess.run(strategy.reduce("SUM", doubled, axis=None))
    np.int32(2)
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        Strategy.__init__(self, MirroredExtended(self, devices_of(devices)))


class _OneDeviceExtended(MirroredExtended):
    """What one replica on a given device does."""

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        kwargs.pop("colocate_with", None)
        with device_block(self.worker_devices[0]):
            made = next_creator(**kwargs)
        mirrored_variables.mark(made, self.worker_devices[0])
        made._strategy = self._strategy
        return made

    def _use_merge_call(self) -> bool:
        return False

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function in the one replica."""
        context = ReplicaContext(self._strategy, 0)
        with at(Standing(self._strategy, context)), device_block(self.worker_devices[0]):
            return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the value: there is one replica."""
        return value

    def _reduce_over(self, op: ReduceOp, value: Any, axis: int | None) -> Any:
        return value if axis is None else reduce_over(op, PerReplica([value]), axis, self.worker_devices[0])


class OneDeviceStrategy(Strategy):
    """One replica, whose variables and operations are on a given device.

    Args:
      device: the device's name.
    Reference: TensorFlow 2.21 `tf.distribute.OneDeviceStrategy`.

    >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    >>> strategy.run(lambda x: x + 1, args=(2,)), strategy.num_replicas_in_sync
    (3, 1)
    """

    def __init__(self, device: str):
        Strategy.__init__(self, _OneDeviceExtended(self, [_full(device)]))


class MirroredStrategyV1(StrategyV1, MirroredStrategy):
    """A `MirroredStrategy` with the arguments of TensorFlow 1.

    Args:
      devices, cross_device_ops: as for `MirroredStrategy`.
    Reference: TensorFlow 2.21 `tf.compat.v1.distribute.MirroredStrategy`.

    >>> tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).num_replicas_in_sync
    2
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        MirroredStrategy.__init__(self, devices, cross_device_ops)


class OneDeviceStrategyV1(StrategyV1, OneDeviceStrategy):
    """A `OneDeviceStrategy` with the arguments of TensorFlow 1.

    Args:
      device: the device's name.
    Reference: TensorFlow 2.21 `tf.compat.v1.distribute.OneDeviceStrategy`.

    >>> tf.distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync
    1
    """

    def __init__(self, device: str):
        OneDeviceStrategy.__init__(self, device)


def devices_of(given: Any) -> list[str]:
    """Returns the full names of devices; of all accelerators, or of the processor's devices, if none are given."""
    if not given:
        there = list_logical_devices()
        others = [d for d in there if d.device_type != "CPU"]
        given = [d.name for d in others or there]
    found = [_full(d) for d in given]
    if len(set(found)) < len(found):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {tuple(found)}. Fix: name each device once")
    return found


def _full(device: str) -> str:
    """Returns the full name of a device."""
    return merge(placement.full_name("CPU:0"), device)
