"""Bessel functions as Chebyshev series, for both NumPy and jax.numpy.

The coefficients were computed at 40 digits (by Gauss-Chebyshev quadrature of the functions named at each of them)
and stop where they fall below double precision.
"""

from __future__ import annotations

import math

# K0(x) + log(x / 2) I0(x), in x^2 from 0 to 4
_K0_SMALL = (-0.2676636966169514, 0.3442898999246285, 0.0359799365153615, 0.001264615411446926,
             2.286212103119452e-05, 2.5347910790261494e-07, 1.904516377220209e-09, 1.0349695257633625e-11,
             4.2598161427910826e-14, 1.3744654358807508e-16)
# x (K1(x) - log(x / 2) I1(x)), in x^2 from 0 to 4
_K1_SMALL = (0.7626501136694739, -0.3531559607765449, -0.12261118082265715, -0.006975723859639864,
             -0.0001730288957513052, -2.4334061415659684e-06, -2.213387630734726e-08, -1.4114883926335278e-10,
             -6.666901694199329e-13, -2.427449850519366e-15)
# sqrt(x) exp(x) K0(x), in 1 / x from 0 to 1/2
_K0_LARGE = (1.2201515410329777, -0.0314481013119645, 0.0015698838857300533, -0.00012849549581627802,
             1.39498137188765e-05, -1.8317555227191195e-06, 2.766813639445015e-07, -4.660489897687948e-08,
             8.574034017414225e-09, -1.6975345093890614e-09, 3.5773972814003283e-10, -7.957489244477396e-11,
             1.8559491149549264e-11, -4.514597883374519e-12, 1.1403405882073441e-12, -2.9800969231481784e-13,
             8.032890775068375e-14, -2.2275133267462965e-14, 6.340076476276646e-15, -1.848593377920907e-15,
             5.5120559994043335e-16, -1.6782311257549006e-16, 5.2103917776435543e-17)
# sqrt(x) exp(x) K1(x), in 1 / x from 0 to 1/2
_K1_LARGE = (1.3603130952422213, 0.10392373657681724, -0.002857816859622779, 0.00019521551847135162,
             -1.936197974166083e-05, 2.406484947837217e-06, -3.5019606030878126e-07, 5.7410841254500495e-08,
             -1.0345762465678097e-08, 2.0150497551970347e-09, -4.1903547593419254e-10, 9.218315187605315e-11,
             -2.129967838427791e-11, 5.139639673482343e-12, -1.2891739609498229e-12, 3.348419666052243e-13,
             -8.976705182010146e-14, 2.4771544242195988e-14, -7.0198370892147685e-15, 2.038703166239861e-15,
             -6.057047270643018e-16, 1.8380935752430455e-16, -5.689462849193648e-17)
# J0(x), in x^2 from 0 to 64
_J0_SMALL = (0.15772797147489012, -0.008723442352852221, 0.2651786132033368, -0.37009499387264977,
             0.15806710233209725, -0.034893769411408884, 0.004819180069467605, -0.00046062616620627504,
             3.246032882100508e-05, -1.7619469077621507e-06, 7.608163592418782e-08, -2.679253530557673e-09,
             7.848696314479465e-11, -1.9438346867370164e-12, 4.125320595634374e-14, -7.588508125447546e-16,
             1.2218515873961411e-17)
# J1(x) / x, in x^2 from 0 to 64
_J1_SMALL = (0.08104484632565812, -0.1489751450676521, 0.1609992623572097, -0.08268049176681791,
             0.022213639654966037, -0.003646940600769276, 0.0004050337728354822, -3.255554866857259e-05,
             1.9858774049915165e-06, -9.521984756750436e-08, 3.687133759097148e-09, -1.178026622695885e-10,
             3.160154580348003e-12, -7.221755239651773e-14, 1.4232144003513942e-15,
             -2.4441972916190464e-17)
