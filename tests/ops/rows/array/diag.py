"""Rows for `ops/linalg/diag.py`."""

from tests.support.table import Case, Row, V

FLOATS = ["float32", "float64", "complex64"]
ALIGNED = "TensorFlow's gradient of a band aligns its rows as V3 does, not V2: finite differences refute it"
PADDED = "TensorFlow gives no gradient for the padding either"


def _diag(shape, k, rows=-1, cols=-1, **attrs):
    return Case([shape, V(k), V(rows), V(cols), ()], **attrs)


ROWS = [
    Row("MatrixDiagV3", [
            _diag((3,), 0), _diag((2, 3), 1), _diag((3,), -1, 5), _diag((2,), 2, 2, 4), _diag((2, 3, 3), [-1, 1]),
            _diag((2, 3), [0, 1], align="LEFT_RIGHT"), _diag((3, 3), [-1, 1], 3, 4, align="LEFT_LEFT"),
            _diag((2, 3), [-2, -1], align="RIGHT_RIGHT"), _diag((2,), -1, -1, 2),
        ],
        dtypes=FLOATS, wrt=["diagonal"],
        bad=[(_diag((3,), 0, 2, 2), "does not fit"), (_diag((2, 3), [0, 2]), "diagonal has 2 rows for the 3"),
             (_diag((3,), [1, 0]), "must not be larger"), (_diag((), 0), "rank at least 1"),
             (_diag((3,), 0, align="MIDDLE"), "align 'MIDDLE'")]),
    Row("MatrixDiagV2", [_diag((2, 3), 1), _diag((3,), -1, 5)], dtypes=FLOATS, wrt=["diagonal"]),
    Row("MatrixDiagV2", [_diag((2, 3, 3), [-1, 1])], dtypes=FLOATS, wrt=["diagonal"], tf_grad=False, note=ALIGNED),
    Row("MatrixDiag", [[(3,)], [(2, 3)]], dtypes=FLOATS, bad=[([()], "rank at least 1")]),
    Row("MatrixDiagPartV3", [
            [(3, 4), V(0), ()], [(2, 3, 4), V(2), ()], [(4, 3), V(-1), ()], [(2, 3, 4), V([-1, 2]), ()],
            Case([(4, 3), V([-2, 1]), ()], align="LEFT_RIGHT"), Case([(3, 3), V([-1, 0]), ()], align="LEFT_LEFT"),
            Case([(3, 3), V([0, 1]), ()], align="RIGHT_RIGHT"),
        ],
        dtypes=FLOATS, wrt=["input"], note=PADDED,
        bad=[([(3, 4), V(4), ()], "not in"), ([(3,), V(0), ()], "rank at least 2")]),
    Row("MatrixDiagPartV2", [[(3, 4), V(1), ()]], dtypes=FLOATS, wrt=["input"]),
    Row("MatrixDiagPartV2", [[(2, 4, 3), V([-1, 2]), ()]], dtypes=FLOATS, wrt=["input"], tf_grad=False, note=ALIGNED),
    Row("MatrixDiagPart", [[(3, 3)], [(2, 3, 4)], [(4, 3)]], dtypes=FLOATS, bad=[([(3,)], "rank at least 2")]),
    Row("MatrixSetDiagV3", [
            [(3, 3), (3,), V(0)], [(2, 3, 4), (2, 3), V(1)], [(2, 4, 3), (2, 3, 3), V([-1, 1])],
            Case([(3, 4), (2, 3), V([-1, 0])], align="LEFT_RIGHT"), [(4, 3), (2,), V(-2)],
        ],
        dtypes=FLOATS, inference="values", note="an unknown k may name a band or a single diagonal",
        bad=[([(3, 3), (2,), V(0)], "diagonal must have shape"), ([(3, 3), (3,), V(3)], "not in")]),
    Row("MatrixSetDiagV2", [[(3, 3), (3,), V(0)]], dtypes=FLOATS),
    Row("MatrixSetDiagV2", [[(2, 4, 3), (2, 3, 3), V([-1, 1])]], dtypes=FLOATS, tf_grad=False, note=ALIGNED),
    Row("MatrixSetDiag", [[(3, 3), (3,)], [(2, 3, 4), (2, 3)]], dtypes=FLOATS,
        bad=[([(3, 3), (2,)], "diagonal must have shape")]),
    Row("MatrixBandPart", [[(3, 4), V(1), V(0)], [(2, 3, 3), V(-1, "int64"), V(1, "int64")], [(3, 4), V(0), V(-1)]],
        dtypes=FLOATS, bad=[([(3,), V(0), V(0)], "rank at least 2"), ([(3, 3), V([0]), V(0)], "must be scalars")]),
    Row("Diag", [[(3,)], [(2, 3)]], dtypes=FLOATS, bad=[([()], "at least rank 1")]),
    Row("DiagPart", [[(3, 3)], [(2, 3, 2, 3)]], dtypes=FLOATS,
        bad=[([(3,)], "even and non-zero rank"), ([(2, 3)], "differ")]),
]

