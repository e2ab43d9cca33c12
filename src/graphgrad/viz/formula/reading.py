"""From the operations that a tensor depends on to one expression.

Gradients are full of operations about shapes: ones that are multiplied, sums over what was broadcast, broadcasts to the
shape of something. They are left out where shapes prove that they change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.graph import Operation, Tensor

from .expressions import Expressions, FormulaNode
from .functions_of_shapes import Calls
from .leaves import Leaves
from .templates import built, names_in
from .terms import Term, Terms

_SHORT = 6  # arrays of so many elements are written out
_KNOWN = 32  # vectors of integers with so many entries are looked at
_BY_OPERATOR = frozenset({"+", "-", "<", "<=", ">", ">="})


class FormulaReader:
    """Reads tensors as expressions."""

    def __init__(self, leaves: Leaves):
        self.terms = Terms(Expressions())
        self.calls = Calls(self.terms)
        self.leaves = leaves
        self._found: dict[int, Term] = {}

    def read(self, tensor: Tensor) -> FormulaNode:
        """Returns the expression that computes a tensor."""
        for op in _upstream(tensor, self.leaves):
            for t in op.outputs:
                value = self._found[id(t)] = self._value(t)
                self.terms.note(value)
        return self.terms.full(self._found[id(tensor)])

    def _value(self, t: Tensor) -> Term:
        op = t.op
        record = op.opdef
        if self.leaves.is_leaf(op):
            return self._leaf(t)
        if record.alias:
            return self._found[id(op.inputs[t.value_index])]
        if t.dtype.kind in "iu" and t._spec.shape is not None and len(t._spec.shape) < 2:
            known = constant_value(t)
            if known is not None and known.size <= _KNOWN:
                return self.terms.constant(known)
        if record.fill is not None:
            return Term(self.terms.constant(record.fill).node, self._found[id(op.inputs[0])].dims)
        text = _formula(op)
        if text is None:
            return self._default(t)
        value = built(text, self._names(op, names_in(text)), self.terms, self._caller(t))
        if len(op.outputs) > 1 and value.node.kind == "tuple":
            node = value.node.args[t.value_index]
            entries: Any = tuple([n.value for n in node.args])
            return Term(node, node.dims, entries)
        return value

    def _leaf(self, t: Tensor) -> Term:
        value = t.op.attrs.get("value") if t.op.type == "Const" else None
        if value is not None and value.dtype.kind in "fiubc" and (value.size <= _SHORT or (
                value.ndim == 1 and value.size <= _KNOWN and value.dtype.kind in "iu")):
            return self.terms.constant(np.asarray(value))
        node = self.terms.expressions.make("name", value=self.leaves.name(t), dims=None)
        return self.calls.sized(node, t._spec.shape)

    def _names(self, op: Operation, wanted: set[str] | None) -> dict[str, Any]:
        """Returns the inputs, and the attributes that are wanted, by their names; lists of inputs as lists."""
        found: dict[str, Any] = {}
        for argument, tensors in _by_argument(op):
            if wanted is None or argument.name in wanted:
                its = [self._found[id(t)] for t in tensors]
                found[argument.name] = its if argument.is_list else its[0]
        for name in (wanted or set()) - found.keys():
            if name in op.opdef.attrs:
                found[name] = self.terms.constant(op._attr(name))
        return found

    def _caller(self, t: Tensor) -> Any:
        """Returns what makes the calls of a record's formula."""
        def call(name: str, args: list[Any], whole: bool) -> Term:
            static = t._spec.shape if whole and len(t.op.outputs) == 1 else None
            known = self.calls(name, args, static)
            if known is not None:
                return known
            found = self.calls.opaque(name, args, static)
            return self._item(t, found) if whole else found

        return call

    def _default(self, t: Tensor) -> Term:
        """Returns a call by the name of the op type, with attributes that are not the usual ones."""
        op = t.op
        record = op.opdef
        args = list(self._names(op, None).values())
        if record._functional:
            args = [a for given in args for a in (given if isinstance(given, list) else [given])]
        shown = () if record._functional else record.attrs.items()
        named = {k: self.terms.constant(op._attr(k)) for k, default in shown
                 if k not in record._derived and op.attrs.get(k, default) != default and _can_be_shown(op._attr(k))}
        name = self.leaves.function(op)
        if record.elementwise:
            return self.terms.elementwise(name, args, **named)
        static = t._spec.shape if len(op.outputs) == 1 else None
        return self._item(t, self.calls.opaque(name, args, static, **named))

    def _item(self, t: Tensor, value: Term) -> Term:
        """Returns one of several results."""
        if len(t.op.outputs) == 1:
            return value
        node = self.terms.expressions.make("item", (value.node,), str(t.value_index), None)
        return self.calls.sized(node, t._spec.shape)


def _formula(op: Operation) -> str | None:
    formula = op.opdef.formula
    if callable(formula):
        formula = formula(op)
    if formula is None and op.opdef.operator in _BY_OPERATOR and len(op.inputs) == len(op.opdef.inputs) == 2:
        x, y = op.opdef.inputs
        formula = f"{x.name} {op.opdef.operator} {y.name}"
    found: str | None = formula
    return found


def _can_be_shown(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_can_be_shown, value))
    return value is None or isinstance(value, (str, bool, int, float, np.generic))


def _by_argument(op: Operation) -> Any:
    """Yields the inputs of an operation, by the arguments of its signature."""
    arguments = op.opdef.inputs
    start = 0
    for argument in arguments:
        count = 1
        if argument.is_list:
            known = op.attrs.get(argument.number_attr or argument.list_attr or "")
            count = known if isinstance(known, int) else len(known) if known is not None else (
                len(op.inputs) - len(arguments) + 1)
        yield argument, op.inputs[start : start + count]
        start += count


def _upstream(tensor: Tensor, leaves: Leaves) -> list[Operation]:
    """Returns the operations that a tensor depends on, each after its inputs."""
    seen, waiting, found = {tensor.op}, [tensor.op], []
    while waiting:
        op = waiting.pop()
        found.append(op)
        if not leaves.is_leaf(op):
            new = [t.op for t in op.inputs if t.op not in seen]
            seen.update(new)
            waiting += new
    return sorted(found, key=lambda op: op.index)
