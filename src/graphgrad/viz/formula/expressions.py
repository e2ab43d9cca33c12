"""Expressions that formulas consist of: nodes that are equal are one, and what is simpler is built in its place.

A node's `dims` are the sizes of what it evaluates to: integers, and nodes where the size is known by the run alone.
None: not even the rank is known.
"""

from __future__ import annotations

import math
from typing import Any, Optional, Union

Dims = Optional[tuple[Union[int, "FormulaNode"], ...]]  # noqa: UP045  # `|` takes no name in quotes at run time
_EXACT = 2**24  # integers up to it are exact in float32


class FormulaNode:
    """A part of a formula.

    Attributes:
      kind: "number", "name", "text" (a string or other constant), "tuple", "list", "item" (args[0] at value), "call",
        "T" (a transpose), "-x", "~x", or an operator of two arguments.
      args: the nodes it consists of.
      value: of a number the number, of a name the name, of an item its index, of a call its name and the names of its
        last arguments.
      dims: the sizes of its value.
      order: its number; those of its arguments are smaller.
    """

    __slots__ = ("kind", "args", "value", "dims", "order")

    def __init__(self, kind: str, args: tuple[FormulaNode, ...], value: Any, dims: Dims, order: int):
        self.kind, self.args, self.value, self.dims, self.order = kind, args, value, dims, order

    def __repr__(self) -> str:
        return f"FormulaNode({self.kind!r}, {self.value!r}, {list(self.args)})"


