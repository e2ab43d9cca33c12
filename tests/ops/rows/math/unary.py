"""Rows for `ops/math/unary.py`, `exponential.py` and `trig.py`."""

import numpy as np

from graphgrad.errors import InvalidArgumentError
from tests.support.table import Row, V, nonzero

from .math import INEXACT, bad_type, binary, gradient_op, unary

_SIGNED = ["float32", "float64", "bfloat16", "float16", "int32", "int64"]
_FLOATS = ["float32", "float64", "bfloat16", "float16"]
_NOT_SIGNED = bad_type(1, "uint16")
_POSITIVE = (0.5, 3.0)
_INSIDE = (-0.9, 0.9)

ROWS = [
    unary("Abs", _SIGNED, domain=nonzero),
    unary("Neg", [*_SIGNED, "complex64"]),
    unary("Sign", _SIGNED, domain=nonzero),
    unary("Sign", ["complex64"], domain=nonzero, order=0, tf_grad=False, bad=(),
          note="TensorFlow's gradient, zeros, is that of real numbers; tf.sign makes another op of complex ones"),
    Row("Sign", [[V([0.0, -0.0])]], order=0, note="at the step"),
    Row("Abs", [[V([0.0, -0.0])]], order=0, note="at the corner, where the gradient is 0"),
    unary("Floor", _FLOATS), unary("Ceil", _FLOATS), unary("Rint", ["float32", "float64"]),
    unary("Round", _FLOATS, bad=_NOT_SIGNED),
    unary("Round", ["int32", "int64"], tf=False, note="TensorFlow's kernel gives zeros for some integers"),
    Row("Round", [[V([0.5, 1.5, 2.5, -0.5, -1.5])]], order=0, note="halves go to the even number"),
    unary("Square", [*INEXACT, "int32", "uint8"], bad=()),
    unary("Sqrt", domain=_POSITIVE), unary("Rsqrt", domain=_POSITIVE),
    unary("Reciprocal", domain=nonzero, bad=_NOT_SIGNED), unary("Inv", domain=nonzero, bad=_NOT_SIGNED),
    *[gradient_op(t) for t in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")],
    gradient_op("TanhGrad"), gradient_op("SigmoidGrad"),
    unary("Exp"), unary("Expm1"), unary("Log", domain=_POSITIVE), unary("Log1p", domain=(-0.5, 2.0)),
    unary("Sin"), unary("Cos"), unary("Tan", domain=(-1, 1)),
    unary("Asin", domain=_INSIDE), unary("Acos", domain=_INSIDE), unary("Atan", domain=_INSIDE),
    unary("Sinh"), unary("Cosh"), unary("Tanh"),
    unary("Asinh", domain=_INSIDE), unary("Acosh", domain=(1.5, 3.0)), unary("Atanh", domain=_INSIDE),
    unary("Sigmoid"),
    Row("Sigmoid", [[V([-200.0, 200.0, -np.inf, np.inf])]], dtypes=["float32", "float64"], order=0,
        note="far out, where derivatives vanish"),
    binary("NextAfter", ["float32", "float64"], wrt=["x1"]),
    binary("Atan2", _FLOATS, domain=nonzero),
    binary("Pow", ["float32", "float64", "complex64", "complex128"], domain=(0.5, 2.0)),
    binary("Pow", ["bfloat16", "float16"], domain=(0.5, 2.0), rtol=2e-2, note="the power rounds its logarithm"),
    Row("Pow", [[V([2, -3, 0]), V([3, 2, 0])]], dtypes=["int32", "int64"],
        bad=[([V([2]), V([-1])], "negative integer powers", InvalidArgumentError)]),
    Row("Pow", [[V([0.0, 0.0, -2.0, -2.0]), V([2.0, 1.0, 2.0, 3.0])]], dtypes=["float32", "float64"], order=1,
        wrt=["x"], note="at 0 and below; further derivatives hold only along integer powers"),
    binary("Xlogy", ["float32", "float64", "bfloat16", "float16"], domain=_POSITIVE),
    binary("Xlog1py", ["float32", "float64", "bfloat16", "float16"], domain=_POSITIVE),
    binary("Xdivy", ["float32", "float64", "bfloat16", "float16"], domain=_POSITIVE),
    binary("Xlogy", ["complex64"], domain=_POSITIVE, tf_grad=False, note="TensorFlow leaves out conjugations"),
    binary("Xlog1py", ["complex64"], domain=_POSITIVE, tf_grad=False, note="TensorFlow leaves out conjugations"),
    binary("Xdivy", ["complex64"], domain=_POSITIVE, tf_grad=False, note="TensorFlow leaves out conjugations"),
    *[Row(t, [[V([0.0, 0.0, 2.0]), V([0.0, 1.0, 0.0])]], dtypes=["float32", "float64"], order=0,
          note="x = 0 wins over whatever y gives") for t in ("Xlogy", "Xlog1py", "Xdivy")],
]

