"""`tf.experimental.Optional`: a value that may be missing."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composite_specs import spec_of
from graphgrad.frontend.structure.composites import converted
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.dtypes import as_dtype, variant
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import as_shape
from graphgrad.ir.values.composite import Composite

from .dataset_specs import NoneTensorSpec


class Optional(Composite):
    """A value, of any structure of tensors, that may be missing; made by `from_value` or `empty`.

    Gradient: through the value.
    Reference: TensorFlow 2.21 `tf.experimental.Optional`.

    >>> x = tf.constant(3.0)
    >>> there = Optional.from_value(x * x)
    >>> sess.run([there.has_value(), there.get_value(), *tf.gradients(there.get_value(), x)])
    [np.True_, np.float32(9.0), np.float32(6.0)]
    >>> sess.run(Optional.empty(tf.TensorSpec([], tf.float32)).has_value())
    np.False_
    """

    def __init__(self) -> None:
        self._variant: Any = None
        self._element_spec: Any = None

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Makes an optional with a value, a structure of tensors, composites and None."""
        value = nest.map_structure(lambda leaf: leaf if leaf is None else converted(leaf), value)
        parts = [part for part in nest.flatten(value, expand_composites=True) if part is not None]
        return made(raw.OptionalFromValue(parts), nest.map_structure(_spec, value))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Makes an empty optional.

        Args:
          element_spec: the specs of the value that is missing, in its structure.
        """
        return made(raw.OptionalNone(), element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of the value, in its structure."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def _parts(self) -> list[Any]:
        return [self._variant]

    def has_value(self, name: str | None = None) -> Any:
        """Returns whether there is a value, a scalar bool."""
        return raw.OptionalHasValue(self._variant, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """Returns the value; raises InvalidArgumentError at run time if there is none."""
        specs = nest.flatten(self._element_spec, expand_composites=True)
        types = tuple(as_dtype(s.dtype) for s in specs)
        parts = raw.OptionalGetValue(self._variant, output_types=types, name=name,
                                     output_shapes=tuple(as_shape(s.shape) for s in specs))
        return nest.pack_sequence_as(self._element_spec, list(parts), expand_composites=True)


def _spec(leaf: Any) -> Any:
    return NoneTensorSpec() if leaf is None else spec_of(leaf)


def made(held: Any, spec: Any) -> Optional:
    """Makes the optional of a variant and the specs of its value."""
    optional = Optional()
    optional._variant, optional._element_spec = held, spec
    return optional


class OptionalSpec(TypeSpec):
    """The spec of an `Optional`.

    Args:
      element_spec: specs of the value, in its structure.
    Reference: TensorFlow 2.21 `tf.OptionalSpec`.
    """

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """Specs of the value, in its structure."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`Optional`."""
        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: Any) -> Any:
        return value._parts()

    def _from_components(self, components: Any) -> Optional:
        (held,) = components
        return made(held, self._element_spec)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """Returns the spec of an `Optional`."""
        return OptionalSpec(value.element_spec)
