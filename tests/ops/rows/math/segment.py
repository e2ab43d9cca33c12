"""Rows for `ops/math/segment.py` and `bincount.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, R, Row, V, distinct, nonzero

_NUMBERS = ["float32", "float64", "int32", "complex64", "bfloat16", "int64"]
_REALS = ["float32", "float64", "int32", "bfloat16"]
_SORTED = [[(4,), V([0, 0, 1, 1])], [(4, 2), V([0, 0, 1, 3])], [(3, 2, 2), V([1, 1, 1], "int64")],
           [(0, 2), V(np.zeros(0, np.int32))]]
_BAD_SORTED = [
    ([(3, 2), V([0, 1])], "must be equal"), ([(2, 2), V([[0], [1]])], "should be a vector"),
    ([(2,), V([1, 0])], "not increasing", InvalidArgumentError),
]
_UNSORTED = [[(4,), V([1, 0, 1, 1]), V(2)], [(4, 2), V([2, -1, 0, 2]), V(4)], [(2, 2, 3), V([[0, 1], [1, -1]]), V(3)],
             [(3,), V([0, 0, 0], "int64"), V(1, "int64")], [(0, 2), V(np.zeros(0, np.int32)), V(2)]]
_FULL = [[(4,), V([1, 0, 1, 1]), V(2)], [(4, 2), V([0, -1, 0, 1]), V(2)], [(2, 2, 3), V([[0, 1], [1, -1]]), V(2)]]
_BAD_UNSORTED = [
    ([(3, 2), V([0, 1]), V(2)], "must be equal"), ([(2,), V([[0], [1]]), V(2)], "must start with segment_ids.shape"),
    ([(2,), V([0, 5]), V(2)], "out of range", InvalidArgumentError),
]
_LAST = "the last id decides the number of rows"


def sorted_row(op_type, dtypes, **options):
    """A row for a reduction over sorted segments."""
    bad = [] if dtypes == ["complex64"] else _BAD_SORTED
    return Row(op_type, _SORTED, dtypes=dtypes, bad=bad, shapes="rank", note=_LAST, **options)


def unsorted_row(op_type, dtypes, **options):
    """A row for a reduction over segments in any order."""
    bad = [] if dtypes == ["complex64"] else _BAD_UNSORTED
    return Row(op_type, _UNSORTED, dtypes=dtypes, bad=bad, **options)


def one_zero(rng, shape, dtype):
    """A domain: nonzero numbers and one zero."""
    values = nonzero(rng, shape, dtype)
    values.flat[1:2] = 0
    return values


ROWS = [
    sorted_row("SegmentSum", _NUMBERS), sorted_row("SegmentMean", ["float32", "float64", "complex64", "int32"]),
    sorted_row("SegmentProd", _REALS, domain=nonzero),
    sorted_row("SegmentProd", ["complex64"], domain=nonzero, tf_grad=False),
    sorted_row("SegmentMax", _REALS, domain=distinct, fd_rtol=1e-4),
    sorted_row("SegmentMin", _REALS, domain=distinct, fd_rtol=1e-4),
    unsorted_row("UnsortedSegmentSum", _NUMBERS),
    unsorted_row("UnsortedSegmentProd", _REALS, domain=nonzero),
    unsorted_row("UnsortedSegmentProd", ["complex64"], domain=nonzero, tf_grad=False,
                 note="TensorFlow leaves out conjugations"),
    *[unsorted_row(t, _REALS, domain=distinct, order=0, note="differentiated in the next row: empty segments are -max")
      for t in ("UnsortedSegmentMax", "UnsortedSegmentMin")],
    *[Row(t, _FULL, dtypes=["float64"], domain=distinct, fd_rtol=1e-4)
      for t in ("UnsortedSegmentMax", "UnsortedSegmentMin")],
    *[Row(t, [[V([1.0, 2.0, 2.0, 5.0]), V([0, 0, 0, 1]), V(2)]], order=0, note="ties share the gradient")
      for t in ("UnsortedSegmentMax", "UnsortedSegmentMin")],
    *[Row(t, [[V([1.0, 2.0, 2.0, 1.0]), V([0, 0, 0, 1])]], order=0, note=f"ties share the gradient; {_LAST}",
          shapes="rank") for t in ("SegmentMax", "SegmentMin")],
    Row("SegmentProd", [[V([0.0, 2.0, 0.0, 3.0, 0.0]), V([0, 0, 0, 1, 1])]], order=0, shapes="rank",
        note="several zeros in a segment leave no gradient; further derivatives divide by zero, as TensorFlow's do"),
    Row("UnsortedSegmentProd", [[V([0.0, 2.0, 0.0, 3.0, 0.0]), V([0, 0, 0, 1, 1]), V(2)]], order=0,
        note="several zeros in a segment leave no gradient; further derivatives divide by zero, as TensorFlow's do"),
    Row("SegmentProd", [[(4,), V([0, 0, 0, 1])]], domain=one_zero, order=1, shapes="rank",
        note=f"with a zero, where only the first derivative holds; {_LAST}"),
    Row("UnsortedSegmentProd", [[(4,), V([0, 0, 0, 1]), V(2)]], domain=one_zero, order=1,
        note="with a zero, where only the first derivative holds"),
    Row("Bincount", [[V([1, 1, 3, 7]), V(5), V(np.zeros(0), "float32")],
                     [V([1, 0, 1]), V(2), V([0.5, 1.0, 2.0], "float32")]], dynamic=False,
        bad=[([V([-1]), V(2), V(np.zeros(0), "float32")], "non-negative", InvalidArgumentError)],
        note="no weights at all need static shapes to be told from some"),
    Row("DenseBincount",
        [[V([1, 1, 3, 7]), V(5), V(np.zeros(0), "float32")], [V([1, 0, 1]), V(2), V([0.5, 1.0, 2.0], "float32")],
         [V([[1, 1], [0, 4]]), V(3), V(np.zeros(0), "float32")],
         Case([V([[1, 1], [0, 4]]), V(3), V(np.zeros(0), "float32")], binary_output=True)],
        dtypes=["int32", "int64"], dynamic=False, note="no weights at all need static shapes to be told from some",
        bad=[([V([[[1]]]), V(2), V(np.zeros(0), "float32")], "at most rank 2")]),
    Row("DenseBincount", [[V([1, 0, 4, 1]), V(2), R((4,), "float64")],
                          [V([[1, 1], [0, 4]]), V(3), R((2, 2), "float64")]], dtypes=["int32"]),
    Row("Bincount", [[V([1, 0, 4, 1]), V(2), R((4,), "float64")]]),
    Row("RaggedBincount",
        [[V([0, 2, 2, 3], "int64"), V([1, 1, 3]), V(5), V(np.zeros(0), "float32")],
         [V([0, 1, 3], "int64"), V([1, 0, 1]), V(2), V([0.5, 1.0, 2.0], "float32")],
         Case([V([0, 2, 4], "int64"), V([1, 1, 0, 4]), V(3), V(np.zeros(0), "float32")], binary_output=True)],
        dtypes=["int32", "int64"], dynamic=False, note="no weights at all need static shapes to be told from some",
        bad=[([V([0, 1], "int64"), V([-1]), V(2), V(np.zeros(0), "float32")], "non-negative", InvalidArgumentError)]),
    Row("RaggedBincount", [[V([0, 3, 3, 4], "int64"), V([1, 0, 4, 1]), V(2), R((4,), "float64")]], dtypes=["int32"]),
]
