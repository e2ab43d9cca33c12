"""A StableHLO program that is written value by value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

_NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "i1"}
_MOST = 1 << 16  # elements of a constant
_ADDRESSES = 2**47  # the largest size of a process in bytes


class Unsupported(Exception):
    """Only JAX can lower this."""


def type_of(shape: Sequence[int], dtype: Any) -> str:
    """Returns MLIR's type of an array; raises Unsupported for a dtype that is left to JAX."""
    name = _NAMES.get(np.dtype(dtype).name)
    if name is None or math.prod(shape) * np.dtype(dtype).itemsize > _ADDRESSES:
        raise Unsupported(f"{dtype} {shape}")
    return f"tensor<{'x'.join(map(str, (*shape, name)))}>"


class Text:
    """The body of a program."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._constants: dict[Any, str] = {}
        self._apart: dict[str, str] = {}

    def add(self, line: str, result: str) -> str:
        """Adds an operation; returns the name of its result.

        Args:
          line: what it is, without its types.
          result: its types.
        """
        name = f"%{len(self.lines)}"
        self.lines.append(f"    {name} = {line} : {result}")
        return name

    def constant(self, value: np.ndarray) -> str:
        """Returns the name of a constant."""
        if not 0 < value.size <= _MOST:
            raise Unsupported("an empty or a large constant")
        kind, data = type_of(value.shape, value.dtype), value.tobytes()
        key = kind, data
        if key not in self._constants:
            if value.dtype == bool:
                flat = self.add(f"stablehlo.constant dense<{str(value.ravel().tolist()).lower()}>",
                                type_of((value.size,), bool))
                name = self.add(f"stablehlo.reshape {flat}", f"({type_of((value.size,), bool)}) -> {kind}")
            else:
                name = self.add(f'stablehlo.constant dense<"0x{data.hex().upper()}">', kind)
            self._constants[key] = name
        return self._constants[key]

    def apart(self, name: str, kind: str) -> str:
        """Returns the name of a value that is not fused with what it is made of: of a call that is not inlined."""
        function = self._apart.setdefault(kind, f"@same{len(self._apart)}")
        call = f'call {function}({name}) {{mhlo.frontend_attributes = {{inlineable = "false"}}}}'
        return self.add(call, f"({kind}) -> {kind}")

    def module(self, arguments: Iterable[str], results: Sequence[tuple[str, str]]) -> str:
        """Returns the whole program.

        Args:
          arguments: names and types.
          results: (name, type) of each.
        """
        types = ", ".join(kind for _, kind in results)
        names = ", ".join(name for name, _ in results)
        returned = f"    return {names} : {types}" if results else "    return"
        return "\n".join([f"module @run {{\n  func.func public @main({', '.join(arguments)}) -> ({types}) {{",
                          *self.lines, returned, "  }",
                          *[f"  func.func private {function}(%x: {kind}) -> {kind} {{\n    return %x : {kind}\n  }}"
                            for kind, function in self._apart.items()], "}\n"])
