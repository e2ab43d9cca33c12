"""`tf.math`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.math.special: special=.
graphgrad.ops.array.transpose: invert_permutation
graphgrad.ops.math.argmax: argmax argmin
graphgrad.ops.math.arithmetic: accumulate_n add add_n maximum minimum multiply multiply_no_nan scalar_mul
    squared_difference subtract
graphgrad.ops.math.bessel: bessel_i0 bessel_i0e bessel_i1 bessel_i1e
graphgrad.ops.math.bincount: bincount confusion_matrix
graphgrad.ops.math.comparison: equal greater greater_equal is_finite is_inf is_nan is_non_decreasing
    is_strictly_increasing less less_equal logical_and logical_not logical_or logical_xor not_equal
graphgrad.ops.math.complex: angle conj imag real
graphgrad.ops.math.cumulative: cumprod cumsum cumulative_logsumexp
graphgrad.ops.math.division: divide divide_no_nan floordiv floormod mod reciprocal_no_nan truediv
graphgrad.ops.math.exponential: exp expm1 log log1p polyval pow xdivy xlog1py xlogy
graphgrad.ops.math.order_statistics: approx_max_k approx_min_k
graphgrad.ops.math.reduce_functions: count_nonzero reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp
    reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance
graphgrad.ops.math.segment: segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
    unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
graphgrad.ops.math.special: betainc digamma erf erfc erfcinv erfinv igamma igammac lbeta lgamma ndtri polygamma zeta
graphgrad.ops.math.topk: in_top_k top_k
graphgrad.ops.math.trig: acos acosh asin asinh atan atan2 atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh
graphgrad.ops.math.unary: abs ceil floor negative nextafter reciprocal rint round rsqrt sign sqrt square
graphgrad.ops.nn.activations: softplus softsign
graphgrad.ops.nn.norm.moments: l2_normalize zero_fraction
graphgrad.ops.nn.softmax: log_softmax softmax
graphgrad.ops.random.sobol: sobol_sample
""")
