"""Device strings: parsing, writing and merging `/job:w/replica:0/task:0/device:GPU:0`."""

from __future__ import annotations

import functools
import re

_PART = re.compile(r"/?(?:(job|replica|task|device):([^/]+)|(cpu|gpu|tpu)(?::([^/]*))?)", re.IGNORECASE)


@functools.lru_cache(maxsize=1024)
def parse(spec: str) -> tuple[tuple[str, str], ...]:
    """Parses a device string to sorted (key, value) pairs; raises ValueError for unknown parts."""
    parts: dict[str, str] = {}
    for piece in filter(None, spec.split("/")):
        found = _PART.fullmatch(piece)
        if not found:
            raise ValueError(f"Could not parse device specification '{spec}': unknown part '{piece}'. "
                             "Fix: write e.g. '/cpu:0', '/device:GPU:1' or '/job:worker/task:0'.")
        if found[3]:
            parts["device"] = f"{found[3].upper()}:{found[4] or '*'}"
            continue
        key, value = found[1].lower(), found[2]
        if key == "device":
            kind, _, index = value.partition(":")
            value = f"{kind.upper()}:{index or '*'}" if index != "" else kind.upper()
        parts[key] = value
    return tuple((k, parts[k]) for k in ("job", "replica", "task", "device") if k in parts)


@functools.lru_cache(maxsize=1024)
def canonical(spec: str) -> str:
    """Returns the device string in its canonical spelling."""
    return "".join(f"/{k}:{v}" for k, v in parse(spec))


@functools.lru_cache(maxsize=1024)
def merge(outer: str, inner: str) -> str:
    """Completes `inner` by the further parts of `outer`."""
    parts = dict(parse(outer))
    parts.update(parse(inner))
    return "".join(f"/{k}:{parts[k]}" for k in ("job", "replica", "task", "device") if k in parts)
