"""Rows for `ops/array/partition_stitch.py` and `searching.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, Row, V

VALUES = "the size of the result depends on the values"
_RANK = "of a tensor whose value inference looks at it knows no rank while sizes are unknown"
FLOATS = ["float32", "float64", "complex64"]

ROWS = [
    Row("DynamicPartition", [Case([(4, 2), V([1, 0, 1, 1])], num_partitions=2),
                             Case([(2, 3), V([[0, 2, 1], [1, 1, 0]])], num_partitions=4),
                             Case([(2,), V(1)], num_partitions=2)],
        dtypes=FLOATS, shapes="rank", note=VALUES,
        bad=[(Case([(2,), V([0, 2])], num_partitions=2), r"must lie in \[0, 2\)", InvalidArgumentError),
             (Case([(2,), V([0, 1, 0])], num_partitions=2), "must begin with")]),
    Row("DynamicStitch", [[L(V([1, 3]), V([0, 2])), L((2, 2), (2, 2))], [L(V(0), V([[2, 1]])), L((3,), (1, 2, 3))]],
        dtypes=["float32", "float64"], inference="values", note=_RANK,
        bad=[([L(V([0, 1])), L((3,))], "must begin with")]),
    Row("DynamicStitch", [[L(V([1, 0]), V([0, 3])), L((2,), (2,))]], order=0, inference="values",
        note="TensorFlow sends the gradient of a place that is overwritten to all that wrote it"),
    Row("ParallelDynamicStitch", [[L(V([1, 3]), V([0, 2])), L((2, 2), (2, 2))]], dtypes=["float32", "float64"],
        inference="values", note=_RANK),
    Row("Unique", [[V([3.0, 1.0, 3.0, 2.0])], Case([V([5.0])], out_idx="int64")], dtypes=["float32", "int32"], order=0,
        shapes="rank", note=VALUES, bad=[([(2, 3)], "rank 1")]),
    Row("UniqueWithCounts", [[V([3.0, 1.0, 3.0, 2.0])]], dtypes=["float32", "int32"], order=0, shapes="rank",
        note=VALUES),
    Row("UniqueV2", [[V([[3.0, 1.0, 3.0], [1.0, 1.0, 1.0], [3.0, 1.0, 3.0]]), V([0])],
                     [V([[3.0, 1.0, 3.0], [1.0, 1.0, 1.0]]), V([-1], "int64")],
                     Case([V([5.0, 2.0, 5.0]), V([], "int32")], out_idx="int64")],
        dtypes=["float32", "int32"], order=0, shapes="rank", note=VALUES,
        bad=[([(2, 3), V([], "int32")], "rank 1"), ([(2, 3), V([0, 1])], "one axis"),
             ([(2, 3), V([5])], "axis|range")]),
    Row("UniqueWithCountsV2", [[V([[3.0, 1.0, 3.0], [1.0, 1.0, 1.0], [3.0, 1.0, 3.0]]), V([0])],
                               [V([5.0, 2.0, 5.0]), V([], "int32")]],
        dtypes=["float32", "int32"], order=0, shapes="rank", note=VALUES),
    Row("ListDiff", [[V([1, 2, 3, 2, 4]), V([2, 5])], Case([V([1]), V([1])], out_idx="int64")],
        dtypes=["int32", "float32"], order=0, shapes="rank", note=VALUES),
    Row("LowerBound", [[V([[1, 3, 5, 5]]), V([[0, 3, 5, 9]])],
                       Case([V([[1, 2], [3, 4]]), V([[2], [9]])], out_type="int64")],
        dtypes=["float32", "int32"], order=0, bad=[([(3,), (3,)], "rank 2"), ([(2, 3), (1, 3)], "has 2 rows")]),
    Row("UpperBound", [[V([[1, 3, 5, 5]]), V([[0, 3, 5, 9]])],
                       Case([V([[1, 2], [3, 4]]), V([[2], [9]])], out_type="int64")],
        dtypes=["float32", "int32"], order=0),
    Row("Bucketize", [Case([V([[-5, 10], [150, 9], [5, 100]])], boundaries=[0.0, 10.0, 100.0]),
                      Case([V([3.0])], boundaries=[])], dtypes=["float32", "float64", "int32", "int64"], order=0,
        bad=[(Case([V([1.0])], boundaries=[2.0, 1.0]), "sorted boundaries", InvalidArgumentError)]),
    Row("UnravelIndex", [[V([2, 5, 0]), V([3, 2])], [V(7), V([2, 2, 2])]], dtypes=["int32", "int64"], order=0,
        bad=[([V([6]), V([3, 2])], "out of bound", InvalidArgumentError),
             ([V([[1]]), V([3, 2])], "scalar or a vector")]),
    Row("Bitcast", [Case([(2,)], type="int32"), Case([(2,)], type="uint8"), Case([()], type="int16")], order=0),
    Row("Bitcast", [Case([V(np.arange(8, dtype=np.uint8).reshape(2, 4))], type="int32")], dtypes=["uint8"], order=0,
        bad=[(Case([(2, 3)], type="int32"), "last dimension must be 4")]),
]
