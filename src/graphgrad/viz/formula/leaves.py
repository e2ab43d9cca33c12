"""Names of what formulas begin with: placeholders, variables, large constants, random numbers, loops and functions."""

from __future__ import annotations

import itertools
import keyword
import re

from graphgrad.ir.graph import Operation, Tensor

_WORD = re.compile(r"\W+")
_VERSION = re.compile(r"V\d$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Leaves:
    """Chooses names.

    Attributes:
      tensors: the tensors by their names in formulas.
      operations: loops, branches and calls of functions by their names.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.operations: dict[str, Operation] = {}
        self._of: dict[int, str] = {}

    def is_leaf(self, op: Operation) -> bool:
        """Returns whether formulas begin with an operation, and do not say how it is computed."""
        record = op.opdef
        if record._functional:
            return False
        return not op.inputs or record.placeholder or record.variable == "read" or bool(
            record.flags & {"random", "stateful"})

    def give(self, t: Tensor, name: str) -> None:
        """Gives a tensor a name."""
        self._of[id(t)] = self._unique(name, "")
        self.tensors[self._of[id(t)]] = t

    def name(self, t: Tensor) -> str:
        """Returns the name of a tensor; a variable's is its own."""
        of = t.op.inputs[0] if t.op.opdef.variable == "read" and t.op.inputs else t
        if id(of) not in self._of:
            name = of.op.name if len(of.op.outputs) == 1 else f"{of.op.name}_{of.value_index}"
            self._of[id(of)] = self._unique(name, of.op.type)
            self.tensors[self._of[id(of)]] = t
        return self._of[id(of)]

    def function(self, op: Operation) -> str:
        """Returns the name of an operation as a function: for loops and the like its own, else that of its type."""
        if not op.opdef._functional:
            return _HUMP.sub("_", _VERSION.sub("", op.type)).lower()
        if id(op) not in self._of:
            self._of[id(op)] = self._unique(op.name, op.type)
            self.operations[self._of[id(op)]] = op
        return self._of[id(op)]

    def _unique(self, name: str, op_type: str) -> str:
        """Returns a name that is free: the last part of one if it can be, without a part that is the op type."""
        outer, _, last = name.rpartition("/")
        name = outer if outer and last == op_type else name
        whole = _WORD.sub("_", name).strip("_") or "x"
        short = _WORD.sub("_", name.rsplit("/", 1)[-1]).strip("_")
        tried = [n for n in (short, whole) if n and not n[0].isdigit() and not keyword.iskeyword(n)]
        tried = tried or [f"x_{whole}"]
        candidates = itertools.chain(tried, (f"{tried[-1]}_{i}" for i in itertools.count(1)))
        return next(n for n in candidates if n not in self.tensors and n not in self.operations)
