"""Patterns of batches: which elements of an example of y depend on which elements of the same example of x.

Where the number of examples is known, all elements of the batch are followed, and each dependence must lie within an
example. Where it is not known, the records of the operations prove that rows stay apart (`taylor.examples_apart`), and
the pattern is that of a copy for two examples, which is checked in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.gradient_paths import GraphView, Paths
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.gradients.taylor.copies import copied
from graphgrad.gradients.taylor.examples_apart import hindrance
from graphgrad.ir.context import use
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import dense

from .dependences import size_of
from .found_patterns import Followed, as_pattern, followed
from .known_values import KnownValues
from .pattern import TooManyEntries, merged
from .result import Sparsity

Array = Any  # an array of integers
_FEW = 2  # examples of a copy: enough for one to depend on another


def example_pattern(y: Tensor, x: Tensor, outside: Outside, what: str, slope: Tensor | None = None) -> Sparsity:
    """Finds the pattern that all examples have in common: the union of theirs.

    Args:
      y, x, outside: as `outer_graphs.leave` gives them; (b, *Y) and (b, *X).
      what: the name of the function, for errors.
      slope: the gradient of y by x: then the pattern is that of the second derivatives.
    Returns: a pattern of shape (*Y, *X), or (*X, *X).
    Raises: ValueError if an example depends on another one, or that cannot be excluded.
    """
    for t, which in ((y, "y"), (x, "x")):
        example_shape(t, which, what)
    if is_fully_defined(value_shape(y)) and is_fully_defined(value_shape(x)):
        found = followed(y, x, outside, what)
        pattern = _within(found, y, x, what)
        return pattern if slope is None else _union(followed(slope, x, outside, what), slope, x, what)
    return _of_a_copy(y, x, outside, what, slope is not None)


def example_shape(t: Tensor, which: str, what: str) -> tuple[int, ...]:
    """Returns the shape of an example of a batch."""
    shape = value_shape(t)
    if not shape or not is_fully_defined(shape[1:]):
        raise ValueError(f"{which} has shape {shape_str(shape)}, but tf.{what} needs known sizes of all dimensions but "
                         f"the first one.\n  Asked for at {user_source(2)}\n  Fix: set_shape")
    return tuple(shape[1:])  # type: ignore[arg-type]  # all dimensions are known


def _within(found: Followed, y: Tensor, x: Tensor, what: str) -> Sparsity:
    """Returns the union of the examples' patterns; ValueError if they depend on each other."""
    whole = as_pattern(found, y, x, what)
    height, width = math.prod(whole.y_shape[1:]), math.prod(whole.x_shape[1:])
    mine, its = whole.rows // max(height, 1), whole.columns // max(width, 1)
    apart = mine == its
    if not apart.all():
        first = int(np.argmin(apart))
        culprit = _first_that_mixes(found, whole.x_shape)
        why = next((f" for all that is known, since {r}" for op, r in whole.dense if op is culprit and r), "")
        where = "" if culprit is None else (f": operation '{culprit.name}' (op type: {culprit.type}) makes elements "
                                            f"that depend on other examples{why}.\n  Built at {culprit.source}")
        raise ValueError(f"tf.{what}: example {mine[first]} of '{y.name}' depends on example {its[first]} of "
                         f"'{x.name}'{where}\n  Asked for at {user_source(3)}\n"
                         "  Fix: compute each example from its own row of x; or tf.jacobian(sparse=True), which has an "
                         "element for each pair of examples; or give the pattern of one example as sparse=")
    return _union(found, y, x, what)


def _union(found: Followed, y: Tensor, x: Tensor, what: str) -> Sparsity:
    """Returns the union of the examples' patterns, of those that are apart.

    Where examples of a tensor are apart, so are those of its gradient. What the pattern of the gradient has between
    examples is taken to be there for lack of a better rule.
    """
    whole = as_pattern(found, y, x, what)
    height, width = math.prod(whole.y_shape[1:]), math.prod(whole.x_shape[1:])
    (mine, rows), (its, columns) = np.divmod(whole.rows, max(height, 1)), np.divmod(whole.columns, max(width, 1))
    keys = np.unique((rows * max(width, 1) + columns)[mine == its])
    return Sparsity(*np.divmod(keys, max(width, 1)), whole.y_shape[1:], whole.x_shape[1:], whole.connected, whole.dense)


def _first_that_mixes(found: Followed, x_shape: Sequence[int]) -> Operation | None:
    """Returns the first operation with an element that depends on several examples, or on that of another row."""
    batch, width = x_shape[0], max(math.prod(x_shape[1:]), 1)
    for op in found.operations():
        for t in op.outputs:
            shape = value_shape(t)
            if t.dtype.kind == "o" or shape is None or not is_fully_defined(shape):
                continue
            size = size_of(t)
            try:
                table = merged(found.dependences.of(t), size, batch * width, op)
            except TooManyEntries:
                return op
            rows = np.repeat(np.arange(size), table.starts[1:] - table.starts[:-1])
            examples = table.columns // width
            if (examples != examples[table.starts[rows]]).any():
                return op
            if shape and shape[0] == batch and size and (rows // (size // batch) != examples).any():
                return op
    return None


def _of_a_copy(y: Tensor, x: Tensor, outside: Outside, what: str, twice: bool) -> Sparsity:
    """Finds the pattern where the number of examples is not known."""
    y_shape, x_shape = example_shape(y, "y", what), example_shape(x, "x", what)
    if not outside and id(y) not in Paths(GraphView(y.graph, {}, [x]), [y], [x], list(x.op.outputs)).live:
        return _nothing(x_shape if twice else y_shape, x_shape)
    reason = "they are not tensors of one graph" if outside or x.dtype is resource or x.graph is not y.graph else ""
    reason = reason or hindrance([y], [x])
    if not reason:
        body = MapBody("two_examples", x.graph)
        with use(body):
            x_here = body.add_input(x.dtype, (_FEW, *x_shape), "x")
            replaced = {id(x): x_here}
            stuck = copied(body, GraphView(x.graph, {}, [x]).upstream([y]), replaced)
            if not stuck:
                return _of_two(replaced[id(y)], x_here, body, what, twice)
        reason = f"operation '{stuck[0].name}' cannot be repeated"
    raise ValueError(f"tf.{what}: x, {shape_str(value_shape(x))}, has an unknown number of examples, and that they do "
                     f"not depend on each other cannot be shown: {reason}.\n  Asked for at {user_source(3)}\n"
                     "  Fix: x.set_shape, or a placeholder of a known shape: then each element is followed by itself; "
                     "or give the pattern of one example as sparse=")


def _nothing(y_shape: Sequence[int], x_shape: Sequence[int]) -> Sparsity:
    return Sparsity(np.zeros(0, np.int64), np.zeros(0, np.int64), y_shape, x_shape, False)


def _of_two(y: Any, x: Any, body: MapBody, what: str, twice: bool) -> Sparsity:
    outer = KnownValues()
    captured = zip(body.inputs[len(body.inputs) - len(body.captured):], body.captured, strict=True)
    given = {id(inner): value for inner, source in captured if (value := outer.of(source)) is not None}
    found = _within(followed(y, x, {}, what, KnownValues(dict(given))), y, x, what)
    if not twice:
        return found
    with none_allowed():
        (slope,) = gradients(y, [x])
    if slope is None:
        return _nothing(found.x_shape, found.x_shape)
    slope = dense(slope)
    return _union(followed(slope, x, {}, what, KnownValues(dict(given))), slope, x, what)
