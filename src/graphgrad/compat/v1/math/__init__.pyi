"""`tf.math` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.math import special as special
from graphgrad.ops.array.transpose import invert_permutation as invert_permutation
from graphgrad.ops.math.argmax import argmax_v1 as argmax
from graphgrad.ops.math.argmax import argmin_v1 as argmin
from graphgrad.ops.math.arithmetic import accumulate_n as accumulate_n
from graphgrad.ops.math.arithmetic import add as add
from graphgrad.ops.math.arithmetic import add_n as add_n
from graphgrad.ops.math.arithmetic import maximum as maximum
from graphgrad.ops.math.arithmetic import minimum as minimum
from graphgrad.ops.math.arithmetic import multiply as multiply
from graphgrad.ops.math.arithmetic import multiply_no_nan as multiply_no_nan
from graphgrad.ops.math.arithmetic import scalar_mul as scalar_mul
from graphgrad.ops.math.arithmetic import squared_difference as squared_difference
from graphgrad.ops.math.arithmetic import subtract as subtract
from graphgrad.ops.math.bessel import bessel_i0 as bessel_i0
from graphgrad.ops.math.bessel import bessel_i0e as bessel_i0e
from graphgrad.ops.math.bessel import bessel_i1 as bessel_i1
from graphgrad.ops.math.bessel import bessel_i1e as bessel_i1e
from graphgrad.ops.math.bincount import bincount_v1 as bincount
from graphgrad.ops.math.bincount import confusion_matrix_v1 as confusion_matrix
from graphgrad.ops.math.comparison import equal as equal
from graphgrad.ops.math.comparison import greater as greater
from graphgrad.ops.math.comparison import greater_equal as greater_equal
from graphgrad.ops.math.comparison import is_finite as is_finite
from graphgrad.ops.math.comparison import is_inf as is_inf
from graphgrad.ops.math.comparison import is_nan as is_nan
from graphgrad.ops.math.comparison import is_non_decreasing as is_non_decreasing
from graphgrad.ops.math.comparison import is_strictly_increasing as is_strictly_increasing
from graphgrad.ops.math.comparison import less as less
from graphgrad.ops.math.comparison import less_equal as less_equal
from graphgrad.ops.math.comparison import logical_and as logical_and
from graphgrad.ops.math.comparison import logical_not as logical_not
from graphgrad.ops.math.comparison import logical_or as logical_or
from graphgrad.ops.math.comparison import logical_xor as logical_xor
from graphgrad.ops.math.comparison import not_equal as not_equal
from graphgrad.ops.math.complex import angle as angle
from graphgrad.ops.math.complex import conj as conj
from graphgrad.ops.math.complex import imag as imag
from graphgrad.ops.math.complex import real as real
from graphgrad.ops.math.cumulative import cumprod as cumprod
from graphgrad.ops.math.cumulative import cumsum as cumsum
from graphgrad.ops.math.cumulative import cumulative_logsumexp as cumulative_logsumexp
from graphgrad.ops.math.division import divide as divide
from graphgrad.ops.math.division import divide_no_nan as divide_no_nan
from graphgrad.ops.math.division import floordiv as floordiv
from graphgrad.ops.math.division import floormod as floormod
from graphgrad.ops.math.division import mod as mod
from graphgrad.ops.math.division import reciprocal_no_nan as reciprocal_no_nan
from graphgrad.ops.math.division import truediv as truediv
from graphgrad.ops.math.exponential import exp as exp
from graphgrad.ops.math.exponential import expm1 as expm1
from graphgrad.ops.math.exponential import log as log
from graphgrad.ops.math.exponential import log1p as log1p
from graphgrad.ops.math.exponential import polyval as polyval
from graphgrad.ops.math.exponential import pow as pow
from graphgrad.ops.math.exponential import xdivy as xdivy
from graphgrad.ops.math.exponential import xlog1py as xlog1py
from graphgrad.ops.math.exponential import xlogy as xlogy
from graphgrad.ops.math.order_statistics import approx_max_k as approx_max_k
from graphgrad.ops.math.order_statistics import approx_min_k as approx_min_k
from graphgrad.ops.math.reduce_functions import count_nonzero_v1 as count_nonzero
from graphgrad.ops.math.reduce_functions import reduce_all_v1 as reduce_all
from graphgrad.ops.math.reduce_functions import reduce_any_v1 as reduce_any
from graphgrad.ops.math.reduce_functions import reduce_euclidean_norm as reduce_euclidean_norm
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_max_v1 as reduce_max
from graphgrad.ops.math.reduce_functions import reduce_mean_v1 as reduce_mean
from graphgrad.ops.math.reduce_functions import reduce_min_v1 as reduce_min
from graphgrad.ops.math.reduce_functions import reduce_prod_v1 as reduce_prod
from graphgrad.ops.math.reduce_functions import reduce_std as reduce_std
from graphgrad.ops.math.reduce_functions import reduce_sum_v1 as reduce_sum
from graphgrad.ops.math.reduce_functions import reduce_variance as reduce_variance
from graphgrad.ops.math.segment import segment_max as segment_max
from graphgrad.ops.math.segment import segment_mean as segment_mean
from graphgrad.ops.math.segment import segment_min as segment_min
from graphgrad.ops.math.segment import segment_prod as segment_prod
from graphgrad.ops.math.segment import segment_sum as segment_sum
from graphgrad.ops.math.segment import unsorted_segment_max as unsorted_segment_max
from graphgrad.ops.math.segment import unsorted_segment_mean as unsorted_segment_mean
from graphgrad.ops.math.segment import unsorted_segment_min as unsorted_segment_min
from graphgrad.ops.math.segment import unsorted_segment_prod as unsorted_segment_prod
from graphgrad.ops.math.segment import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from graphgrad.ops.math.segment import unsorted_segment_sum as unsorted_segment_sum
from graphgrad.ops.math.special import betainc as betainc
from graphgrad.ops.math.special import digamma as digamma
from graphgrad.ops.math.special import erf as erf
from graphgrad.ops.math.special import erfc as erfc
from graphgrad.ops.math.special import erfcinv as erfcinv
from graphgrad.ops.math.special import erfinv as erfinv
from graphgrad.ops.math.special import igamma as igamma
from graphgrad.ops.math.special import igammac as igammac
from graphgrad.ops.math.special import lbeta as lbeta
from graphgrad.ops.math.special import lgamma as lgamma
from graphgrad.ops.math.special import ndtri as ndtri
from graphgrad.ops.math.special import polygamma as polygamma
from graphgrad.ops.math.special import zeta as zeta
from graphgrad.ops.math.topk import in_top_k_v1 as in_top_k
from graphgrad.ops.math.topk import top_k as top_k
from graphgrad.ops.math.trig import acos as acos
from graphgrad.ops.math.trig import acosh as acosh
from graphgrad.ops.math.trig import asin as asin
from graphgrad.ops.math.trig import asinh as asinh
from graphgrad.ops.math.trig import atan as atan
from graphgrad.ops.math.trig import atan2 as atan2
from graphgrad.ops.math.trig import atanh as atanh
from graphgrad.ops.math.trig import cos as cos
from graphgrad.ops.math.trig import cosh as cosh
from graphgrad.ops.math.trig import log_sigmoid as log_sigmoid
from graphgrad.ops.math.trig import sigmoid as sigmoid
from graphgrad.ops.math.trig import sin as sin
from graphgrad.ops.math.trig import sinh as sinh
from graphgrad.ops.math.trig import tan as tan
from graphgrad.ops.math.trig import tanh as tanh
from graphgrad.ops.math.unary import abs as abs
from graphgrad.ops.math.unary import ceil as ceil
from graphgrad.ops.math.unary import floor as floor
from graphgrad.ops.math.unary import negative as negative
from graphgrad.ops.math.unary import nextafter as nextafter
from graphgrad.ops.math.unary import reciprocal as reciprocal
from graphgrad.ops.math.unary import rint as rint
from graphgrad.ops.math.unary import round as round
from graphgrad.ops.math.unary import rsqrt as rsqrt
from graphgrad.ops.math.unary import sign as sign
from graphgrad.ops.math.unary import sqrt as sqrt
from graphgrad.ops.math.unary import square as square
from graphgrad.ops.nn.activations import softplus as softplus
from graphgrad.ops.nn.activations import softsign as softsign
from graphgrad.ops.nn.norm.moments import l2_normalize as l2_normalize
from graphgrad.ops.nn.norm.moments import zero_fraction as zero_fraction
from graphgrad.ops.nn.softmax import log_softmax_v1 as log_softmax
from graphgrad.ops.nn.softmax import softmax_v1 as softmax
from graphgrad.ops.random.sobol import sobol_sample as sobol_sample

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_max_k", "approx_min_k", "argmax", "argmin",
    "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc",
    "bincount", "ceil", "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod", "cumsum",
    "cumulative_logsumexp", "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv", "erfinv", "exp",
    "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "igamma", "igammac", "imag", "in_top_k",
    "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_strictly_increasing",
    "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid", "log_softmax",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal", "polygamma", "polyval", "pow", "real",
    "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "rint",
    "round", "rsqrt", "scalar_mul", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "sigmoid", "sign", "sin", "sinh", "sobol_sample", "softmax", "softplus", "softsign", "special", "sqrt", "square",
    "squared_difference", "subtract", "tan", "tanh", "top_k", "truediv", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
    "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy", "zero_fraction", "zeta"
]