# Y0(x) - 2 / pi log(x) J0(x), in x^2 from 0 to 64
_Y0_SMALL = (-0.03314611320328494, -0.2744743055297453, 0.17903431407718265, 0.26156734625504663,
             -0.17730201278114358, 0.04719668959576339, -0.007287962479552079, 0.0007531135932577742,
             -5.632079141056987e-05, 3.206532537654801e-06, -1.44072332740187e-07, 5.248794787330516e-09,
             -1.5837552541812015e-10, 4.02633081830612e-12, -8.747341203310769e-14, 1.6434898714919468e-15,
             -2.6977881152566837e-17)
# (Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, in x^2 from 0 to 64
_Y1_SMALL = (0.0025380132357417816, -0.01608717304766875, -0.09591204536083074, 0.08445197259652346,
             -0.028328123944594365, 0.005289897544167113, -0.0006414551451326356, 5.505982873338744e-05,
             -3.53808001868935e-06, 1.7707804556154404e-07, -7.11055004989928e-09, 2.344337905911516e-10,
             -6.4651518414115946e-12, 1.51429151205002e-13, -3.0511859694473254e-15, 5.34668038572867e-17)
# Hankel's P for order 0, in (8 / x)^2 from 0 to 1
_P0 = (0.9994603493475187, -0.0005365220468132117, 3.0751847875194745e-06, -5.1705945376060975e-08,
       1.6306464635151382e-09, -7.86409137723707e-11, 5.168262387349193e-12, -4.3045788699253914e-13,
       4.3265957431549404e-14, -5.069034095935236e-15, 6.748072215733873e-16, -1.0011513723467786e-16)
# Hankel's Q for order 0, times x / 8
_Q0 = (-0.015555854605337009, 6.838519942611649e-05, -7.414498411060647e-07, 1.7972457247968992e-08,
       -7.27191593686632e-10, 4.2201219046687385e-11, -3.206747420996635e-12, 3.006145125351706e-13,
       -3.336328185322427e-14, 4.255225040245461e-15, -6.09993013164005e-16, 9.662128970303257e-17,
       -1.6686065214378146e-17, 3.1082440486738143e-18, -6.191115787358145e-19)
# the same for order 1
_P1 = (1.0009030408600137, 0.0008989898330859408, -3.987284300488908e-06, 6.177633960644299e-08,
       -1.8718907491063067e-09, 8.816898659582339e-11, -5.704863640395645e-12, 4.699195515230542e-13,
       -4.6842237839904895e-14, 5.452674896044717e-15, -7.221180842274018e-16, 1.0667689114335412e-16)
_Q1 = (0.04677778706953532, -9.62772354915708e-05, 9.138615257955454e-07, -2.0959781384083424e-08,
       8.229193327650554e-10, -4.686363688176945e-11, 3.5152187949686082e-12, -3.2643156743279e-13,
       3.5967765829165294e-14, -4.5612523950772974e-15, 6.508282957783384e-16, -1.0269147531823243e-16,
       1.767635548776479e-17, -3.2834519872981614e-18)


def _sum(coefficients, t, xp):
    """Returns the Chebyshev series at t in [-1, 1], by Clenshaw's recurrence."""
    ahead = behind = xp.zeros_like(t)
    for c in reversed(coefficients[1:]):
        ahead, behind = 2 * t * ahead - behind + t.dtype.type(c), ahead
    return t * ahead - behind + t.dtype.type(coefficients[0])


def _small(xp, x, edge):
    """Returns x, or 1 where it lies above the edge."""
    return xp.where(x <= edge, x, xp.ones_like(x))


def _large(xp, x, edge):
    """Returns x, or the edge where it lies below; NaN stays."""
    return xp.where(x < edge, xp.full_like(x, edge), x)


def _logarithm(xp, x):
    return xp.log(xp.where(x > 0, x, xp.ones_like(x)))


def _at_zero(xp, x, value, at_zero):
    """Replaces values for x <= 0 by the function's value at 0, as TensorFlow does for functions of positive numbers."""
    return xp.where(x <= 0, xp.full_like(x, at_zero), value)


