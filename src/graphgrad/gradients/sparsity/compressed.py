"""Sparse Jacobians from few products with vectors, all computed by one program."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.gradients.core.loop_zeros import zeros_of_loops
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.rules import Call
from graphgrad.gradients.core.sweep import sweep
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.gradients.taylor.propagation import coefficients, goes_forward
from graphgrad.gradients.taylor.series import SeriesLayout
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import source_of_operation

from .colouring import Entries, alone, column_colours
from .substitution import Substitution, rectangles
from .two_sided import star_colours, two_sided

Array = Any  # an array of integers
_LARGE = 1_000_000  # entries, from which a colouring that is one above the least possible number is taken


class ProductPlan(NamedTuple):
    """Which products give all entries.

    Attributes:
      columns: the colour of each column, -1 for none; those of one colour are one product J v.
      rows: the same of the rows, for products v J.
      by_column: for each entry whether a product J v gives it.
    """

    columns: Array
    rows: Array
    by_column: Array

    @property
    def products(self) -> tuple[int, int]:
        """The numbers of products J v and v J."""
        return int(self.columns.max(initial=-1)) + 1, int(self.rows.max(initial=-1)) + 1


def plan(entries: Entries, x_shape: Any, y_shape: Any, forward_is_cheap: bool) -> ProductPlan:
    """Chooses the products: by columns, by rows, or by both if that takes fewer."""
    none = [np.full(n, -1, np.int64) for n in entries.shape]
    count = len(entries.rows)
    lengths = [np.bincount(k, minlength=1).max(initial=0) for k in (entries.rows, entries.columns)]
    candidates = []
    # What has a dense row needs a product for each column; it is not coloured in vain.
    if lengths[0] <= 4 * max(lengths[1], 16) or lengths[0] < 200:
        candidates.append(ProductPlan(column_colours(entries, x_shape), none[0], np.ones(count, bool)))
    best = candidates[0].products[0] if candidates else math.inf
    # c products J v and r products v J give at most c entries of each row and r of each column.
    if count > _LARGE and best <= math.ceil(count / max(entries.shape)) + 1:  # at most one product could be saved
        return candidates[0]
    if (best > lengths[1] or (best == lengths[1] and not forward_is_cheap)) and (
            lengths[1] <= 4 * max(lengths[0], 16) or not candidates):
        candidates.append(ProductPlan(none[1], column_colours(entries.transposed, y_shape), np.zeros(count, bool)))
    least = min(sum(p.products) for p in candidates)
    if least > 3:
        columns, rows = two_sided(entries, least)
        if columns is not None:
            candidates.append(checked(ProductPlan(columns, rows, alone(entries, columns)), entries))
    order = {0: 0, 1: 1} if forward_is_cheap else {0: 1, 1: 0}
    return min(candidates, key=lambda p: (sum(p.products), order[int(p.products[1] > 0)]))


def symmetric_plan(entries: Entries, shape: Any) -> ProductPlan:
    """Chooses the products v H for a symmetric matrix: of an entry and its mirror image one is enough."""
    rows = star_colours(entries, shape)
    return ProductPlan(np.full(entries.shape[1], -1, np.int64), rows, np.zeros(len(entries.rows), bool))


def checked(plan: ProductPlan, entries: Entries) -> ProductPlan:
    """Returns a plan; an AssertionError if some entry cannot be read off."""
    by_row = _alone_in_column(entries, plan.rows)
    assert (plan.by_column | by_row).all(), "a colouring does not separate all entries"
    return plan


def _alone_in_column(entries: Entries, colours: Array) -> Array:
    flipped = Entries(entries.columns, entries.rows, entries.shape[::-1])
    return alone(flipped, colours)


def values(y: Tensor, x: Tensor, entries: Entries, chosen: ProductPlan, outside: Outside,
           symmetric: bool = False) -> Any:
    """Computes the entries of the Jacobian, (n,), of y's dtype."""
    forward, reverse = chosen.products
    stacks = []
    if forward:
        stacks.append(raw.Reshape(_products_of_columns(y, x, chosen.columns, forward, outside),
                                  np.array([-1], np.int32)))
    if reverse:
        stacks.append(raw.Reshape(_products_of_rows(y, x, chosen.rows, reverse, outside), np.array([-1], np.int32)))
    flat = stacks[0] if len(stacks) == 1 else raw.ConcatV2(stacks, np.int32(0))
    return raw.GatherV2(flat, places_of_entries(entries, chosen, symmetric), np.int32(0))


