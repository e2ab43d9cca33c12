"""`sparsity`, and the sparse forms of `jacobian` and `hessians`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten, graph_to_extend
from graphgrad.gradients.core.gradient_paths import GraphView, Paths
from graphgrad.gradients.core.missing import MissingGradientError
from graphgrad.gradients.core.outer_graphs import Outside, leave
from graphgrad.gradients.core.registry import gradient_function
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.sparse_hooks import sparse_tensor

from .colouring import Entries
from .compressed import checked, forward_is_cheap, plan, substituted, symmetric_plan, values
from .dependences import Dependences
from .known_values import KnownValues
from .pattern import TooManyEntries, identity, merged
from .result import Sparsity
from .sub_graphs import visit
from .substitution import substitution


def sparsity(y: Any, x: Any) -> Sparsity:
    """Finds which elements of y depend on which elements of x, without running the graph.

    Each operation between x and y is followed by its kind: elementwise, moving elements, summing, products,
    branches and loops; what is not known is taken to depend on everything. So no dependence is missing, but some may be
    named that are always zero. The values of constants are used: indices, masks, matrices with zeros.

    Args:
      y: a tensor, (*Y), of known shape.
      x: a tensor or variable, (*X), of known shape.
    Returns: a `Sparsity` of shape (*Y, *X), which `tf.jacobian` takes as `sparse=`; empty if y does not depend on x.
    Raises: ValueError for an unknown shape, and if there are too many entries, with the operation that made them;
      LookupError if an operation between has no gradient; RuntimeError in eager mode.
    Reference: Hill and Dalle, "Sparser, Better, Faster, Stronger: Sparsity Detection for Efficient Automatic
      Differentiation" (2025).

    >>> x = tf.constant([1.0, 2.0, 3.0, 4.0])
    >>> print(tf.sparsity(x[1:] - x[:-1], x))
    Sparsity of shape (3, 4), 6 entries of 12
    xx..
    .xx.
    ..xx
    """
    graph = graph_to_extend(y, x, "sparsity")
    with graph.as_default():
        outside, y_, x_ = _one_of_each(graph, y, x, "sparsity")
        return found_pattern(y_, x_, outside, "sparsity")


def sparse_jacobian(y: Tensor, x: Tensor, outside: Outside, sparse: Any, symmetric: bool = False,
                    what: str = "jacobian") -> Any:
    """Computes the Jacobian of y with respect to x as a `SparseTensor` (*Y, *X); None if y does not depend on x.

    Args:
      y, x, outside: as `outer_graphs.leave` gives them.
      sparse: True, or a `Sparsity`, or what converts to a mask; "substitution" for a Hessian.
      symmetric: whether the Jacobian is symmetric.
      what: the name of the function, for errors.
    """
    for t, which in ((y, "the output"), (x, "the input")):
        if value_dtype(t).kind != "f":
            raise TypeError(f"{which} is {value_dtype(t).name}, but tf.{what}(sparse=...) is for real floating "
                            f"tensors.\n  Asked for at {user_source(2)}\n  Fix: tf.cast what it is computed from, or "
                            "sparse=False")
    detected = sparse is True or isinstance(sparse, str)
    pattern = found_pattern(y, x, outside, what) if detected else given_pattern(sparse, y, x, what)
    if not pattern.connected:
        return None
    return assembled(y, x, pattern, outside, symmetric, isinstance(sparse, str))


def assembled(y: Tensor, x: Tensor, pattern: Sparsity, outside: Outside, symmetric: bool, substitutes: bool) -> Any:
    """Builds the operations that compute the entries of a pattern."""
    entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
    if not len(entries.rows):
        numbers = raw.Fill(np.array([0], np.int32), np.zeros((), y.dtype.np_dtype))
    elif symmetric:
        entries = _with_mirror_images(entries)
        pattern = Sparsity(entries.rows, entries.columns, pattern.y_shape, pattern.x_shape)
        direct = symmetric_plan(entries, pattern.x_shape)
        found = substitution(entries) if substitutes else None
        if found is not None and found.colours.max(initial=-1) < direct.rows.max(initial=-1):
            numbers = substituted(y, x, found, outside)
        else:
            numbers = values(y, x, entries, direct, outside, symmetric=True)
    else:
        chosen = plan(entries, pattern.x_shape, pattern.y_shape, forward_is_cheap(y, x, outside))
        numbers = values(y, x, entries, checked(chosen, entries), outside)
    return sparse_tensor(pattern.indices, numbers, np.array(pattern.shape, np.int64))


def _with_mirror_images(entries: Entries) -> Entries:
    size = entries.shape[0]
    keys = np.unique(np.concatenate([entries.rows * size + entries.columns, entries.columns * size + entries.rows]))
    rows, columns = np.divmod(keys, size)
    return Entries(rows, columns, entries.shape)


def found_pattern(y: Tensor, x: Tensor, outside: Outside, what: str) -> Sparsity:
    """Detects the pattern of y by x; see `sparsity`."""
    y_shape, x_shape = _known_shape(y, "y", what), _known_shape(x, "x", what)
    width, height = math.prod(x_shape), math.prod(y_shape)
    view = GraphView(y.graph if not outside else _innermost(), outside, [x])
    paths = Paths(view, [y], [x], list(x.op.outputs))
    dependences = Dependences(width, view.inputs, KnownValues())
    dependences.known[id(x)] = identity(width)
    try:
        for op in paths.ops:
            if gradient_function(op) is None:
                raise MissingGradientError(op, paths.through(op))
            visit(dependences, op)
        table = merged(dependences.of(y), height, width, y.op)
    except TooManyEntries as error:
        raise ValueError(_too_dense(error, what)) from None
    rows = np.repeat(np.arange(height), table.starts[1:] - table.starts[:-1])
    connected = id(x) in paths.live and id(y) in paths.live
    return Sparsity(rows, table.columns.astype(np.int64), y_shape, x_shape, connected, dependences.dense)


def _innermost() -> Graph:
    graph = current_graph()
    assert graph is not None
    return graph


def given_pattern(given: Any, y: Tensor, x: Tensor, what: str) -> Sparsity:
    """Returns the pattern that a user gives in place of True."""
    y_shape, x_shape = _known_shape(y, "y", what), _known_shape(x, "x", what)
    sparse: Sparsity = given if isinstance(given, Sparsity) else Sparsity.of(given, y_shape, x_shape)
    if (sparse.y_shape, sparse.x_shape) != (y_shape, x_shape):
        raise ValueError(f"sparse= is the pattern of a Jacobian {sparse.shape}, but that of these tensors is "
                         f"{(*y_shape, *x_shape)}.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give tf.sparsity(y, x) of the same shapes, or True")
    return sparse


def _too_dense(error: TooManyEntries, what: str) -> str:
    op = error.op
    name = f"operation '{op.name}' (op type: {op.type}) makes each element depend on many others.\n  Built at " \
           f"{op.source}" if op is not None else "x and y are too large."
    return (f"tf.{what}: the pattern would have {error.count:,} entries: {name}\n  Asked for at {user_source(3)}\n"
            "  Fix: differentiate what lies behind it by itself, use tf.jvp or tf.gradients for products, or give the "
            "pattern as sparse=")


def _one_of_each(graph: Graph, y: Any, x: Any, what: str) -> tuple[Outside, Tensor, Tensor]:
    y_list, x_list = as_ys(graph, [y]), as_xs(graph, [x])
    if len(y_list) != 1 or len(x_list) != 1:
        raise TypeError(f"tf.{what} takes one y and one x, not lists of them.\n  Asked for at {user_source(2)}\n"
                        "  Fix: call it for each, or concatenate them")
    outside, ((y_,), (x_,)) = leave(graph, flatten([x]), y_list, x_list)
    return outside, y_, x_


def value_dtype(t: Tensor) -> Any:
    """Returns the dtype of a tensor, or of the variable whose handle it is."""
    return t.op._attr("dtype") if t.dtype.kind == "o" and "dtype" in t.op.attrs else t.dtype


def _known_shape(t: Tensor, which: str, what: str) -> tuple[int, ...]:
    shape = value_shape(t)
    if shape is None or not is_fully_defined(shape):
        raise ValueError(f"{which} has shape {shape_str(shape)}, but tf.{what} needs known shapes to find which "
                         f"elements depend on which.\n  Asked for at {user_source(2)}\n"
                         "  Fix: set_shape, or a placeholder of a known shape; or tf.jacobian without sparse=")
    return tuple(shape)  # type: ignore[arg-type]  # all dimensions are known


__all__: Sequence[str] = ["sparsity"]
