"""The entries of all examples' Jacobians from the products of one: a product serves the whole batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.gradients.core.loop_zeros import zeros_of_loops
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.rules import Call
from graphgrad.gradients.core.sweep import sweep
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.gradients.taylor.propagation import coefficients
from graphgrad.gradients.taylor.series import SeriesLayout
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.source import source_of_operation

from .colouring import Entries
from .compressed import ProductPlan, places_of_entries, seeds_of_colours, sums_of_products
from .substitution import Substitution

Array = Any  # an array of integers


def batch_values(y: Tensor, x: Tensor, entries: Entries, chosen: ProductPlan, outside: Outside,
                 symmetric: bool = False) -> Any:
    """Computes the entries of the Jacobian of each example, (b, n), of y's dtype."""
    forward, reverse = chosen.products
    stacks = []
    if forward:
        stacks.append(_examples_first(_products_of_columns(y, x, chosen.columns, forward, outside), forward))
    if reverse:
        stacks.append(_examples_first(_products_of_rows(y, x, chosen.rows, reverse, outside), reverse))
    flat = stacks[0] if len(stacks) == 1 else raw.ConcatV2(stacks, np.int32(1))
    return raw.GatherV2(flat, places_of_entries(entries, chosen, symmetric), np.int32(1))


def batch_substituted(y: Any, x: Any, found: Substitution, outside: Outside) -> Any:
    """Computes the entries of the Hessian of each example, (b, n), from the products of an acyclic colouring."""
    count = int(found.colours.max(initial=-1)) + 1
    flat = _examples_first(_products_of_rows(y, x, found.colours, count, outside), count)
    return sums_of_products(flat, found, y.dtype.np_dtype)


def batch_indices(y: Tensor, indices: Array) -> Any:
    """Returns where the entries are in a batch, (b n, 1 + rank), int64, and the number of examples."""
    count, shape = len(indices), y._spec.shape or (None,)
    batch: Any = np.int32(shape[0]) if shape[0] is not None else raw.StridedSlice(raw.Shape(y), [0], [1], [1],
                                                                                  shrink_axis_mask=1)
    numbers = raw.Cast(raw.Range(np.int32(0), batch, np.int32(1)), DstT=int64)
    zeros = np.zeros((1, count), np.int64)
    examples = raw.Reshape(raw.AddV2(raw.ExpandDims(numbers, np.int32(1)), zeros), np.array([-1, 1], np.int32))
    tiled = raw.Tile(indices, raw.Pack([batch, np.int32(1)]))
    return raw.ConcatV2([examples, tiled], np.int32(1)), batch


def _examples_first(stack: Any, count: int) -> Any:
    """Returns a stack of products (count, b, *E) as (b, count * elements)."""
    size = math.prod(stack._spec.shape[2:])
    rows = raw.Reshape(stack, np.array([count, -1, size], np.int32))
    return raw.Reshape(raw.Transpose(rows, np.array([1, 0, 2], np.int32)), np.array([-1, count * size], np.int32))


def _products_of_columns(y: Any, x: Any, colours: Array, count: int, outside: Outside) -> Any:
    seeds = seeds_of_colours(colours, count, [1, *(value_shape(x) or ())[1:]], y.dtype.np_dtype)
    ((found,),) = coefficients([y], [x], [seeds], SeriesLayout(1, True, count), outside)
    return _zeros(count, y) if found is None else found


def _products_of_rows(y: Any, x: Any, colours: Array, count: int, outside: Outside) -> Any:
    shape = y._spec.shape
    seeds = seeds_of_colours(colours, count, [1, *shape[1:]], y.dtype.np_dtype)
    body = MapBody("compressed_batch_jacobian", current_graph())
    with use(body):
        seed = body.add_row(seeds, "seed")
        seed = raw.BroadcastTo(seed, np.array(shape, np.int32) if is_fully_defined(shape) else raw.Shape(y))
        with body.name_scope("gradients") as scope:
            call = Call(body, "gradients", False, False, 0, source_of_operation(3))
            call.scope, call.outside = scope[:-1], outside
            (found,) = zeros_of_loops(call, [y], [x], sweep(call, [y], [seed], [x], ()), ())
    if found is None:
        return _zeros(count, x)
    body.outputs = [body.own(found)]
    (stack,) = map_rows(body, [convert_to_tensor(seeds)], None, draws=False)
    return stack


def _zeros(count: int, like: Any) -> Any:
    """Returns `count` tensors of zeros of a batch's shape."""
    zeros = raw.ExpandDims(raw.ZerosLike(like), np.int32(0))
    return raw.Tile(zeros, np.array([count, *[1] * (len(zeros._spec.shape) - 1)], np.int32))
