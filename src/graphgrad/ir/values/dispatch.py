"""Calls of public functions with values that are not tensors: which implementation they go to.

A function is called as it is. If that fails, and an argument is of a registered kind (a ragged or sparse tensor, a
linear operator), the kind's implementation is called instead. Implementations that a program registers for its own
classes (`tf.experimental.dispatch_for_api`) are asked before the function; those of libraries with symbols of their own
(`tf.__internal__.dispatch`) after it.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

# TensorFlow's elementwise functions of one operand, of two, and assertions on two, by their names in the faces.
UNARY = frozenset("""
    abs acos acosh angle asin asinh atan atanh cast ceil check_numerics clip_by_value conj cos cosh digamma erf erfc
    erfcinv erfinv exp expm1 floor imag invert is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not
    ndtri neg negative ones_like real reciprocal reciprocal_no_nan rint round rsqrt saturate_cast sigmoid sign sin sinh
    softplus softsign sqrt square tan tanh zeros_like to_bfloat16 to_complex64 to_complex128 to_double
    to_float to_int32 to_int64 bessel_i0 bessel_i0e bessel_i1 bessel_i1e elu gelu leaky_relu relu relu6
    selu silu swish nextafter as_string decode_base64 encode_base64 decode_compressed length lower upper strip substr
    regex_full_match regex_replace to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong to_number string_strip
    string_to_number string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong unicode_transcode
    unicode_script adjust_brightness adjust_gamma convert_image_dtype random_brightness stateless_random_brightness
    bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos
    fresnel_sin spence
""".split())
BINARY = frozenset("""
    add atan2 complex div divide divide_no_nan div_no_nan equal floor_div floordiv floormod greater greater_equal less
    less_equal logical_and logical_or logical_xor maximum minimum mod multiply multiply_no_nan not_equal pow realdiv
    scalar_mul sigmoid_cross_entropy_with_logits squared_difference subtract truediv truncatediv truncatemod xdivy
    xlog1py xlogy zeta bitwise_and bitwise_or bitwise_xor left_shift right_shift
""".split())
ASSERTIONS = frozenset("""
    assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near assert_none_equal
""".split())
# Other functions of which some kind has an implementation.
_OTHERS = frozenset("""
    accumulate_n add_n adjoint betainc bincount bitcast boolean_mask cholesky concat crelu decode_raw det diag_part
    dropout embedding_lookup expand_dims gather gather_nd identity igamma igammac inv join logdet matmul
    matrix_determinant matrix_diag_part matrix_inverse matrix_solve one_hot polygamma rank reduce_all reduce_any
    reduce_join reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance
    reverse shape size softmax solve split squeeze stack stop_gradient string_join tile trace unsorted_segment_max
    unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
    where
""".split())
# The modules of the faces, "" being the face itself, whose functions of these names are dispatched.
_MODULES = frozenset({"", "bitwise", "debugging", "dtypes", "image", "io", "linalg", "math", "math.special", "nn",
                      "strings"})

# The rooms whose functions are dispatched where all are.
_ROOMS = ("graphgrad.ops.", "graphgrad.extras.", "graphgrad.frontend.")

# Gets the arguments of a call; gives its result, or NotImplemented for a call that does not concern it.
Implementation = Callable[[tuple[Any, ...], dict[str, Any]], Any]


class Api:
    """A public function that is dispatched.

    Args:
      name: its name in a face.
      function: the function itself.

    Attributes:
      call: the function that users call.
      first: the implementations that are asked before the function.
      last: those that are asked after it has failed.
    """

    def __init__(self, name: str, function: Callable[..., Any]):
        self.name, self.function = name, function
        self.first: list[Implementation] = [f for f in (rule(self) for rule in rules) if f is not None]
        self.last: list[Implementation] = []
        self.call = _dispatching(self)


_lock = threading.RLock()
_apis: dict[Any, Api] = {}  # by the function, and by what users call
_kinds: dict[type, Callable[[Api, tuple[Any, ...], dict[str, Any]], Any]] = {}
# Return the implementation that a function, present or future, tries first; None for none.
rules: list[Callable[[Api], Implementation | None]] = []
# Called with each function that becomes dispatched, and the one that is called in its place.
replacers: list[Callable[[Any, Any], None]] = []
# Are asked after the call of any function has failed: get what was called, and its arguments.
_fallbacks: list[Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]] = []
# Are told that all functions are dispatched from now on.
renewers: list[Callable[[], None]] = []


def register_kind(kind: type, implementation: Callable[[Api, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Declares what functions do with values of a class; called where it is defined.

    Args:
      kind: the class.
      implementation: gets the `Api` and the arguments of a call that failed; gives the result, or NotImplemented.
    """
    _kinds[kind] = implementation


