"""`tf.experimental.dtensor`: tensors on several devices, which are not here (yet)."""

from __future__ import annotations

from typing import Any

from .absent import stand_in

_NAMES = frozenset("""
    Layout Mesh DVariable DTensorDataset copy_to_mesh relayout pack unpack default_mesh create_mesh
""".split())
UNSHARDED = "unsharded"


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, stand_in(name, "several devices in one program"))
