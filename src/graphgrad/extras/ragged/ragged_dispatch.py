"""The ragged implementations of functions of dense tensors."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from graphgrad.ir.values.dispatch import BINARY, UNARY, Api

# How many of the first arguments are operands; 0 for a list of them.
_OPERANDS = dict.fromkeys(UNARY, 1) | dict.fromkeys(BINARY, 2)
_OPERANDS |= dict.fromkeys(["bitcast", "crelu", "decode_raw", "dropout", "identity", "stop_gradient"], 1)
_OPERANDS |= dict.fromkeys(["igamma", "igammac", "nextafter", "polygamma"], 2)
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
    "bincount": "ragged_reduce:bincount", "rank": "ragged_array_ops:rank", "shape": "ragged_shape:shape",
    "embedding_lookup": "ragged_array_ops:embedding_lookup",
}


def call(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls the ragged implementation of a function; NotImplemented if there is none."""
    f, name = api.function, api.name
    if name not in _OWN and name not in _OPERANDS:
        return NotImplemented
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
      count: how many of them are operands; 0 if the first one is a list of operands.
    """
    from .ragged_elementwise import apply

    names = list(given)[: count or 1]
    rest = {k: v for k, v in given.items() if k not in names}
    if not count:
        return apply(f, list(given[names[0]]), lambda *flat: f(list(flat), **rest))
    return apply(f, [given[n] for n in names], lambda *flat: f(*flat, **rest))
