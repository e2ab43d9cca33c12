"""`tf.distribute.Strategy`: what all strategies share, and what the default one, of one replica, does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant
from graphgrad.ops.control.group import group as group_operations

from .contexts import ReduceOp, Standing, at, get_strategy, require_cross_replica, require_replica_context
from .contexts import reduce_op as combining


class InputContext:
    """What a function that makes a data set is told of its reader.

    Args:
      num_input_pipelines: the number of readers.
      input_pipeline_id: which of them it is.
      num_replicas_in_sync: the number of replicas.
    Reference: TensorFlow 2.21 `tf.distribute.InputContext`.

    >>> tf.distribute.InputContext(1, 0, 2).get_per_replica_batch_size(8)
    4
    """

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1):
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Returns the size of a replica's batch.

        Args:
          global_batch_size: that of the batch of all replicas.
        Raises: ValueError if it cannot be divided.
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                             f"`num_replicas_in_sync` {self.num_replicas_in_sync!r} ")
        return global_batch_size // self.num_replicas_in_sync

    def __str__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: " \
               f"{self.num_input_pipelines})"


class ValueContext:
    """What a function that makes a replica's value is told of the replica.

    Args:
      replica_id_in_sync_group: which replica.
      num_replicas_in_sync: the number of replicas.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1):
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync

    def __str__(self) -> str:
        return f"tf.distribute.{type(self).__name__}(replica id {self.replica_id_in_sync_group},  " \
               f"total replicas in sync: {self.num_replicas_in_sync})"


