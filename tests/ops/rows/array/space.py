"""Rows for `ops/array/space_to_batch.py`."""

from tests.support.table import Case, Row, V

FLOATS = ["float32", "float64"]

ROWS = [
    Row("SpaceToBatchND", [[(1, 4, 6, 2), V([2, 3]), V([[0, 0], [0, 0]])], [(2, 3, 1), V([2]), V([[1, 0]])],
                           [(2, 5), V([3], "int64"), V([[0, 1]], "int64")],
                           [(1, 2, 2, 1), V([1, 2]), V([[0, 0], [1, 1]])]], dtypes=FLOATS,
        bad=[([(1, 3, 1), V([2]), V([[0, 0]])], "not divisible"), ([(1,), V([2]), V([[0, 0]])], "must be at least 2"),
             ([(1, 4), V([0]), V([[0, 0]])], "must be positive"), ([(1, 4), V([2]), V([[-2, 0]])], "not be negative")]),
    Row("BatchToSpaceND", [[(6, 2, 2, 2), V([2, 3]), V([[0, 0], [0, 0]])], [(4, 3, 1), V([2]), V([[1, 0]])],
                           [(4, 1, 3, 1), V([1, 2]), V([[0, 0], [1, 1]])]], dtypes=FLOATS,
        bad=[([(3, 2), V([2]), V([[0, 0]])], "not divisible"), ([(2, 1), V([2]), V([[2, 1]])], "negative")]),
    Row("SpaceToBatch", [Case([(1, 4, 2, 2), V([[0, 0], [1, 1]])], block_size=2)], dtypes=FLOATS),
    Row("BatchToSpace", [Case([(4, 2, 2, 2), V([[0, 0], [1, 1]])], block_size=2)], dtypes=FLOATS),
    Row("SpaceToDepth", [Case([(1, 4, 6, 2)], block_size=2), Case([(2, 3, 3, 1)], block_size=3)], dtypes=FLOATS,
        bad=[(Case([(1, 3, 4, 1)], block_size=2), "height 3"), (Case([(4, 4, 1)], block_size=2), "rank 4"),
             (Case([(1, 2, 2, 1)], block_size=2, data_format="CHWN"), "not supported")]),
    Row("SpaceToDepth", [Case([(1, 2, 4, 6)], block_size=2, data_format="NCHW")], dtypes=FLOATS, tf=False,
        note="TensorFlow has NCHW on GPUs alone"),
    Row("DepthToSpace", [Case([(1, 2, 3, 8)], block_size=2), Case([(2, 1, 1, 9)], block_size=3)], dtypes=FLOATS,
        bad=[(Case([(1, 2, 2, 3)], block_size=2), "depth 3")]),
    Row("DepthToSpace", [Case([(1, 8, 2, 3)], block_size=2, data_format="NCHW")], dtypes=FLOATS, tf=False,
        note="TensorFlow has NCHW on GPUs alone"),
]