def _modified(xp, x, small, large, first, scaled, scale_small):
    """Computes K0 (`first` is I0) or K1, from the series below and above 2."""
    low, high = _small(xp, x, 2), _large(xp, x, 2)
    t = low * low / 2 - 1
    log = _logarithm(xp, low / 2)
    series = _sum(small, t, xp)
    inside = scale_small(xp, low, series, log, first)
    outside = _sum(large, 4 / high - 1, xp) / xp.sqrt(high)
    if scaled:
        inside = inside * xp.exp(low)
    else:
        outside = outside * xp.exp(-high)
    return _at_zero(xp, x, xp.where(x <= 2, inside, outside), math.inf)


def _order0(xp, x, series, log, first):
    return series - log * first(x)


def _order1(xp, x, series, log, first):
    return series / xp.where(x == 0, xp.ones_like(x), x) + log * first(x)


def k0(xp, x, i0, scaled=False):
    """Computes K0, times exp(x) if `scaled`; `i0` is the function I0."""
    return _modified(xp, x, _K0_SMALL, _K0_LARGE, i0, scaled, _order0)


def k1(xp, x, i1, scaled=False):
    """Computes K1, times exp(x) if `scaled`; `i1` is the function I1."""
    return _modified(xp, x, _K1_SMALL, _K1_LARGE, i1, scaled, _order1)


_HALF = math.sqrt(0.5)


def _hankel(xp, x, p, q, quarter):
    """Computes P, Q, and cosine and sine of x - pi / 4 - quarter pi / 2, each times sqrt(2 / (pi x)); for x > 8."""
    y = 8 / x
    t = 2 * y * y - 1
    scale = xp.sqrt(2 / (math.pi * x)) * _HALF
    cos, sin = xp.cos(x), xp.sin(x)
    # The difference x - pi / 4 would lose digits.
    cosine, sine = (cos + sin, sin - cos) if quarter == 0 else (sin - cos, -cos - sin)
    return _sum(p, t, xp), y * _sum(q, t, xp), scale * cosine, scale * sine


def j0(xp, x):
    """Computes J0."""
    x = xp.abs(x)
    low, high = _small(xp, x, 8), _large(xp, x, 8)
    p, q, cosine, sine = _hankel(xp, high, _P0, _Q0, 0)
    return xp.where(x <= 8, _sum(_J0_SMALL, low * low / 32 - 1, xp), p * cosine - q * sine)


def j1(xp, x):
    """Computes J1."""
    size = xp.abs(x)
    low, high = _small(xp, size, 8), _large(xp, size, 8)
    p, q, cosine, sine = _hankel(xp, high, _P1, _Q1, 1)
    value = xp.where(size <= 8, low * _sum(_J1_SMALL, low * low / 32 - 1, xp), p * cosine - q * sine)
    return xp.where(x < 0, -value, value)


def y0(xp, x):
    """Computes Y0."""
    low, high = _small(xp, x, 8), _large(xp, x, 8)
    inside = _sum(_Y0_SMALL, low * low / 32 - 1, xp) + 2 / math.pi * _logarithm(xp, low) * j0(xp, low)
    p, q, cosine, sine = _hankel(xp, high, _P0, _Q0, 0)
    value = xp.where(x <= 8, inside, p * sine + q * cosine)
    return _at_zero(xp, x, value, -math.inf)


def y1(xp, x):
    """Computes Y1."""
    low, high = _small(xp, x, 8), _large(xp, x, 8)
    part = _logarithm(xp, low) * j1(xp, low) - 1 / xp.where(low == 0, xp.ones_like(low), low)
    inside = low * _sum(_Y1_SMALL, low * low / 32 - 1, xp) + 2 / math.pi * part
    p, q, cosine, sine = _hankel(xp, high, _P1, _Q1, 1)
    value = xp.where(x <= 8, inside, p * sine + q * cosine)
    return _at_zero(xp, x, value, -math.inf)
