"""Functions on tensors and shapes of TensorFlow's inside, which libraries import by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.case import case
from graphgrad.frontend.control_flow.vectorized_map import vectorized_map
from graphgrad.ir.constant_value import constant_value, static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape


def as_shape(shape: Any) -> TensorShape:
    """Returns a shape as a `TensorShape`.

    Args:
      shape: a shape of any kind.
    """
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Returns the shape that a tensor of sizes means, as far as it is known.

    Args:
      tensor: integers, (rank,).
    """
    if isinstance(tensor, (list, tuple, np.ndarray, TensorShape)):
        return TensorShape([None if n == -1 else n for n in np.asarray(tensor).tolist()])
    known = constant_value(tensor)
    if known is None:
        sizes = static_value(tensor) if hasattr(tensor, "op") else None
        if sizes is None:
            (rank,) = tensor.shape.with_rank(1).as_list()
            return TensorShape(None if rank is None else [None] * rank)
        known = sizes
    return TensorShape([None if n is None or n == -1 else int(n) for n in known])


def try_evaluate_constant(tensor: Any) -> Any:
    """Returns the value of a tensor if it is known, else None.

    Args:
      tensor: the tensor.
    """
    return constant_value(tensor)


def pfor(loop_fn: Callable[[Any], Any], iters: Any, fallback_to_while_loop: bool = True,
         parallel_iterations: Any = None, warn: bool = False) -> Any:
    """Computes a function of 0, 1, ..., all at once, and stacks the results.

    Args:
      loop_fn: the function of an iteration's number.
      iters: how many there are.
      fallback_to_while_loop, parallel_iterations, warn: accepted.
    """
    count = convert_to_tensor(iters)
    numbers = raw.Range(convert_to_tensor(0, count.dtype), count, convert_to_tensor(1, count.dtype))
    return vectorized_map(loop_fn, numbers)


def _case_helper(cond_fn: Any, pred_fn_pairs: Any, default: Any, exclusive: bool, name: str,
                 allow_python_preds: bool = False, **cond_kwargs: Any) -> Any:
    """Builds a `case` of conditions that a library's own `cond` decides.

    Args:
      cond_fn: the function that builds a branch: `cond_fn(pred, true_fn, false_fn, name=...)`.
      pred_fn_pairs, default, exclusive, name: as in `tf.case`.
      allow_python_preds: whether conditions may be Python values.
      **cond_kwargs: further arguments of `cond_fn`.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not allow_python_preds or not any(isinstance(pred, (bool, np.bool_)) for pred, _ in pairs):
        if exclusive:
            return case(pairs, default, exclusive, name=name)
    chosen = default
    if chosen is None:
        *pairs, (_, chosen) = pairs
    for pred, function in reversed(pairs):
        chosen = functools.partial(cond_fn, pred, function, chosen, name=name, **cond_kwargs)
    return chosen()


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """Returns a class of linear operators: a decorator of libraries.

    Args:
      cls: the class.
      module_name: accepted.
    """
    return cls
