"""Rows for `ops/math/comparison.py` and `bits.py`."""

import numpy as np

from tests.support.table import Case, R, Row, V

from .math import BAD_PAIR, binary

_REALS = ["float32", "int32", "uint8", "bfloat16"]
_FLOATS = ["float32", "float64", "bfloat16", "float16"]
_INTEGERS = ["int32", "int8", "uint32"]
_SPECIAL = [[V([1.0, np.inf, -np.inf, np.nan, 0.0])], [(2, 3)]]
_NOT_FLOAT = [([R((2,), "int32")], "not in list of allowed values", TypeError)]
_NOT_INTEGER = [([R((2,), "float32")] * 2, "not in list of allowed values", TypeError)]


def comparison(op_type, dtypes=_REALS):
    """A row for a comparison; small integers, so that some are equal."""
    return binary(op_type, dtypes, order=0, domain=(-1, 1))


def bits(op_type, domain):
    """A row for an op on the bits of two integers."""
    return binary(op_type, _INTEGERS, order=0, domain=domain, bad=[*BAD_PAIR, *_NOT_INTEGER])


ROWS = [
    comparison("Less"), comparison("LessEqual"), comparison("Greater"), comparison("GreaterEqual"),
    comparison("Equal", [*_REALS, "complex64", "bool"]), comparison("NotEqual", [*_REALS, "complex64", "bool"]),
    Row("Equal", [[V(["a", "b"]), V(["a", "c"])]], dtypes=["string"], order=0),
    Row("NotEqual", [[V(["a", "b"]), V("b")]], dtypes=["string"], order=0),
    *[Row(t, [Case([(3,), (3,)], incompatible_shape_error=False), Case([(3,), (4,)], incompatible_shape_error=False)],
          order=0, shapes="any", inference=False, note="one answer for shapes that do not fit")
      for t in ("Equal", "NotEqual")],
    Row("ApproximateEqual", [[V([1.0, 2.0]), V([1.000001, 2.1])], Case([V([1.0, 2.0]), V([1.5, 3.5])], tolerance=1.0)],
        dtypes=["float32", "float64"], order=0, bad=[([(2,), (3,)], "must be equal")]),
    Row("LogicalNot", [[(3,)], [()]], order=0,
        bad=[([R((2,), "int32")], "does not match expected type of bool", TypeError)]),
    binary("LogicalAnd", ["bool"], order=0, bad=()), binary("LogicalOr", ["bool"], order=0, bad=()),
    Row("IsNan", _SPECIAL, dtypes=_FLOATS, order=0, bad=_NOT_FLOAT),
    Row("IsInf", _SPECIAL, dtypes=_FLOATS, order=0, bad=_NOT_FLOAT),
    Row("IsFinite", _SPECIAL, dtypes=_FLOATS, order=0, bad=_NOT_FLOAT),
    bits("BitwiseAnd", (-100, 100)), bits("BitwiseOr", (-100, 100)), bits("BitwiseXor", (-100, 100)),
    bits("LeftShift", {"": (-100, 100), "y": (0, 6)}), bits("RightShift", {"": (-100, 100), "y": (0, 6)}),
    Row("LeftShift", [[V([1, 1]), V([31, 40])]], dtypes=["int32"], order=0, note="no further than the width"),
    Row("RightShift", [[V([-8, 8]), V([31, 40])]], dtypes=["int32"], order=0, note="no further than the width"),
    Row("Invert", [[(3,)], [()]], dtypes=_INTEGERS, order=0, domain=(-100, 100),
        bad=[(_NOT_INTEGER[0][0][:1], *_NOT_INTEGER[0][1:])]),
]
