"""Rows for `ops/array/constant.py`, `filled.py`, `shapes.py`, `select.py`, `masking.py`, `sequences.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, R, Row, V

FLOATS = ["float32", "float64", "complex64"]
ALL = [*FLOATS, "int32", "int64", "bool"]
INDEX = ["int32", "int64"]

ROWS = [
    Row("Const", [Case([], value=np.array([1.5, 2], np.float32), dtype="float32")], order=0, xla=False, tf=False,
        note="an attribute holds the value, in a message of TensorFlow's own"),
    Row("Placeholder", [], order=0, bad=[(Case([], dtype="float32", shape=()), "feed", InvalidArgumentError)]),
    Row("PlaceholderWithDefault", [Case([(2, 3)], shape=(2, 3)), Case([(2, 3)], shape=(None, 3))], dtypes=FLOATS,
        shapes="rank", tf=False, note="the declared shape may hide dimensions; TensorFlow has none in eager mode",
        bad=[(Case([(2, 3)], shape=(3, 3)), "must be equal")]),
    Row("Identity", [[(2, 3)], [()], [(0, 3)]], dtypes=ALL),
    Row("Materialized", [[(2, 3)], [()], [(0, 3)]], tf=False, note="an op of graphgrad's own"),
    Row("Snapshot", [[(2, 3)]], dtypes=FLOATS),
    Row("XlaSharding", [[(2, 3)], [()]], dtypes=FLOATS, tf=False, note="TensorFlow has no kernel of it for processors"),
    Row("DeepCopy", [[(2, 3)]], order=0),
    Row("GuaranteeConst", [[(2, 3)]], tf=False, note="TensorFlow's op is for graphs alone"),
    Row("StopGradient", [[(2, 3)]], order=0),
    Row("IdentityN", [[L((2, 3), ())], [L((2,))]], dtypes=["float32"]),
    Row("PreventGradient", [Case([(2, 3)], message="why")], order=0, tf_grad=False,
        note="its gradient is an error; tests/gradients/test_stop_gradients.py"),
    Row("EnsureShape", [Case([(2, 3)], shape=(2, None)), Case([(2, 3)], shape=None)], dtypes=FLOATS,
        bad=[(Case([(2, 3)], shape=(2, 4)), "must be equal")]),
    Row("CheckNumerics", [Case([(2, 3)], message="here")],
        bad=[(Case([V([1.0, np.inf])], message="here"), "here : Tensor had Inf", InvalidArgumentError),
             (Case([V([np.nan])], message="here"), "here : Tensor had NaN", InvalidArgumentError)]),

    # filled
    Row("Fill", [[V([2, 3]), ()], [V([], "int32"), ()], [V([0, 2]), ()]], dtypes=INDEX,
        bad=[([V([-1]), ()], "must be >= 0"), ([V([2]), (2,)], "value must be a scalar")]),
    Row("ZerosLike", [[(2, 3)], [()]], dtypes=ALL, order=0),
    Row("OnesLike", [[(2, 3)], [()]], dtypes=ALL, order=0),
    Row("Empty", [Case([V([2, 3])], dtype="float32", init=True)], order=0),

    # shapes
    Row("Shape", [[(2, 3)], [()], Case([(2, 0)], out_type="int64")], dtypes=["float32", "bool"], order=0),
    Row("ShapeN", [[L((2, 3), ())], Case([L((2,), (0, 3))], out_type="int64")], order=0),
    Row("Rank", [[(2, 3)], [()]], order=0),
    Row("Size", [[(2, 3)], [()], Case([(2, 0)], out_type="int64")], order=0),
    Row("Reshape", [[(2, 3), V([3, 2])], [(2, 3), V([-1])], [(1,), V([], "int32")], [(0, 3), V([3, 0])],
                    [(2, 3), V([3, -1, 1], "int64")], [(0, 3), V([2, -1])]], dtypes=FLOATS,
        bad=[([(2, 3), V([4])], "(?s)6 elements.*multiply to 6"), ([(2, 3), V([-1, -1])], "Only one input size"),
             ([(2, 3), V([-1, 4])], "multiple of 4"), ([(2, 3), V([-2, 3])], "non-negative"),
             ([(2, 3), V(6)], "must be a vector")]),
    Row("ExpandDims", [[(2, 3), V(0)], [(2, 3), V(-1)], [(2, 3), V(1, "int64")], [(), V(0)], [(2,), V([1])]],
        dtypes=FLOATS, bad=[([(2, 3), V(4)], r"axis 4 is out of range"), ([(2, 3), V([0, 1])], "exactly one")]),
    Row("Squeeze", [[(1, 3, 1)], [(2, 3)]], dtypes=FLOATS, shapes="sizes",
        note="a size that is not known may be 1, and the dimension go"),
    Row("Squeeze", [Case([(1, 3, 1)], squeeze_dims=(0,)), Case([(1, 3, 1)], squeeze_dims=(-1,))], dtypes=FLOATS,
        bad=[(Case([(1, 3)], squeeze_dims=(1,)), r"Can not squeeze dim\[1\]"),
             (Case([(1, 3)], squeeze_dims=(2,)), "out of range")]),
    Row("BroadcastTo", [[(3,), V([2, 3])], [(2, 1), V([2, 3])], [(), V([2, 2])], [(1, 3), V([0, 3], "int64")],
                        [(2, 3), V([2, 3])]], dtypes=FLOATS,
        bad=[([(3,), V([2, 4])], "cannot be broadcast"), ([(2, 3), V([3])], "rank 2")]),
    Row("BroadcastArgs", [[V([2, 1]), V([3])], [V([]), V([2])]], dtypes=INDEX, order=0,
        bad=[([V([2]), V([3])], "do not broadcast", InvalidArgumentError)]),

    # choice
    Row("Select", [[R((3,), "bool"), (3,), (3,)], [R((2,), "bool"), (2, 3), (2, 3)], [R((), "bool"), (2, 3), (2, 3)],
                   [R((2, 3), "bool"), (2, 3), (2, 3)]], dtypes=FLOATS,
        bad=[([R((2,), "bool"), (3,), (3,)], "must be equal"),
             ([R((2, 3, 4), "bool"), (2, 3), (2, 3)], "fits neither")]),
    Row("SelectV2", [[R((3,), "bool"), (3,), (3,)], [R((2, 1), "bool"), (3,), ()], [R((), "bool"), (2, 1), (1, 3)],
                     [R((2, 3), "bool"), (), (2, 3)]], dtypes=FLOATS,
        bad=[([R((2,), "bool"), (3,), (3,)], "(?s)dimension -1 differs.*expand_dims")]),
    Row("Where", [[V([[True, False], [True, True]])], [V([0.0, 2.0, 0.0], "float32")], [V(True)], [V([], "bool")]],
        dtypes=["bool"], order=0, shapes="rank", note="how many there are depends on the values"),

    # sequences
    Row("Range", [[V(0), V(5), V(2)], [V(5), V(0), V(-2)], [V(3), V(3), V(1)]], dtypes=[*INDEX, "float32"], order=0,
        bad=[([V(0), V(5), V(0)], "delta != 0"), ([V(5), V(0), V(1)], "start <= limit"),
             ([V([0]), V(5), V(1)], "start must have rank 0")]),
    Row("Range", [[V(0.0), V(1.0), V(0.1)], [V(1.0), V(-1.0), V(-0.3)], [V(0.1), V(1.1), V(0.1)],
                  [V(0.0), V(0.3), V(0.1)], [V(1.0), V(1.3), V(0.1)]], dtypes=["float32", "float64"], order=0),
    Row("LinSpace", [[V(0.0), V(1.0), V(5)], [V(2.0), V(-1.0), V(4, "int64")], [V(2.0), V(3.0), V(1)]],
        dtypes=["float32", "float64"], order=0, bad=[([V(0.0), V(1.0), V(0)], "num > 0", InvalidArgumentError)]),
]

