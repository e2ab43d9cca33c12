"""Arrays of a program that is being written: what kernels compute with in the place of arrays of JAX."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .element_types import Unsupported, comparison, kind_of, promoted, type_of
from .program_text import Text

_SCALARS = (bool, int, float, complex)
_INTEGERS, _BITS = "iu", "biu"
_ARITHMETIC = {"add": ("add", "iufc"), "subtract": ("subtract", "iufc"), "multiply": ("multiply", "iufc"),
               "divide": ("divide", "fc"), "quotient": ("divide", "iufc"), "remainder": ("remainder", "iuf"),
               "maximum": ("maximum", "biuf"), "minimum": ("minimum", "biuf"), "power": ("power", "f"),
               "atan2": ("atan2", "f"), "and": ("and", _BITS), "or": ("or", _BITS), "xor": ("xor", _BITS),
               "logical_and": ("and", "b"), "logical_or": ("or", "b"), "logical_xor": ("xor", "b"),
               "shift_left": ("shift_left", _INTEGERS), "shift_right_logical": ("shift_right_logical", _INTEGERS),
               "shift_right_arithmetic": ("shift_right_arithmetic", _INTEGERS)}
_COMPARED = {"equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT",
             "greater_equal": "GE"}
_OF_NAMESPACE = ("mod", "floor_divide", "matmul", "right_shift")  # of more than one operation


def _operators(function: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns a method for an operator, and one for the same with the operands exchanged."""
    if function in _OF_NAMESPACE:
        return (lambda self, other: getattr(self.__array_namespace__(), function)(self, other),
                lambda self, other: getattr(self.__array_namespace__(), function)(other, self))
    return lambda self, other: binary(function, self, other), lambda self, other: binary(function, other, self)


