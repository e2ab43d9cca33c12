"""Arguments that TensorFlow has under two names, an older and a newer one."""

from __future__ import annotations

from typing import Any


def either(new: str, value: Any, old: str, other: Any) -> Any:
    """Returns the one of two synonymous arguments that was given, or None; raises ValueError for both."""
    if other is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'. Fix: drop '{old}', the older name")
    return other