def places_of_entries(entries: Entries, chosen: ProductPlan, symmetric: bool = False) -> Array:
    """Returns for each entry where it is among the products, those J v before those v J, one after the other."""
    height, width = entries.shape
    places = np.zeros(len(entries.rows), np.int64)
    by = chosen.by_column
    places[by] = chosen.columns[entries.columns[by]] * height + entries.rows[by]
    rows, columns = entries.rows[~by], entries.columns[~by]
    if symmetric:
        there = _alone_in_column(entries, chosen.rows)[~by]
        rows, columns = np.where(there, rows, columns), np.where(there, columns, rows)
    places[~by] = chosen.products[0] * height + chosen.rows[rows] * width + columns
    return places.astype(np.int32 if len(places) == 0 or places.max() < 2**31 else np.int64)


def substituted(y: Any, x: Any, found: Substitution, outside: Outside) -> Any:
    """Computes the entries of a Hessian from the products of an acyclic colouring."""
    count = int(found.colours.max(initial=-1)) + 1
    flat = raw.Reshape(_products_of_rows(y, x, found.colours, count, outside), np.array([-1], np.int32))
    return sums_of_products(flat, found, y.dtype.np_dtype)


def sums_of_products(flat: Any, found: Substitution, dtype: Any) -> Any:
    """Returns the entries, (..., n), from products (..., colours * width)."""
    flat, rank = raw.Materialized(flat), len(flat._spec.shape)  # most products are in several sums
    axis, size = np.int32(rank - 1), flat._spec.shape[-1]
    zeros = raw.ZerosLike(raw.Slice(flat, [0] * rank, [-1] * (rank - 1) + [1]))
    padded = raw.ConcatV2([flat, zeros], axis)
    pairs, of_entries = rectangles(found, size)
    sums = []
    for places, signs in pairs:
        if places.shape[1] == 1:
            sums.append(raw.GatherV2(flat, places[:, 0], axis))
            continue
        terms = raw.GatherV2(padded, places, axis)
        sums.append(raw.Sum(raw.Mul(terms, signs.astype(dtype)), np.array([rank], np.int32)))
    return raw.GatherV2(sums[0] if len(sums) == 1 else raw.ConcatV2(sums, axis), of_entries, axis)


def seeds_of_colours(colours: Array, count: int, shape: Any, dtype: Any) -> Any:
    """Returns a stack of `count` tensors, each with ones where the elements have that colour."""
    one, zero = np.ones((), dtype), np.zeros((), dtype)
    hot = raw.OneHot(colours.astype(np.int32), np.int32(count), one, zero, axis=0)
    return raw.Reshape(hot, np.array([count, *shape], np.int32))


def _products_of_columns(y: Any, x: Any, colours: Array, count: int, outside: Outside) -> Any:
    seeds = seeds_of_colours(colours, count, value_shape(x), y.dtype.np_dtype)
    ((found,),) = coefficients([y], [x], [seeds], SeriesLayout(1, True, count), outside)
    if found is None:
        return raw.Fill(np.array([count * math.prod(y._spec.shape)], np.int32), np.zeros((), y.dtype.np_dtype))
    return found


def _products_of_rows(y: Any, x: Any, colours: Array, count: int, outside: Outside) -> Any:
    seeds = seeds_of_colours(colours, count, y._spec.shape, y.dtype.np_dtype)
    graph = current_graph()
    body = MapBody("compressed_jacobian", graph)
    with use(body):
        seed = body.add_row(seeds, "seed")
        with body.name_scope("gradients") as scope:
            call = Call(body, "gradients", False, False, 0, source_of_operation(3))
            call.scope, call.outside = scope[:-1], outside
            (found,) = zeros_of_loops(call, [y], [x], sweep(call, [y], [seed], [x], ()), ())
    if found is None:
        return raw.Fill(np.array([count * math.prod(_shape(x))], np.int32), np.zeros((), y.dtype.np_dtype))
    body.outputs = [body.own(found)]
    (stack,) = map_rows(body, [convert_to_tensor(seeds)], None, draws=False)
    return stack


def _shape(x: Any) -> Any:
    return value_shape(x)


def forward_is_cheap(y: Tensor, x: Tensor, outside: Outside) -> bool:
    """Returns whether products J v need one sweep, not two: whether everything between can be carried forward."""
    return x.dtype is not resource and goes_forward([y], [x], outside)
