"""Computes requested derivatives by passes of Taylor coefficients: which directions, which orders, what is summed."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from graphgrad.gradients.taylor.directions import MultiIndex, along_directions
from graphgrad.gradients.taylor.lanes import LaneSeries
from graphgrad.gradients.taylor.propagation import coefficients_by_lanes
from graphgrad.gradients.taylor.series import scaled, total
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw

from .forms import Column, DerivativeForm, Powers, Variable

Weights = dict[MultiIndex, float]  # of coefficients of one order, by direction


class CoefficientPass:
    """One pass of coefficients.

    Attributes:
      directions: along which.
      orders: for each of them the highest order.
      weights: of the coefficients of the highest order, if these are summed on the way: `orders` are lower by one then.
    """

    def __init__(self, need: dict[MultiIndex, int], weights: Weights | None = None):
        self.directions = sorted(need)
        self.order = max(need.values())
        self.weights = None if weights is None else [weights.get(v, 0.0) for v in self.directions]
        self.orders = [need[v] if weights is None else self.order - 1 for v in self.directions]

    @property
    def size(self) -> int:
        """How many coefficients of each tensor it computes."""
        return sum(self.orders) + (self.weights is not None)


class Passes:
    """The passes that give some forms.

    Args:
      forms: what is requested.
    """

    def __init__(self, forms: Iterable[DerivativeForm]):
        self._columns = [c for form in forms for c in form.columns]
        self.variables: list[Variable] = sorted({v for c in self._columns for _, powers in c for v in powers})
        self._sums: dict[int, dict[tuple[int, int], Weights]] = {}  # id of a column -> base, order -> weights
        need: dict[MultiIndex, int] = collections.defaultdict(int)
        for column in self._columns:
            for (_, order), weights in self.sums(column).items():
                for v in weights:
                    need[v] = max(need[v], order)
        self.order = max(need.values(), default=0)
        self.list = self._chosen(need)

    def sums(self, column: Column) -> dict[tuple[int, int], Weights]:
        """Returns what a column is in coefficients: for each base and order the weights of directions."""
        if id(column) not in self._sums:
            found: dict[tuple[int, int], Weights] = {}
            for (base, powers), c in column.items():
                weights = found.setdefault((base, len(powers)), {})
                for v, w in self._along(powers).items():
                    weights[v] = weights.get(v, 0.0) + c * float(w)
            self._sums[id(column)] = {key: {v: w for v, w in weights.items() if w} for key, weights in found.items()}
        return self._sums[id(column)]

    def _along(self, powers: Powers) -> dict[MultiIndex, Fraction]:
        return along_directions(tuple(powers.count(v) for v in self.variables))

    def _chosen(self, need: dict[MultiIndex, int]) -> list[CoefficientPass]:
        plain, top = [CoefficientPass(need)] if need else [], self._top()
        if top is None:
            return plain
        # Directions of which lower orders are needed come along if these are all orders but the last.
        along = {v: k for v, k in need.items() if k >= self.order - 1}
        apart = {v: k for v, k in need.items() if v not in along}
        summed = [CoefficientPass(along, top), *([CoefficientPass(apart)] if apart else [])]
        return min(plain, summed, key=lambda ps: sum(p.size for p in ps))

    def _top(self) -> Weights | None:
        """Returns the weights by which coefficients of the highest order may be summed, if there is one such sum."""
        found: Weights | None = None
        for column in self._columns:
            for (_, order), weights in self.sums(column).items():
                if order == self.order and weights:
                    if found is None:
                        found = weights
                    elif _ratio(weights, found) is None:
                        return None
        return found if self.order > 1 else None

    # -- building ------------------------------------------------------------------------

    def run(self, bases: dict[int, Tensor], xs: dict[int, Tensor]) -> None:
        """Builds the passes.

        Args:
          bases: what is differentiated, by number.
          xs: by what, by number.
        """
        self._bases = bases
        self._found: list[LaneSeries] = []
        for p in self.list:
            seeds = [self._seeds(p, n, x) for n, x in xs.items()]
            found = coefficients_by_lanes(list(bases.values()), list(xs.values()), seeds, p.orders, p.weights, {})
            assert found is not None  # `examples_apart.hindrance`
            self._found.append(found)

    def _seeds(self, p: CoefficientPass, number: int, x: Tensor) -> list[Any]:
        shape: Any = x._spec.shape
        seeds = np.zeros((len(p.directions), 1, *shape[1:]), x.dtype.np_dtype)
        for i, (n, j) in enumerate(self.variables):
            if n == number:
                seeds.reshape(len(p.directions), -1)[:, j] = [v[i] for v in p.directions]
        return [convert_to_tensor(seed) if np.any(seed) else None for seed in seeds]

    def result(self, form: DerivativeForm, like: Tensor) -> Any:
        """Returns a requested tensor."""
        parts = [self._column(column, form.flat, like) for column in form.columns]
        return parts[0] if len(parts) == 1 else raw.ConcatV2(parts, np.int32(1))

    def _column(self, column: Column, flat: bool, like: Tensor) -> Any:
        terms = []
        for (base, order), weights in self.sums(column).items():
            y = self._bases[base]
            found = [c for p, lanes in zip(self.list, self._found, strict=True)
                     for c in self._weighted(p, lanes, y, order, weights)]
            c = total(found)
            if c is not None:
                terms.append(_per_example(c, y, flat))
        result = total(terms)
        if result is None:
            any_base = self._bases[next(base for base, _ in column)]
            result = _per_example(raw.ZerosLike(any_base), any_base, flat)
        assert result.dtype is like.dtype
        return result

    def _weighted(self, p: CoefficientPass, lanes: LaneSeries, y: Tensor, order: int, weights: Weights) -> list[Any]:
        """Returns what a pass contributes to a weighted sum of coefficients."""
        present = [i for i, v in enumerate(p.directions) if v in weights]
        if present and p.weights is not None and order == p.order:
            c, ratio = lanes.full_top(y), _ratio(weights, dict(zip(p.directions, p.weights, strict=True)))
            assert ratio is not None
            return [None if c is None else scaled(c, ratio)]
        found = [(lanes.full(y, i, order), weights[p.directions[i]]) for i in present]
        return [scaled(c, w) for c, w in found if c is not None]


def _ratio(weights: Weights, to: Weights) -> float | None:
    """Returns the factor by which weights are others; None if they are no multiple of them."""
    others = {v: w for v, w in to.items() if w}
    if weights.keys() != others.keys():
        return None
    ratios = [w / others[v] for v, w in weights.items()]
    return ratios[0] if all(abs(r - ratios[0]) <= 1e-15 * abs(r) for r in ratios) else None


def _per_example(c: Any, y: Tensor, flat: bool) -> Any:
    """Sums the elements of each example; returns a vector if `flat`, else a column."""
    shape = c._spec.shape
    if len(shape) > 2 or (len(shape) == 2 and shape[1] != 1):
        c = raw.Sum(c, np.arange(1, len(shape), dtype=np.int32))
    if flat:
        return raw.Squeeze(c, squeeze_dims=[1]) if len(c._spec.shape) == 2 else c
    return raw.ExpandDims(c, np.int32(1)) if len(c._spec.shape) == 1 else c
