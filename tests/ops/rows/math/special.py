"""Rows for `ops/math/special.py`."""

import numpy as np

from tests.support.table import Row, V

from .math import BAD_PAIR, binary, unary

_FLOATS = ["float32", "float64", "bfloat16", "float16"]
_DOUBLE = ["float32", "float64"]
_EDGES = "edges of the domain"
_OWN = "TensorFlow has no such op"
_BETA = {"": (0.5, 4.0), "x": (0.1, 0.9)}

ROWS = [
    unary("Erf", _FLOATS), unary("Erfc", _FLOATS),
    unary("Erfinv", _DOUBLE, domain=(-0.9, 0.9)), unary("Ndtri", _DOUBLE, domain=(0.1, 0.9)),
    Row("Erfinv", [[V([-1.0, 1.0, 0.0, 1.5])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Ndtri", [[V([0.0, 1.0, 0.5])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    unary("Lgamma", ["float32", "float64", "float16"], domain=(0.5, 6.0)),
    unary("Digamma", _DOUBLE, domain=(0.5, 6.0), atol=1e-4),
    Row("Lgamma", [[V([1.0, 2.0, 0.0, -1.5, np.inf])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Digamma", [[V([-1.5, 100.0])]], dtypes=_DOUBLE, order=0, rtol=1e-5, note=_EDGES),
    Row("Polygamma", [[V([0.0, 1.0, 2.0, 3.0]), (4,)], [V(1.0), (2, 3)], [V([[0.0], [2.0]]), (3,)]], dtypes=_DOUBLE,
        domain=(0.7, 5.0), wrt=["x"], bad=BAD_PAIR, note="only x is differentiable"),
    binary("Zeta", _DOUBLE, domain={"x": (1.5, 5.0), "q": (0.7, 5.0)}, wrt=["q"]),
    binary("Zeta", ["float64"], domain={"x": (1.5, 5.0), "q": (0.7, 5.0)}, tf=False,
           note="TensorFlow has no gradient for x"),
    binary("ZetaDerivative", ["float64"], attrs={"order": 2}, domain={"x": (1.5, 5.0), "q": (0.7, 5.0)}, tf=False,
           note=_OWN),
    binary("Igamma", _DOUBLE, domain=(0.5, 5.0)), binary("Igammac", _DOUBLE, domain=(0.5, 5.0)),
    binary("IgammaGradA", _DOUBLE, domain=(0.5, 5.0), rtol=1e-4, tf_grad=False,
           note="TensorFlow has no gradient for it"),
    binary("IgammaDerivative", _DOUBLE, attrs={"order": 2}, domain=(0.3, 8.0), tf=False, note=_OWN),
    Row("IgammaDerivative", [[V([1.0, -1.0, 2.0]), V([0.0, 1.0, np.inf])]], {"order": 2}, dtypes=["float64"], order=0,
        tf=False, note=_EDGES),
    Row("Igamma", [[V([1.0, 0.5, 2.0]), V([0.0, 20.0, 0.001])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Igammac", [[V([1.0, 0.5, 2.0]), V([0.0, 20.0, 0.001])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Betainc", [[(3,), (3,), (3,)], [(), (), (4,)], [(2, 2), (2, 2), ()]], dtypes=_DOUBLE, wrt=["x"],
        domain={"": (0.5, 4.0), "x": (0.1, 0.9)}, bad=[([(3,), (4,), (3,)], "must be equal")],
        note="TensorFlow has no gradient for a and b"),
    Row("Betainc", [[(3,), (3,), (3,)], [(), (), (4,)]], dtypes=["float64"], domain=_BETA, tf=False,
        note="TensorFlow has no gradient for a and b"),
    Row("BetaincDerivative", [[(3,), (3,), (3,)], [(2,), (), ()]], {"order_a": 1, "order_b": 1}, dtypes=["float64"],
        domain=_BETA, tf=False, note=_OWN),
    Row("Betainc", [[V([1.0, 2.0]), V([1.0, 2.0]), V([0.0, 1.0])]], dtypes=_DOUBLE, order=0, tf_grad=False,
        note=_EDGES),
]

_BESSEL = ("I0", "I0e", "I1", "I1e", "J0", "J1", "K0", "K0e", "K1", "K1e", "Y0", "Y1")
ROWS += [
    unary(f"Bessel{kind}", _FLOATS if kind == "K0" else _DOUBLE,
          domain=(0.3, 12.0) if kind[0] in "KY" else (-12.0, 12.0))
    for kind in _BESSEL
] + [
    Row(f"Bessel{kind}", [[V([0.0, 1.5, np.nan])]], dtypes=["float64"], order=0, tf_grad=kind != "I1",
        note=_EDGES + "; TensorFlow gives I1 the slope 1 at 0")
    for kind in _BESSEL
] + [
    unary("Dawsn", _DOUBLE, domain=(-4.0, 4.0)), unary("Expint", _DOUBLE, domain=(0.2, 5.0)),
    unary("FresnelCos", _DOUBLE, domain=(-4.0, 4.0)),
    unary("FresnelSin", _DOUBLE, domain=(-4.0, 4.0)),
    unary("Spence", _DOUBLE, domain=(0.1, 5.0)),
    Row("Dawsn", [[V([0.0, np.nan])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Expint", [[V([0.0, -1.0])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("FresnelCos", [[V([0.0, np.nan])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("FresnelSin", [[V([0.0, np.nan])]], dtypes=_DOUBLE, order=0, note=_EDGES),
    Row("Spence", [[V([0.0, 1.0, -1.0, np.nan])]], dtypes=_DOUBLE, order=0, note=_EDGES),
]
