"""Rows for `extras/sparse/sparse_ops.py`, `sparse_math.py`, `sparse_segment.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V, distinct

FLOATS = ["float32", "float64"]
FULL = [*FLOATS, "complex64"]

PLACES = V([[0, 1], [0, 3], [2, 0]], "int64")  # of a (3, 4) matrix, in order
SHAPE = V([3, 4], "int64")
MIXED = V([[2, 0], [0, 3], [0, 1]], "int64")
NONE = V(np.zeros((0, 2), np.int64), "int64")
CUBE = V([[0, 0, 1], [1, 0, 0], [1, 2, 1]], "int64")  # of a (2, 3, 2) tensor
CUBE_SHAPE = V([2, 3, 2], "int64")
OUTSIDE = V([[0, 1], [0, 4], [2, 0]], "int64")

_MATMUL = [
    Case([PLACES, (3,), SHAPE, (4, 2)]),
    Case([PLACES, (3,), SHAPE, (3, 2)], adjoint_a=True),
    Case([MIXED, (3,), SHAPE, (2, 4)], adjoint_b=True),
    Case([PLACES, (3,), SHAPE, (2, 3)], adjoint_a=True, adjoint_b=True),
    Case([NONE, (0,), SHAPE, (4, 2)]),
]
_COUNT = "how many elements there are depends on the values"
_SEGMENTS = [[(5, 2), V([0, 2, 4, 2]), V([0, 0, 1, 1])], [(5,), V([0, 2]), V([0, 3])],
             [(5, 2), V([1, 1, 1]), V([0, 0, 2])]]
_NO_ROWS = [(5, 2), V(np.zeros(0, np.int32)), V(np.zeros(0, np.int32))]
_GARBAGE = "where no row is picked, TensorFlow's gradient is memory that nobody wrote"


def _segment(kind):
    numbered = [[*case, V(4)] for case in _SEGMENTS]
    spread = [[(3, 2), V([0, 2, 4, 2]), V([0, 0, 2, 2]), V(5)], [(4,), V([0, 2]), V([0, 3]), V(6)]]
    unsorted = [((3, 2)), V([0, 1]), V([1, 0])]
    return [
        Row(f"SparseSegment{kind}", _SEGMENTS, dtypes=FLOATS, shapes="rank",
            note="how many segments there are depends on the ids",
            bad=[(unsorted, "not increasing", InvalidArgumentError),
                 ([(3, 2), V([0, 5]), V([0, 1])], "out of range", InvalidArgumentError)]),
        Row(f"SparseSegment{kind}", [_NO_ROWS], shapes="rank", tf_grad=False, note=_GARBAGE),
        Row(f"SparseSegment{kind}WithNumSegments", [[*_NO_ROWS, V(4)]], tf_grad=False, note=_GARBAGE),
        Row(f"SparseSegment{kind}WithNumSegments", numbered, dtypes=FLOATS,
            bad=[([(3, 2), V([0, 1]), V([0, 7]), V(4)], "num_segments", InvalidArgumentError),
                 ([(3, 2), V([[0, 1]]), V([0, 1]), V(4)], "indices should be a vector")]),
        Row(f"SparseSegment{kind}Grad", spread, dtypes=FLOATS, tf_grad=False,
            note="TensorFlow does not differentiate the gradient"),
    ]


ROWS = [
    Row("SparseTensorDenseMatMul", _MATMUL, dtypes=FULL,
        bad=[([PLACES, (3,), SHAPE, (3, 2)], "A has 4 columns, B 3 rows"),
             ([PLACES, (2,), SHAPE, (4, 2)], "3 indices but 2"),
             ([OUTSIDE, (3,), SHAPE, (4, 2)], r"indices\[1\] = \[0,4\] is out of bounds", InvalidArgumentError),
             ([PLACES, (3,), SHAPE, (4,)], "b must have rank 2")]),
    Row("SparseToDense", [[PLACES, SHAPE, (3,), ()], [V([1, 3]), V([5]), (2,), ()], [V(2), V([4]), (), ()],
                          [V([1, 3]), V([5]), (), ()], Case([MIXED, SHAPE, (3,), ()], validate_indices=False)],
        dtypes=[*FLOATS, "int32"], wrt=["sparse_values", "default_value"],
        bad=[([MIXED, SHAPE, (3,), ()], r"indices\[1\] = \[0,3\] is out of order", InvalidArgumentError),
             ([OUTSIDE, SHAPE, (3,), ()], "out of bounds", InvalidArgumentError),
             ([V([1, 1]), V([3]), (2,), ()], "repeated", InvalidArgumentError),
             ([PLACES, SHAPE, (3, 1), ()], "scalar or a vector"), ([PLACES, SHAPE, (3,), (1,)], "default_value")]),
    Row("SparseTensorDenseAdd", [[PLACES, (3,), SHAPE, (3, 4)], [CUBE, (3,), CUBE_SHAPE, (2, 3, 2)]], dtypes=FULL,
        bad=[([PLACES, (3,), SHAPE, (4, 3)], "differ")]),
    Row("SparseReduceSum", [[PLACES, (3,), SHAPE, V([1])], [PLACES, (3,), SHAPE, V([0, 1])],
                            [CUBE, (3,), CUBE_SHAPE, V([-1])],
                            Case([CUBE, (3,), CUBE_SHAPE, V([0, 2])], keep_dims=True), [NONE, (0,), SHAPE, V([0])],
                            [PLACES, (3,), SHAPE, V(np.zeros(0, np.int32))]],
        dtypes=FLOATS, inference=False, note="more is inferred than by TensorFlow",
        bad=[([PLACES, (3,), SHAPE, V([2])], "Invalid reduction dimension 2")]),
    Row("SparseReduceMax", [[PLACES, (3,), SHAPE, V([1])], Case([CUBE, (3,), CUBE_SHAPE, V([0, 2])], keep_dims=True),
                            [PLACES, (3,), SHAPE, V([0, 1])]],
        dtypes=[*FLOATS, "int32"], domain={"input_values": distinct}),
    Row("SparseReduceMax", [[PLACES, V([2.0, 2.0, 1.0]), SHAPE, V([1])]], dtypes=["float32"], order=0,
        note="ties share the gradient"),
    Row("SparseReorder", [[MIXED, (3,), SHAPE], [CUBE, (3,), CUBE_SHAPE], [NONE, (0,), SHAPE]], dtypes=FULL),
    Row("SparseReshape", [[PLACES, SHAPE, V(t, "int64")] for t in ([4, 3], [12], [2, -1, 2], [-1])], order=0,
        bad=[([PLACES, SHAPE, V([5, 3], "int64")], "12 dense values"),
             ([PLACES, SHAPE, V([-1, -1], "int64")], "only one")]),
    Row("SparseAdd", [[PLACES, (3,), SHAPE, V([[0, 1], [1, 1]], "int64"), (2,), SHAPE, V(0, "float32")],
                      [PLACES, (3,), SHAPE, NONE, (0,), SHAPE, V(0, "float32")]], shapes="rank", note=_COUNT, ys=[1],
        bad=[([PLACES, (3,), SHAPE, NONE, (0,), V([3, 5], "int64"), V(0, "float32")], "differ", InvalidArgumentError)]),
    Row("SparseAddGrad", [[(4,), PLACES, V([[0, 1], [1, 1]], "int64"), V([[0, 1], [0, 3], [1, 1], [2, 0]], "int64")]],
        tf_grad=False, note="TensorFlow does not differentiate the gradient"),
    Row("SparsePlaces", [[MIXED, PLACES], [PLACES, V([[2, 0]], "int64")], [NONE, PLACES]], tf=False,
        note="it serves the gradients of others; TensorFlow has no such op"),
    Row("SparseDenseCwiseMul", [[PLACES, (3,), SHAPE, d] for d in ((3, 4), (4,), (1, 4), (3, 1), ())],
        dtypes=[*FLOATS, "complex64"], bad=[([PLACES, (3,), SHAPE, (2, 3, 4)], "rank 3, more than")]),
    Row("SparseDenseCwiseDiv", [[PLACES, (3,), SHAPE, d] for d in ((3, 4), (1, 4), ())], dtypes=FLOATS,
        domain=(0.5, 2)),
    Row("SparseDenseCwiseAdd", [[PLACES, (3,), SHAPE, d] for d in ((3, 4), (1, 4), ())], dtypes=FLOATS, tf_grad=False,
        note="TensorFlow's gradient is not implemented"),
    Row("SparseSoftmax", [[PLACES, (3,), SHAPE], [CUBE, (3,), CUBE_SHAPE], [NONE, (0,), SHAPE]], dtypes=FLOATS,
        bad=[([V([[0]], "int64"), (1,), V([3], "int64")], "rank >= 2")]),
    Row("SparseConcat", [Case([L(PLACES, V([[1, 1]], "int64")), L((3,), (1,)), L(SHAPE, V([3, 2], "int64"))],
                              concat_dim=1),
                         Case([L(PLACES, PLACES), L((3,), (3,)), L(SHAPE, SHAPE)], concat_dim=-2),
                         Case([L(MIXED), L((3,)), L(SHAPE)], concat_dim=0)],
        inference=False, tf_grad=False,
        note="the sizes of sums of lists are known here; TensorFlow's gradient is wrong, and it takes no single tensor",
        bad=[(Case([L(PLACES, PLACES), L((3,), (3,)), L(SHAPE, V([9, 5], "int64"))], concat_dim=0),
              "differ in other axes", InvalidArgumentError)]),
    Row("SparseSplit", [Case([V(1, "int64"), PLACES, (3,), SHAPE], num_split=2),
                        Case([V(-1, "int64"), PLACES, (3,), SHAPE], num_split=3),
                        Case([V(0, "int64"), MIXED, (3,), SHAPE], num_split=1)],
        shapes="rank", note=_COUNT, tf_grad=False,
        bad=[(Case([V(2, "int64"), PLACES, (3,), SHAPE], num_split=1), "split_dim should be", InvalidArgumentError),
             (Case([V(0, "int64"), PLACES, (3,), SHAPE], num_split=4), "num_split should be", InvalidArgumentError)]),
    Row("SparseSlice", [[PLACES, (3,), SHAPE, V([0, 1], "int64"), V([2, 9], "int64")],
                        [PLACES, (3,), SHAPE, V([1, 1], "int64"), V([1, 1], "int64")]], shapes="rank", note=_COUNT,
        ys=[1]),
    Row("SparseSliceGrad", [[(2,), PLACES, V([0, 1], "int64"), V([[0, 0], [0, 2]], "int64")]], tf_grad=False,
        note="TensorFlow does not differentiate the gradient"),
    Row("SparseFillEmptyRows", [[PLACES, (3,), SHAPE, ()], [NONE, (0,), SHAPE, ()]], shapes="rank", note=_COUNT, ys=[1],
        wrt=["values", "default_value"]),
    Row("SparseFillEmptyRowsGrad", [[V([0, 1, 3], "int64"), (4,)]], tf_grad=False,
        note="TensorFlow does not differentiate the gradient"),
    *_segment("Sum"), *_segment("Mean"), *_segment("SqrtN"),
]
