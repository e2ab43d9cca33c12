"""Values with a part for each replica, and structures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.distribute.contexts import get_replica_context
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.variables.composite_tensor import CompositeTensor
from graphgrad.ir.dtypes import DType


class DistributedValues(CompositeTensor):
    """A value with a part for each replica; the base.

    Args:
      values: the parts, by replica.
    Reference: TensorFlow 2.21 `tf.distribute.DistributedValues`.

    >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    >>> strategy.experimental_local_results(strategy.run(lambda: 3))
    (3,)
    """

    def __init__(self, values: Sequence[Any]):
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The parts, by replica."""
        return self._values

    @property
    def _primary(self) -> Any:
        return self._values[0]

    def _of_replica(self, number: int) -> Any:
        return self._values[number]

    @property
    def _type_spec(self) -> Any:
        return PerReplicaSpec(*[nest.map_structure(_spec_of, v) for v in self._values])

    def _text(self, show: Callable[[Any], str]) -> str:
        parts = ",\n".join(f"  {i}: {show(v)}" for i, v in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{parts}\n}}"

    def __repr__(self) -> str:
        return self._text(repr)

    def __str__(self) -> str:
        return self._text(str)


def _spec_of(part: Any) -> Any:
    from graphgrad.frontend.structure.composite_specs import spec_of

    return spec_of(part)


class PerReplica(DistributedValues):
    """A value whose parts differ."""


class Mirrored(DistributedValues):
    """A value whose parts are equal, each on the device of its replica; it converts to the part of the replica.

    Args:
      values: the parts, by replica.
    """

    def _here(self) -> Any:
        replica = get_replica_context()
        number = 0 if replica is None else replica._local_replica_id
        return self._values[number if number < len(self._values) else 0]

    def _as_tensor(self, dtype: DType | None = None, name: str | None = None) -> Any:
        from graphgrad.ir.conversion import convert_to_tensor

        return convert_to_tensor(self._here())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._here(), name)


class PerReplicaSpec(TypeSpec):
    """What is known of a `PerReplica`.

    Args:
      *value_specs: the specs of its parts, by replica.
    """

    def __init__(self, *value_specs: Any):
        self._value_specs = tuple(value_specs)

    @property
    def value_type(self) -> Any:
        """`PerReplica`."""
        return PerReplica

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> Any:
        return self._value_specs

    def _to_components(self, value: Any) -> Any:
        return value._values if isinstance(value, DistributedValues) else (value,)

    def _from_components(self, components: Any) -> Any:
        return PerReplica(components)

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


def part_of(number: int, structure: Any) -> Any:
    """Returns a structure with a replica's parts in place of values that have parts.

    Args:
      number: the replica.
      structure: any structure.
    """
    return nest.map_structure(lambda v: v._values[number] if isinstance(v, DistributedValues) else v, structure)


def together(parts: Sequence[Any], kind: type[DistributedValues] = PerReplica) -> Any:
    """Returns what replicas gave as one structure: where they gave different things, a value with these parts.

    Args:
      parts: structures of one form, by replica.
      kind: the class of values with parts.
    """
    if len(parts) == 1:
        return parts[0]
    return nest.map_structure(lambda *p: p[0] if all(v is p[0] for v in p) else kind(p), *parts)


def parts(value: Any, count: int) -> list[Any]:
    """Returns the parts of a value for some replicas; a value without parts is all of them.

    Args:
      value: the value.
      count: the number of replicas.
    """
    return list(value._values) if isinstance(value, DistributedValues) else [value] * count

