"""Power series of tensors: how the coefficients of an operation's outputs follow from those of its inputs.

Along x + s v a tensor is the series t_0 + t_1 s + t_2 s^2 + ...; t_0 is the tensor itself. Of the operations, only
what their records say is used (`op_traits`), and their gradient rules:

- **linear** ones are applied to coefficients; of products, Cauchy's sum over the orders of the factors is taken;
- **elementwise** ones are differential equations, y' = g x', in which g is what the gradient rule gives for 1: an
  expression in x and y. So y_k = 1/k sum_j j x_j g_(k-j), and as the coefficients of g are those of its expression,
  which needs lower orders of y only, this gives the recurrences that textbooks have for exp, tanh, sine and so on,
  without a table of them. They cost O(k^2), since an expression that recurs (the derivatives of sine) is recognised;
- **all others** are differentiated again and again (`nested`).

Zeros are None. With several directions, coefficients are stacks (`direction_stacks`). The top coefficients may be
*collapsed*: since they only pass through first derivatives, their weighted sum over the directions is carried in their
stead; this makes the Laplacian cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.registry import gradient_function, is_users
from graphgrad.gradients.core.rules import call_rule
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, raw
from graphgrad.ir.shape import broadcast, is_fully_defined
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.op_traits import Cost, Linear

from .direction_stacks import aligned, apply, can_align, full, is_row
from .joined import joined
from .nested import nested


class SeriesLayout:
    """How coefficients are laid out.

    Attributes:
      order: the highest order.
      count: the number of directions, None if it is not known.
      stacked: whether coefficients are stacks; else there is one direction.
      weights: for each direction the factor of its top coefficient in the collapsed sum; None: no collapsing.
    """

    def __init__(self, order: int, stacked: bool = False, count: int | None = None,
                 weights: Sequence[float] | None = None):
        self.order = order
        self.stacked = stacked
        self.count = count
        self.weights = weights

    def is_stack(self, k: int) -> bool:
        """Returns whether coefficients of order `k` are stacks."""
        return self.stacked and not (self.weights is not None and k == self.order)

    def collapse(self, c: Any, factor: float = 1.0) -> Any:
        """Returns the weighted sum over the directions of a stack of top coefficients, times a factor."""
        assert self.weights is not None
        weights = np.asarray(self.weights, np.float64) * factor
        if np.all(weights == weights[0]):
            return scaled(raw.Sum(c, np.int32(0)), float(weights[0]))
        weights = weights.astype(c.dtype.np_dtype).reshape(-1, *[1] * (len(c._spec.shape) - 1))
        return raw.Sum(raw.Mul(c, weights), np.int32(0))


def scaled(c: Any, factor: float) -> Any:
    """Returns a tensor times a number."""
    return c if factor == 1 else raw.Mul(c, np.asarray(factor, c.dtype.np_dtype))


def total(terms: Sequence[Any]) -> Any:
    """Adds tensors, which may be thin; None for none."""
    result = None
    for t in terms:
        if t is not None:
            result = t if result is None else raw.AddV2(result, t)
    return result


class Series:
    """The coefficients of tensors.

    Args:
      layout: how they are laid out.
      inputs: a function that returns the inputs of an operation, as they are known.

    Attributes:
      known: by the id of a tensor its coefficients of orders 1, 2 and so on, as far as they are known.
    """

    def __init__(self, layout: SeriesLayout, inputs: Callable[[Operation], Sequence[Tensor]]):
        self.layout = layout
        self.inputs = inputs
        self.known: dict[int, list[Any]] = {}
        graph = current_graph()
        assert graph is not None
        self._graph, self._first = graph, len(graph._operations)
        self._partials: dict[Any, list[Any]] = {}
        self._shared: dict[Any, list[Any]] = {}
        self._equal: dict[Any, Tensor] = {}
        self._scaled: dict[tuple[int, int], Any] = {}
        self._second: dict[Operation, Any] = {}
        self._alive: list[Any] = []

    def share(self, other: Series) -> None:
        """Uses the derivatives of elementwise operations that another one has built, and gives its own to that."""
        self._first, self._shared = other._first, other._shared

    # -- asking ------------------------------------------------------------------------

    def coefficient(self, t: Any, k: int) -> Any:
        """Returns a coefficient of a tensor, None for zero; those of expressions in gradient rules are built for it."""
        t = self._representative(t)
        found = self.known.get(id(t))
        if found is None:
            if t.graph is not self._graph or t.op.index < self._first or not t.op.inputs:
                return None
            for output in t.op.outputs:
                self.known.setdefault(id(output), [])
            self._alive.append(t)
            found = self.known[id(t)]
        while len(found) < k:
            self._extend(t.op, len(found) + 1)
        return found[k - 1]

    def visit(self, op: Operation) -> None:
        """Computes all coefficients of an operation's outputs."""
        for t in op.outputs:
            self.known.setdefault(id(t), [])
        orders = range(1, self.layout.order + 1)
        moving = self.moving(op, self.layout.order)
        way = self.way(op, moving)
        if not moving:
            results = [[None] * len(op.outputs) for _ in orders]
        elif way == "nested":
            results = nested(self, op, self.layout.order)
        elif way == "linear" and self.layout.stacked and op.opdef.cost in (Cost.PRODUCT, Cost.CONVOLUTION):
            results = joined(self, op, moving[0])
        else:
            if way == "elementwise":
                self._equal.setdefault(self._key(op), op.outputs[0])
            for k in orders:
                self._extend(op, k)
            return
        for found in results:
            self._append(op, found)

    def _append(self, op: Operation, found: Sequence[Any]) -> None:
        for t, c in zip(op.outputs, found, strict=True):
            self.known[id(t)].append(c if t.dtype.kind == "f" else None)

    def _extend(self, op: Operation, k: int) -> None:
        """Computes the next coefficients, those of order `k`, of an operation's outputs."""
        moving = self.moving(op, k)
        found: Sequence[Any] = [None] * len(op.outputs)
        if moving:
            way = self.way(op, moving)
            if way == "linear":
                coefficients = [self.coefficient(t, k) for t in self.inputs(op)]
                found = self.linear(op, coefficients, self.layout.is_stack(k))
            elif way == "nested":
                found = nested(self, op, k)[-1]
            elif way == "product":
                found = [self._product(op, k, *moving)]
            elif way == "quotient":
                found = [self._quotient(op, k)]
            else:
                found = [self._elementwise(op, k, moving)]
        self._append(op, found)

    # -- which way -----------------------------------------------------------------------

    def way(self, op: Operation, moving: Sequence[int]) -> str:
        """Returns how the coefficients of an operation's outputs are computed; `moving` as `moving` gives it."""
        record = op.opdef
        if op._gradient is not None or is_users(record.name):
            return "nested"
        if record.variable == "read":
            return "linear"
        if any(t.dtype.kind == "c" for t in (*op.inputs, *op.outputs)):
            return "nested"
        if record.linear is Linear.JOINTLY or (record.linear is Linear.SEPARATELY and len(moving) == 1):
            return "linear"
        if record.linear is Linear.SEPARATELY and len(moving) == 2:
            return "product"
        if record.elementwise and (not self.layout.stacked or can_align(op)):
            return "quotient" if record.quotient and 1 in moving else "elementwise"
        return "nested"

    def moving(self, op: Operation, k: int) -> list[int]:
        """Returns the positions of the inputs that are not constant along the directions, up to the order `k`."""
        if gradient_function(op) is NOT_DIFFERENTIABLE:
            return []
        # All are asked for: coefficients of expressions in rules are not known before.
        coefficients = [[self.coefficient(t, j) for j in range(1, k + 1)] for t in self.inputs(op)]
        return [i for i, known in enumerate(coefficients) if any(c is not None for c in known)]

    def _representative(self, t: Any) -> Any:
        """Returns the tensor whose coefficients are known and that has the same value."""
        while id(t) not in self.known:
            outside = getattr(t.graph, "outside", {}).get(id(t))
            if isinstance(outside, Tensor) or id(outside) in self.known:  # else it is a constant of eager mode
                t = outside
                continue
            if t.graph is not self._graph or t.op.index < self._first or not t.op.opdef.elementwise:
                return t
            equal = self._equal.setdefault(self._key(t.op), t)
            return equal
        return t

    def _key(self, op: Operation) -> Any:
        """Returns what equal elementwise operations have in common."""
        values = []
        for t in op.inputs:
            value = constant_value(t) if t.op.type == "Const" and not t._spec.shape else None
            ones = t.op.opdef.fill == 1
            values.append(("ones", t._spec.shape) if ones else
                          id(self._representative(t)) if value is None else value.item())
        self._alive.append(op)
        return (op.type, *values, *[(k, repr(v)) for k, v in op.attrs.items()])

    # -- the ways ------------------------------------------------------------------------

    def linear(self, op: Operation, coefficients: Sequence[Any], stacked: bool) -> list[Any]:
        """Applies a linear operation to the coefficients of its inputs, None for zero; for outputs that are, None."""
        given = [c is not None for c in coefficients]
        if not any(given):
            return [None] * len(op.outputs)
        record = op.opdef
        if record.variable == "read" or record.alias or record.checks:
            return list(coefficients)
        separate = record.linear is Linear.SEPARATELY
        if not stacked or can_align(op):
            ones = separate and record.elementwise and op.inputs[given.index(False)].op.opdef.fill == 1
            if ones or (not separate and record.operator == "+"):
                present = [c for c in coefficients if c is not None]
                return [total([aligned(c, op.outputs[0]) if stacked else c for c in present])]
        operands = [self._unmoved(op, t, coefficients) if c is None else c
                    for c, t in zip(coefficients, op.inputs, strict=True)]
        return apply(op, operands, [stacked and is_given for is_given in given])

    def _unmoved(self, op: Operation, t: Any, coefficients: Sequence[Any]) -> Any:
        """Returns what stands for a constant input: itself in a product, else zeros, a row of them beside rows."""
        if op.opdef.linear is Linear.SEPARATELY or t.dtype.kind != "f":
            return t
        if not op.opdef.elementwise and not self.layout.stacked and t._spec.shape and is_fully_defined(
                t._spec.shape[1:]) and all(c is None or is_row(c, i)
                                           for c, i in zip(coefficients, op.inputs, strict=True)):
            return convert_to_tensor(np.zeros((1, *t._spec.shape[1:]), t.dtype.np_dtype))
        return np.zeros((), t.dtype.np_dtype) if op.opdef.elementwise else raw.ZerosLike(t)

    def _product(self, op: Operation, k: int, one: int, other: int) -> Any:
        """Computes Cauchy's sum of an operation that is linear in each of two inputs, `one` and `other`."""
        collapses = self.layout.stacked and not self.layout.is_stack(k)
        outer: list[Any] = []
        inner: list[Any] = []
        for j in range(k + 1):
            operands, stacked = list(op.inputs), [False] * len(op.inputs)
            for i, order in ((one, j), (other, k - j)):
                if order:
                    operands[i] = self.coefficient(self.inputs(op)[i], order)
                    stacked[i] = self.layout.is_stack(order)
            if all(t is not None for t in operands):
                (outer if j in (0, k) else inner).append(apply(op, operands, stacked)[0])
        if collapses and inner:
            inner = [self.layout.collapse(total(inner))]
        return total([*outer, *inner])

    def _quotient(self, op: Operation, k: int) -> Any:
        """Computes q_k of q = x / y: x = q y, hence q_k = (x_k - sum_j y_j q_(k-j)) / y."""
        x, y = self.inputs(op)
        (q,) = op.outputs
        collapses = self.layout.stacked and not self.layout.is_stack(k)
        terms: list[Any] = []
        inner: list[Any] = []
        for j in range(1, k + 1):
            y_j, q_j = self._beside(y, j, q), q if j == k else self._beside(q, k - j, q)
            if y_j is not None and q_j is not None:
                (terms if j == k else inner).append(raw.Mul(y_j, q_j))
        if collapses and inner:
            inner = [self.layout.collapse(total(inner))]
        minus, x_k = total([*terms, *inner]), self._beside(x, k, q)
        if minus is None and x_k is None:
            return None
        above = raw.Neg(minus) if x_k is None else x_k if minus is None else raw.Sub(x_k, minus)
        return raw.RealDiv(above, op.inputs[1])

    def _elementwise(self, op: Operation, k: int, moving: Sequence[int]) -> Any:
        """Computes y_k = 1/k sum_j j x_j g_(k-j), summed over the inputs x; g is the derivative by x."""
        (y,) = op.outputs
        collapses = self.layout.stacked and not self.layout.is_stack(k)
        top, inner = [], []
        partials = self.partials(op, moving)
        for x, g in zip(self.inputs(op), partials, strict=True):
            if g is None:
                continue
            x_k = self._beside(x, k, y)
            if x_k is not None:
                top.append(times(x_k, g))
            if collapses and k == 2 and len(partials) == 1:
                square = self._by_second_derivative(op, g, x)
                inner += [] if square is None else [square]
                continue
            for j in range(1, k):
                x_j, g_j = self._multiple(x, j, y), self._beside(g, k - j, y)
                if x_j is not None and g_j is not None:
                    inner.append(raw.Mul(x_j, g_j))
        if not inner:
            return total(top)
        if collapses and k == 2 and len(partials) == 1:
            return total([*top, *inner])
        low = total(inner)
        return total([*top, self.layout.collapse(low, 1 / k) if collapses else scaled(low, 1 / k)])

    def _by_second_derivative(self, op: Operation, g: Any, x: Any) -> Any:
        """Computes the collapsed sum of f'' x_1^2 / 2: one product for all directions."""
        (y,) = op.outputs
        x_1 = self._beside(x, 1, y)
        second = self.second_derivative(op, g)
        if x_1 is None or second is None:
            return None
        return raw.Mul(self.layout.collapse(raw.Square(x_1), 0.5), second)

    def second_derivative(self, op: Operation, g: Any) -> Any:
        """Returns the derivative of g, an expression in the input and the output of a unary operation; None for 0."""
        if op not in self._second:
            self._second[op] = self._derivative(op, g)
        return self._second[op]

    def _derivative(self, op: Operation, g: Any) -> Any:
        along = Series(SeriesLayout(1), self.inputs)
        along._first, along._equal = self._first, dict(self._equal)
        along.known[id(self._representative(op.inputs[0]))] = [raw.OnesLike(op.inputs[0])]
        along.known[id(op.outputs[0])] = [g]
        return along.coefficient(g, 1)

    def partials(self, op: Operation, moving: Sequence[int]) -> list[Any]:
        """Returns the derivatives of an elementwise operation by its inputs, None by those that are constant."""
        key = op, *moving
        if key in self._shared:
            return self._shared[key]
        if key not in self._partials:
            (y,) = op.outputs
            shape = y._spec.shape
            same = all(op.inputs[i]._spec.shape == shape for i in moving) and (
                is_fully_defined(shape) or op.opdef._shape_rule is not broadcast)
            seen = op if same else _Broadcast(op, moving)
            self._alive.append(seen)
            found = call_rule(gradient_function(op), seen, [raw.OnesLike(y)])
            if seen is not op:
                for i in moving:
                    known = self.known.get(id(self._representative(self.inputs(op)[i])))
                    if known is not None:
                        self.known.setdefault(id(seen.inputs[i]), known)
            kept = self._shared if seen is op else self._partials
            kept[key] = [None if g is None or i not in moving or _is_zero(g) else _unsummed(dense(g))
                         for i, g in enumerate(found)]
            return kept[key]
        return self._partials[key]

    def _beside(self, t: Any, k: int, y: Any) -> Any:
        """Returns a coefficient, with dimensions so that it broadcasts beside `y`."""
        c = self.coefficient(t, k)
        return aligned(c, y) if c is not None and self.layout.is_stack(k) else c

    def _multiple(self, t: Any, j: int, y: Any) -> Any:
        """Returns j t_j."""
        if j == 1:
            return self._beside(t, 1, y)
        key = id(self._representative(t)), j
        if key not in self._scaled:
            c = self._beside(t, j, y)
            self._scaled[key] = None if c is None else scaled(c, j)
        return self._scaled[key]

    def full(self, t: Any, k: int) -> Any:
        """Returns a coefficient with all of its elements."""
        c = self.coefficient(t, k)
        return None if c is None else full(c, t, self.layout.is_stack(k))


