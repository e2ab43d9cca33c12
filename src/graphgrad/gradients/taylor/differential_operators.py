"""`differential_operator`: sums of derivatives of each example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import graph_to_extend
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy, zeros_of
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor

from .batch_arguments import columns, one_of_each, value_dtype
from .directions import MultiIndex, along_directions
from .propagation import coefficients
from .series import SeriesLayout, total


def differential_operator(y: Any, x: Any, terms: Mapping[Any, Any],
                          unconnected_gradients: Any = UnconnectedGradients.NONE,
                          name: str = "differential_operator") -> AnyTensor | Any:
    """Computes a linear differential operator of each example: a weighted sum of derivatives of y by columns of x.

    All derivatives come from one pass of Taylor coefficients along a few directions. Terms of the highest order whose
    coefficients are numbers share one sum over the directions, as in `laplacian`.

    Args:
      y: (b, *Y), a float tensor; each of its examples may depend on x's example of the same number only.
      x: (b, d), a float tensor.
      terms: a dictionary from multi-indices to coefficients. A multi-index is a tuple of d integers: how often y is
        differentiated by each column of x; (2, 1) is the third derivative, twice by the first column and once by the
        second, (0, 0) is y itself. For d = 1 an integer will do. A coefficient is a number, or a tensor of y's dtype
        that broadcasts with y.
      unconnected_gradients: 'none' or 'zero': what derivatives are if y does not depend on x.
      name: the name scope of the new operations.
    Returns: (b, *Y), of y's dtype; None if y does not depend on x and is not itself a term.
    Raises: ValueError for multi-indices that are not such, no terms, coefficients of other shapes, if x is not of rank
      2 with a known number of columns, or if the batches differ; TypeError for other dtypes; LookupError if an
      operation in between has no gradient; RuntimeError in eager mode.
    Gradient: of any order, by coefficients also; the new operations are ordinary ones.
    Reference: Griewank, Utke and Walther, "Evaluating higher derivative tensors by forward propagation of univariate
      Taylor series" (2000).

    >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> u = x[:, :1] ** 2 * x[:, 1:] ** 2
    >>> sess.run(tf.differential_operator(u, x, {(2, 2): 1.0, (1, 1): 0.5, (0, 0): x[:, :1]}))
    array([[ 12.],
           [460.]], dtype=float32)
    """
    graph = graph_to_extend(y, x, "differential_operator")
    unconnected = policy(unconnected_gradients)
    with graph.as_default(), graph.name_scope(name or "differential_operator"):
        outside, y_, x_ = one_of_each(graph, y, x, "differential_operator")
        d = columns(x_, y_, "differential_operator")
        checked = {_multi_index(index, d): _coefficient(c, y_) for index, c in _items(terms)}
        if len(checked) < len(terms):
            raise ValueError(f"{terms!r} has a multi-index twice.\n  Asked for at {user_source(2)}\n"
                             "  Fix: write those of one column as integers or as tuples, not both")
        plan = _Plan(checked, d)
        found: list[Any] = []
        if plan.order:
            seeds = np.array(plan.directions, value_dtype(x_).np_dtype)[:, None, :]
            layout = SeriesLayout(plan.order, True, len(seeds), plan.collapsed)
            found = [c for (c,) in coefficients([y_], [x_], [convert_to_tensor(seeds)], layout, outside)]
        lost = all(c is None for c in found)
        if plan.order:
            strictness.check([y_], [x_], [None if lost else y_], [], unconnected)
        result = plan.combined(y_, found)
        if result is None and (not lost or unconnected is UnconnectedGradients.ZERO):
            result = zeros_of(y_)
    return result


class _Plan:
    """Which coefficients are computed, and how derivatives follow from them.

    Args:
      terms: for each multi-index the coefficient, a number or a tensor.
      d: the number of variables.

    Attributes:
      order: the highest order.
      directions: the directions.
      collapsed: the weights of their top coefficients, if these are summed on the way; else None.
    """

    def __init__(self, terms: dict[MultiIndex, Any], d: int):
        self._itself = terms.get((0,) * d)
        numbers: dict[int, dict[MultiIndex, Fraction]] = {}
        by_order: list[tuple[int, Any, dict[MultiIndex, Any]]] = []
        for index, factor in terms.items():
            if not any(index):
                continue
            weights = along_directions(index)
            if isinstance(factor, Tensor):
                by_order.append((sum(index), factor, weights))
                continue
            joint = numbers.setdefault(sum(index), {})
            for v, weight in weights.items():
                joint[v] = joint.get(v, Fraction(0)) + weight * factor
        by_order += [(k, None, {v: w for v, w in joint.items() if w}) for k, joint in numbers.items()]
        self._sums = [(k, factor, weights) for k, factor, weights in by_order if weights]
        self.order = max((k for k, _, _ in self._sums), default=0)
        self.directions = sorted({v for _, _, weights in self._sums for v in weights})
        top = [(factor, weights) for k, factor, weights in self._sums if k == self.order]
        collapses = self.order > 1 and len(top) == 1 and top[0][0] is None
        self.collapsed = [float(top[0][1].get(v, 0)) for v in self.directions] if collapses else None

    def combined(self, y: Tensor, found: Sequence[Any]) -> Any:
        """Returns the sum of all terms, given the coefficients of each order; None for zero."""
        terms = []
        if self._itself is not None:
            factor = self._itself
            terms.append(raw.Mul(factor if isinstance(factor, Tensor) else _number(factor, y), y))
        for k, factor, weights in self._sums:
            c = found[k - 1]
            if c is None:
                continue
            if self.collapsed is None or k < self.order:
                c = self._weighted(c, weights)
            terms.append(c if factor is None else raw.Mul(factor, c))
        return total(terms)

    def _weighted(self, c: Any, weights: dict[MultiIndex, Any]) -> Any:
        """Returns the weighted sum of some slices of a stack."""
        rows = [i for i, v in enumerate(self.directions) if v in weights]
        if len(rows) < len(self.directions):
            c = raw.GatherV2(c, np.array(rows, np.int32), np.int32(0))
        values = [float(weights[self.directions[i]]) for i in rows]
        return SeriesLayout(1, True, len(rows), values).collapse(c)


def _items(terms: Any) -> Any:
    if not isinstance(terms, Mapping) or not terms:
        raise ValueError(f"terms must be a dictionary from multi-indices to coefficients, not {terms!r}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give at least one term, e.g. {(2, 0): 1.0, (0, 2): 1.0} for the Laplacian")
    return terms.items()


def _multi_index(index: Any, d: int) -> MultiIndex:
    given = index if isinstance(index, tuple) else (index,)
    if len(given) != d or any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0 for n in given):
        raise ValueError(f"{index!r} is not a multi-index for x, which has {d} columns.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give a tuple with an integer of at least 0, the order, for each column")
    return tuple(int(n) for n in given)


def _number(factor: Fraction, y: Tensor) -> Any:
    return np.asarray(float(factor), y.dtype.np_dtype)


def _coefficient(given: Any, y: Tensor) -> Any:
    """Returns a coefficient as an exact number or as a tensor that broadcasts with y."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool) and np.isfinite(given):
        return Fraction(float(given)) if isinstance(given, (float, np.floating)) else Fraction(int(given))
    c = convert_to_tensor(given, y.dtype)
    own, shape = c._spec.shape, y._spec.shape
    if own is not None and shape is not None:
        tail = shape[len(shape) - len(own):]
        if len(own) > len(shape) or not all(a == 1 or compatible((a,), (b,)) for a, b in zip(own, tail, strict=True)):
            raise ValueError(f"A coefficient has shape {shape_str(own)}, which does not broadcast to y's shape "
                             f"{shape_str(shape)}.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give a number, or a tensor with one value for each element of y")
    return c


__all__: Sequence[str] = ["differential_operator"]
