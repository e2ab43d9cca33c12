"""The leaves of the arguments of functions: which are tensors, and whether they fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.frontend.structure.tensor_array_spec import ArrayParts
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.values.composite import Composite


def as_leaf(value: Any) -> Any:
    """Converts a leaf of the arguments; arrays, and objects that declare to be one (`jax.Array`), become tensors."""
    if isinstance(value, EagerTensor):
        return value
    if isinstance(value, (np.ndarray, np.generic)) or (hasattr(type(value), "__array__") and not is_tensor_like(value)):
        return convert_to_tensor(value)
    if hasattr(type(value), "__tf_tensor__"):
        return convert_to_tensor(value)
    # In a graph, the function gets the array itself.
    return ArrayParts(value) if isinstance(value, TensorArray) and value._elements is not None else value


def tensors_in(leaf: Any) -> list[Any]:
    """Returns the tensors of a leaf."""
    if isinstance(leaf, EagerTensor):
        return [leaf]
    if isinstance(leaf, Composite):
        return leaf._parts()
    return leaf.parts if isinstance(leaf, ArrayParts) else []


def same_literal(a: Any, b: Any) -> bool:
    """Returns whether two arguments, neither of them a tensor, are the same."""
    return a is b or (type(a) is type(b) and not hasattr(a, "dtype") and bool(a == b))


def check_same_keys(pattern: Any, value: Any) -> None:
    """Checks that dictionaries have the keys of those in a pattern; raises ValueError if not."""
    if isinstance(pattern, dict):
        if not isinstance(value, dict) or set(pattern) != set(value):
            raise ValueError(f"{value!r} has other keys than {pattern!r}")
        for k in pattern:
            check_same_keys(pattern[k], value[k])
    elif isinstance(pattern, (list, tuple)) and isinstance(value, (list, tuple)):
        for p, v in zip(pattern, value, strict=False):
            check_same_keys(p, v)
