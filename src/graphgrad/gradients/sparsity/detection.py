"""`sparsity`, and the sparse forms of `jacobian`, `hessians`, and of those of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.arguments import as_xs, as_ys, flatten, graph_to_extend
from graphgrad.gradients.core.outer_graphs import Outside, leave
from graphgrad.gradients.core.value_shapes import check_batches, value_shape
from graphgrad.ir.dtypes import int64
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.sparse_hooks import sparse_tensor

from .batch_products import batch_indices, batch_substituted, batch_values
from .colouring import Entries
from .compressed import checked, forward_is_cheap, plan, substituted, symmetric_plan, values
from .found_patterns import found_pattern, given_pattern, known_shape
from .per_example import example_pattern, example_shape
from .result import Sparsity
from .substitution import substitution


def sparsity(y: Any, x: Any, *, per_example: bool = False) -> Sparsity:
    """Finds which elements of y depend on which elements of x, without running the graph.

    Each operation between x and y is followed by its kind: elementwise, moving elements, summing, products,
    branches and loops; what is not known is taken to depend on everything. So no dependence is missing, but some may be
    named that are always zero. The values of constants are used: indices, masks, matrices with zeros.

    Args:
      y: a tensor, (*Y), of known shape.
      x: a tensor or variable, (*X), of known shape.
      per_example: whether y and x are batches, (b, *Y) and (b, *X), of which each example of y follows from the example
        of x of the same number alone. The result is then the union of the examples' patterns. b need not be known where
        the operations between are such that examples stay apart: matrix products, elementwise operations, sums over
        features, slices and joins of columns.
    Returns: a `Sparsity` of shape (*Y, *X), which `tf.jacobian`, or `tf.batch_jacobian`, takes as `sparse=`; empty if y
      does not depend on x.
    Raises: ValueError for an unknown shape, and if there are too many entries, with the operation that made them, and
      with `per_example` if an example depends on another one; LookupError if an operation between has no gradient;
      RuntimeError in eager mode.
    Reference: Hill and Dalle, "Sparser, Better, Faster, Stronger: Sparsity Detection for Efficient Automatic
      Differentiation" (2025).

    >>> x = tf.constant([1.0, 2.0, 3.0, 4.0])
    >>> print(tf.sparsity(x[1:] - x[:-1], x))
    Sparsity of shape (3, 4), 6 entries of 12
    xx..
    .xx.
    ..xx
    >>> x = tf.placeholder(tf.float32, [None, 3])
    >>> print(tf.sparsity(x[:, 1:] * x[:, :1], x, per_example=True))
    Sparsity of shape (2, 3), 4 entries of 6
    xx.
    x.x
    """
    graph = graph_to_extend(y, x, "sparsity")
    with graph.as_default():
        outside, y_, x_ = _one_of_each(graph, y, x, "sparsity")
        if not per_example:
            return found_pattern(y_, x_, outside, "sparsity")
        check_batches(y_._spec.shape, value_shape(x_))
        return example_pattern(y_, x_, outside, "sparsity")


def sparse_jacobian(y: Tensor, x: Tensor, outside: Outside, sparse: Any, symmetric: bool = False,
                    what: str = "jacobian") -> Any:
    """Computes the Jacobian of y with respect to x as a `SparseTensor` (*Y, *X); None if y does not depend on x.

    Args:
      y, x, outside: as `outer_graphs.leave` gives them.
      sparse: True, or a `Sparsity`, or what converts to a mask; "substitution" for a Hessian.
      symmetric: whether the Jacobian is symmetric.
      what: the name of the function, for errors.
    """
    _check_dtypes(y, x, what)
    if sparse is True or isinstance(sparse, str):
        pattern = found_pattern(y, x, outside, what)
    else:
        pattern = given_pattern(sparse, known_shape(y, "y", what), known_shape(x, "x", what))
    if not pattern.connected:
        return None
    pattern, numbers = _entries_of(y, x, pattern, outside, symmetric, isinstance(sparse, str), _WHOLE)
    if numbers is None:
        numbers = raw.Fill(np.array([0], np.int32), np.zeros((), y.dtype.np_dtype))
    return sparse_tensor(pattern.indices, numbers, np.array(pattern.shape, np.int64))


def sparse_batch_jacobian(y: Tensor, x: Tensor, outside: Outside, sparse: Any, what: str,
                          summed: Tensor | None = None, symmetric: bool = False) -> Any:
    """Computes the Jacobian of each example as a `SparseTensor` (b, *Y, *X); None if y does not depend on x.

    Args:
      y, x, outside, sparse, symmetric, what: as in `sparse_jacobian`, of batches.
      summed: the tensor of which y is the gradient, for a Hessian.
    """
    _check_dtypes(y, x, what)
    if sparse is True or isinstance(sparse, str):
        pattern = (example_pattern(y, x, outside, what) if summed is None
                   else example_pattern(summed, x, outside, what, y))
    else:
        pattern = given_pattern(sparse, *[example_shape(t, which, what) for t, which in ((y, "y"), (x, "x"))])
    if not pattern.connected:
        return None
    pattern, numbers = _entries_of(y, x, pattern, outside, symmetric, isinstance(sparse, str), _BATCH)
    indices, batch = batch_indices(y, pattern.indices)
    values = (raw.Fill(np.array([0], np.int32), np.zeros((), y.dtype.np_dtype)) if numbers is None
              else raw.Reshape(numbers, np.array([-1], np.int32)))
    size = raw.ExpandDims(raw.Cast(batch, DstT=int64), np.int32(0))
    return sparse_tensor(indices, values, raw.ConcatV2([size, np.array(pattern.shape, np.int64)], np.int32(0)))


_WHOLE, _BATCH = (values, substituted), (batch_values, batch_substituted)


def _check_dtypes(y: Tensor, x: Tensor, what: str) -> None:
    for t, which in ((y, "the output"), (x, "the input")):
        if value_dtype(t).kind != "f":
            raise TypeError(f"{which} is {value_dtype(t).name}, but tf.{what}(sparse=...) is for real floating "
                            f"tensors.\n  Asked for at {user_source(2)}\n  Fix: tf.cast what it is computed from, or "
                            "sparse=False")


def _entries_of(y: Tensor, x: Tensor, pattern: Sparsity, outside: Outside, symmetric: bool, substitutes: bool,
                compute: tuple[Any, Any]) -> tuple[Sparsity, Any]:
    """Builds the operations that compute the entries of a pattern.

    Args:
      y, x, pattern, outside, symmetric: as in `sparse_jacobian`.
      substitutes: whether an entry may be a difference of products.
      compute: what computes entries from a plan, and from a `Substitution`.
    Returns: the pattern, of a symmetric matrix with all mirror images, and its entries; None for none.
    """
    entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
    if not len(entries.rows):
        return pattern, None
    directly, by_substitution = compute
    if symmetric:
        entries = _with_mirror_images(entries)
        pattern = Sparsity(entries.rows, entries.columns, pattern.y_shape, pattern.x_shape)
        direct = symmetric_plan(entries, pattern.x_shape)
        found = substitution(entries, pattern.x_shape) if substitutes else None
        if found is not None and found.colours.max(initial=-1) < direct.rows.max(initial=-1):
            return pattern, by_substitution(y, x, found, outside)
        return pattern, directly(y, x, entries, direct, outside, symmetric=True)
    chosen = plan(entries, pattern.x_shape, pattern.y_shape, forward_is_cheap(y, x, outside))
    return pattern, directly(y, x, entries, checked(chosen, entries), outside)


def _with_mirror_images(entries: Entries) -> Entries:
    size = entries.shape[0]
    keys = np.unique(np.concatenate([entries.rows * size + entries.columns, entries.columns * size + entries.rows]))
    rows, columns = np.divmod(keys, size)
    return Entries(rows, columns, entries.shape)


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


__all__: Sequence[str] = ["sparsity"]
