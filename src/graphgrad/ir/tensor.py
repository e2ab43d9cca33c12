"""`tf.Tensor`: the base class of symbolic and eager tensors; names for the types of arguments.

Inside this package `Tensor` is `ir.graph`'s class of symbolic tensors, `EagerTensor` that of tensors with a value; the
class here is for users, who test `isinstance(x, tf.Tensor)` for either, and for type checkers, which cannot distinguish
the two and so see the attributes of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeAlias

import numpy as np

from .dtypes import DType
from .shape import TensorShape

# What `tf.convert_to_tensor` takes: tensors, variables, numbers, strings, NumPy arrays, nested lists of these, and
# objects of classes that registered a conversion. No annotation can express this, so it is Any.
TensorLike: TypeAlias = Any
# What `tf.as_dtype` takes: a `DType`, a NumPy dtype, a Python or NumPy type, a name, TensorFlow's number.
DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str | int
# A static shape (a `TensorShape`, a list of sizes, one size) or, where a function allows it, an integer tensor.
ShapeLike: TypeAlias = TensorShape | Iterable[Any] | SupportsIndex

if TYPE_CHECKING:
    from .graph import Graph, Operation

    class TensorOperators:
        """The operators of tensors and variables, for type checkers; `frontend.graph.operators` installs them.

        `==` and `!=` give a tensor in 2.x and a bool in 1.x, hence Any.
        """

        __slots__ = ()

        def __add__(self, other: TensorLike) -> Tensor: ...
        def __radd__(self, other: TensorLike) -> Tensor: ...
        def __sub__(self, other: TensorLike) -> Tensor: ...
        def __rsub__(self, other: TensorLike) -> Tensor: ...
        def __mul__(self, other: TensorLike) -> Tensor: ...
        def __rmul__(self, other: TensorLike) -> Tensor: ...
        def __div__(self, other: TensorLike) -> Tensor: ...
        def __rdiv__(self, other: TensorLike) -> Tensor: ...
        def __truediv__(self, other: TensorLike) -> Tensor: ...
        def __rtruediv__(self, other: TensorLike) -> Tensor: ...
        def __floordiv__(self, other: TensorLike) -> Tensor: ...
        def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
        def __mod__(self, other: TensorLike) -> Tensor: ...
        def __rmod__(self, other: TensorLike) -> Tensor: ...
        def __pow__(self, other: TensorLike) -> Tensor: ...
        def __rpow__(self, other: TensorLike) -> Tensor: ...
        def __matmul__(self, other: TensorLike) -> Tensor: ...
        def __rmatmul__(self, other: TensorLike) -> Tensor: ...
        def __and__(self, other: TensorLike) -> Tensor: ...
        def __rand__(self, other: TensorLike) -> Tensor: ...
        def __or__(self, other: TensorLike) -> Tensor: ...
        def __ror__(self, other: TensorLike) -> Tensor: ...
        def __xor__(self, other: TensorLike) -> Tensor: ...
        def __rxor__(self, other: TensorLike) -> Tensor: ...
        def __lt__(self, other: TensorLike) -> Tensor: ...
        def __le__(self, other: TensorLike) -> Tensor: ...
        def __gt__(self, other: TensorLike) -> Tensor: ...
        def __ge__(self, other: TensorLike) -> Tensor: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __hash__(self) -> int: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def __bool__(self) -> bool: ...
        def __int__(self) -> int: ...
        def __index__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
else:

    class TensorOperators:
        """The base of tensors and variables."""

        __slots__ = ()


_makers: list[Callable[[Any], str | None]] = []


def shown_with(maker: Callable[[Any], str | None]) -> None:
    """Declares what writes HTML for tensors and the like; the faces do.

    Args:
      maker: a function from the object to HTML, or to None where a notebook is to show its text.
    """
    _makers[:] = [maker]


def repr_html(value: Any) -> str | None:
    """Returns what a notebook shows of an object, None for its text; classes have it as `_repr_html_`.

    Args:
      value: the object.
    """
    return _makers[0](value) if _makers else None


class Tensor(TensorOperators):
    """An input or output of operations: symbolic while a graph is built, else with a value.

    Attributes:
      dtype: its `DType`.
      shape: its static `TensorShape`.
    """

    __slots__ = ()
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = {f"__{name}__" for name in """
        abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand rdiv rfloordiv
        rmatmul rmod rmul ror rpow rsub rtruediv rxor sub truediv xor
    """.split()}
    __array_priority__ = 100  # so that ndarray * Tensor calls Tensor.__rmul__

    dtype: DType

    if TYPE_CHECKING:  # attributes of symbolic tensors only, and of eager ones only

        @property
        def op(self) -> Operation: ...
        @property
        def value_index(self) -> int: ...
        @property
        def graph(self) -> Graph: ...
        @property
        def name(self) -> str: ...
        @property
        def device(self) -> str: ...
        @property
        def ndim(self) -> int: ...
        def numpy(self) -> Any: ...
        def cpu(self) -> Tensor: ...
        def __len__(self) -> int: ...

    @property
    def shape(self) -> TensorShape:
        """The static shape; dimensions known only at run time are None."""
        raise NotImplementedError  # defined by each subclass

    def get_shape(self) -> TensorShape:
        """Returns the static shape; the same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merges known dimensions into the static shape; raises ValueError if they contradict it."""
        raise NotImplementedError  # defined by each subclass

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Computes the value of a symbolic tensor in a session; raises NotImplementedError in eager mode.

        Args:
          feed_dict: values for placeholders and other tensors.
          session: the session; the default one if not given.
        """
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're "
                                  "looking for? Fix: tensor.numpy()")

    def consumers(self) -> list[Any]:
        """Returns the operations that have a symbolic tensor as an input; raises NotImplementedError in eager mode."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled. "
                                  "Fix: ask inside tf.function or `with tf.Graph().as_default():`")

    # Each subclass has its own of these two; libraries take them from here for classes that stand for tensors.

    def __bool__(self) -> bool:
        if type(self).__bool__ is not Tensor.__bool__:
            return type(self).__bool__(self)
        raise TypeError(f"Using a `{type(self).__name__}` as a Python `bool` is not allowed. "
                        "Fix: tf.convert_to_tensor(value), or tf.cond")

    def __iter__(self) -> Iterator[Tensor]:
        if type(self).__iter__ is not Tensor.__iter__:
            return type(self).__iter__(self)
        raise TypeError(f"'{type(self).__name__}' object is not iterable. Fix: tf.unstack(tf.convert_to_tensor(value))")

    __nonzero__ = __bool__  # the name that Python 2 had

    def ref(self) -> TensorReference:
        """Returns a hashable reference to this tensor."""
        return TensorReference(self)

    def experimental_ref(self) -> TensorReference:
        """Does what `ref` does; its older name."""
        return self.ref()


class TensorReference:
    """A hashable stand-in for a tensor or variable, compared by identity."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Returns the wrapped tensor or variable."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorReference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
