"""Rows for `ops/math/reduce.py`, `argmax.py` and `cumulative.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, Row, V, distinct, nonzero

from .math import INEXACT

_NUMBERS = ["float32", "float64", "int32", "complex64", "bfloat16", "float16", "int64"]
_REALS = ["float32", "float64", "int32", "bfloat16", "int64"]
_FLOATS = ["float32", "float64", "bfloat16"]
_BAD_AXES = [([(2, 3), V(2)], "(?s)Invalid reduction dimension 2.*use an axis in"),
             ([(2, 3), V([0, -2])], "duplicate dimension")]
_CASES = [
    [(2, 3), V(0)], [(2, 3), V([-1])], [(2, 3), V([0, 1])], Case([(2, 3, 4), V([2, 0])], keep_dims=True),
    [(4,), V(0, "int64")], [(), V(np.zeros(0, np.int32))], [(2, 3), V(np.zeros(0, np.int32))],
    Case([(2, 3), V([1])], keep_dims=True),
]
_EMPTY = [[(0, 3), V(0)], [(0, 3), V(1)], Case([(2, 0), V([0, 1])], keep_dims=True)]
_TIES = [[V([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), V(1)], [V([[1.0, 3.0], [3.0, 3.0]]), V([0, 1])]]


def reduction(op_type, dtypes, cases=(*_CASES, *_EMPTY), **options):
    """A row for a reduction."""
    return Row(op_type, list(cases), dtypes=dtypes, bad=_BAD_AXES, **options)


def with_zeros(rng, shape, dtype):
    """A domain: small numbers, a third of them zero."""
    return np.where(rng.random(shape) < 0.35, 0.0, np.round(rng.uniform(-2, 2, shape) * 16) / 16)


_SCANS = [
    Case([(4,), V(0)], exclusive=e, reverse=r) for e in (False, True) for r in (False, True)
] + [[(2, 3), V(-1)], Case([(3, 2, 2), V(1, "int64")], reverse=True), [(0, 3), V(0)], [(1,), V(0)]]
def _exclusive(case):
    return isinstance(case, Case) and case.attrs.get("exclusive", False)


_BAD_SCAN = [([(2, 3), V(2)], "(?s)scan axis in the range.*but got 2")]

ROWS = [
    reduction("Sum", _NUMBERS), reduction("Mean", _NUMBERS, _CASES),
    Row("Mean", [[V([-7, -8]), V(0)], [V([7, 8]), V(0)]], dtypes=["int32"]),
    Row("Mean", [_EMPTY[0]], order=0, note="NaN: there is nothing to take the mean of"),
    reduction("Prod", _NUMBERS, domain=nonzero),
    Row("Prod", [[(5,), V(0)], [(3, 4), V(1)], [(2, 2, 3), V([0, 2])]], dtypes=["float64", "complex128"],
        domain=with_zeros, order=3),
    reduction("Max", _REALS, _CASES, domain=distinct, fd_rtol=1e-4),
    reduction("Min", _REALS, _CASES, domain=distinct, fd_rtol=1e-4),
    Row("Max", _EMPTY, dtypes=["float32", "int32"], order=0, note="of nothing"),
    Row("Min", _EMPTY, dtypes=["float32", "int32"], order=0, note="of nothing"),
    Row("Max", _TIES, dtypes=["float32"], order=0, note="ties share the gradient"),
    Row("Min", _TIES, dtypes=["float32"], order=0, note="ties share the gradient"),
    reduction("EuclideanNorm", ["float32", "float64", "bfloat16"], _CASES, domain=nonzero),
    reduction("EuclideanNorm", ["int32", "complex64"], _CASES[:3], order=0, domain=nonzero, tf_grad=False,
              note="of complex numbers it is not holomorphic, which TensorFlow's gradient does not see"),
    reduction("All", ["int32", "int64"], order=0), reduction("Any", ["int32", "int64"], order=0),
    Row("ArgMax", [[(4,), V(0)], [(2, 3), V(-1)], Case([(2, 3), V(0)], output_type="int32"),
                   [V([1.0, 3.0, 3.0]), V(0)]], dtypes=["float32", "int32", "bfloat16", "bool"], order=0,
        bad=[([(2, 3), V(2)], "dimension in the range"), ([(0, 3), V(0)], "axis 0 is empty", InvalidArgumentError)],
        note="positions have no derivative"),
    Row("ArgMin", [[(4,), V(0)], [(2, 3), V(-1)], Case([(2, 3), V(0)], output_type="int32"),
                   [V([1.0, 3.0, 1.0]), V(0)]], dtypes=["float32", "int32", "bfloat16"], order=0,
        bad=[([(2, 3), V(-3)], "dimension in the range")], note="positions have no derivative"),
    Row("Cumsum", _SCANS, dtypes=[*INEXACT, "int32"], bad=_BAD_SCAN),
    Row("Cumprod", _SCANS, dtypes=["float32", "float64", "bfloat16", "int32"], bad=_BAD_SCAN, domain=nonzero),
    Row("Cumprod", _SCANS, dtypes=["complex64"], domain=nonzero, tf_grad=False,
        note="TensorFlow leaves out conjugations"),
    Row("Cumprod", [Case([(5,), V(0)], exclusive=e, reverse=r) for e in (False, True) for r in (False, True)],
        dtypes=["float64", "complex128"], domain=with_zeros, order=3, tf_grad=False,
        note="TensorFlow divides by the elements, which is wrong where they are zero"),
    Row("LinearRecurrence", [Case([(5,), (5,)], axis=0), Case([(2, 3), (2, 3)], axis=1, reverse=True),
                             Case([(0, 3), (0, 3)], axis=0), Case([(3, 0), (3, 0)], axis=0, reverse=True),
                             Case([(1, 2), (1, 2)], axis=0)],
        dtypes=["float32", "float64", "bfloat16", "complex64"], tf=False, note="of gradients; TensorFlow has none",
        dynamic=False,
        bad=[(Case([(3,), (4,)], axis=0), "(?s)must be equal.*Fix"), (Case([(3,), (3,)], axis=1), "axis 1 is not")]),
    Row("CumulativeLogsumexp", [c for c in _SCANS if not _exclusive(c)], dtypes=_FLOATS, bad=_BAD_SCAN),
    Row("CumulativeLogsumexp", [c for c in _SCANS if _exclusive(c)], dtypes=_FLOATS, order=0,
        note="the first element is -inf, of which finite differences are none"),
    Row("CumulativeLogsumexp", [[V([-800.0, 0.0, 800.0]), V(0)], [V([800.0, 0.0, -800.0]), V(0)]],
        dtypes=["float32", "float64"], order=0, note="far apart"),
]
