"""`tensorflow.python.autograph`'s tools for syntax trees: any name of theirs, which says so when it is called."""

from __future__ import annotations

from typing import Any

from .absent import stand_in


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, stand_in(name, "programs that rewrite syntax trees with TensorFlow's converters"))
