"""`strict_gradients`: raises an error instead of giving None for a gradient."""

from __future__ import annotations

from graphgrad.gradients.core.strictness import explain_none_with

from .explain import explain_gradient


class strict_gradients:  # called like a function
    """Makes `gradients`, and functions that use it, raise an error instead of returning None.

    Takes effect at once, in this thread, and is undone at the end of a `with` block. `unconnected_gradients='zero'`
    still gives zeros.

    Args:
      enabled: whether None is an error.
    Raises: nothing itself; `gradients` then raises ValueError, which explains for each x that has no gradient why,
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
        self._before = explain_none_with(explain_gradient if enabled else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        explain_none_with(self._before)
