"""Records which public classes of TensorFlow 2.21 are subclasses of which, into tests/recorded/classes.json.gz."""

from __future__ import annotations

import gzip
import json
import types
from typing import Any

from tests.record import RECORDED


def public_classes(face: Any) -> dict[str, type]:
    """The classes of a face by their dotted names, without Keras, Estimator and the other version's face."""
    found: dict[str, type] = {}
    seen: set[int] = set()

    def walk(module: Any, prefix: str) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        for name in sorted(vars(module)):
            value = getattr(module, name, None)
            if name.startswith("_") or name in ("compat", "keras", "estimator", "tools", "lite", "tpu", "distribute"):
                continue
            if isinstance(value, types.ModuleType) and "tensorflow" in str(value):
                walk(value, f"{prefix}{name}.")
            elif isinstance(value, type):
                found[prefix + name] = value

    walk(face, "")
    return found


def is_subclass(cls: type, base: type) -> bool:
    """`issubclass`; False for protocols that refuse the question."""
    try:
        return issubclass(cls, base)
    except TypeError:
        return False


def main() -> None:
    """Writes, for both faces, the public superclasses of each public class."""
    import tensorflow as tf

    recorded = {}
    for version, face in (("v1", tf.compat.v1), ("v2", tf)):
        classes = public_classes(face)
        recorded[version] = {
            name: sorted(other for other, base in classes.items() if base is not cls and is_subclass(cls, base))
            for name, cls in classes.items()
        }
    with gzip.GzipFile(RECORDED / "classes.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(recorded, sort_keys=True).encode())


if __name__ == "__main__":
    main()