class Array:
    """A value of the program.

    Attributes:
      text: the program.
      name, shape, dtype: what it is called there, and its shape and dtype.
    """

    __slots__ = ("text", "name", "shape", "dtype")
    __array_ufunc__ = None  # NumPy's operators leave the work to those below

    def __init__(self, text: Text, name: str, shape: Sequence[int], dtype: Any):
        self.text = text
        self.name = name
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def type(self) -> str:
        return type_of(self.shape, self.dtype)

    @property
    def T(self) -> Array:  # as in NumPy
        return self.transpose()

    @property
    def at(self) -> Any:
        from .array_indices import At

        return At(self)

    def __array_namespace__(self) -> Any:
        from .namespace import Namespace

        return Namespace(self.text)

    def apart(self) -> Array:
        """Returns the same, not fused with what it is made of."""
        return Array(self.text, self.text.apart(self.name, self.type), self.shape, self.dtype)

    def made(self, line: str, shape: Sequence[int], dtype: Any = None, *others: Array) -> Array:
        """Adds an operation on this array, and others, whose types are all written; returns its result."""
        result = type_of(shape, self.dtype if dtype is None else dtype)
        types = ", ".join(a.type for a in (self, *others))
        name = self.text.add(line, f"({types}) -> {result}")
        return Array(self.text, name, shape, self.dtype if dtype is None else dtype)

    # -- shapes ------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Array:
        sizes = [operator.index(n) for n in (shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__")
                                             else shape)]
        if -1 in sizes:
            rest = math.prod(n for n in sizes if n != -1)
            sizes[sizes.index(-1)] = self.size // rest if rest else 0
        if math.prod(sizes) != self.size or min(sizes, default=0) < 0:
            raise Unsupported("a shape that does not fit")
        return self if tuple(sizes) == self.shape else self.made(f"stablehlo.reshape {self.name}", sizes)

    def ravel(self) -> Array:
        return self.reshape(-1)

    def transpose(self, *axes: Any) -> Array:
        if not axes or axes == (None,):
            order = list(reversed(range(self.ndim)))
        else:
            order = [operator.index(i) % self.ndim for i in (axes[0] if len(axes) == 1 else axes)]
        if sorted(order) != list(range(self.ndim)):
            raise Unsupported("axes that are no order")
        if order == list(range(self.ndim)):
            return self
        return self.made(f"stablehlo.transpose {self.name}, dims = {order}", [self.shape[i] for i in order])

    def swapaxes(self, one: int, other: int) -> Array:
        order = list(range(self.ndim))
        order[one], order[other] = order[other], order[one]
        return self.transpose(order)

    def broadcast(self, shape: Sequence[int]) -> Array:
        """Repeats it to a shape, as NumPy does."""
        shape = tuple(operator.index(n) for n in shape)
        if shape == self.shape:
            return self
        start = len(shape) - self.ndim
        if start < 0 or any(n not in (1, shape[start + i]) for i, n in enumerate(self.shape)):
            raise Unsupported("a shape that does not fit")
        return self.made(f"stablehlo.broadcast_in_dim {self.name}, dims = {list(range(start, len(shape)))}", shape)

    def widened(self, axes: Iterable[int]) -> Array:
        """Inserts axes of size 1 at these places of the result."""
        places = set(axes)
        kept = [i for i in range(self.ndim + len(places)) if i not in places]
        sizes = iter(self.shape)
        shape = [1 if i in places else next(sizes) for i in range(self.ndim + len(places))]
        return self if not places else self.made(f"stablehlo.broadcast_in_dim {self.name}, dims = {kept}", shape)

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if kind_of(self.dtype) == "c" and kind_of(dtype) != "c":
            real = np.empty(0, self.dtype).real.dtype
            return self.made(f"stablehlo.real {self.name}", self.shape, real).astype(dtype)
        if dtype == np.bool_:
            return binary("not_equal", self, 0)
        return self.made(f"stablehlo.convert {self.name}", self.shape, dtype)

    def view(self, dtype: Any) -> Array:
        if np.dtype(dtype).itemsize != self.dtype.itemsize:
            raise Unsupported("another size")
        return self.made(f"stablehlo.bitcast_convert {self.name}", self.shape, dtype)

    def copy(self) -> Array:
        return self

    def sum(self, axis: Any = None, **how: Any) -> Any:
        return self.__array_namespace__().sum(self, axis, **how)

    def any(self, axis: Any = None, **how: Any) -> Any:
        return self.__array_namespace__().any(self, axis, **how)

    def all(self, axis: Any = None, **how: Any) -> Any:
        return self.__array_namespace__().all(self, axis, **how)

    def max(self, axis: Any = None, **how: Any) -> Any:
        return self.__array_namespace__().max(self, axis, **how)

    def min(self, axis: Any = None, **how: Any) -> Any:
        return self.__array_namespace__().min(self, axis, **how)

    @property
    def real(self) -> Array:
        return self.__array_namespace__().real(self)

    @property
    def imag(self) -> Array:
        return self.__array_namespace__().imag(self)

    def conj(self) -> Array:
        return self.__array_namespace__().conj(self)

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        if any(isinstance(k, (Array, np.ndarray, list)) for k in keys):
            return self.at[key].get()
        parts: list[tuple[int, int, int]] = []
        shape: list[int] = []
        turned: list[int] = []
        added: list[int] = []
        for k in self._expanded(key):
            if k is None:
                added.append(len(shape) + len(added))
                continue
            at, n = len(parts), self.shape[len(parts)]
            if isinstance(k, slice):
                places = range(*k.indices(n))
                shape.append(len(places))
                if places.step < 0:
                    turned.append(at)
                    places = places[::-1]
            elif -n <= k < n:
                places = range(operator.index(k) % n, operator.index(k) % n + 1)
            else:
                raise Unsupported("an index out of range")
            parts.append((places.start, places[-1] + 1, places.step) if places else (0, 0, 1))
        cut = self
        if any(part != (0, n, 1) for part, n in zip(parts, self.shape, strict=True)):
            where = ", ".join(f"{a}:{b}:{c}" for a, b, c in parts)
            cut = self.made(f"stablehlo.slice {self.name} [{where}]", [len(range(*p)) for p in parts])
        if turned:
            name = self.text.add(f"stablehlo.reverse {cut.name}, dims = {turned}", cut.type)
            cut = Array(self.text, name, cut.shape, cut.dtype)
        return cut.reshape(shape).widened(added)

    def _expanded(self, key: Any) -> list[Any]:
        """Returns integers, slices and None for all axes."""
        keys = list(key) if isinstance(key, tuple) else [key]
        for k in keys:
            if isinstance(k, bool) or not (k is None or k is Ellipsis or isinstance(k, (int, np.integer, slice))):
                raise Unsupported("an index that is an array")
        if Ellipsis not in keys:
            keys.append(Ellipsis)
        at = keys.index(Ellipsis)
        used = sum(k is not None for k in keys) - 1
        keys[at : at + 1] = [slice(None)] * (self.ndim - used)
        return keys

    # -- arithmetic --------------------------------------------------------------------

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("subtract")
    __mul__, __rmul__ = _operators("multiply")
    __truediv__, __rtruediv__ = _operators("divide")
    __lt__, __gt__ = _operators("less")
    __le__, __ge__ = _operators("less_equal")
    __eq__ = _operators("equal")[0]
    __ne__ = _operators("not_equal")[0]

    def __neg__(self) -> Array:
        return unary("negate", self)

    def __abs__(self) -> Array:
        return self.__array_namespace__().abs(self)

    __hash__ = None  # type: ignore[assignment]  # as arrays
    __and__, __rand__ = _operators("and")
    __or__, __ror__ = _operators("or")
    __xor__, __rxor__ = _operators("xor")
    __lshift__, __rlshift__ = _operators("shift_left")
    __rshift__, __rrshift__ = _operators("right_shift")
    __mod__, __rmod__ = _operators("mod")
    __floordiv__, __rfloordiv__ = _operators("floor_divide")
    __matmul__, __rmatmul__ = _operators("matmul")

    def __invert__(self) -> Array:
        if kind_of(self.dtype) not in _BITS:
            raise Unsupported("bits")
        return unary("not", self)

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported("a value that is not known")

    __bool__ = __int__ = __float__ = __index__ = __array__ = _refused

    def __len__(self) -> int:
        if not self.shape:
            raise Unsupported("the length of a scalar")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return iter([self[i] for i in range(len(self))])

    def __pow__(self, power: Any) -> Array:
        return self.__array_namespace__().power(self, power)

    def __rpow__(self, base: Any) -> Array:
        return self.__array_namespace__().power(base, self)


