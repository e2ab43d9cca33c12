"""Rows for `ops/math/arithmetic.py`, `division.py` and `clip.py`; what the rows of other elementwise families share."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Case, L, R, Row, V, nonzero

FLOATS = ["float32", "float64", "bfloat16", "float16"]
INEXACT = ["float32", "float64", "complex64", "complex128", "bfloat16", "float16"]
NUMBERS = ["float32", "int32", "complex64", "float64", "bfloat16", "float16", "int64", "uint8"]
REALS = ["float32", "int32", "float64", "bfloat16", "float16", "int64"]

PAIRS = [[(3,), (3,)], [(2, 1), (3,)], [(), (4,)], [(0, 3), (3,)], [(), ()]]
ONES = [[(2, 3)], [()], [(0, 2)]]
BAD_PAIR = [([(3, 4), (3,)], "(?s)dimension -1.*expand_dims")]


def bad_type(n, dtype="int32"):
    """Inputs of a dtype that a function of floats does not take."""
    return [([R((2,), dtype, (0, 5))] * n, "not in list of allowed values", TypeError)]


def binary(op_type, dtypes, **options):
    """A row for an elementwise op of two operands that broadcast."""
    options.setdefault("bad", BAD_PAIR)
    return Row(op_type, options.pop("cases", PAIRS), dtypes=dtypes, **options)


def unary(op_type, dtypes=INEXACT, **options):
    """A row for an elementwise op of one operand."""
    options.setdefault("bad", bad_type(1, "int32" if "int32" not in dtypes else "uint16"))
    return Row(op_type, ONES, dtypes=dtypes, **options)


def gradient_op(op_type):
    """A row for the gradient op of a unary one, which takes (y, dy)."""
    return Row(op_type, [[(2, 3), (2, 3)], [(), ()]], dtypes=INEXACT, domain=nonzero, bad=bad_type(2))


_ARITHMETIC = [
    binary("Add", NUMBERS),
    Row("Add", [[V(["a", "b"]), V("c")], [V("a"), V("b")]], dtypes=["string"], order=0),
    binary("AddV2", NUMBERS),
    binary("Sub", NUMBERS),
    binary("Mul", NUMBERS),
    binary("MulNoNan", FLOATS, domain=nonzero),
    binary("MulNoNan", ["complex64", "complex128"], domain=nonzero, tf_grad=False,
           note="TensorFlow leaves out the conjugation of complex factors"),
    Row("MulNoNan", [[V([np.inf, np.nan, 2.0]), V([0.0, 0.0, 0.0])]], dtypes=["float32", "float64"], order=0,
        note="nothing to differentiate at the zeros"),
    Row("AddN", [[L((2, 3), (2, 3), (2, 3))], [L((), ())], [L((4,))]], dtypes=NUMBERS,
        bad=[([L((2,), (3,))], r"shapes \(2,\) and \(3,\) must be equal")]),
    Row("AccumulateNV2", [Case([L((2, 3), (2, 3))], shape=(2, 3)), Case([L((4,))], shape=(4,))],
        dtypes=["float32", "int32", "complex64"], tf=False,
        bad=[(Case([L((2,), (3,))], shape=(2,)), "must be equal")],
        note="TensorFlow has no kernel: it rewrites the op before it runs"),
    binary("SquaredDifference", ["float32", "float64", "bfloat16", "float16", "int32", "int64"]),
    binary("SquaredDifference", ["complex64"], order=0, cases=PAIRS[:2],
           note="TensorFlow's gradient, 2 (x - y) dy, is that of a complex output whose cotangent is real"),
    binary("Maximum", REALS),
    binary("Minimum", REALS),
    binary("Maximum", ["float32"], cases=[[V([1.0, 2.0, 2.0]), V([1.0, 1.0, 3.0])]], order=0, note="ties go to x"),
    binary("Minimum", ["float32"], cases=[[V([1.0, 2.0, 2.0]), V([1.0, 1.0, 3.0])]], order=0, note="ties go to x"),
    Row("Cross", [[(3,), (3,)], [(2, 3), (2, 3)]], dtypes=["float32", "float64", "int32"],
        bad=[([(2,), (2,)], "vectors of 3"), ([(3,), (2, 3)], "must be equal")]),
    Row("ClipByValue", [[(3, 4), V(-0.5), V(0.75)], [(3,), V([-0.5, 0.0, 0.5]), V([0.5, 0.25, 1.0])]],
        dtypes=["float32", "float64"], bad=[([(3,), V([0.0, 1.0]), V(1.0)], "must be equal")]),
    Row("ClipByValue", [[(6,), V(-1), V(1)]], dtypes=["int32"]),
]

_BY_ZERO = ([V([1, 2], "int32"), V([1, 0], "int32")], "Integer division by zero", InvalidArgumentError)
_DIVISION = [
    binary("RealDiv", ["float32", "float64", "complex64", "complex128", "bfloat16", "float16"],
           domain={"": (-2, 2), "y": nonzero}),
    binary("Div", ["float32", "float64", "complex64"], domain={"": (-2, 2), "y": nonzero}),
    binary("Div", ["int32", "uint8"], domain={"": (-9, 9), "y": nonzero},
           bad=[_BY_ZERO]),
    binary("RealDiv", ["int32"], domain={"": (-9, 9), "y": nonzero}, tf=False,
           note="TensorFlow has no kernel for integers on the CPU"),
    binary("DivNoNan", INEXACT, domain={"": (-2, 2), "y": nonzero}),
    binary("DivNoNan", ["float32", "complex64"], cases=[[V([1.0, np.inf, 0.0]), V([0.0, 0.0, 0.0])]], order=0,
           note="0 / 0"),
    binary("FloorDiv", REALS + ["uint8"], domain={"": (-9, 9), "y": nonzero},
           bad=[*BAD_PAIR, _BY_ZERO]),
    binary("TruncateDiv", ["int32", "int64", "uint8"], domain={"": (-9, 9), "y": nonzero}),
    binary("TruncateDiv", ["float32"], domain={"": (-9, 9), "y": nonzero}, tf=False,
           note="TensorFlow has no kernel for floats on the CPU"),
    binary("FloorMod", REALS + ["uint8"], domain={"": (-9, 9), "y": nonzero}),
    binary("Mod", ["float32", "float64", "int32", "int64"], domain={"": (-9, 9), "y": nonzero}),
    binary("TruncateMod", ["float32", "float64", "int32", "int64"], domain={"": (-9, 9), "y": nonzero}),
]

ROWS = [*_ARITHMETIC, *_DIVISION]
