"""`tf.distribute` without a strategy: a single replica."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any


class ReduceOp(enum.Enum):
    """How values of replicas are combined.

    Reference: TensorFlow 2.21 `tf.distribute.ReduceOp`.
    """

    SUM = "SUM"
    MEAN = "MEAN"


class _Extended:
    """The part of a strategy that libraries use."""

    should_checkpoint = should_save_summary = experimental_require_static_shapes = True
    experimental_between_graph = experimental_should_init = _global_batch_size = True
    steps_per_run = num_hosts = num_replicas_per_host = 1
    worker_devices = ("/job:localhost/replica:0/task:0/device:CPU:0",)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Returns True: there is one scope."""
        return True

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return False

    def call_for_each_replica(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls the function once."""
        return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any = None, options: Any = None) -> Any:
        """Returns the value itself."""
        return value

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> Any:
        """Returns the values themselves."""
        return [value for value, _ in value_destination_pairs]

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls the function on the variable."""
        return fn(var, *args, **(kwargs or {}))

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Opens a block without effect: there is one device."""
        yield


class DefaultStrategy:
    """The default strategy: one replica."""

    cluster_resolver = None
    _should_use_with_coordinator = False

    def __init__(self) -> None:
        self.extended = _Extended()

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Makes this the current strategy in a `with` block."""
        yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls the function once."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Returns the value, summed or averaged over `axis` if given."""
        if axis is None:
            return value
        from graphgrad.ops.math.reduce_functions import reduce_mean, reduce_sum

        return (reduce_mean if ReduceOp(getattr(reduce_op, "value", reduce_op)) is ReduceOp.MEAN else reduce_sum)(
            value, axis)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Returns the data set itself: one replica reads all of it."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any = None) -> Any:
        """Calls the function, which takes an input context and returns a data set."""
        return dataset_fn(None)

    def gather(self, value: Any, axis: Any) -> Any:
        """Returns the value itself: there is one."""
        return value

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Returns what `experimental_local_results` does; the older name."""
        return self.experimental_local_results(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the values of all replicas: one."""
        return (value,)


class ReplicaContext:
    """The context of a function that runs in the one replica."""

    num_replicas_in_sync = 1
    replica_id_in_sync_group = 0

    @property
    def strategy(self) -> DefaultStrategy:
        """The strategy."""
        return _DEFAULT

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls the function with the strategy and the arguments."""
        return merge_fn(_DEFAULT, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the value itself: there is one replica."""
        return value


_DEFAULT = DefaultStrategy()
_CONTEXT = ReplicaContext()


def get_strategy() -> DefaultStrategy:
    """Returns the default strategy, of one replica.

    Reference: TensorFlow 2.21 `tf.distribute.get_strategy`.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return _DEFAULT


def has_strategy() -> bool:
    """Returns False: there is no other strategy than the default one.

    Reference: TensorFlow 2.21 `tf.distribute.has_strategy`.

    >>> tf.distribute.has_strategy()
    False
    """
    return False


def in_cross_replica_context() -> bool:
    """Returns False: everything runs in the one replica.

    Reference: TensorFlow 2.21 `tf.distribute.in_cross_replica_context`.
    """
    return False


def get_replica_context() -> ReplicaContext:
    """Returns the one replica's context.

    Reference: TensorFlow 2.21 `tf.distribute.get_replica_context`.

    >>> tf.distribute.get_replica_context().merge_call(lambda strategy, x: x + 1, args=(2,))
    3
    """
    return _CONTEXT


def strategy_supports_no_merge_call() -> bool:
    """Returns whether updates need no meeting of the replicas: there is one."""
    return True


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a function for all replicas: there is one.

    Args:
      fn: a function of the strategy and further arguments.
      strategy: the strategy.
      *args, **kwargs: the arguments.
    """
    return fn(strategy, *args, **kwargs)


def variable_sync_on_read_context() -> Any:
    """Returns a block in which variables of several replicas are read as one: there is one."""
    return contextlib.nullcontext()
