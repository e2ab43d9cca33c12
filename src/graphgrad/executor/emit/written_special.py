"""What kernels use of jax.scipy.special, for programs that are written without JAX; all else raises Unsupported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array
from .element_types import Unsupported

_CHLO = {"erf": "erf", "erfc": "erfc", "erfinv": "erf_inv", "gammaln": "lgamma", "digamma": "digamma", "zeta": "zeta",
         "i1e": "bessel_i1e"}
# The coefficients of Cephes' rational approximations to the normal quantile function, as in JAX: numerators and
# denominators for the middle, for tails beyond exp(-2), and for those beyond exp(-32).
_MIDDLE = ((-5.99633501014107895267E1, 9.80010754185999661536E1, -5.66762857469070293439E1, 1.39312609387279679503E1,
            -1.23916583867381258016E0),
           (1.0, 1.95448858338141759834E0, 4.67627912898881538453E0, 8.63602421390890590575E1,
            -2.25462687854119370527E2, 2.00260212380060660359E2, -8.20372256168333339912E1, 1.59056225126211695515E1,
            -1.18331621121330003142E0))
_TAIL = ((4.05544892305962419923E0, 3.15251094599893866154E1, 5.71628192246421288162E1, 4.40805073893200834700E1,
          1.46849561928858024014E1, 2.18663306850790267539E0, -1.40256079171354495875E-1, -3.50424626827848203418E-2,
          -8.57456785154685413611E-4),
         (1.0, 1.57799883256466749731E1, 4.53907635128879210584E1, 4.13172038254672030440E1, 1.50425385692907503408E1,
          2.50464946208309415979E0, -1.42182922854787788574E-1, -3.80806407691578277194E-2,
          -9.33259480895457427372E-4))
_FAR = ((3.23774891776946035970E0, 6.91522889068984211695E0, 3.93881025292474443415E0, 1.33303460815807542389E0,
         2.01485389549179081538E-1, 1.23716634817820021358E-2, 3.01581553508235416007E-4, 2.65806974686737550832E-6,
         6.23974539184983293730E-9),
        (1.0, 6.02427039364742014255E0, 3.67983563856160859403E0, 1.37702099489081330271E0, 2.16236993594496635890E-1,
         1.34204006088543189037E-2, 3.28014464682127739104E-4, 2.89247864745380683936E-6, 6.79019408009981274425E-9))


class WrittenSpecial:
    """The functions, by the names of jax.scipy.special.

    Args:
      xp: the array module.
    """

    def __init__(self, xp: Any):
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        if name in _CHLO:
            return lambda *operands: self._xp.chlo(_CHLO[name], *operands)
        raise Unsupported(name)

    def polygamma(self, n: Any, x: Array) -> Array:
        return self._xp.chlo("polygamma", self._xp.full(x.shape, n, x.dtype), x)

    def i1(self, x: Array) -> Array:
        return self._xp.exp(abs(x)) * self.i1e(x)

    def ndtri(self, p: Array) -> Array:
        xp, number = self._xp, p.dtype.type
        part = xp.where(p > number(-np.expm1(-2.0)), number(1) - p, p)
        part = xp.where(part == 0, number(0.5), part)  # which 0 becomes is not used
        w = part - number(0.5)
        ww = w * w
        middle = (w + w * ww * self._ratio(_MIDDLE, ww)) * -number(np.sqrt(2.0 * np.pi))
        z = xp.sqrt(number(-2) * xp.log(part))
        first, inverse = z - xp.log(z) / z, 1 / z
        tail, far = (first - self._polynomial(above, inverse) / self._polynomial(below, inverse) / z
                     for above, below in (_TAIL, _FAR))
        x = xp.where(part > number(np.exp(-2.0)), middle, xp.where(z >= number(8), far, tail))
        x = xp.where(p > number(1.0 - np.exp(-2.0)), x, -x)
        infinity = xp.full(p.shape, np.inf, p.dtype)
        return xp.where(p == 0, -infinity, xp.where(p == 1, infinity, x))

    def _ratio(self, coefficients: tuple[Sequence[float], Sequence[float]], x: Array) -> Array:
        above, below = coefficients
        return self._polynomial(above, x) / self._polynomial(below, x)

    def _polynomial(self, coefficients: Sequence[float], x: Array) -> Any:
        """Returns a polynomial's value by Horner's rule, from the highest coefficient on."""
        total = self._xp.zeros_like(x)
        for c in coefficients:
            total = total * x + x.dtype.type(c)
        return total
