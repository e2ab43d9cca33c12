"""Variables with a copy on the device of each replica."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.distribute.contexts import ReduceOp, Standing, at, device_block, place_of
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_settings import VariableAggregation, VariableSynchronization
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.control.group import group

from .collectives import combine, divided
from .replica_values import DistributedValues, Mirrored, parts


class _OfCopy:
    """An attribute that belongs to the copy of the replica that runs."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, variable: Any, owner: Any = None) -> Any:
        return self if variable is None else getattr(variable._here(), self._name)

    def __set__(self, variable: Any, value: Any) -> None:
        setattr(variable._here(), self._name, value)


class DistributedVariable(Variable):
    """A variable with a copy for each replica; the base.

    In a replica it is that replica's copy, elsewhere the first one. It is made by `tf.Variable` in the scope of a
    strategy.
    """

    _handle = _OfCopy()
    _handle_name = _OfCopy()
    _snapshot = _OfCopy()
    _initial_value = _OfCopy()
    _initializer_op = _OfCopy()
    _changeable = _OfCopy()
    _copies: tuple[Any, ...]
    _strategy: Any

    @classmethod
    def _of(cls, strategy: Any, copies: Sequence[Any], synchronization: Any, aggregation: Any) -> Any:
        """Makes the variable of some copies.

        Args:
          strategy: the strategy.
          copies: a variable for each replica.
          synchronization, aggregation: when and how copies are combined.
        """
        made = cls.__new__(cls)
        first = copies[0]
        made.__dict__.update({name: value for name, value in vars(first).items()
                              if not isinstance(getattr(cls, name, None), _OfCopy)})
        made._copies, made._strategy = tuple(copies), strategy
        made._synchronization, made._aggregation = synchronization, aggregation
        for copy in copies:
            copy._distributed = made
        return made

    # -- which copy --------------------------------------------------------------------

    def _number_here(self) -> int | None:
        """Returns the replica that runs or whose copies are updated; None for code that speaks to all."""
        place = place_of(self._strategy)
        if place is None:
            return None
        return place.updating if place.replica is None else int(place.replica._local_replica_id)

    def _here(self) -> Any:
        return self._copies[self._number_here() or 0]

    @property
    def _identity(self) -> Any:
        return self._copies[0]._identity

    @property
    def values(self) -> tuple[Any, ...]:
        """The copies, by replica."""
        return self._copies

    @property
    def _values(self) -> tuple[Any, ...]:
        return self._copies

    @property
    def _primary(self) -> Any:
        return self._copies[0]

    @property
    def distribute_strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    def _distributed_container(self) -> Any:
        return self

    @property
    def name(self) -> str:
        """The first copy's name."""
        return str(self._copies[0].name)

    @property
    def _shared_name(self) -> str:
        return str(self._copies[0]._shared_name)

    @property
    def initializer(self) -> Any:
        """The operation that assigns the initial value to all copies; None in eager mode."""
        if self._graph is None:
            return None
        return group(*[copy.initializer for copy in self._copies])

    def is_initialized(self, name: str | None = None) -> Any:
        """Returns whether all copies have a value, a bool scalar tensor."""
        from graphgrad.ir.opdef import raw

        found = self._copies[0].is_initialized(name)
        for copy in self._copies[1:]:
            found = raw.LogicalAnd(found, copy.is_initialized())
        return found

    def _joined(self, arrays: Sequence[Any]) -> Any:
        """Returns the value that checkpoints have, of the copies' values."""
        return arrays[0]

    def _parted(self, array: Any) -> list[Any]:
        """Returns the copies' values, of one that a checkpoint has."""
        return [array, *(np.array(array) for _ in self._copies[1:])]

    def _fetch_as(self, use_resource: Any) -> None:
        for copy in self._copies:
            copy._fetch_as(use_resource)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        import copy

        copied = type(self)._of(self._strategy, [copy.deepcopy(c, memo) for c in self._copies], self._synchronization,
                                self._aggregation)
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        parts = ",\n".join(f"  {i}: {copy!r}" for i, copy in enumerate(self._copies))
        return f"{type(self).__name__}:{{\n{parts}\n}}"

    # -- assignments -------------------------------------------------------------------

    def _update(self, op_type: str, operands: tuple[Any, ...], name: str | None = None, read_value: bool = True) -> Any:
        number = self._number_here()
        if number is None:
            return self._update_all(op_type, operands, name, read_value)
        place = place_of(self._strategy)
        if place is not None and place.replica is not None and self._aggregated():
            return self._update_together(place.replica, op_type, operands, read_value)
        return self._copies[number]._update(op_type, operands, name, read_value)

    def _aggregated(self) -> bool:
        """Returns whether what replicas assign is combined first."""
        return bool(self._aggregation.name != "NONE" and self._synchronization is not VariableSynchronization.ON_READ)

    def _operand(self, value: Any) -> Any:
        if isinstance(value, DistributedValues) and self._number_here() is None:
            return value
        return super()._operand(value)

    def _update_all(self, op_type: str, operands: tuple[Any, ...], name: str | None, read_value: bool) -> Any:
        """Updates every copy."""
        results = []
        for i, copy in enumerate(self._copies):
            given = tuple([v._values[i] if isinstance(v, DistributedValues) else v for v in operands])
            with _on(copy, self._strategy, i):
                results.append(copy._update(op_type, given, name, read_value))
        return self._of_updates(results, read_value)

    def _of_updates(self, results: Sequence[Any], read_value: bool) -> Any:
        if self._graph is None and current_graph() is None:
            return self if read_value else None
        return Mirrored(results) if read_value else group(*results)

    def _update_together(self, replica: Any, op_type: str, operands: tuple[Any, ...], read_value: bool) -> Any:
        """Combines what the replicas assign, and updates every copy."""
        if len(operands) > 1 and op_type not in _ADD_ROWS and self._aggregation.name != "ONLY_FIRST_REPLICA":
            raise NotImplementedError(
                f"{self.name}: replicas cannot combine {op_type} by aggregation {self._aggregation}. Fix: aggregation="
                "tf.VariableAggregation.ONLY_FIRST_REPLICA, or combine the updates with all_reduce and assign them")
        return replica.merge_call(self._merged, args=(op_type, list(operands), read_value))

    def _merged(self, strategy: Any, op_type: str, operands: Sequence[Any], read_value: bool) -> Any:
        device = self._copies[0].device
        if op_type in _ADD_ROWS and self._aggregation.name != "ONLY_FIRST_REPLICA":
            count = len(self._copies)
            slices = [IndexedSlices(v, i) for i, v in zip(parts(operands[0], count), parts(operands[1], count),
                                                          strict=True)]
            op = ReduceOp[self._aggregation.name]
            whole = self._strategy.extended._over_processes(op, combine(op, slices, device))
            given: tuple[Any, ...] = whole.indices, whole.values
        else:
            given = tuple([_combined(self._strategy, self._aggregation, v, device) for v in operands])
        return self._update_all(op_type, given, None, read_value)


