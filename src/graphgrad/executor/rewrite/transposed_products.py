"""Rewrites products of matrices aᵀ b and aᵀ bᵀ into what XLA:CPU computes sooner.

Among them are the gradients of weights. YNNPACK does not take them, and XLA:CPU's own products (jaxlib 0.10) are slow
where a is wider than b, where both are transposed, and where the columns of a share few places in the processor's
caches: up to seven times as slow as bᵀ a or b a, whose transposes they are. XLA would undo what is done here, which a
barrier prevents. docs/inside/performance.md has the measurements.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

from graphgrad.system.late_imports import load

from .operations import operations_in

_LEAST = 1 << 17  # multiplications from which on a product is rewritten
_STACKED = 1 << 14  # in a stack, the fewest elements of a
_TIMES = 2  # how often, at least, the narrower side of the result goes into the length of the sums for an exchange
_LONG = 16  # the shortest sums for which a is transposed,
_COPIED = 1 << 21  # of aᵀ b, the fewest multiplications for that,
_EVEN = 256  # and what its width is a multiple of: its columns share few places in caches


class _Form(enum.Enum):
    """How a product is to be computed."""

    AS_IT_IS = enum.auto()
    EXCHANGED = enum.auto()  # its transpose, with the operands in the other order
    COPIED = enum.auto()  # of aᵀ, made beforehand


def rewrite(module: Any) -> None:
    """Rewrites the products of a module, in place.

    Args:
      module: an operation of `jaxlib.mlir.ir`.
    """
    ir, hlo = load("jaxlib.mlir.ir"), load("jaxlib.mlir.dialects.stablehlo")
    for operation in [o for o in operations_in(module) if o.name == "stablehlo.dot_general"]:
        operands = _operands(ir, hlo, operation)
        if operands is None:
            continue
        (a, _), (b, along_rows) = operands
        form = _form(a.type.shape, b.type.shape, along_rows)
        if form is _Form.AS_IT_IS:
            continue
        rank = a.type.rank
        turned = [*range(rank - 2), rank - 1, rank - 2]
        with operation.location, ir.InsertionPoint(operation):
            if form is _Form.EXCHANGED:
                product = _product(ir, hlo, operation, b, a, (rank - 2 + along_rows, rank - 2))
                result = hlo.transpose(hlo.optimization_barrier([product]), turned)
            else:
                a = hlo.optimization_barrier([hlo.transpose(a, turned)])
                result = _product(ir, hlo, operation, a, b, (rank - 1, rank - 2 + along_rows))
        operation.results[0].replace_all_uses_with(result)
        operation.erase()


def _product(ir: Any, hlo: Any, operation: Any, x: Any, y: Any, summed: tuple[int, int]) -> Any:
    """Emits a product of (stacks of) matrices instead of another one.

    Args:
      ir, hlo: the modules.
      operation: the other product.
      x, y: the operands.
      summed: the axis of each that is summed over.
    """
    stack = list(range(x.type.rank - 2))
    numbers = hlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=stack, rhs_batching_dimensions=stack,
        lhs_contracting_dimensions=[summed[0]], rhs_contracting_dimensions=[summed[1]])
    sides = [n for v, axis in zip((x, y), summed, strict=True)
             for i, n in enumerate(v.type.shape) if i >= len(stack) and i != axis]
    kind = ir.RankedTensorType.get([*x.type.shape[: len(stack)], *sides], x.type.element_type)
    product = hlo.dot_general(kind, x, y, numbers)
    if "precision_config" in operation.attributes:
        product.owner.attributes["precision_config"] = operation.attributes["precision_config"]
    return product


def _operands(ir: Any, hlo: Any, operation: Any) -> list[tuple[Any, bool]] | None:
    """Returns the matrices, or stacks of them, of a product, and whether its sums are along the rows of each.

    Returns None if the product is another one, or the sums are along the rows of the first matrix.
    """
    kind = operation.results[0].type
    rank = kind.rank
    if rank < 2 or str(kind.element_type) not in ("f32", "f64"):
        return None
    numbers = hlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    stack = list(range(rank - 2))
    found = []
    for value, batch, summed in zip(
            operation.operands, (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions),
            (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions), strict=True):
        if value.type.rank != rank or value.type.element_type != kind.element_type or (
                list(batch) != stack or list(summed) not in ([rank - 2], [rank - 1])):
            return None
        along_rows, maker = list(summed) == [rank - 1], value.owner
        if getattr(maker, "name", "") == "stablehlo.transpose" and (
                list(ir.DenseI64ArrayAttr(maker.attributes["permutation"])) == [*stack, rank - 1, rank - 2]):
            value, along_rows = maker.operands[0], not along_rows
        found.append((value, along_rows))
    return None if found[0][1] else found


def _form(a: Sequence[int], b: Sequence[int], along_rows: bool) -> _Form:
    """Decides how to compute a product aᵀ b, or aᵀ bᵀ.

    Args:
      a, b: the shapes.
      along_rows: whether the sums are along the rows of b.
    """
    *stack, k, m = a
    n = b[-2] if along_rows else b[-1]
    work = math.prod(stack) * k * m * n
    if work < _LEAST or min(m, n) < 2 or (stack and (along_rows or k * m < _STACKED)):
        return _Form.AS_IT_IS
    if along_rows:
        if k >= _TIMES * min(m, n):
            return _Form.EXCHANGED
        return _Form.COPIED if k >= _LONG else _Form.AS_IT_IS
    if min(m, k) >= _TIMES * n:
        return _Form.EXCHANGED
    return _Form.COPIED if not stack and m % _EVEN == 0 and k >= _LONG and work >= _COPIED else _Form.AS_IT_IS
