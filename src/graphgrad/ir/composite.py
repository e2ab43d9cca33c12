"""`Composite`: the base of values that consist of tensors."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

# Values of composite tensors as sessions give and take them, in NumPy.
IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])

# How the spec of a value is made, by its class.
makers_of_specs: dict[type, Callable[[Any], Any]] = {}


class Composite:
    """A value that consists of tensors: sparse, ragged, sliced ones.

    Where tensors pass (branches, loops, functions, custom gradients), it is taken apart into its components, and put
    together again on the other side by its spec.
    """

    @property
    def _type_spec(self) -> Any:
        """The `TypeSpec` that tells how to put such a value together."""
        return next(makers_of_specs[c] for c in type(self).__mro__ if c in makers_of_specs)(self)

    def _parts(self) -> list[Any]:
        """The components, tensors."""
        raise NotImplementedError(f"{type(self).__name__}._parts")

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        """A value like this one, of other components."""
        return self._type_spec._from_components(parts)

    def _differentiable(self) -> Any:
        """The component that gradients are about."""
        raise NotImplementedError(f"{type(self).__name__}._differentiable")

    def _with_differentiable(self, tensor: Any) -> Any:
        """The same with another tensor (or None, which gives None) in that component's place."""
        raise NotImplementedError(f"{type(self).__name__}._with_differentiable")


class OfValues(Composite):
    """A composite that is where its `values` are."""

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
        """The operations that use `values`."""
        return self._values.consumers()
