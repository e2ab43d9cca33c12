"""Flattens composite tensors where only dense tensors can pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.values.composite import Bundle

from . import composite_specs as composite_specs  # which registers what `_type_spec` gives
from . import nest
from .type_spec import TypeSpec


def tensors_of(leaf: Any) -> list[Any]:
    """Returns the tensors of a leaf: components of a composite, the list of a `TensorArray`, or the leaf itself."""
    return leaf._parts() if isinstance(leaf, Bundle) else [leaf]


def all_tensors(leaves: Sequence[Any]) -> list[Any]:
    """Returns the tensors of several leaves."""
    return [t for leaf in leaves for t in tensors_of(leaf)]


def put_together(likes: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Inverts `all_tensors`.

    Args:
      likes: an example of each leaf: a spec, a composite, a `TensorArray`; anything else means a tensor.
      tensors: the tensors of all leaves.
    """
    left, leaves = list(tensors), []
    for like in likes:
        count = tensor_count(like)
        mine, left = left[:count], left[count:]
        leaves.append(_like(like, mine))
    return leaves


def tensor_count(like: Any) -> int:
    """Returns the number of tensors of a leaf; see `put_together`."""
    if isinstance(like, TypeSpec):
        return len(component_specs(like))
    return len(tensors_of(like))


def _like(like: Any, tensors: list[Any]) -> Any:
    if isinstance(like, Bundle):
        return like._with_parts(tensors)
    if isinstance(like, TypeSpec) and (len(tensors) != 1 or nest.is_composite_spec(like)):
        return like._from_tensor_list(tensors)
    return tensors[0]


def component_specs(spec: TypeSpec) -> list[Any]:
    """Returns the `TensorSpec`s of the components, flat."""
    return spec._flat_tensor_specs if nest.is_composite_spec(spec) else [spec]


def converted(leaf: Any) -> Any:
    """Converts a leaf: anything but composites and tensor arrays becomes a tensor."""
    return leaf if isinstance(leaf, Bundle) else convert_to_tensor(leaf)
