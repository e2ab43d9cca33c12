"""Arrays of a program that is being written: what kernels compute with in the place of arrays of JAX."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .program_text import Text, Unsupported, type_of

_SCALARS = (bool, int, float)
_ARITHMETIC = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
               "maximum": "maximum", "minimum": "minimum", "logical_and": "and", "logical_or": "or"}
_COMPARED = {"equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT",
             "greater_equal": "GE"}


def _operators(function: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns a method for an operator, and one for the same with the operands exchanged."""
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
    def at(self) -> _At:
        return _At(self)

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
        kept = [i for i, n in enumerate(self.shape) if n != 1 or shape[start + i] == 1]
        flat = self.reshape([self.shape[i] for i in kept])
        return flat.made(f"stablehlo.broadcast_in_dim {flat.name}, dims = {[start + i for i in kept]}", shape)

    def astype(self, dtype: Any) -> Array:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        kinds = self.dtype.kind + dtype.kind
        if kinds[1] == "b":
            return binary("not_equal", self, 0)
        if kinds not in ("ff", "fi", "if", "ii", "bf", "bi"):
            raise Unsupported(f"{self.dtype} to {dtype}")
        return self.made(f"stablehlo.convert {self.name}", self.shape, dtype)

    def __getitem__(self, key: Any) -> Array:
        parts: list[tuple[int, int, int]] = []
        shape: list[int] = []
        turned: list[int] = []
        for k in self._expanded(key):
            if k is None:
                shape.append(1)
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
        return cut.reshape(shape)

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
        return unary("abs", self)

    __hash__ = None  # type: ignore[assignment]  # as arrays

    def __and__(self, other: Any) -> Array:
        return binary("logical_and", _bools(self), other)

    def __or__(self, other: Any) -> Array:
        return binary("logical_or", _bools(self), other)

    def __invert__(self) -> Array:
        return unary("not", _bools(self))

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported("a value that is not known")

    __bool__ = __int__ = __float__ = __index__ = __len__ = __iter__ = __array__ = _refused
    def __pow__(self, power: Any) -> Array:
        if type(power) is not int or power != 2:
            raise Unsupported("powers")
        return binary("multiply", self, self)

    __rpow__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __matmul__ = __rmatmul__ = _refused
    __lshift__ = __rshift__ = __xor__ = _refused


