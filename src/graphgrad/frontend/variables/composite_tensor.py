"""`CompositeTensor`: the base of the composites that libraries define, by a spec of theirs."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.values.composite import Composite

from .variable import Variable


class CompositeTensor(Composite, abc.ABC):
    """A value that consists of tensors, as its spec says; base of such classes of libraries.

    A subclass has a property `_type_spec`, whose `_to_components` takes a value apart into a structure of tensors,
    variables and composites, nested as `_component_specs`, and whose `_from_components` puts it together. Sparse and
    ragged tensors, all other composites, and variables count as instances, too.

    Reference: TensorFlow 2.21 `tf.__internal__.CompositeTensor`.
    """

    _is_tensor = False

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return True if cls is CompositeTensor and issubclass(subclass, (Composite, Variable)) else NotImplemented

    @property
    @abc.abstractmethod
    def _type_spec(self) -> Any:
        """Returns the `TypeSpec` of the value."""

    @property
    def _whole_spec(self) -> Any:
        spec = self._type_spec
        held = _variables(_taken_apart(spec, self))
        return SpecWithVariables(spec, held) if any(v is not None for v in held) else spec

    def _components(self) -> list[Any]:
        return _taken_apart(self._type_spec, self)

    def _with_components(self, components: Sequence[Any]) -> Any:
        return self._type_spec._from_tensor_list(components)

    def _parts(self) -> list[Any]:
        return [part for part in self._components() if not isinstance(part, Variable)]

    def _convert_variables_to_tensors(self) -> Any:
        """Returns the value with tensors in place of variables; a class that holds variables overrides it."""
        return self


class SpecWithVariables(TypeSpec):
    """The spec of a value that holds variables: they are known to it, so that tensors alone have to be passed.

    Args:
      spec: the spec of the value's class.
      variables: for each component, the variable that it is; None where it is a tensor.
    """

    def __init__(self, spec: Any, variables: Sequence[Any]):
        self._spec, self._variables = spec, tuple(variables)

    @property
    def value_type(self) -> Any:
        """The class of such values."""
        return self._spec.value_type

    def _serialize(self) -> tuple[Any, ...]:
        return self._spec, self._variables

    @property
    def _component_specs(self) -> list[Any]:
        specs = nest.flatten(self._spec._component_specs, expand_composites=True)
        return [s for s, v in zip(specs, self._variables, strict=True) if v is None]

    def _to_components(self, value: Any) -> list[Any]:
        return value._parts()

    def _from_components(self, components: Any) -> Any:
        tensors = iter(components)
        return self._spec._from_tensor_list([next(tensors) if v is None else v for v in self._variables])

    def _of_value(self, value: Any) -> Any:
        return value if isinstance(value, TypeSpec) else value._whole_spec if isinstance(value, Composite) else None

    def _same_variables(self, other: Any) -> bool:
        return isinstance(other, SpecWithVariables) and len(self._variables) == len(other._variables) and all(
            a is b for a, b in zip(self._variables, other._variables, strict=True))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value, or another spec, is compatible and holds the same variables."""
        other = self._of_value(spec_or_value)
        return self._same_variables(other) and bool(self._spec.is_compatible_with(other._spec))

    def is_subtype_of(self, other: Any) -> bool:
        """Returns whether every value of this spec is one of another's.

        Args:
          other: a spec.
        """
        return self._same_variables(other) and bool(self._spec.is_subtype_of(other._spec))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """Returns the narrowest spec that this one and others are subtypes of; None if there is none.

        Args:
          others: specs.
        """
        if not all(map(self._same_variables, others)):
            return None
        joined = self._spec.most_specific_common_supertype([o._spec for o in others])
        return None if joined is None else SpecWithVariables(joined, self._variables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpecWithVariables) and self._same_variables(other) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash((self._spec, tuple(map(id, self._variables))))


def _taken_apart(spec: Any, value: Any) -> list[Any]:
    return nest.flatten(spec._to_components(value), expand_composites=True)


def _variables(components: Sequence[Any]) -> list[Any]:
    """Returns the components that are variables, None in place of the others."""
    return [c if isinstance(c, Variable) else None for c in components]
