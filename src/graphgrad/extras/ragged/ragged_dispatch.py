"""Dispatches functions of dense tensors to their ragged forms.

A function is first called as it is. If it finds a `RaggedTensor` in place of a tensor, its ragged form is called; some
functions of one operand handle sparse tensors in the same way.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable
from typing import Any

from graphgrad.ir.values.composite import Composite
from graphgrad.ops.common.sparse_tensor import SparseArgument

from .row_partitions import RaggedArgument

# The number of first arguments that are operands; 0 for a list of operands.
_OPERANDS = dict.fromkeys("""
    abs acos acosh angle asin asinh atan atanh cast ceil check_numerics clip_by_value conj cos cosh digamma erf erfc
    erfcinv erfinv exp expm1 floor identity imag invert is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not
    ndtri neg negative ones_like real reciprocal reciprocal_no_nan rint round rsqrt saturate_cast sigmoid sign sin sinh
    softplus softsign sqrt square stop_gradient tan tanh zeros_like bitcast to_bfloat16 to_complex64 to_complex128
    to_double to_float to_int32 to_int64 bessel_i0 bessel_i0e bessel_i1 bessel_i1e crelu elu gelu leaky_relu relu relu6
    selu silu swish dropout as_string decode_base64 encode_base64 length lower upper strip substr regex_full_match
    regex_replace to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong to_number decode_raw string_strip
    string_to_number string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong
    unicode_transcode unicode_script
""".split(), 1)
_OPERANDS |= dict.fromkeys("""
    add atan2 complex div div_no_nan divide divide_no_nan equal floor_div floordiv floormod greater greater_equal igamma
    igammac less less_equal logical_and logical_or logical_xor maximum minimum mod multiply multiply_no_nan nextafter
    not_equal polygamma pow realdiv sigmoid_cross_entropy_with_logits squared_difference subtract truediv truncatediv
    truncatemod xdivy xlog1py xlogy zeta bitwise_and bitwise_or bitwise_xor left_shift right_shift
""".split(), 2)
_OPERANDS |= {"betainc": 3, "add_n": 0, "accumulate_n": 0, "join": 0, "string_join": 0}

_REDUCE = "reduce_sum reduce_prod reduce_max reduce_min reduce_mean reduce_variance reduce_std reduce_any reduce_all"
# Functions with a special implementation -> module:function.
_OWN = {
    **dict.fromkeys([*_REDUCE.split(), "reduce_logsumexp"], "ragged_reduce:reduce"),
    **dict.fromkeys(["unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min",
                     "unsorted_segment_mean", "unsorted_segment_sqrt_n"], "ragged_reduce:segment"),
    "reduce_join": "ragged_reduce:reduce_join", "softmax": "ragged_reduce:softmax", "concat": "ragged_array_ops:concat",
    "stack": "ragged_array_ops:stack", "gather": "ragged_array_ops:gather", "gather_nd": "ragged_array_ops:gather_nd",
    "where": "ragged_array_ops:where", "boolean_mask": "ragged_array_ops:mask", "tile": "ragged_array_ops:tile",
    "expand_dims": "ragged_array_ops:expanded", "squeeze": "ragged_array_ops:squeeze",
    "reverse": "ragged_array_ops:reverse",
    "split": "ragged_array_ops:split", "one_hot": "ragged_array_ops:one_hot", "size": "ragged_array_ops:size",
    "rank": "ragged_array_ops:rank", "embedding_lookup": "ragged_array_ops:embedding_lookup",
}

# Functions of one operand that also accept sparse tensors in TensorFlow.
_SPARSE = frozenset("""
    abs asin asinh atan atanh bessel_i0e bessel_i1e cast erf neg negative sign sin sqrt square stop_gradient tan tanh
""".split())

_wrapped: dict[Any, Any] = {}
_lock = threading.Lock()


def takes_ragged(name: str, function: Any) -> Any:
    """Wraps the function that a face has under a name so that it accepts ragged tensors, if it can.

    Args:
      name: the name in the face.
      function: the function itself.
    """
    if (name not in _OPERANDS and name not in _OWN) or not hasattr(function, "__code__"):
        return function
    with _lock:
        known = _wrapped.get(function)
        if known is None:
            known = _wrapped[function] = _dispatching(function, name)
            _wrapped[known] = known
        return known


def _is_ragged(value: Any) -> bool:
    return isinstance(value, Composite) and hasattr(value, "nested_row_splits")


def _dispatching(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    if name == "stack":  # which makes arrays of lists before it makes tensors
        return _looking_first(f)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except RaggedArgument:
            pass
        except SparseArgument:
            if name not in _SPARSE:
                raise
            return _of_values(f, args, kwargs)
        return _ragged(f, name, args, kwargs)

    return call


def _of_values(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies a function of one operand to a sparse one: to its values, at the same indices."""
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    operand = next(iter(given))
    sparse = given.pop(operand)
    return sparse.with_values(f(sparse.values, **given))


def _looking_first(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def call(values: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(values, (list, tuple)) and any(map(_is_ragged, values)):
            return _ragged(f, "stack", (values, *args), kwargs)
        return f(values, *args, **kwargs)

    return call


def _ragged(f: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    if name in _OWN:
        module, _, own = _OWN[name].partition(":")
        given.pop("name", None)
        return getattr(importlib.import_module(f"{__package__}.{module}"), own)(name, f, given)
    return elementwise(f, given, _OPERANDS[name])


def elementwise(f: Callable[..., Any], given: dict[str, Any], count: int) -> Any:
    """Applies an elementwise function to ragged operands.

    Args:
      f: the function.
      given: its arguments by name, in its order.
      count: the number of operands among them; 0 if the first one is a list of operands.
    """
    from .ragged_elementwise import apply

    names = list(given)[: count or 1]
    rest = {k: v for k, v in given.items() if k not in names}
    if not count:
        return apply(f, list(given[names[0]]), lambda *flat: f(list(flat), **rest))
    return apply(f, [given[n] for n in names], lambda *flat: f(*flat, **rest))
