"""`tf.Tensor`: the base class of symbolic and eager tensors.

Inside this package `Tensor` is `ir.graph`'s class of symbolic tensors, `EagerTensor` that of tensors with a value; the
class here is for users, who ask `isinstance(x, tf.Tensor)` of either.
"""

from __future__ import annotations

from typing import Any

from .dtypes import DType
from .shape import TensorShape


class Tensor:
    """A value that operations take and give: symbolic while a graph is built, else with its value at hand.

    Attributes:
      dtype: its `DType`.
      shape: its static `TensorShape`.
    """

    __slots__ = ()
    __array_priority__ = 100  # so that ndarray * Tensor calls Tensor.__rmul__

    dtype: DType

    @property
    def shape(self) -> TensorShape:
        """The static shape; dimensions that only the run knows are None."""
        raise NotImplementedError  # each subclass has its own

    def get_shape(self) -> TensorShape:
        """The static shape; the same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merges what the caller knows of the shape into the static shape; ValueError if it contradicts it."""
        raise NotImplementedError  # each subclass has its own

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value of a symbolic tensor in a session; NotImplementedError in eager mode.

        Args:
          feed_dict: values for placeholders and other tensors.
          session: the session; the default one if not given.
        """
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're "
                                  "looking for? Fix: tensor.numpy()")

    def consumers(self) -> list[Any]:
        """The operations that have a symbolic tensor as an input; NotImplementedError in eager mode."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled. "
                                  "Fix: ask inside tf.function or `with tf.Graph().as_default():`")

    def ref(self) -> TensorReference:
        """A hashable reference to this tensor."""
        return TensorReference(self)

    def experimental_ref(self) -> TensorReference:
        """The older name of `ref`."""
        return self.ref()


class TensorReference:
    """A hashable stand-in for a tensor or variable, compared by identity."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or variable that was wrapped."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorReference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