def times(a: Any, b: Any) -> Any:
    """Returns the product; `a` itself if `b` is known to be 1 everywhere, in which case it may be thin."""
    return a if b.op.opdef.fill == 1 else raw.Mul(a, b)


def _number(t: Any, depth: int = 16) -> Any:
    """Returns the value of a scalar that is computed from constants, such as an exponent less 1; None of others."""
    if t._spec.shape != () or not depth:
        return None
    if t.op.type == "Const":
        return constant_value(t)
    if not t.op.opdef.elementwise or not t.op.opdef.plain:
        return None
    values = [_number(i, depth - 1) for i in t.op.inputs]
    return None if any(v is None for v in values) else t.op.opdef.bind_kernel(np)(np, *values)


def _is_zero(g: Any) -> bool:
    """Returns whether a derivative is zero whatever the inputs are: that of x^0 is 0 x^-1, at 0 not NaN."""
    factors = [dense(g)]
    while factors:
        t = factors.pop()
        value = _number(t)
        if t.op.opdef.fill == 0 or (value is not None and not np.any(value)):
            return True
        if t.op.opdef.linear is Linear.SEPARATELY:
            factors.extend(t.op.inputs)
    return False


def _unsummed(g: Any) -> Any:
    """Removes the sum over what was repeated, of which a rule does not know that it is nothing: see `_Broadcast`."""
    if g.op.opdef is raw.Reshape and g.op.inputs[0].op.opdef is raw.Sum:
        return g.op.inputs[0].op.inputs[0]
    return g


class _Broadcast:
    """An elementwise operation as its gradient rule sees it, each input repeated to the shape of the result.

    So the rule, which sums over what was repeated, gives the derivative by each element.
    """

    def __init__(self, op: Operation, moving: Sequence[int]):
        (y,) = op.outputs
        self._op = op
        shape = y._spec.shape
        dims = np.array(shape, np.int32) if is_fully_defined(shape) else raw.Shape(y)
        self.inputs = tuple([raw.BroadcastTo(t, dims) if i in moving and not (
            t._spec.shape == shape and is_fully_defined(shape)) else t for i, t in enumerate(op.inputs)])
        self.outputs = op.outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)
