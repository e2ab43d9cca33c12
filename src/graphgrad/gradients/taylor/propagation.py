"""Carries coefficients from xs to ys, along the operations in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.gradients.core.gradient_paths import GraphView, Paths
from graphgrad.gradients.core.missing import MissingGradientError
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.registry import gradient_function
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.source import source_of_operation
from graphgrad.system.garbage_collector import collector_paused

from .direction_stacks import full
from .lanes import LaneSeries
from .nested import along_lines
from .series import Series, SeriesLayout


def coefficients(ys: list[Tensor], xs: list[Tensor], directions: Sequence[Any], layout: SeriesLayout,
                 outside: Outside) -> list[list[Any]]:
    """Computes the coefficients of ys along directions of xs.

    Args:
      ys, xs: tensors, as `outer_graphs.leave` gives them.
      directions: for each x the direction, which may be thin; None for zero.
      layout: how coefficients are laid out.
      outside: the tensors behind placeholders.
    Returns: for each order 1, 2 and so on a list with a coefficient for each y, of all its elements; None for zero.
    Raises: MissingGradientError for an operation in between without a gradient.
    """
    graph, view, paths = _paths(ys, xs, outside)
    with collector_paused():
        if not all(map(can_be_carried_through, paths.ops)):
            return _without_carrying(ys, xs, directions, layout)
        series = Series(layout, view.inputs)
        for x, direction in zip(xs, directions, strict=True):
            series.known[id(x)] = [direction] + [None] * (layout.order - 1)
        for op in paths.ops:
            with _scope(graph, op):
                series.visit(op)
        return [[series.full(y, k) for y in ys] for k in range(1, layout.order + 1)]


def goes_forward(ys: list[Tensor], xs: list[Tensor], outside: Outside) -> bool:
    """Returns whether every operation between xs and ys can be carried through, so that one pass will do."""
    graph = current_graph()
    assert graph is not None
    paths = Paths(GraphView(graph, outside, xs), ys, xs, [t for x in xs for t in x.op.outputs])
    return all(map(can_be_carried_through, paths.ops))


def _paths(ys: list[Tensor], xs: list[Tensor], outside: Outside) -> tuple[Graph, GraphView, Paths]:
    graph = current_graph()
    assert graph is not None
    view = GraphView(graph, outside, xs)
    paths = Paths(view, ys, xs, [t for x in xs for t in x.op.outputs])
    for op in paths.ops:
        if gradient_function(op) is None:
            raise MissingGradientError(op, paths.through(op))
    return graph, view, paths


def coefficients_by_lanes(ys: list[Tensor], xs: list[Tensor], directions: Sequence[Sequence[Any]],
                          orders: Sequence[int], weights: Sequence[float] | None,
                          outside: Outside) -> LaneSeries | None:
    """Computes the coefficients of ys along directions of xs, each direction by itself.

    Args:
      ys, xs: tensors, as `outer_graphs.leave` gives them.
      directions: for each x the directions: tensors of its shape, or of one row; None for zero.
      orders, weights: as `LaneSeries` takes them.
      outside: the tensors behind placeholders.
    Returns: the coefficients; None if an operation in between cannot be carried through.
    Raises: MissingGradientError for an operation in between without a gradient.
    """
    graph, view, paths = _paths(ys, xs, outside)
    if not all(map(can_be_carried_through, paths.ops)):
        return None
    with collector_paused():
        lanes = LaneSeries(orders, weights, view.inputs)
        for x, its in zip(xs, directions, strict=True):
            lanes.start(x, its)
        for op in paths.ops:
            with _scope(graph, op):
                lanes.visit(op)
    return lanes


def can_be_carried_through(op: Operation) -> bool:
    """Returns whether an operation may be built once more, on coefficients."""
    record = op.opdef
    if record.variable == "read":
        return op._gradient is None
    if not record.pure or record.flags & {"stateful", "functional"} or callable(op._gradient):
        return False
    return all(t.dtype.kind not in "co" for t in (*op.inputs, *op.outputs))


def _without_carrying(ys: list[Tensor], xs: list[Tensor], directions: Sequence[Any],
                      layout: SeriesLayout) -> list[list[Any]]:
    given = [(x, v) for x, v in zip(xs, directions, strict=True) if v is not None]
    tangents = [full(v, x, layout.stacked) if x.dtype is not resource else v for x, v in given]
    found = along_lines(ys, [x for x, _ in given], tangents, layout.order, layout.stacked)
    if layout.weights is not None:
        found[-1] = [None if c is None else layout.collapse(c) for c in found[-1]]
    return found


class _scope:
    """The names of operations built for one, and what they are recorded as made for."""

    def __init__(self, graph: Graph, op: Operation):
        around = graph._around
        scope = f"{around.scope}/{op.name}_taylor" if around.scope else f"{op.name}_taylor"
        self._having = around.having(scope=graph._names.unique(scope), original_op=op,
                                     source=source_of_operation(3) or around.source)

    def __enter__(self) -> None:
        self._having.__enter__()

    def __exit__(self, *error: object) -> None:
        self._having.__exit__(*error)