class _At:
    """What `x.at[rows]` gives: updates of some rows."""

    __slots__ = ("array", "key")

    def __init__(self, array: Array, key: Any = None):
        self.array = array
        self.key = key

    def __getitem__(self, key: Any) -> _At:
        return _At(self.array, key)

    def add(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._scattered("add", updates, mode, wrap_negative_indices)

    def set(self, updates: Any, mode: str | None = None, wrap_negative_indices: bool = True) -> Array:
        return self._scattered(None, updates, mode, wrap_negative_indices)

    def _scattered(self, operation: str | None, updates: Any, mode: str | None, wraps: bool) -> Array:
        x, text = self.array, self.array.text
        keys = self.key if isinstance(self.key, tuple) else (self.key,)
        if mode not in (None, "drop") or not all(isinstance(k, Array) and k.dtype.kind == "i" for k in keys):
            raise Unsupported("other updates")
        shape = common(*[k.shape for k in keys])
        columns = []
        for k, n in zip(keys, x.shape, strict=False):
            if wraps:
                moved = binary("add", k, n)
                name = text.add(f"stablehlo.select {binary('less', k, 0).name}, {moved.name}, {k.name}",
                                f"{type_of(k.shape, bool)}, {k.type}")
                k = Array(text, name, k.shape, k.dtype)
            columns.append(k.broadcast(shape).reshape(*shape, 1))
        depth, rank = len(columns), len(shape)
        where = columns[0]
        if depth > 1:
            names = ", ".join(c.name for c in columns)
            where = where.made(f"stablehlo.concatenate {names}, dim = {rank}", (*shape, depth), None, *columns[1:])
        rest = x.shape[depth:]
        updates = array(text, updates, x.dtype if isinstance(updates, _SCALARS) else None).broadcast((*shape, *rest))
        if updates.dtype != x.dtype or depth > x.ndim or (operation == "add" and x.dtype == bool):
            raise Unsupported("such updates")
        one = type_of((), x.dtype)
        body = f"%v = stablehlo.{operation} %x, %y : {one}\n      stablehlo.return %v" if operation else (
            "stablehlo.return %y")
        front = list(range(depth))
        line = (f'"stablehlo.scatter"({x.name}, {where.name}, {updates.name}) <{{indices_are_sorted = false, '
                f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = "
                f"{list(range(rank, rank + len(rest)))}, inserted_window_dims = {front}, scatter_dims_to_operand_dims "
                f"= {front}, index_vector_dim = {rank}>, unique_indices = false}}> ({{\n    ^bb0(%x: {one}, %y: {one}):"
                f"\n      {body} : {one}\n    }})")
        return x.made(line, x.shape, None, where, updates)


def _bools(x: Array) -> Array:
    if x.dtype != bool:
        raise Unsupported("bits")
    return x


def array(text: Text, value: Any, dtype: Any = None) -> Array:
    """Returns a value as an array of the program: an array, what NumPy has, or a number, which then needs the dtype."""
    if isinstance(value, Array):
        return value if dtype is None else value.astype(dtype)
    if isinstance(value, _SCALARS) and dtype is None:
        raise Unsupported("a number without a dtype")
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, *_SCALARS)):
        raise Unsupported("another library's array")
    found = np.asarray(value, dtype)
    if found.size > 1 and found.dtype != bool and found.tobytes() == found.ravel()[:1].tobytes() * found.size:
        one = Array(text, text.constant(found.ravel()[:1].reshape(())), (), found.dtype)
        return one.broadcast(found.shape)
    return Array(text, text.constant(found), found.shape, found.dtype)


def unary(name: str, x: Array) -> Array:
    """Applies StableHLO's elementwise operation of that name."""
    return Array(x.text, x.text.add(f"stablehlo.{name} {x.name}", x.type), x.shape, x.dtype)


def binary(function: str, x: Any, y: Any) -> Array:
    """Applies NumPy's function of that name to two arrays, or an array and a number, of one dtype."""
    known = x if isinstance(x, Array) else y
    if not isinstance(known, Array):
        raise Unsupported("two numbers")
    text = known.text
    x, y = (_operand(text, v, known) for v in (x, y))
    if x.dtype != y.dtype:
        if x.dtype.kind != y.dtype.kind:  # NumPy and JAX do not agree
            raise Unsupported(f"{x.dtype} and {y.dtype}")
        wider = np.promote_types(x.dtype, y.dtype)
        x, y = x.astype(wider), y.astype(wider)
    dtype = x.dtype
    shape = _common(x.shape, y.shape)
    x, y = x.broadcast(shape), y.broadcast(shape)
    if function in _COMPARED:
        kind = {"f": "FLOAT", "i": "SIGNED", "b": "UNSIGNED"}[dtype.kind]
        return x.made(f"stablehlo.compare {_COMPARED[function]}, {x.name}, {y.name}, {kind}", shape, bool, y)
    logical = function.startswith("logical")
    if logical != (dtype.kind == "b") or (function == "divide" and dtype.kind != "f"):
        raise Unsupported(f"{function} of {dtype}")
    name = text.add(f"stablehlo.{_ARITHMETIC[function]} {x.name}, {y.name}", x.type)
    return Array(text, name, shape, dtype)


def _operand(text: Text, value: Any, other: Array) -> Array:
    if not isinstance(value, _SCALARS):
        return array(text, value)
    fits = {"f": (int, float), "i": (int,), "b": (bool,)}[other.dtype.kind]
    if not isinstance(value, fits) or (isinstance(value, bool) and other.dtype != bool):
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
