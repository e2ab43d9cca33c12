"""`Composite`: the base of values that consist of tensors."""

from __future__ import annotations

import collections
import importlib
from collections.abc import Callable, Sequence
from typing import Any

# Values of composite tensors as sessions return and accept them, in NumPy.
IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])

_makers_of_specs: dict[type, Callable[[Any], Any]] = {}
# Registers the specs of classes of the core; other classes are registered where they are defined.
_REGISTERS = "graphgrad.frontend.structure.composite_specs"


def register_spec(kind: type, make: Callable[[Any], Any]) -> None:
    """Declares how the spec of a value is made; called where the class, or its spec, is defined.

    Args:
      kind: a class of values; a subclass without an entry of its own takes its base's.
      make: a function from a value to its `TypeSpec`.
    """
    _makers_of_specs[kind] = make


def registered_spec(value: Any) -> Any:
    """Returns the `TypeSpec` of a value whose class has one; None for other values."""
    importlib.import_module(_REGISTERS)
    make = next((_makers_of_specs[c] for c in type(value).__mro__ if c in _makers_of_specs), None)
    return None if make is None else make(value)


class Composite:
    """A value that consists of tensors: sparse, ragged, sliced ones.

    Where tensors pass (branches, loops, functions, custom gradients), it is split into its components, and reassembled
    on the other side by its spec.
    """

    @property
    def _type_spec(self) -> Any:
        """Returns the `TypeSpec` that reassembles such a value."""
        return registered_spec(self)

    def _parts(self) -> list[Any]:
        """Returns the components, tensors."""
        raise NotImplementedError(f"{type(self).__name__}._parts")

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        """Returns a value like this one, of other components."""
        return self._type_spec._from_components(parts)

    def _differentiable(self) -> Any:
        """Returns the component to which gradients refer."""
        raise NotImplementedError(f"{type(self).__name__}._differentiable")

    def _with_differentiable(self, tensor: Any) -> Any:
        """Replaces that component by another tensor (None gives None)."""
        raise NotImplementedError(f"{type(self).__name__}._with_differentiable")


class OfValues(Composite):
    """A composite with the graph and device of its `values`."""

    _values: Any

    @property
    def op(self) -> Any:
        """The operation of `values`."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of `values`."""
        return self._values.graph

    @property
    def device(self) -> str:
        """The device of `values`."""
        return str(self._values.device)

    def consumers(self) -> Any:
        """Returns the operations that use `values`."""
        return self._values.consumers()
