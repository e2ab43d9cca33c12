"""Rows for `ops/array/transpose.py`."""

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, Row, V

FLOATS = ["float32", "float64", "complex64"]

ROWS = [
    Row("Transpose", [[(2, 3), V([1, 0])], [(2, 3, 4), V([2, 0, 1])], [(), V([], "int32")],
                      [(2, 0, 4), V([1, 2, 0], "int64")]], dtypes=[*FLOATS, "int32"],
        bad=[([(2, 3), V([0])], "must have rank 1"), ([(2, 3), V([0, 0])], "not a permutation"),
             ([(2, 3), V([0, 2])], "not a permutation")]),
    Row("ConjugateTranspose", [[(2, 3), V([1, 0])], [(2, 3, 4), V([2, 0, 1])]], dtypes=FLOATS),
    Row("InvertPermutation", [[V([2, 0, 1])], [V([])]], dtypes=["int32", "int64"], order=0,
        bad=[([V([0, 0])], "not a permutation", InvalidArgumentError), ([V([[0]])], "rank 1")]),
    Row("ReverseV2", [[(2, 3), V([1])], [(2, 3, 4), V([0, -1], "int64")], [(2,), V([], "int32")]], dtypes=FLOATS,
        bad=[([(2, 3), V([2])], "axis 2 is out of range"), ([(2, 3), V([0, -2])], "names an axis twice")]),
    Row("Reverse", [[(2, 3), V([False, True])], [(2, 3), V([True, True])]], dtypes=FLOATS,
        bad=[([(2, 3), V([True])], "must have rank 1")]),
    Row("ReverseSequence", [Case([(2, 4), V([1, 3])], seq_dim=1), Case([(3, 4, 2), V([0, 3, 2], "int64")], seq_dim=1),
                            Case([(4, 2, 3), V([4, 1])], seq_dim=0, batch_dim=1),
                            Case([(2, 3, 4), V([4, 2])], seq_dim=2, batch_dim=0)], dtypes=FLOATS,
        bad=[(Case([(2, 4), V([1, 3])], seq_dim=0), "batch_dim == seq_dim"),
             (Case([(2, 4), V([1])], seq_dim=1), "has 1 elements but"),
             (Case([(2, 4), V([1, 5])], seq_dim=1), r"must lie in \[0, 4\]", InvalidArgumentError)]),
    Row("Roll", [[(4,), V(1), V(0)], [(3, 4), V([1, -6]), V([0, 1])], [(3, 4), V([1, 1], "int64"), V([1, 1])],
                 [(3, 4), V([2]), V([-1], "int64")]], dtypes=FLOATS,
        bad=[([(), V(1), V(0)], "1-D or higher"), ([(3,), V(1), V(1)], "axis 1 is out of range"),
             ([(3,), V([1, 2]), V([0])], "same size")]),
]
