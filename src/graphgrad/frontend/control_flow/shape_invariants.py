"""Shape invariants of loop variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.frontend.structure.composites import component_specs, tensors_of
from graphgrad.frontend.structure.nest import is_nested
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import variant
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, as_shape, shape_str
from graphgrad.ir.values.composite import Bundle


def generalised(leaves: Sequence[Any], shape_invariants: Any) -> tuple[list[Any], list[Any]]:
    """Returns the invariants of loop variables, and the tensors of their initial values.

    Args:
      leaves: the loop variables at first, flat: tensors, arrays, composites.
      shape_invariants: for each of them a shape or a spec, nested somehow; None where the first one's holds.
    Raises: ValueError for another number of invariants, and what the first values contradict; TypeError for what is
      neither a shape nor a spec.
    """
    given = [None] * len(leaves) if shape_invariants is None else invariant_leaves(shape_invariants)
    if len(given) != len(leaves):
        raise ValueError(f"shape_invariants gives {len(given)} shapes for {len(leaves)} loop variables. "
                         "Fix: give one for each")
    likes: list[Any] = []
    start: list[Any] = []
    for leaf, invariant in zip(leaves, given, strict=True):
        like = leaf._invariant(invariant) if isinstance(leaf, Bundle) else leaf
        likes.append(like)
        tensors = map(convert_to_tensor, tensors_of(leaf))
        if isinstance(like, TypeSpec):
            start.extend(_widened(t, as_shape(s.shape)) for t, s in zip(tensors, component_specs(like), strict=True))
        elif shape_invariants is None or isinstance(leaf, Bundle):
            start.extend(tensors)  # a list knows the shape of its elements itself
        else:
            start.extend(_widened(t, _shape(leaf, invariant)) for t in tensors)
    return likes, start


def _shape(leaf: Any, invariant: Any) -> Any:
    """Returns the shape invariant of a tensor."""
    if isinstance(invariant, TypeSpec):
        if not isinstance(invariant, TensorSpec) or not invariant.is_compatible_with(leaf):
            raise TypeError(f"TypeSpec {invariant} is not compatible with {leaf}. "
                            "Fix: give a tf.TensorSpec of its dtype, with a shape that it fits")
        return as_shape(invariant.shape)
    return as_shape(invariant)


def _widened(t: Any, shape: Any) -> Any:
    """Returns the tensor with a static shape that holds in every iteration; not that of variants."""
    if t.dtype is variant:
        return t
    if not TensorShape(shape).is_compatible_with(t.shape):
        raise ValueError(
            f"The shape invariant specified for {t.name} is not compatible with the initial shape of the "
            f"loop variable. It enters the loop with shape {shape_str(t._spec.shape)}, but the specified "
            f"shape invariant is {shape_str(shape)}. Fix: give a shape that it has"
        )
    return t if shape == t._spec.shape else raw.PlaceholderWithDefault(t, shape=shape)


def invariant_leaves(value: Any) -> list[Any]:
    """Returns the shapes and specs among nested invariants; a list of numbers is a shape."""
    if value is None or isinstance(value, (TensorShape, TypeSpec)):
        return [value]
    if isinstance(value, (list, tuple)) and all(isinstance(v, (int, type(None))) for v in value):
        return [value]
    if not is_nested(value):
        raise TypeError(f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(value)}. "
                        "Fix: give a tf.TensorShape or a tf.TensorSpec")
    children = [value[k] for k in sorted(value)] if hasattr(value, "keys") else value
    return [leaf for v in children for leaf in invariant_leaves(v)]
