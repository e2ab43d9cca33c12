"""Formats the types of what functions take and return."""

from __future__ import annotations

import re
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.shape import TensorShape


def described(value: Any) -> str:
    """Formats the type of an argument or a result as TensorFlow does."""
    if isinstance(value, dict):
        return "Dict[" + ", ".join(f"[{k!r}, {described(v)}]" for k, v in value.items()) + "]"
    if isinstance(value, (list, tuple)):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[[{', '.join(map(described, value))}]]" if value else f"{kind}[[]]"
    if hasattr(value, "_spec") and value.dtype is dtypes.resource:
        return f"{value.dtype.name} Tensor"
    if hasattr(value, "_spec"):
        return f"TensorSpec(shape={TensorShape(value._spec.shape)}, dtype={value.dtype!r}, name=None)"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return "None" if value is None else f"Literal[{value!r}]"
    return re.sub(r"name='[^']*'", "name=None", repr(value))
