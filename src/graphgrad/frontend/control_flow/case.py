"""`case`: the first of several conditions that holds."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, overload

from graphgrad.frontend.structure.structure_types import OneTensor, Pairs, TensorsT
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import is_tensor_like
from graphgrad.ir.dtypes import bool_, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.control.assertions import Assert

from .cond_while import _cond, cond_v1

_Branch = Callable[[], Any]


@overload
def case_v1(pred_fn_pairs: Pairs[OneTensor], default: Callable[[], object] | None = None, exclusive: bool = False,
            strict: bool = False, name: str = "case") -> AnyTensor: ...
@overload
def case_v1(pred_fn_pairs: Pairs[TensorsT], default: Callable[[], object] | None = None, exclusive: bool = False,
            strict: bool = False, name: str = "case") -> TensorsT: ...
@overload
def case_v1(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
            name: str = "case") -> Any: ...
def case_v1(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
            name: str = "case") -> Any:
    """Returns the result of the first function whose condition holds (1.x arguments).

    Args:
      pred_fn_pairs: pairs of a boolean scalar and a function, or a dictionary of them.
      default: the function for when no condition holds; without one, a condition must hold.
      exclusive: whether at most one condition may hold; in eager mode the first that holds counts.
      strict: whether a list of one result stays a list.
      name: a name scope.
    Returns: the structure of tensors that the chosen function gives.
    Raises: TypeError for anything but pairs; ValueError if there are none; InvalidArgumentError at run time if no
      condition holds and there is no `default`, or more than one holds and `exclusive` is set.
    Gradient: of the function that ran.
    Reference: TensorFlow 2.21 `tf.compat.v1.case`.

    >>> x = tf.constant(3)
    >>> sess.run(tf.case([(x < 2, lambda: 1), (x < 4, lambda: 2)], default=lambda: 3))
    np.int32(2)
    """

    def choose(pred: Any, true_fn: _Branch, false_fn: _Branch) -> Any:
        return cond_v1(pred, true_fn, false_fn, strict=strict)

    return _case(pred_fn_pairs, default, exclusive, name, choose)


@overload
def case(pred_fn_pairs: Pairs[OneTensor], default: Callable[[], object] | None = None, exclusive: bool = False,
         strict: bool = False, name: str = "case") -> AnyTensor: ...
@overload
def case(pred_fn_pairs: Pairs[TensorsT], default: Callable[[], object] | None = None, exclusive: bool = False,
         strict: bool = False, name: str = "case") -> TensorsT: ...
@overload
def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any: ...
def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """Returns the result of the first function whose condition holds.

    Args:
      pred_fn_pairs: pairs of a boolean scalar and a function.
      default: the function for when no condition holds; without one, a condition must hold.
      exclusive: whether at most one condition may hold; in eager mode the first that holds counts.
      strict: accepted as TensorFlow does.
      name: a name scope.
    Returns: the structure of tensors that the chosen function gives.
    Raises: TypeError for anything but pairs; ValueError if there are none; InvalidArgumentError at run time if no
      condition holds and there is no `default`, or more than one holds and `exclusive` is set.
    Gradient: of the function that ran.
    Reference: TensorFlow 2.21 `tf.case`.

    >>> sess.run(tf.case([(tf.constant(False), lambda: 1)], default=lambda: 3))
    np.int32(3)
    """

    def choose(pred: Any, true_fn: _Branch, false_fn: _Branch) -> Any:
        return _cond(pred, true_fn, false_fn, None)

    return _case(pred_fn_pairs, default, exclusive, name, choose)


def _case(pred_fn_pairs: Any, default: Any, exclusive: bool, name: str,
          choose: Callable[[Any, _Branch, _Branch], Any]) -> Any:
    pairs = _pairs(pred_fn_pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError(f"'default' must be callable, not {default!r}. Fix: default=lambda: ...")
    with name_scope(name, "case"):
        graph = current_graph()
        exclusive = exclusive and graph is not None  # as in TensorFlow, eager mode takes the first true condition
        checks = [] if default is not None and not exclusive else _checks(pairs, default is None, exclusive)
        waits = graph.control_dependencies(checks) if graph is not None and checks else contextlib.nullcontext()
        with waits:
            chosen = default
            if chosen is None:  # the last one, if some condition is known to hold
                *pairs, (_, chosen) = pairs
            for pred, function in reversed(pairs):
                chosen = _chain(pred, function, chosen, choose)
            return chosen()


def _chain(pred: Any, function: _Branch, otherwise: _Branch, choose: Any) -> _Branch:
    return lambda: choose(pred, function, otherwise)


def _pairs(pred_fn_pairs: Any, exclusive: bool) -> list[tuple[Any, _Branch]]:
    if isinstance(pred_fn_pairs, Mapping):
        pairs = list(pred_fn_pairs.items())
        if not isinstance(pred_fn_pairs, OrderedDict) and not exclusive:
            if current_graph() is None:
                raise ValueError(
                    "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` "
                    "and eager mode is enabled. Fix: give a list of pairs"
                )
            pairs.sort(key=lambda pair: str(pair[0].name))
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}. "
                        "Fix: [(condition, function), ...]")
    if not pairs:
        raise ValueError("'pred_fn_pairs' is empty: there is nothing to choose from. Fix: give a pair at least")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received: {pair}. "
                            "Fix: (condition, function)")
        pred, function = pair
        if not (is_tensor_like(pred) or hasattr(type(pred), "handle")):
            raise TypeError(f"pred must be a Tensor, got: {pred}. Fix: tf.constant({pred}), or a plain `if`")
        if pred.dtype is not bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred}. Fix: compare, e.g. x > 0")
        if not callable(function):
            raise TypeError(f"fn for pred {pred} must be callable. Fix: lambda: ...")
    return pairs


def _checks(pairs: list[tuple[Any, _Branch]], one: bool, exclusive: bool) -> list[Any]:
    """Adds operations that fail unless a condition, or at most one, holds; checks at once in eager mode."""
    held = raw.Pack([pred for pred, _ in pairs], axis=0)
    names = ", ".join(getattr(pred, "name", "") if current_graph() is not None else f"{i}" for i, (pred, _) in
                      enumerate(pairs))
    where = f"Built at {user_source(3)}"
    checks = []
    if one:
        text = f"None of conditions evaluated as True. Conditions: ({names}), Values:"
        checks.append(Assert(raw.Any(held, [0]), [text, held, f"{where}. Fix: give default="], 32))
    if exclusive:
        text = f"Input error: exclusive=True: more than 1 conditions ({names}) evaluated as True:"
        count = raw.Sum(raw.Cast(held, DstT=int32), [0])
        checks.append(Assert(raw.Less(count, 2), [text, held, f"{where}. Fix: other conditions, or exclusive=False"],
                             32))
    return checks