class MirroredVariable(DistributedVariable):
    """A variable whose copies are equal at all times, if replicas assign equal values or an aggregation is set.

    Reference: TensorFlow 2.21, variables in the scope of `tf.distribute.MirroredStrategy`.
    """


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies differ, and are combined when code outside of replicas reads it.

    Reference: TensorFlow 2.21, `tf.VariableSynchronization.ON_READ`.
    """

    def _read(self, name: str | None = None) -> Any:
        if self._number_here() is not None:
            return super()._read(name)
        kind = self._aggregation.name
        if kind in ("ONLY_FIRST_REPLICA", "NONE") or len(self._copies) == 1:
            return self._copies[0]._read(name)
        return combine(ReduceOp[kind], [copy._read() for copy in self._copies], self._copies[0].device)

    def _as_tensor(self, dtype: DType | None = None, name: str | None = None) -> Any:
        return super()._as_tensor(dtype, name) if self._number_here() is not None else self._read()

    def _as_graph_element(self) -> Any:
        graph = current_graph()
        if self._number_here() is not None or self._graph is None or graph is not self._graph:
            return super()._as_graph_element()
        return self._read()

    def _joined(self, arrays: Sequence[Any]) -> Any:
        kind = self._aggregation.name
        if kind not in ("SUM", "MEAN"):
            return arrays[0]
        total = functools.reduce(np.add, arrays)
        return np.asarray(total if kind == "SUM" else total / len(arrays), arrays[0].dtype)

    def _parted(self, array: Any) -> list[Any]:
        if self._aggregation.name == "SUM":
            array = np.asarray(np.asarray(array) / len(self._copies), np.asarray(array).dtype)
        return super()._parted(array)

    def _update_all(self, op_type: str, operands: tuple[Any, ...], name: str | None, read_value: bool) -> Any:
        kind = self._aggregation.name
        if kind == "SUM":
            if op_type != "AssignVariableOp":
                raise ValueError(f"SyncOnReadVariable does not support `{_METHODS.get(op_type, op_type)}` in "
                                 "cross-replica context when aggregation is set to `tf.VariableAggregation.SUM`.")
            operands = tuple([v if isinstance(v, DistributedValues) else divided(v, len(self._copies))
                              for v in operands])
        super()._update_all(op_type, operands, name, read_value)
        return self

    def _of_updates(self, results: Sequence[Any], read_value: bool) -> Any:
        if self._graph is None and current_graph() is None:
            return self if read_value else None
        return group(*results)


def _combined(strategy: Any, aggregation: Any, value: Any, device: str) -> Any:
    """Returns what the replicas have assigned together, by an aggregation."""
    beyond = strategy.extended._over_processes
    if aggregation.name == "ONLY_FIRST_REPLICA":
        return beyond(None, value._values[0] if isinstance(value, DistributedValues) else value)
    op = ReduceOp[aggregation.name]
    return beyond(op, combine(op, list(value._values), device) if isinstance(value, DistributedValues) else value)


@contextlib.contextmanager
def _on(copy: Any, strategy: Any, number: int) -> Iterator[None]:
    """Opens a block in which a copy is updated, on its device."""
    with at(Standing(strategy, None, number)), device_block(copy.device):
        yield


def make(strategy: Any, devices: Sequence[str], next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    """Makes a variable with a copy on each device.

    Args:
      strategy: the strategy.
      devices: the devices, by replica.
      next_creator: makes one copy.
      kwargs: the arguments of the variable's class.
    Raises: ValueError for a synchronization or aggregation that there is not.
    """
    synchronization, aggregation = _settings(kwargs)
    copies: list[Any] = []
    for i, device in enumerate(devices):
        given = dict(kwargs)
        if i:
            given["name"] = f"{copies[0]._shared_name}/replica_{i}/"
            given["initial_value"] = _first_value(copies[0])
        with device_block(device):
            copy = next_creator(**given)
        mark(copy, device)
        copies.append(copy)
    kind = SyncOnReadVariable if synchronization is VariableSynchronization.ON_READ else MirroredVariable
    made = kind._of(strategy, copies, synchronization, aggregation)
    _in_collections(made)
    return made


def mark(variable: Any, device: str) -> None:
    """Notes the device of an eager variable; one of a graph has it by its operation."""
    if variable._graph is None:
        variable._handle._device = device


def _settings(kwargs: dict[str, Any]) -> tuple[Any, Any]:
    synchronization = kwargs.get("synchronization") or VariableSynchronization.AUTO
    aggregation = kwargs.get("aggregation") or VariableAggregation.NONE
    name = kwargs.get("name")
    if synchronization is VariableSynchronization.NONE:
        raise ValueError("`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please "
                         f"change the `synchronization` for variable: {name}")
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if getattr(aggregation, "name", None) not in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if synchronization is VariableSynchronization.AUTO:
        synchronization = VariableSynchronization.ON_WRITE
    return synchronization, aggregation


def _first_value(first: Any) -> Callable[[], Any]:
    """Returns a function that gives the first copy's initial value, so that random ones are equal."""
    return lambda: convert_to_tensor(first._read() if first._graph is None else first._initial_value)


def _in_collections(made: DistributedVariable) -> None:
    """Puts the variable in the place of its copies in the collections of its graph."""
    graph, copies = made._graph, {id(copy) for copy in made._copies}
    if graph is None:
        return
    for name in graph.get_all_collection_keys():
        items = graph.get_collection_ref(name)
        if any(id(item) in copies for item in items):
            first = next(n for n, item in enumerate(items) if id(item) in copies)
            items[first] = made
            items[:] = [item for item in items if id(item) not in copies]


_ADD_ROWS = ("ResourceScatterAdd", "ResourceScatterSub")
_METHODS = {"AssignAddVariableOp": "assign_add", "AssignSubVariableOp": "assign_sub"}
