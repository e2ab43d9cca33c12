"""`strict_gradients`: raises an error instead of giving None for a gradient."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from graphgrad.gradients.core.unconnected import UnconnectedGradients
from graphgrad.ir.graph import Tensor

from .explain import explain_gradient


class _State(threading.local):
    on = False


_state = _State()


class strict_gradients:  # called like a function
    """Makes `gradients`, and functions that use it, raise an error instead of returning None.

    Takes effect at once, in this thread, and is undone at the end of a `with` block. `unconnected_gradients='zero'`
    still gives zeros.

    Args:
      enabled: whether None is an error.
    Raises: nothing by itself; `gradients` then raises ValueError, which explains for each x that has no gradient why,
      as `explain_gradient` does.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own; TensorFlow has no such switch.

    >>> x = tf.constant(0.3)
    >>> with tf.strict_gradients():
    ...     tf.gradients(tf.round(x), x)
    Traceback (most recent call last):
    ValueError: The gradient of Round:0 with respect to Const:0 is None: 1 cut, on every way from y to x. ...
    >>> tf.gradients(tf.round(x), x)
    [None]
    """

    def __init__(self, enabled: bool = True):
        if not isinstance(enabled, bool):
            raise TypeError(f"enabled must be True or False, not {enabled!r}")
        self._before = _state.on
        _state.on = enabled

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _state.on = self._before


def is_on() -> bool:
    """Returns whether None is an error in this thread."""
    return _state.on


_EXPLAINED = 3  # xs


def check(ys: list[Tensor], xs: list[Tensor], results: Sequence[Any], stops: list[Tensor],
          unconnected: UnconnectedGradients) -> None:
    """Raises ValueError in strict mode if a result is None."""
    if not _state.on or unconnected is UnconnectedGradients.ZERO:
        return
    missing = [x for x, g in zip(xs, results, strict=True) if g is None]
    if missing:
        texts = [str(explain_gradient(ys, x, stops)) for x in missing[:_EXPLAINED]]
        if len(missing) > _EXPLAINED:
            texts.append(f"Nor have these a gradient: {', '.join(x.name for x in missing[_EXPLAINED:][:20])}")
        raise ValueError("\n".join(texts) + "\n(strict_gradients is on: None is an error)")
