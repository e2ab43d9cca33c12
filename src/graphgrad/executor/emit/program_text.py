"""A StableHLO program that is written value by value."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .element_types import Unsupported, type_of

_MOST = 1 << 16  # elements of a constant


class TextBlock:
    """What is written of a function, or of a region within it.

    Attributes:
      lines: its operations.
      constants: the names of its constants.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[Any, str] = {}


class Text:
    """The body of a program."""

    def __init__(self) -> None:
        self._blocks = [TextBlock()]
        self._numbers = itertools.count()
        self._apart: dict[str, str] = {}

    def name(self) -> str:
        """Returns a new name for a value."""
        return f"%{next(self._numbers)}"

    def add(self, line: str, result: str) -> str:
        """Adds an operation; returns the name of its result.

        Args:
          line: what it is, without its types.
          result: its types.
        """
        name = self.name()
        self._blocks[-1].lines.append(f"    {name} = {line} : {result}")
        return name

    def add_many(self, line: str, result: str, count: int) -> list[str]:
        """Adds an operation that has `count` results; returns their names."""
        if not count:
            raise Unsupported("an operation without results")
        name = self.name()
        self._blocks[-1].lines.append(f"    {name}:{count} = {line} : {result}")
        return [f"{name}#{i}" for i in range(count)]

    @contextlib.contextmanager
    def region(self) -> Iterator[TextBlock]:
        """Lets what is written within the context be a region of an operation that is written later."""
        block = TextBlock()
        self._blocks.append(block)
        try:
            yield block
        finally:
            self._blocks.pop()

    def constant(self, value: np.ndarray) -> str:
        """Returns the name of a constant."""
        if not 0 < value.size <= _MOST:
            raise Unsupported("an empty or a large constant")
        kind, data = type_of(value.shape, value.dtype), value.tobytes()
        constants, key = self._blocks[-1].constants, (kind, data)
        if key not in constants:
            if value.dtype == bool:
                flat = self.add(f"stablehlo.constant dense<{str(value.ravel().tolist()).lower()}>",
                                type_of((value.size,), bool))
                name = self.add(f"stablehlo.reshape {flat}", f"({type_of((value.size,), bool)}) -> {kind}")
            else:
                name = self.add(f'stablehlo.constant dense<"0x{data.hex().upper()}">', kind)
            constants[key] = name
        return constants[key]

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
                          *self._blocks[0].lines, returned, "  }",
                          *[f"  func.func private {function}(%x: {kind}) -> {kind} {{\n    return %x : {kind}\n  }}"
                            for kind, function in self._apart.items()], "}\n"])
