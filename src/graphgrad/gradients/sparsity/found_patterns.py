"""Finds the pattern of a Jacobian in the graph, or takes the one that a user gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.gradients.core.gradient_paths import GraphView, Paths
from graphgrad.gradients.core.missing import MissingGradientError
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.registry import gradient_function
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source

from .dependences import Dependences
from .known_values import KnownValues
from .pattern import ColumnTable, TooManyEntries, identity, merged
from .result import Sparsity
from .sub_graphs import visit


class Followed(NamedTuple):
    """What y depends on, and the way there.

    Attributes:
      dependences: of all that lies between.
      table: of the elements of y.
      paths: the operations between.
    """

    dependences: Dependences
    table: ColumnTable
    paths: Paths

    def operations(self) -> list[Operation]:
        """Returns the operations between, in the order of their execution."""
        return list(self.paths.ops)


def followed(y: Tensor, x: Tensor, outside: Outside, what: str, values: KnownValues | None = None) -> Followed:
    """Follows all that lies between x and y; ValueError if that makes too many entries.

    Args:
      y, x, outside: as `outer_graphs.leave` gives them, of known shapes.
      what: the name of the function, for errors.
      values: what is known of values, where that is more than the graph says.
    """
    width, height = math.prod(known_shape(x, "x", what)), math.prod(known_shape(y, "y", what))
    view = GraphView(y.graph if not outside else _innermost(), outside, [x])
    paths = Paths(view, [y], [x], list(x.op.outputs))
    dependences = Dependences(width, view.inputs, KnownValues() if values is None else values)
    dependences.known[id(x)] = identity(width)
    try:
        for op in paths.ops:
            if gradient_function(op) is None:
                raise MissingGradientError(op, paths.through(op))
            visit(dependences, op)
        table = merged(dependences.of(y), height, width, y.op)
    except TooManyEntries as error:
        raise ValueError(_too_dense(error, what)) from None
    return Followed(dependences, table, paths)


def found_pattern(y: Tensor, x: Tensor, outside: Outside, what: str) -> Sparsity:
    """Detects the pattern of y by x; see `sparsity`."""
    return as_pattern(followed(y, x, outside, what), y, x, what)


def as_pattern(found: Followed, y: Tensor, x: Tensor, what: str) -> Sparsity:
    """Returns what has been followed as the pattern of y by x."""
    y_shape, x_shape = known_shape(y, "y", what), known_shape(x, "x", what)
    starts, live = found.table.starts, found.paths.live
    rows = np.repeat(np.arange(math.prod(y_shape)), starts[1:] - starts[:-1])
    return Sparsity(rows, found.table.columns.astype(np.int64), y_shape, x_shape, id(x) in live and id(y) in live,
                    found.dependences.dense)


def _innermost() -> Graph:
    graph = current_graph()
    assert graph is not None
    return graph


def given_pattern(given: Any, y_shape: Sequence[int], x_shape: Sequence[int]) -> Sparsity:
    """Returns the pattern that a user gives in place of True, for a y and an x of these shapes."""
    sparse: Sparsity = given if isinstance(given, Sparsity) else Sparsity.of(given, y_shape, x_shape)
    if (sparse.y_shape, sparse.x_shape) != (tuple(y_shape), tuple(x_shape)):
        raise ValueError(f"sparse= is the pattern of a Jacobian {sparse.shape}, but that of these tensors is "
                         f"{(*y_shape, *x_shape)}.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give tf.sparsity of tensors of the same shapes, or True")
    return sparse


def _too_dense(error: TooManyEntries, what: str) -> str:
    op = error.op
    name = f"operation '{op.name}' (op type: {op.type}) makes each element depend on many others.\n  Built at " \
           f"{op.source}" if op is not None else "x and y are too large."
    return (f"tf.{what}: the pattern would have {error.count:,} entries: {name}\n  Asked for at {user_source(3)}\n"
            "  Fix: differentiate what lies behind it by itself, use tf.jvp or tf.gradients for products, or give the "
            "pattern as sparse=")


def known_shape(t: Tensor, which: str, what: str) -> tuple[int, ...]:
    shape = value_shape(t)
    if shape is None or not is_fully_defined(shape):
        raise ValueError(f"{which} has shape {shape_str(shape)}, but tf.{what} needs known shapes to find which "
                         f"elements depend on which.\n  Asked for at {user_source(2)}\n"
                         "  Fix: set_shape, or a placeholder of a known shape; or tf.jacobian without sparse=")
    return tuple(shape)  # type: ignore[arg-type]  # all dimensions are known