def array(text: Text, value: Any, dtype: Any = None) -> Array:
    """Returns a value as an array of the program: an array, what NumPy has, or a number, which then needs the dtype."""
    if isinstance(value, Array):
        return value if dtype is None else value.astype(dtype)
    if isinstance(value, _SCALARS) and not isinstance(value, np.generic) and dtype is None:
        raise Unsupported("a number without a dtype")
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, *_SCALARS)):
        raise Unsupported("another library's array")
    found = np.asarray(value, dtype)
    if not found.size:
        return array(text, np.zeros((), found.dtype)).broadcast(found.shape)
    if found.size > 1 and found.dtype != bool and found.tobytes() == found.ravel()[:1].tobytes() * found.size:
        one = Array(text, text.constant(found.ravel()[:1].reshape(())), (), found.dtype)
        return one.broadcast(found.shape)
    return Array(text, text.constant(found), found.shape, found.dtype)


def unary(name: str, x: Array) -> Array:
    """Applies StableHLO's elementwise operation of that name."""
    return Array(x.text, x.text.add(f"stablehlo.{name} {x.name}", x.type), x.shape, x.dtype)


def binary(function: str, x: Any, y: Any) -> Array:
    """Applies a function to two arrays, or an array and a number, which are converted to one dtype."""
    x, y = same_type(x, y)
    dtype, shape = x.dtype, _common(x.shape, y.shape)
    x, y = (v.widened(range(len(shape) - v.ndim)) if v.ndim else v for v in (x, y))  # as JAX does it
    x, y = x.broadcast(shape), y.broadcast(shape)
    if function in _COMPARED:
        return x.made(f"stablehlo.compare {_COMPARED[function]}, {x.name}, {y.name}, {comparison(dtype)}", shape, bool,
                      y)
    name, kinds = _ARITHMETIC[function]
    if kind_of(dtype) not in kinds:
        raise Unsupported(f"{function} of {dtype}")
    return Array(x.text, x.text.add(f"stablehlo.{name} {x.name}, {y.name}", x.type), shape, dtype)


def same_type(x: Any, y: Any) -> tuple[Array, Array]:
    """Converts two arrays, or an array and a number, to the dtype in which JAX computes with them."""
    known = x if isinstance(x, Array) else y
    if not isinstance(known, Array):
        raise Unsupported("two numbers")
    x, y = (_operand(known.text, v, known) for v in (x, y))
    dtype = promoted(x.dtype, y.dtype)
    return x.astype(dtype), y.astype(dtype)


def _operand(text: Text, value: Any, other: Array) -> Array:
    if not isinstance(value, _SCALARS) or isinstance(value, np.generic):
        return array(text, value)
    kind = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else (
        "f" if isinstance(value, float) else "c")
    if kind not in {"b": "b", "i": "bi", "u": "bi", "f": "bif", "c": "bifc"}[kind_of(other.dtype)]:
        raise Unsupported(f"{value} and {other.dtype}")
    return array(text, value, other.dtype)


def _common(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    sizes = []
    for n, m in itertools.zip_longest(reversed(x), reversed(y), fillvalue=1):
        if n != m and 1 not in (n, m):
            raise Unsupported("shapes that do not fit")
        sizes.append(m if n == 1 else n)
    return tuple(reversed(sizes))


def common(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Returns the shape to which all are repeated."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        result = _common(result, shape)
    return result
