"""Writes `tests/reference/*.tsv`: what TensorFlow says of the names and ops that exist here.

Run it with an interpreter that has TensorFlow 2.21:

    python -m tests.record.signatures

- `v1.tsv`, `v2.tsv`: kind and signature of every name that a face exports, and of the methods
  of its classes;
- `gradients.tsv`: for every registered op whether TensorFlow has a gradient for it.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import types
from typing import Any

from graphgrad.ir.opdef import registry
from tests.ops import rows
from tests.record import RECORDED
from tests.support.faces import FACES, exported

_REFERENCE = RECORDED.parent / "reference"


def _resolve(root: Any, name: str) -> Any:
    for part in name.split("."):
        root = getattr(root, part)
    return root


def _signature(value: Any) -> str:
    try:
        text = " ".join(str(inspect.signature(value)).split())
        return re.sub(r" at 0x\w+", " at 0x0", text)  # addresses would differ each time
    except (TypeError, ValueError):
        return "-"


def describe(name: str, value: Any) -> list[tuple[str, str, str]]:
    """The lines for one public name."""
    if inspect.isclass(value):
        lines = [(name, "class", _signature(value.__init__))]
        for method in sorted(m for m in dir(value) if not m.startswith("_")):
            member = inspect.getattr_static(value, method)
            function = getattr(member, "__func__", member)
            if isinstance(function, types.FunctionType):
                lines.append((f"{name}.{method}", "method", _signature(function)))
        return lines
    if callable(value):
        return [(name, "function", _signature(value))]
    return [(name, "value", type(value).__name__)]


def _write(path: pathlib.Path, header: str, lines: list[tuple[str, ...]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([header, *("\t".join(line) for line in lines)]) + "\n")
    print(f"{path.name}: {len(lines)} lines")


def main() -> None:
    """Writes all files."""
    import tensorflow as tf
    from tensorflow.python.framework import ops

    for face in FACES:
        root = tf.compat.v1 if face == "v1" else tf
        values = exported(face)
        found: dict[str, tuple[str, str, str]] = {}
        for name in sorted(values):
            try:
                lines = describe(name, _resolve(root, name))
            except AttributeError:
                print(f"{face}: TensorFlow has no {name}")
                continue
            for line in lines:  # of the methods, those that are here too
                if line[1] != "method" or hasattr(values[name], line[0].rpartition(".")[2]):
                    found[line[0]] = line
        _write(_REFERENCE / f"{face}.tsv", "name\tkind\tsignature", [found[n] for n in sorted(found)])
    rows.load()
    kinds = []
    for name in sorted(registry):
        try:
            kinds.append((name, "constant" if ops._gradient_registry.lookup(name) is None else "gradient"))
        except LookupError:
            continue
    _write(_REFERENCE / "gradients.tsv", "op\tkind", kinds)


if __name__ == "__main__":
    main()
