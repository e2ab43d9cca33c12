"""The functions that formulas of records call: what they do to shapes, and where they change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .expressions import Dims, FormulaNode
from .terms import Term, Terms

_ELEMENTWISE = frozenset({"where", "trunc", "maximum", "minimum", "sqrt", "expm1", "abs", "exp", "log", "sigmoid",
                          "conj", "real", "log1p", "floor"})
_REDUCTIONS = frozenset({"sum", "mean", "prod", "max", "min", "all", "any"})


class Calls:
    """Makes the values of calls."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.expressions = terms.expressions

    def __call__(self, name: str, args: list[Any], static: Sequence[int | None] | None) -> Term | None:
        """Returns the value of a call; None for a function that is not known here.

        Args:
          name: the function.
          args: values, or lists of them.
          static: the shape of the result as far as the graph knows it, None if nothing is known.
        """
        if name in _ELEMENTWISE:
            return self.terms.elementwise(name, args)
        if name in _REDUCTIONS:
            return self._reduction(name, args, static)
        known: Callable[..., Term | None] | None = getattr(self, f"_{name}", None)
        return None if known is None else known(args, static)

    def sized(self, node: FormulaNode, static: Sequence[int | None] | None) -> Term:
        """Returns a node with the sizes that the graph knows."""
        if static is not None and node.dims is None:
            node.dims = tuple([self.expressions.size_of(node, i) if n is None else n for i, n in enumerate(static)])
        return self.terms.of(node)

    def node(self, value: Any) -> FormulaNode:
        """Returns the node of an argument, of all its sizes."""
        if isinstance(value, list):
            return self.expressions.make("tuple", tuple([self.terms.full(v) for v in value]), dims=(len(value),))
        if value.entries is not None:
            return self.terms.vector(value.entries)
        return self.terms.full(value)

    def opaque(self, name: str, args: list[Any], static: Sequence[int | None] | None, **named: Term) -> Term:
        """Returns the value of a call of which nothing is known."""
        nodes = tuple(map(self.node, args))
        return self.sized(self.expressions.call(name, nodes, None, **{k: v.node for k, v in named.items()}), static)

    # -- shapes --------------------------------------------------------------------------------

    def _total(self, args: list[Any], static: Any) -> Term:
        (terms,) = args
        found: Term = terms[0]
        for term in terms[1:]:
            found = self.terms.binary("+", found, term)
        return found

    def _axes(self, args: list[Term], static: Any) -> Term:
        entries = tuple([a.node.value for a in args])
        return Term(self.terms.vector(entries), (len(entries),), entries)

    def _shape(self, args: list[Term], static: Any) -> Term:
        (x,) = args
        if x.dims is None:
            return Term(self.expressions.call("shape", (x.node,), None), None)
        return Term(self.terms.vector(x.dims), (len(x.dims),), x.dims)

    def _size(self, args: list[Term], static: Any) -> Term:
        return self.terms.of(self.terms.size(args[0]))

    def _broadcast_to(self, args: list[Term], static: Any) -> Term:
        x, shape = args
        if shape.entries is not None:
            return Term(x.node, shape.entries)
        return self.opaque("broadcast_to", args, static)

    def _full(self, args: list[Term], static: Any) -> Term:
        return self._broadcast_to(args[::-1], static)

    def _broadcast_axes(self, args: list[Term], static: Any) -> Term | None:
        """Gives two vectors: the axes along which each of two shapes was broadcast."""
        shapes = [a.entries for a in args]
        if shapes[0] is None or shapes[1] is None:
            return None
        rank = max(len(shapes[0]), len(shapes[1]))
        a, b = [(1,) * (rank - len(s)) + s for s in (shapes[0], shapes[1])]
        axes: tuple[list[int], list[int]] = ([], [])
        for i, (m, n) in enumerate(zip(a, b, strict=True)):
            if m == n and m != 1:
                continue
            if m != 1 and n != 1 and not (isinstance(m, int) and isinstance(n, int)):
                return None  # one of them may be 1
            if m == 1:
                axes[0].append(i)
            if n == 1:
                axes[1].append(i)
        both = [self.expressions.make("tuple", tuple(map(self.expressions.number, k)), dims=(len(k),)) for k in axes]
        return Term(self.expressions.make("tuple", tuple(both)), (2,), None)

    def _reshape(self, args: list[Term], static: Any) -> Term:
        x, shape = args
        wanted = shape.entries
        if wanted is not None and wanted == x.dims:
            return x
        if wanted is not None and not any(isinstance(n, int) and n < 0 for n in wanted):
            if x.node.dims == ():
                return Term(x.node, wanted)
        else:
            wanted = None
        if _is_sum_over_broadcast(x.node):
            return Term(self.expressions.call("sum_to", (x.node.args[0], self.node(shape)), wanted), wanted)
        node = self.expressions.call("reshape", (self.terms.full(x), self.node(shape)), wanted)
        return self.sized(node, static)

    def _expand_dims(self, args: list[Term], static: Any) -> Term:
        x, axis = args
        at = axis.entries[0] if axis.entries else axis.node.value
        if x.dims is None or not isinstance(at, int):
            return self.opaque("expand_dims", args, static)
        at %= len(x.dims) + 1
        dims = (*x.dims[:at], 1, *x.dims[at:])
        if x.node.dims == ():
            return Term(x.node, dims)
        axis_node = self.expressions.number(at)
        return self.terms.of(self.expressions.call("expand_dims", (self.terms.full(x), axis_node), dims))

    def _reduction(self, name: str, args: list[Term], static: Any) -> Term:
        x, axis, keep = [*args, self.terms.constant(False)][:3]
        keeps = bool(keep.node.value)
        axes = axis.entries
        if axes is None and axis.node.kind == "number":
            axes = (axis.node.value,)
        if axes is None or x.dims is None or not all(isinstance(a, int) for a in axes):
            named = {"axis": self.terms.of(self.node(axis)), **({"keepdims": keep} if keeps else {})}
            return self.opaque(name, [x], static, **named)
        gone = sorted({int(a) % len(x.dims) for a in axes if isinstance(a, int)} if x.dims else ())
        if not gone and name not in ("all", "any"):
            return x
        dims: Dims = tuple([1 if i in gone else n for i, n in enumerate(x.dims) if keeps or i not in gone])
        node = self._reduced_number(name, x.node, [x.dims[i] for i in gone])
        if node is not None:
            return Term(node, dims)
        options: dict[str, FormulaNode] = {}
        if len(gone) < len(x.dims):
            numbers = tuple(map(self.expressions.number, gone))
            options["axis"] = numbers[0] if len(gone) == 1 else self.expressions.make("tuple", numbers)
        if keeps:
            options["keepdims"] = keep.node
        return self.terms.of(self.expressions.call(name, (self.terms.full(x),), dims, **options))

    def _reduced_number(self, name: str, node: FormulaNode, sizes: list[Any]) -> FormulaNode | None:
        """Returns the reduction of a number that was broadcast along axes of known sizes."""
        if node.dims != () or not all(isinstance(n, int) and n > 0 for n in sizes):
            return None
        if name == "sum":
            return self.expressions.binary("*", self.expressions.number(math.prod(sizes)), node)
        return node if name in ("max", "min", "mean") else None

    # -- moving elements -----------------------------------------------------------------------

    def _swapped(self, args: list[Term], static: Any) -> Term:
        return self.terms.transposed(args[0])

    def _transpose(self, args: list[Term], static: Any) -> Term:
        x, perm = args
        if perm.entries is not None and x.dims is not None and all(isinstance(i, int) for i in perm.entries):
            order = [int(i) for i in perm.entries if isinstance(i, int)]
            if order == sorted(order):
                return x
            dims = tuple([x.dims[i] for i in order])
            if order == [1, 0]:
                return self.terms.transposed(x)
            return self.terms.of(self.expressions.call("transpose", (self.terms.full(x), self.node(perm)), dims))
        return self.opaque("transpose", args, static)

    def _item(self, args: list[Any], static: Any) -> Term:
        x, at = args[0], args[1].node.value
        parts = at.split(", ")
        if x.entries is not None and len(parts) == 1:
            found = eval(f"e[{at}]", {"__builtins__": {}}, {"e": x.entries})  # `at` consists of integers and colons
            if isinstance(found, tuple):
                return Term(self.terms.vector(found), (len(found),), found)
            return self.terms.constant(found) if isinstance(found, int) else self.terms.of(found)
        dims: Dims = None
        if static is not None:
            kept = _whole_axes(parts, len(x.dims)) if x.dims is not None else {}
            node = self.expressions.make("item", (self.terms.full(x),), at, None)
            dims = tuple([n if n is not None else x.dims[kept[i]] if i in kept else self.expressions.size_of(node, i)
                          for i, n in enumerate(static)])
        node = self.expressions.make("item", (self.terms.full(x),), at, dims)
        node.dims = dims
        return self.terms.of(node)

    def _placed(self, args: list[Any], static: Any) -> Term:
        """Gives zeros of a shape with a value at some index, as `numpy.s_` writes it."""
        x, shape, at = args
        indexer = self.expressions.make("name", value="s_", dims=None)
        index = self.expressions.make("item", (indexer,), at.node.value, None)
        found = self.expressions.call("placed", (self.terms.full(x), self.node(shape), index), shape.entries)
        return self.sized(found, static)

    def _stack(self, args: list[Any], static: Any) -> Term:
        values, axis = args
        if axis.node.value == 0 and all(v.dims == () and (v.node.kind != "number" or type(v.node.value) is int)
                                        for v in values) and any(v.node.kind != "number" for v in values):
            entries = tuple([v.node.value if v.node.kind == "number" else v.node for v in values])
            node = self.expressions.call("stack", (self.node(values),), (len(values),), axis=axis.node)
            return Term(node, node.dims, entries)
        return self._joined("stack", values, axis, static)

    def _concatenate(self, args: list[Any], static: Any) -> Term:
        values, axis = args
        if len(values) == 1:
            found: Term = values[0]
            return found
        if all(v.entries is not None for v in values):
            entries = sum((v.entries for v in values), ())
            return Term(self.terms.vector(entries), (len(entries),), entries)
        return self._joined("concatenate", values, axis, static)

    def _joined(self, name: str, values: list[Any], axis: Term, static: Any) -> Term:
        named = {} if axis.node.value == 0 else {"axis": axis.node}
        return self.sized(self.expressions.call(name, (self.node(values),), None, **named), static)


def _is_sum_over_broadcast(node: FormulaNode) -> bool:
    if node.kind != "call" or node.value[0] != "sum" or len(node.args) != 2:
        return False
    axis = node.args[1]
    return axis.kind == "item" and axis.args[0].kind == "call" and axis.args[0].value[0] == "broadcast_axes"


def _whole_axes(parts: Sequence[str], rank: int) -> dict[int, int]:
    """Returns for axes of the result of an index the axis that is taken as a whole."""
    named = sum(p not in ("...", "None") for p in parts)
    source = target = 0
    found = {}
    for part in [*parts, "..."] if "..." not in parts else parts:
        if part == "...":
            for _ in range(rank - named):
                found[target] = source
                source, target = source + 1, target + 1
        elif part == "None":
            target += 1
        else:
            if part == ":":
                found[target] = source
            target += ":" in part
            source += 1
    return found
