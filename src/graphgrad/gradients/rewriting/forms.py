"""Recognizes derivatives: tensors whose columns are sums of derivatives of batches of examples.

A call `gradients(u, x)` gives the first derivatives of u; one of a derivative, or of a column of it, the next ones.
Slices, sums and multiples by numbers of derivatives are such sums, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.gradients.core.gradient_paths import upstream
from graphgrad.gradients.core.registry import is_users
from graphgrad.gradients.sparsity.known_values import run_kernel
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.source import Source
from graphgrad.op_traits import Linear

Variable = tuple[int, int]  # the number of an x, and one of its columns
Powers = tuple[Variable, ...]  # a derivative: the variables by which, each as often as is its order, sorted
Term = tuple[int, Powers]  # the number of what is differentiated, and the derivative
Column = dict[Term, float]


class DerivativeForm(NamedTuple):
    """What is known of a tensor that consists of derivatives.

    Attributes:
      columns: for each of its columns a sum of derivatives.
      flat: whether it has one column and no axis for columns.
    """

    columns: tuple[Column, ...]
    flat: bool

    @property
    def order(self) -> int:
        """The highest order of its derivatives."""
        return max((len(powers) for column in self.columns for _, powers in column), default=0)

    @property
    def terms(self) -> set[Term]:
        """Its derivatives."""
        return {term for column in self.columns for term in column}


class Noted(NamedTuple):
    """A result of a call of `gradients`.

    Attributes:
      result: the tensor.
      ys: what was differentiated.
      x: by what.
      hindrance: which argument of the call is in the way, or what else is; "" for nothing.
      source: where the user called.
    """

    result: Tensor
    ys: tuple[Tensor, ...]
    x: Tensor
    hindrance: str
    source: Source | None


class Forms:
    """The derivatives of a graph.

    Attributes:
      noted: id of a tensor -> what call it is a result of.
      bases: what is differentiated, by number.
      xs: by what, by number.
      known: id of a tensor -> its form; None if it has none.
    """

    def __init__(self) -> None:
        self.noted: dict[int, Noted] = {}
        self.bases: list[Tensor] = []
        self.xs: list[Tensor] = []
        self.known: dict[int, DerivativeForm | None] = {}
        self._first: int | None = None

    def note(self, noted: Noted) -> None:
        """Notes the result of a call, which follows all those noted before."""
        if id(noted.result) in self.noted:
            return
        self.find(noted.ys)
        self.noted[id(noted.result)] = noted
        if self._first is None:
            self._first = noted.result.op.index
        self.known[id(noted.result)] = None if noted.hindrance else self._differentiated(noted.ys, noted.x)

    def find(self, ys: Sequence[Tensor]) -> list[Operation]:
        """Finds the forms of ys and of what they are computed from; returns the operations, up to noted results."""
        if self._first is None:
            return []
        ops = upstream([y.op for y in ys if id(y) not in self.noted], self.inputs, self._first)
        ordered = sorted(ops, key=lambda op: op.index)
        for op in ordered:
            if any(id(t) not in self.known for t in op.outputs):
                found = self._of(op) or [None] * len(op.outputs)
                for t, form in zip(op.outputs, found, strict=True):
                    self.known.setdefault(id(t), form)
        return ordered

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """Returns the inputs of an operation, without those that are noted results."""
        return [t for t in op.inputs if id(t) not in self.noted]

    def form(self, t: Tensor) -> DerivativeForm | None:
        """Returns the form of a tensor that was looked at."""
        return self.known.get(id(t))

    # -- derivatives ---------------------------------------------------------------------

    def _differentiated(self, ys: Sequence[Tensor], x: Tensor) -> DerivativeForm | None:
        shape = x._spec.shape
        if shape is None or len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] is None):
            return None
        total: Column = {}
        for y in ys:
            form = self.form(y)
            if form is None and self._contains_derivatives(y):
                return None
            itself: Column = {(_number(self.bases, y), ()): 1.0} if form is None else {}
            for column in (itself,) if form is None else form.columns:
                _add(total, column)
        at = _number(self.xs, x)
        count = 1 if len(shape) == 1 else shape[1]
        assert count is not None
        columns = [{(base, tuple(sorted((*powers, (at, j))))): c for (base, powers), c in total.items()}
                   for j in range(count)]
        return DerivativeForm(tuple(columns), len(shape) == 1)

    def _contains_derivatives(self, y: Tensor) -> bool:
        return any(id(t) in self.noted for op in self.find([y]) for t in op.inputs)

    # -- operations on derivatives -------------------------------------------------------

    def _of(self, op: Operation) -> list[DerivativeForm | None] | None:
        """Returns the forms of an operation's outputs; None for all."""
        given = [self.known.get(id(t)) for t in op.inputs]
        forms = [f for f in given if f is not None]
        if not forms or op._gradient is not None or is_users(op.type):
            return None
        record = op.opdef
        if record.alias:
            return list(given)
        if record.data_movement and record.rows_rule is not None:
            return self._moved(op, given)
        return self._combined(op, given, forms) if record.elementwise and len(op.outputs) == 1 else None

    def _combined(self, op: Operation, given: Sequence[DerivativeForm | None],
                  forms: Sequence[DerivativeForm]) -> list[DerivativeForm | None] | None:
        """Returns the form of a sum, or of a multiple by a number; None for others."""
        first = forms[0]
        if any(len(f.columns) != len(first.columns) or f.flat != first.flat for f in forms) or len(
                op.outputs[0]._spec.shape or ()) != 2 - first.flat:
            return None
        columns: list[Column] = [{} for _ in first.columns]
        for form, factor in zip(forms, _factors(op, given), strict=False):
            if factor is None:
                return None
            for column, part in zip(columns, form.columns, strict=True):
                _add(column, part, factor)
        return [DerivativeForm(tuple(columns), first.flat)]

    def _moved(self, op: Operation, given: Sequence[DerivativeForm | None]) -> list[DerivativeForm | None] | None:
        """Runs the kernel on numbers of columns."""
        rows = [f is not None for f in given]
        if op.opdef.rows_rule is None or not op.opdef.rows_rule(op, rows):
            return None
        sizes = {t._spec.shape[0] for t, is_row in zip(op.inputs, rows, strict=True) if is_row and t._spec.shape}
        count = sizes.pop() if len(sizes) == 1 else None
        columns: list[Column] = []
        values: list[Any] = []
        for t, form in zip(op.inputs, given, strict=True):
            if form is None:
                values.append(constant_value(t))
                continue
            numbers = np.arange(len(columns), len(columns) + len(form.columns), dtype=np.float64)
            columns += form.columns
            repeated = np.broadcast_to(numbers, (2 if count is None else count, len(numbers)))
            values.append(repeated[:, 0] if form.flat else repeated)
        if any(v is None for v in values) or (found := run_kernel(op, values)) is None:
            return None
        return [_picked(columns, np.asarray(numbers)) for numbers in found]


