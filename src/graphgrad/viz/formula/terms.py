"""What stands for tensors while they are read as formulas."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .expressions import Dims, Expressions, FormulaNode


class Term(NamedTuple):
    """What stands for a tensor.

    Attributes:
      node: evaluates to the tensor, or to what broadcasts to it. Where only elements matter, it is used as it is; where
        sizes do, it is broadcast first.
      dims: the sizes of the tensor.
      entries: of a short vector of integers its entries, as sizes are; else None.
    """

    node: FormulaNode
    dims: Dims
    entries: Dims = None


class Terms:
    """Makes values."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self._like: dict[Dims, FormulaNode] = {}  # for sizes the first node that has them

    def note(self, value: Term) -> None:
        """Notes a tensor, whose shape can stand for its sizes."""
        if value.dims and value.node.dims == value.dims and value.node.kind in ("name", "call", "@"):
            self._like.setdefault(value.dims, value.node)

    def of(self, node: FormulaNode) -> Term:
        """Returns a node as a value."""
        return Term(node, node.dims)

    def full(self, value: Term) -> FormulaNode:
        """Returns a node that evaluates to a tensor, of all its sizes."""
        if value.node.dims == value.dims:
            return value.node
        return self.expressions.call("broadcast_to", (value.node, self.vector(value.dims)), value.dims)

    def vector(self, entries: Dims) -> FormulaNode:
        """Returns the node of a vector of sizes: the shape of something, where it is known of what."""
        assert entries is not None
        symbolic = not all(isinstance(n, int) for n in entries)
        if symbolic and entries in self._like:
            return self.expressions.call("shape", (self._like[entries],), (len(entries),))
        nodes = [self.expressions.number(n) if isinstance(n, int) else n for n in entries]
        return self.expressions.make("tuple", tuple(nodes), dims=(len(entries),))

    def size(self, value: Term) -> FormulaNode:
        """Returns the node of how many elements a tensor has."""
        if value.dims is not None and all(isinstance(n, int) for n in value.dims):
            return self.expressions.number(int(np.prod([int(n) for n in value.dims if isinstance(n, int)])))
        like = value.node if value.dims is None else self._like.get(value.dims)
        return self.expressions.call("size", (self.full(value) if like is None else like,), ())

    def constant(self, value: Any) -> Term:
        """Returns a constant, a part of one, or an attribute."""
        entries: Any = None
        if isinstance(value, np.ndarray) and value.ndim:
            if value.ndim == 1 and value.dtype.kind in "iu":
                entries = tuple(value.tolist())
            rows = self.expressions.make("list", tuple([self.constant(v).node for v in value]), dims=value.shape)
            return Term(self.expressions.call("array", (rows,), value.shape), value.shape, entries)
        if isinstance(value, (np.generic, np.ndarray)):
            short = value.dtype.kind in "biuc" or value.dtype == np.float64
            value = value.item() if short else float(str(np.asarray(value)[()]))
        if isinstance(value, (bool, int, float)):
            return self.of(self.expressions.number(value))
        if isinstance(value, complex):
            return self.of(self.expressions.make("number", value=value))
        if isinstance(value, (list, tuple)):
            return self.of(self.expressions.make("tuple", tuple([self.constant(v).node for v in value])))
        text = value if isinstance(value, str) or value is None else getattr(value, "name", str(value))
        return self.of(self.expressions.make("text", value=text))

    # -- element by element ------------------------------------------------------------------

    def binary(self, kind: str, a: Term, b: Term) -> Term:
        """Returns the result of an operator."""
        if kind == "@":
            return self._product(a, b)
        node = self.expressions.binary(kind, a.node, b.node)
        return Term(node, self.expressions.broadcast(a.dims, b.dims))

    def negative(self, a: Term) -> Term:
        """Returns -a."""
        return Term(self.expressions.negative(a.node), a.dims)

    def inverted(self, a: Term) -> Term:
        """Returns ~a."""
        return Term(self.expressions.make("~x", (a.node,), dims=a.node.dims), a.dims)

    def elementwise(self, name: str, args: list[Term], **named: Term) -> Term:
        """Returns the result of a function that is applied element by element."""
        nodes = tuple([a.node for a in args])
        dims = self.expressions.broadcast(*[n.dims for n in nodes])
        node = self.expressions.call(name, nodes, dims, **{k: v.node for k, v in named.items()})
        return Term(node, self.expressions.broadcast(*[a.dims for a in args]))

    # -- matrices ------------------------------------------------------------------------------

    def _product(self, a: Term, b: Term) -> Term:
        left, right = self.full(a), self.full(b)
        dims: Dims = None
        if left.dims is not None and right.dims is not None and len(left.dims) > 1 and len(right.dims) > 1:
            batch = self.expressions.broadcast(left.dims[:-2], right.dims[:-2])
            dims = (*(batch or ()), left.dims[-2], right.dims[-1])
        return self.of(self.expressions.make("@", (left, right), dims=dims))

    def transposed(self, a: Term) -> Term:
        """Returns matrices turned around."""
        node, dims = self.full(a), a.dims
        dims = None if dims is None else (*dims[:-2], dims[-1], dims[-2])
        return self.of(self.expressions.transposed(node, dims))