class Expressions:
    """Makes nodes, each once."""

    def __init__(self) -> None:
        self._known: dict[Any, FormulaNode] = {}

    def make(self, kind: str, args: tuple[FormulaNode, ...] = (), value: Any = None, dims: Dims = ()) -> FormulaNode:
        """Returns the node of a kind, with these arguments."""
        if kind in ("+", "*") and (kind, args[::-1], type(None), None) in self._known:
            args = args[::-1]
        key = (kind, args, type(value), repr(value) if isinstance(value, float) else value)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = FormulaNode(kind, args, value, dims, len(self._known))
        return found

    def number(self, value: Any) -> FormulaNode:
        """Returns a number; floats that are integers are written as such."""
        if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT and (value or str(value) == "0.0"):
            value = int(value)
        return self.make("number", value=value)

    def call(self, name: str, args: tuple[FormulaNode, ...], dims: Dims, **named: FormulaNode) -> FormulaNode:
        """Returns a call of a function."""
        return self.make("call", args + tuple(named.values()), (name, tuple(named)), dims)

    def elementwise(self, name: str, args: tuple[FormulaNode, ...]) -> FormulaNode:
        """Returns a call of a function that is applied element by element, with broadcasting."""
        return self.call(name, args, self.broadcast(*[a.dims for a in args]))

    def size_of(self, node: FormulaNode, axis: int) -> FormulaNode:
        """Returns the size of a node along an axis."""
        return self.make("item", (self.call("shape", (node,), None),), str(axis))

    def broadcast(self, *shapes: Dims) -> Dims:
        """Returns the sizes to which shapes broadcast."""
        found: list[int | FormulaNode] = []
        for shape in shapes:
            if shape is None:
                return None
            found[:0] = [1] * (len(shape) - len(found))
            for i, size in enumerate(shape, len(found) - len(shape)):
                found[i] = self._joined(found[i], size)
        return tuple(found)

    def _joined(self, a: int | FormulaNode, b: int | FormulaNode) -> int | FormulaNode:
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        if isinstance(a, int) or isinstance(b, int):  # the other one is 1, or the same
            return a if isinstance(a, int) else b
        first, second = sorted((a, b), key=_order)
        if second.kind == "call" and second.value[0] == "maximum" and first in second.args:
            return second
        return self.call("maximum", (first, second), ())

    # -- operators -------------------------------------------------------------------------

    def binary(self, kind: str, a: FormulaNode, b: FormulaNode) -> FormulaNode:
        """Returns the result of an operator, or something simpler that is equal."""
        simpler = {"+": self._sum, "-": self._difference, "*": self._product, "/": self._quotient,
                   "**": self._power}.get(kind)
        found = simpler(a, b) if simpler else None
        return found or self._plain(kind, a, b)

    def _plain(self, kind: str, a: FormulaNode, b: FormulaNode) -> FormulaNode:
        if kind == ">" and _is(b, 0) and a.kind == "call" and a.value[0] == "maximum" and _is(a.args[1], 0):
            a = a.args[0]
        return self.make(kind, (a, b), dims=self.broadcast(a.dims, b.dims))

    def negative(self, a: FormulaNode) -> FormulaNode:
        """Returns -a."""
        if a.kind == "-x":
            return a.args[0]
        if a.kind == "number" and not isinstance(a.value, bool):
            return self.number(-a.value)
        if a.kind == "-":
            return self._plain("-", a.args[1], a.args[0])
        if a.kind in ("*", "/") and a.args[0].kind == "number":
            return self.binary(a.kind, self.negative(a.args[0]), a.args[1])
        return self.make("-x", (a,), dims=a.dims)

    def _sum(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        folded = _folded(a, b, lambda x, y: x + y)
        if folded is not None:
            return self.number(folded)
        if _is(a, 0):
            return b
        if _is(b, 0):
            return a
        if a is b:
            return self.binary("*", self.number(2), a)
        if a.kind == b.kind == "-x" and a.args[0] is b.args[0]:
            return self.binary("*", self.number(-2), a.args[0])
        if b.kind == "-x":
            return self._difference(a, b.args[0]) or self._plain("-", a, b.args[0])
        if _leads_negative(b):
            return self._plain("-", a, self.negative(b))
        if a.kind == "-x":
            return self._plain("-", b, a.args[0])
        return None

    def _difference(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        folded = _folded(a, b, lambda x, y: x - y)
        if folded is not None:
            return self.number(folded)
        if _is(b, 0):
            return a
        if _is(a, 0):
            return self.negative(b)
        if a.kind == "-x" and a.args[0] is b:
            return self.binary("*", self.number(-2), b)
        if b.kind == "-x":
            return self.binary("+", a, b.args[0])
        if _leads_negative(b):
            return self._plain("+", a, self.negative(b))
        return None

    def _product(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        folded = _folded(a, b, lambda x, y: x * y)
        if folded is not None:
            return self.number(folded)
        for factor, other in ((a, b), (b, a)):
            if _is(factor, 1):
                return other
            if _is(factor, -1):
                return self.negative(other)
        if "-x" in (a.kind, b.kind):
            a, b = (a.args[0], b) if a.kind == "-x" else (a, b.args[0])
            return self.negative(self.binary("*", a, b))
        if b.kind == "number" or (_leads(b) and a.kind != "number"):
            a, b = b, a  # numbers in front
        found = self._product_with_quotient(a, b)
        if found is not None:
            return found
        if a.kind == "number" and _leads(b) and (both := _folded(a, b.args[0], lambda x, y: x * y)) is not None:
            return self.binary("*", self.number(both), b.args[1])
        if _leads(a) and not _leads(a.args[1]):
            return self.binary("*", a.args[0], self.binary("*", a.args[1], b))
        if a is b:
            return self._power(a, self.number(2)) or self._plain("**", a, self.number(2))
        return self._plain("*", a, b)

    def _product_with_quotient(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        """Returns a product as one quotient, where that is simpler."""
        for part, other in ((b, a), (a, b)):
            if part.kind == "/" and _is(part.args[0], 1):
                return self.binary("/", other, part.args[1])
        if a.kind == "number" and b.kind == "/" and _divides(a, b.args[1]):
            return self.binary("*", self.number(a.value // b.args[1].value), b.args[0])
        for part, other in ((a, b), (b, a)):
            if part.kind == "/" and part.args[1].kind == "number" and other.kind != "number":
                top = (part.args[0], other) if part is a else (other, part.args[0])
                return self.binary("/", self.binary("*", *top), part.args[1])
        return None

    def _quotient(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        if _is(b, 1):
            return a
        if a.kind == "-x":
            return self.negative(self.binary("/", a.args[0], b))
        if b.kind == "-x":
            return self.negative(self.binary("/", a, b.args[0]))
        if _leads(a) and _divides(b, a.args[0]):
            return self.binary("/", a.args[1], self.number(b.value // a.args[0].value))
        if _leads(a) and _divides(a.args[0], b):
            return self.binary("*", self.number(a.args[0].value // b.value), a.args[1])
        return None

    def _power(self, a: FormulaNode, b: FormulaNode) -> FormulaNode | None:
        if _is(b, 1):
            return a
        if _is(b, 0) and a.kind != "number":
            return self.number(1)
        if b.kind == "number" and _is(b, -1):
            return self.binary("/", self.number(1), a)
        if a.kind == "-x" and _is(b, 2):
            return self.binary("**", a.args[0], b)
        return None

    def transposed(self, a: FormulaNode, dims: Dims) -> FormulaNode:
        """Returns a matrix turned around."""
        return a.args[0] if a.kind == "T" else self.make("T", (a,), dims=dims)


def _order(node: FormulaNode) -> int:
    return node.order


def _is(node: FormulaNode, number: int) -> bool:
    return node.kind == "number" and not isinstance(node.value, bool) and node.value == number


def _leads(node: FormulaNode) -> bool:
    """Returns whether a node is a product that begins with a number."""
    return node.kind == "*" and node.args[0].kind == "number"


def _divides(a: FormulaNode, b: FormulaNode) -> bool:
    """Returns whether a is a multiple of b, both integers."""
    return all(n.kind == "number" and type(n.value) is int for n in (a, b)) and b.value and a.value % b.value == 0


def _leads_negative(node: FormulaNode) -> bool:
    """Returns whether a node is a negative number, or a product that begins with one."""
    if node.kind in ("*", "/"):
        node = node.args[0]
    return node.kind == "number" and isinstance(node.value, (int, float)) and node.value < 0


def _folded(a: FormulaNode, b: FormulaNode, compute: Any) -> Any:
    """Returns a result that is exact, None for others."""
    if a.kind != "number" or b.kind != "number" or not all(type(n.value) in (int, float) for n in (a, b)):
        return None
    found = compute(a.value, b.value)
    if all(type(n.value) is int for n in (a, b)):
        return found if abs(found) <= _EXACT else None
    halves = any(math.frexp(n.value)[0] in (0.5, -0.5) for n in (a, b))  # powers of two
    return found if halves and compute(3, 4) == 12 and 1e-30 < abs(found) < 1e30 else None