def _picked(columns: Sequence[Column], numbers: Any) -> DerivativeForm | None:
    if numbers.ndim not in (1, 2) or not len(numbers):
        return None
    chosen = numbers[0].reshape(-1).astype(int)
    return DerivativeForm(tuple(columns[i] for i in chosen), numbers.ndim == 1)


def _factors(op: Operation, given: Sequence[DerivativeForm | None]) -> list[float | None]:
    """Returns by what an operation multiplies each of its forms before it adds them; None where that is not so."""
    count = len([f for f in given if f is not None])
    if op.opdef.linear is Linear.JOINTLY and count == len(given):
        return [_at_unit(op, [float(i == n) for i in range(count)]) for n in range(count)]
    if op.opdef.linear is Linear.SEPARATELY and count == 1:
        numbers = [1.0 if f is not None else _number_of(t) for t, f in zip(op.inputs, given, strict=True)]
        return [None if any(n is None for n in numbers) else _at_unit(op, numbers)]
    return [None] * count


def _number_of(t: Tensor) -> float | None:
    value = constant_value(t) if t.dtype.kind == "f" else None
    return float(value.reshape(())) if value is not None and value.size == 1 else None


def _at_unit(op: Operation, numbers: Sequence[Any]) -> float | None:
    """Returns what an operation gives for numbers."""
    dtype = op.outputs[0].dtype.np_dtype
    found = run_kernel(op, [np.asarray(n, dtype) for n in numbers])
    return None if found is None else float(np.asarray(found[0]).reshape(()))


def _add(total: Column, column: Column, factor: Any = 1.0) -> None:
    for term, c in column.items():
        total[term] = total.get(term, 0.0) + factor * c


def _number(known: list[Tensor], t: Tensor) -> int:
    for i, other in enumerate(known):
        if other is t:
            return i
    known.append(t)
    return len(known) - 1
