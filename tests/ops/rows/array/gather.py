"""Rows for `ops/array/gather.py` and `scatter.py`."""

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, Row, V, distinct

FLOATS = ["float32", "float64", "complex64"]
TIES = "the gradient at a tie is shared as TensorFlow does; finite differences want distinct values"

ROWS = [
    Row("GatherV2", [[(5, 3), V([4, 0, 4]), V(0)], [(5, 3), V(2), V(0)], [(5, 3), V([[1, 0], [2, 1]], "int64"), V(1)],
                     [(2, 3, 4), V([[1], [0]]), V(-1)], Case([(2, 3), V([[1], [0]]), V(1)], batch_dims=1),
                     Case([(2, 3, 4), V([[1, 2], [0, 0]]), V(1)], batch_dims=1),
                     Case([(2, 3, 4), V([[1, 2], [0, 0]]), V(2)], batch_dims=1),
                     Case([(2, 2, 3), V([[[1], [2]], [[0], [0]]], "int64"), V(2)], batch_dims=2),
                     Case([(2, 3, 2), V([[1, 2], [0, 0]]), V(-2)], batch_dims=-1), [(5, 3), V([], "int32"), V(0)],
                     Case([(2, 3), V([1, 0]), V(1)], batch_dims=1)],
        dtypes=FLOATS,
        bad=[([(5, 3), V([5]), V(0)], r"indices\[0\] = 5 is not in \[0, 5\)", InvalidArgumentError),
             ([(5, 3), V([[0], [-1]]), V(1)], r"indices\[1,0\] = -1", InvalidArgumentError),
             ([(5, 3), V([0]), V(2)], "axis 2 is out of range"), ([(), V([0]), V(0)], "at least 1 dimensional"),
             (Case([(2, 3), V([0]), V(1)], batch_dims=2), "batch_dims")]),
    Row("Gather", [[(5, 3), V([4, 0, 4])], [(5,), V([[1, 2], [0, 0]], "int64")]], dtypes=FLOATS,
        bad=[([(5, 3), V([5])], "is not in", InvalidArgumentError)]),
    Row("GatherNd", [[(2, 3), V([[0, 1], [1, 2]])], [(2, 3), V([[1], [0], [1]])], [(2, 3, 4), V([[[1, 2]], [[0, 0]]])],
                     [(2, 3), V([1, 1], "int64")], [(2, 3), V([[], []], "int32")]], dtypes=FLOATS,
        shapes="sizes", note="the rank depends on how many coordinates there are",
        bad=[([(2, 3), V([[0, 3]])], r"indices\[0\] = \[0, 3\]", InvalidArgumentError),
             ([(2,), V([[0, 0]])], "params.rank = 1")]),
    Row("ScatterNd", [[V([[1], [3], [1]]), (3,), V([5])], [V([[1], [0]]), (2, 3), V([4, 3])],
                      [V([[1, 2], [0, 0]], "int64"), (2,), V([2, 3], "int64")],
                      [V([[[1]], [[0]]]), (2, 1, 2), V([3, 2])], [V([[2], [0], [2]]), V([True, False, False]), V([4])]],
        dtypes=["int32"], wrt=["updates"],
        bad=[([V([[5]]), (1,), V([5])], "does not index", InvalidArgumentError),
             ([V([[1]]), (2,), V([5])], "updates must have shape")]),
    Row("TensorScatterUpdate", [[(5,), V([[1], [3]]), (2,)], [(4, 3), V([[1], [0]], "int64"), (2, 3)],
                                [(2, 3), V([[1, 2], [0, 0]]), (2,)], [(2, 3), V([[[1]], [[0]]]), (2, 1, 3)]],
        dtypes=FLOATS, bad=[([(5,), V([[5]]), (1,)], "does not index", InvalidArgumentError),
                            ([(5,), V([[1]]), (2,)], "updates must have shape")]),
    Row("TensorScatterAdd", [[(5,), V([[1], [3], [1]]), (3,)], [(4, 3), V([[1], [0]], "int64"), (2, 3)]],
        dtypes=FLOATS),
    Row("TensorScatterSub", [[(5,), V([[1], [3], [1]]), (3,)], [(4, 3), V([[1], [0]]), (2, 3)]], dtypes=FLOATS),
    Row("TensorScatterMax", [[(6,), V([[1], [3], [1]]), (3,)], [(4, 3), V([[1], [0]]), (2, 3)]],
        domain={"tensor": distinct, "updates": lambda rng, s, t: distinct(rng, s, t) + 0.03}),
    Row("TensorScatterMin", [[(6,), V([[1], [3], [1]]), (3,)], [(4, 3), V([[1], [0]]), (2, 3)]],
        domain={"tensor": distinct, "updates": lambda rng, s, t: distinct(rng, s, t) + 0.03}),
    Row("TensorScatterMax", [[V([1.0, 2.0, 3.0]), V([[0], [0], [1]]), V([1.0, 1.0, 2.0])]], order=0, note=TIES),
    Row("TensorScatterMin", [[V([1.0, 2.0, 3.0]), V([[0], [0], [1]]), V([1.0, 1.0, 2.0])]], order=0, note=TIES),
    Row("OneHot", [[V([1, 0, 3]), V(3), (), ()], Case([V([[1, 0]], "int64"), V(2), (), ()], axis=0),
                   Case([V([[1, -1]]), V(2), (), ()], axis=1), [V(1, "uint8"), V(3), (), ()], [V([1]), V(0), (), ()]],
        dtypes=["int32"], order=0,
        bad=[([V([1]), V(-1), (), ()], "non-negative"), ([V([1]), V([2]), (), ()], "scalars")]),
]
