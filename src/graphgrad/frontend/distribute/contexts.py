"""Which strategy is current in a thread, and which of its replicas runs there."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from graphgrad.frontend.structure.structure_types import R
from graphgrad.ir.context import Inherited, current_graph

if TYPE_CHECKING:
    from .strategy import ReplicaContext, Strategy


class ReduceOp(enum.Enum):
    """How values of replicas are combined.

    Reference: TensorFlow 2.21 `tf.distribute.ReduceOp`.

    >>> tf.distribute.ReduceOp("MEAN")
    <ReduceOp.MEAN: 'MEAN'>
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """Returns the operation of an aggregation of variables.

        Args:
          aggregation: a `tf.VariableAggregation`.
        Raises: ValueError for one that does not combine.
        """
        if aggregation.name not in ("SUM", "MEAN"):
            raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp`"
                             " type")
        return ReduceOp[aggregation.name]


def reduce_op(given: Any) -> ReduceOp:
    """Returns the `ReduceOp` that a member or its name in capitals or small letters means; ValueError for others."""
    return given if isinstance(given, ReduceOp) else ReduceOp(str(getattr(given, "value", given)).upper())


class Standing(NamedTuple):
    """What code runs as.

    Attributes:
      strategy: the strategy.
      replica: the context of the replica, None for code that speaks to all of them.
      updating: the replica whose copies of variables are being updated, or None.
    """

    strategy: Any
    replica: Any = None
    updating: int | None = None


class _Places(Inherited):
    """The `with` blocks of this thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Standing] = []


_places = _Places()
_default: list[Any] = []  # the strategy without a scope, and one replica's context; made when first asked for
_everywhere: list[Any] = []  # the strategy of `experimental_set_strategy`, with what closes it


def _defaults() -> list[Any]:
    if not _default:
        from .strategy import ReplicaContext, StrategyExtended, StrategyV1

        strategy = StrategyV1(StrategyExtended)
        _default[:] = [strategy, ReplicaContext(strategy, 0)]
    return _default


@contextlib.contextmanager
def at(place: Standing) -> Iterator[None]:
    """Makes code in a `with` block run as something.

    Args:
      place: what.
    """
    _places.stack.append(place)
    try:
        yield
    finally:
        _places.stack.pop()


def place_of(strategy: Any) -> Standing | None:
    """Returns what the code that runs is to a strategy; None outside of its scope."""
    top = _places.stack[-1] if _places.stack else None
    return top if top is not None and top.strategy is strategy else None


def get_strategy() -> Strategy:
    """Returns the strategy of the innermost scope; outside of scopes the default strategy, of one replica.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.distribute.get_strategy`.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    if _places.stack:
        return _places.stack[-1].strategy
    return _everywhere[0] if _everywhere else _defaults()[0]


def has_strategy() -> bool:
    """Returns whether there is another strategy than the default one.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.distribute.has_strategy`.

    >>> tf.distribute.has_strategy()
    False
    """
    return get_strategy() is not _defaults()[0]


def in_cross_replica_context() -> bool:
    """Returns whether the code that runs speaks to all replicas: within a scope, but not within `Strategy.run`.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.distribute.in_cross_replica_context`.

    >>> with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
    ...     tf.distribute.in_cross_replica_context()
    True
    """
    return get_replica_context() is None


def get_replica_context() -> ReplicaContext | None:
    """Returns the context of the replica that runs; None for code that speaks to all replicas.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.distribute.get_replica_context`.

    >>> tf.distribute.get_replica_context().merge_call(lambda strategy, x: x + 1, args=(2,))
    3
    """
    if _places.stack:
        return _places.stack[-1].replica
    return None if _everywhere else _defaults()[1]


def experimental_set_strategy(strategy: Any) -> None:
    """Makes a strategy the current one outside of `with` blocks, as if all that follows were in its scope.

    Args:
      strategy: the strategy; None for the default one.
    Raises: RuntimeError in a scope or a replica.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.distribute.experimental_set_strategy`.

    >>> tf.distribute.experimental_set_strategy(None)
    """
    if _places.stack:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope. "
                           "Fix: call it once, at the beginning of the program")
    if _everywhere:
        _everywhere.pop().close()
        _everywhere.clear()
    if strategy is not None:
        closing = contextlib.ExitStack()
        for block in strategy.extended._creating():
            closing.enter_context(block)
        _everywhere[:] = [strategy, closing]


def require_replica_context(replica: Any) -> None:
    """Raises RuntimeError if the code that runs does not belong to a replica's context.

    Args:
      replica: the context whose method was called.
    """
    here = get_replica_context()
    if here is None:
        raise RuntimeError("Need to be inside a replica: this method belongs to the context of one. Fix: call it in "
                           "the function that strategy.run calls")
    if here is not replica:
        raise RuntimeError("Mismatching ReplicaContext. Fix: ask for tf.distribute.get_replica_context() in each call")


def require_cross_replica(strategy: Any) -> None:
    """Raises RuntimeError unless a strategy can be spoken to as a whole.

    Args:
      strategy: the strategy whose method was called.
    """
    top = _places.stack[-1] if _places.stack else None
    if top is not None and top.strategy is not strategy and has_strategy():
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {top.strategy} is not {strategy}")
    if top is not None and top.replica is not None:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


def strategy_supports_no_merge_call() -> bool:
    """Returns whether updates need no meeting of the replicas: with one replica."""
    return bool(get_strategy().num_replicas_in_sync == 1)


def maybe_merge_call(fn: Callable[..., R], strategy: Any, *args: Any, **kwargs: Any) -> R:
    """Calls a function for all replicas, once they have met if there are several.

    Args:
      fn: a function of the strategy and further arguments.
      strategy: the strategy.
      *args, **kwargs: the arguments.
    """
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    context = get_replica_context()
    assert context is not None  # the caller is a replica
    return context.merge_call(fn, args=args, kwargs=kwargs)


@contextlib.contextmanager
def variable_sync_on_read_context() -> Iterator[None]:
    """Opens a block in which variables are read as by code that speaks to all replicas."""
    strategy = get_strategy()
    with at(Standing(strategy)) if has_strategy() else contextlib.nullcontext():
        yield


def get_loss_reduction() -> ReduceOp:
    """Returns how losses of replicas are combined: summed.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.compat.v1.distribute.get_loss_reduction`.

    >>> tf.distribute.get_loss_reduction()
    <ReduceOp.SUM: 'SUM'>
    """
    return ReduceOp.SUM


def device_block(device: str) -> Any:
    """Returns a block in which operations are placed on a device; without effect in eager mode.

    Args:
      device: the device's name.
    """
    graph = current_graph()
    return contextlib.nullcontext() if graph is None else graph.device(device)
