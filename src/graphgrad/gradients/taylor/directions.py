"""Mixed derivatives as sums of Taylor coefficients along directions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

MultiIndex = tuple[int, ...]


def along_directions(index: MultiIndex) -> dict[MultiIndex, Fraction]:
    """Writes a derivative as a weighted sum of Taylor coefficients of the same order.

    The coefficients of order k along all directions of non-negative integers whose sum is k determine all derivatives
    of that order. Directions are shortened as far as they stay integers: derivatives share more of them.

    Args:
      index: for each variable the order of the derivative by it; of a sum k above 0.
    Returns: for each direction the weight of its coefficient of order k; none is zero.
    Reference: Griewank, Utke and Walther, "Evaluating higher derivative tensors by forward propagation of univariate
      Taylor series" (2000), equation 14.

    >>> along_directions((1, 1)) == {(1, 1): 1, (1, 0): -1, (0, 1): -1}
    True
    """
    k = sum(index)
    parts = [(_sign(index, part), [Fraction(k * p, sum(part)) for p in part], Fraction(sum(part), k) ** k)
             for part in itertools.product(*[range(n + 1) for n in index]) if any(part)]
    found: dict[MultiIndex, Fraction] = {}
    for v in _sums(index, k):
        weight = sum((sign * power * math.prod(map(_binomial, at, v)) for sign, at, power in parts), Fraction(0))
        if weight:
            divisor = math.gcd(*v)
            found[tuple(n // divisor for n in v)] = weight * divisor**k
    return found


def _sums(index: MultiIndex, k: int) -> Iterator[MultiIndex]:
    """Yields the vectors of non-negative integers with the sum `k` that are zero where `index` is."""
    support = [i for i, n in enumerate(index) if n]
    for bars in itertools.combinations(range(k + len(support) - 1), len(support) - 1):
        ends = [-1, *bars, k + len(support) - 1]
        v = [0] * len(index)
        for i, (start, end) in zip(support, itertools.pairwise(ends), strict=True):
            v[i] = end - start - 1
        yield tuple(v)


def _sign(index: Sequence[int], part: Sequence[int]) -> int:
    """Returns the binomial coefficient of two multi-indices, with the sign of their difference."""
    sign = -1 if (sum(index) - sum(part)) % 2 else 1
    return sign * math.prod(map(math.comb, index, part))


def _binomial(n: Fraction, k: int) -> Fraction:
    return Fraction(math.prod([n - i for i in range(k)]), math.factorial(k))