class ReplicaContext:
    """The context of a function that runs in one replica.

    Args:
      strategy: the strategy.
      replica_id_in_sync_group: which of its replicas.
    Reference: TensorFlow 2.21 `tf.distribute.ReplicaContext`.

    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: int):
        self._strategy = strategy
        self._replica_id = self._local_replica_id = replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of the replica, an int32 scalar tensor."""
        return constant(self._replica_id, dtypes.int32, name="replica_id_in_sync_group")

    @property
    def devices(self) -> list[str]:
        """The replica's device."""
        return [self._strategy.extended.worker_devices[self._local_replica_id]]

    def merge_call(self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Calls a function once, with what all replicas give it; each gets its part of the result.

        Args:
          merge_fn: a function of the strategy and further arguments: values of replicas where these differ.
          args, kwargs: this replica's arguments.
        Raises: RuntimeError outside of the replica.
        """
        require_replica_context(self)
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        with at(Standing(self._strategy)) if self._strategy.extended._replicated else contextlib.nullcontext():
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the sum or the mean of all replicas' values; every replica must call it.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: a tensor, or a structure of tensors.
          options: accepted.
        Gradient: the gradients of all replicas, combined in the same way.
        """
        return value

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Returns all replicas' values, one behind the other; every replica must call it.

        Args:
          value: a tensor, or a structure of tensors.
          axis: the axis that grows.
          options: accepted.
        """
        return value

    def _update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        return fn(var, *args, **(kwargs or {}))


class StrategyExtended:
    """The part of a strategy that libraries use; this one has one replica.

    Args:
      container_strategy: the strategy.
    """

    should_checkpoint = should_save_summary = experimental_require_static_shapes = True
    experimental_between_graph = experimental_should_init = _global_batch_size = True
    steps_per_run = num_hosts = num_replicas_per_host = 1
    worker_devices: Sequence[str] = ("/job:localhost/replica:0/task:0/device:CPU:0",)
    _replicated = False  # whether functions run as one of several replicas

    def __init__(self, container_strategy: Any):
        self._strategy = container_strategy

    @property
    def parameter_devices(self) -> Sequence[str]:
        """Where variables are."""
        return self.worker_devices

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    def _creating(self) -> list[Any]:
        """Returns the blocks around code that makes variables."""
        return []

    def variable_created_in_scope(self, v: Any) -> bool:
        """Returns whether a variable was made in the scope of the strategy."""
        return True

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return False

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function in each replica."""
        return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the replicas' values combined.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: the values.
          destinations: a variable or devices, where the result is needed.
          options: accepted.
        """
        return value

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> Any:
        """Returns what `reduce_to` does for each of some pairs."""
        return [self.reduce_to(reduce_op, value, there, options) for value, there in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Returns a value for all replicas."""
        return tensor

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls a function on each copy of a variable.

        Args:
          var: the variable.
          fn: a function of it and further arguments.
          args, kwargs: the arguments, each replica's part of them.
          group: whether the results are grouped.
        """
        return fn(var, *args, **(kwargs or {}))

    def update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None,
                        group: bool = True) -> Any:
        """Calls a function where variables without owner are updated."""
        return fn(*args, **(kwargs or {}))

    def non_slot_devices(self, var_list: Any) -> Any:
        """Returns where variables without owner live."""
        return min(var_list, key=lambda v: v.name)

    def read_var(self, v: Any) -> Any:
        """Returns the value of a variable."""
        return v.read_value()

    def value_container(self, value: Any) -> Any:
        """Returns the variable that a copy belongs to."""
        return value

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Opens a block in which variables are made beside a variable."""
        yield

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return (value,)

    def _reduce(self, op: ReduceOp, value: Any) -> Any:
        return value

    def _gather(self, value: Any, axis: int) -> Any:
        return value

    def _distribute(self, dataset: Any) -> Any:
        return dataset

    def _distribute_from_function(self, dataset_fn: Callable[..., Any]) -> Any:
        return dataset_fn(InputContext())

    def _values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        return value_fn(ValueContext())


class Strategy:
    """A way to compute with several replicas of a program; the base of all.

    Args:
      extended: a function from the strategy to its `StrategyExtended`.
    Reference: TensorFlow 2.21 `tf.distribute.Strategy`.

    >>> isinstance(tf.distribute.get_strategy(), tf.distribute.Strategy)
    True
    """

    cluster_resolver: Any = None
    _should_use_with_coordinator = False
    _scale_loss_for_estimator = False

    def __init__(self, extended: Any):
        self._extended = extended(self) if isinstance(extended, type) else extended

    @property
    def extended(self) -> Any:
        """The part that libraries use."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return int(self._extended._num_replicas_in_sync)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Makes this the current strategy in a `with` block: variables made there have a copy for each replica.

        Raises: RuntimeError in a replica, or in another strategy's scope.
        """
        if not self._extended._replicated:
            yield self
            return
        require_cross_replica(self)
        outermost = get_strategy() is not self
        with contextlib.ExitStack() as blocks:
            blocks.enter_context(at(Standing(self)))
            for block in self._extended._creating() if outermost else ():
                blocks.enter_context(block)
            yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls a function in each replica.

        Args:
          fn: the function.
          args, kwargs: its arguments; of values with a part for each replica, each gets its own.
          options: accepted.
        Returns: what the function returned; where replicas differ, a value with a part for each.
        Raises: RuntimeError in a replica.
        """
        if not self._extended._replicated:
            return fn(*args, **(kwargs or {}))
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        require_cross_replica(self)
        graph = current_graph()
        if graph is not None and graph.building_function:
            from graphgrad.frontend.function.autograph.convert import convert

            fn = convert(fn)
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    experimental_run_v2 = run

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """Returns the sum or the mean of all replicas' values.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: what `run` returned: a tensor for each replica, or a structure of such.
          axis: an axis of each tensor to sum or average over, too; None for none.
        Returns: one tensor on the first device.
        Raises: ValueError for another operation, or the sum of what is no value of replicas.
        """
        from graphgrad.frontend.structure import nest

        op = combining(reduce_op)
        if self._extended._replicated:
            require_cross_replica(self)
            return nest.map_structure(lambda v: self._extended._reduce_over(op, v, axis), value)
        return value if axis is None else _over_axis(op, value, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """Returns all replicas' values, one behind the other.

        Args:
          value: a tensor for each replica.
          axis: the axis that grows.
        """
        if self._extended._replicated:
            require_cross_replica(self)
        return self._extended._gather(value, axis)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Returns a data set whose batches are divided among the replicas.

        Args:
          dataset: a data set of batches.
          options: a `tf.distribute.InputOptions`; accepted.
        """
        return self._extended._distribute(dataset)

    def distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any = None) -> Any:
        """Returns a data set that gives each replica an element of one that a function makes.

        Args:
          dataset_fn: a function from an `InputContext` to a data set, whose batches are those of one replica.
          options: a `tf.distribute.InputOptions`; accepted.
        """
        return self._extended._distribute_from_function(dataset_fn)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        """Returns a value with a part for each replica.

        Args:
          value_fn: a function from a `ValueContext` to the part.
        """
        return self._extended._values_from_function(value_fn)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the parts of a value, one for each replica; a value without parts is one part."""
        return tuple(self._extended._local_results(value))

    unwrap = experimental_local_results

    def group(self, value: Any, name: str | None = None) -> Any:
        """Returns an operation that depends on all parts of a value.

        Args:
          value: what `run` returned.
          name: a name for the operation.
        """
        return group_operations(*[v for v in self.experimental_local_results(value) if v is not None], name=name)

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """Returns an iterator whose elements are divided among the replicas, to be initialized in graphs.

        Args:
          dataset: a data set of batches.
        """
        return self._extended._initializable(self.experimental_distribute_dataset(dataset))

    def update_config_proto(self, config_proto: Any) -> Any:
        """Returns a session's configuration for the strategy: the same."""
        return config_proto


class StrategyV1(Strategy):
    """A strategy with the arguments of TensorFlow 1.

    Args:
      extended: a function from the strategy to its `StrategyExtended`.
    Reference: TensorFlow 2.21 `tf.compat.v1.distribute.Strategy`.

    >>> tf.distribute.get_strategy().reduce("SUM", 3)
    3
    """

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """Returns the sum or the mean of all replicas' values.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: what `run` returned: a tensor for each replica, or a structure of such.
          axis: an axis of each tensor to sum or average over, too.
        """
        return super().reduce(reduce_op, value, axis)

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Calls a function in each replica, on its part of an iterator's next element.

        Args:
          fn: the function.
          input_iterator: the iterator, as `make_dataset_iterator` returns it; None for no arguments.
        """
        return self.run(fn, args=() if input_iterator is None else (input_iterator.get_next(),))


def _over_axis(op: ReduceOp, value: Any, axis: int) -> Any:
    from graphgrad.ops.math.reduce_functions import reduce_mean, reduce_sum

    return (reduce_mean if op is ReduceOp.MEAN else reduce_sum)(value, axis)