def add_rule(rule: Callable[[Api], Implementation | None]) -> None:
    """Declares what is asked first, of functions that exist and of those that are loaded later.

    Args:
      rule: gives the implementation for an `Api`, or None.
    """
    with _lock:
        rules.append(rule)
        for api in set(_apis.values()):
            found = rule(api)
            if found is not None:
                api.first.append(found)


def add_fallback(handler: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Declares what is asked after the call of any public function has failed; all are dispatched from now on.

    Args:
      handler: gets the function that users call and the arguments; gives the result, or NotImplemented.
    """
    _fallbacks.append(handler)
    if len(_fallbacks) == 1:
        for renew in renewers:
            renew()


def ask(place: str, args: tuple[Any, ...]) -> Any:
    """Asks whether somebody takes over an operator that was called with values that are not tensors.

    Args:
      place: the function that does the operator's work, "module:name".
      args: its arguments.
    Returns: the result, or NotImplemented.
    """
    if not _fallbacks:
        return NotImplemented
    module, _, name = place.partition(":")
    called = api(name, getattr(importlib.import_module(module), name)).call
    answers = (handler(called, args, {}) for handler in _fallbacks)
    return next((found for found in answers if found is not NotImplemented), NotImplemented)


def in_face(module: str, name: str, value: Any) -> Any:
    """Returns what a face has under a name: the dispatching function, if there is one.

    Args:
      module: the module within the face, "" for the face itself.
      name: the name.
      value: what the name stands for.
    """
    if not hasattr(value, "__code__"):
        return value
    if value in _apis:
        return _apis[value].call
    if _fallbacks and not module.startswith("__") and value.__module__.startswith(_ROOMS):
        return api(name, value).call
    if module not in _MODULES:
        return value
    listed = name in UNARY or name in BINARY or name in ASSERTIONS or name in _OTHERS
    return api(name, value).call if listed else value


def api_of(function: Any) -> Api | None:
    """Returns the `Api` of a public function, which is dispatched from now on; None if it cannot be.

    Args:
      function: what a face has.
    """
    if function in _apis:
        return _apis[function]
    module = getattr(function, "__module__", None) or ""
    if not hasattr(function, "__code__") or not module.startswith(("graphgrad.ops.", "graphgrad.extras.")):
        return None
    made = api(function.__name__, function)
    for replace in replacers:
        replace(function, made.call)
    return made


def known(value: Any) -> Any:
    """Returns what users call in the place of a function, or the value itself.

    Args:
      value: anything.
    """
    found = _apis.get(value) if hasattr(value, "__code__") else None
    return value if found is None else found.call


def plain(value: Any) -> Any:
    """Returns the function itself where users call a dispatching one, or the value.

    Args:
      value: anything.
    """
    found = _apis.get(value) if hasattr(value, "__code__") else None
    return value if found is None else found.function


def api(name: str, function: Any) -> Api:
    """Returns the `Api` of a function, which is made if there is none.

    Args:
      name: the function's name in a face.
      function: the function.
    """
    with _lock:
        if function not in _apis:
            made = Api(name, function)
            _apis[function] = _apis[made.call] = made
        return _apis[function]


def _dispatching(api: Api) -> Callable[..., Any]:
    first, function = api.first, api.function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if first:
            for implementation in first:
                found = implementation(args, kwargs)
                if found is not NotImplemented:
                    return found
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as e:
            kinds = list(_kinds_of(args, kwargs))
            if not (kinds or api.last or _fallbacks):
                raise
            problem = e
        for kind in kinds:
            found = kind(api, args, kwargs)
            if found is not NotImplemented:
                return found
        for implementation in api.last:
            found = implementation(args, kwargs)
            if found is not NotImplemented:
                return found
        for handler in _fallbacks:
            found = handler(call, args, kwargs)
            if found is not NotImplemented:
                return found
        raise problem

    return call


def _kinds_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Returns the implementations of the kinds of the arguments, also of those in lists."""
    waiting, found = [*args, *kwargs.values()], []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, (list, tuple)):
            waiting.extend(value)
            continue
        for base in type(value).__mro__[:-1]:
            if base in _kinds and _kinds[base] not in found:
                found.append(_kinds[base])
    return iter(found)
