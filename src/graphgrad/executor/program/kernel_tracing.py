"""Traces NumPy kernels: what a kernel does with arrays of known dtypes and shapes becomes lines of Python.

A kernel is called once, with NumPy and with `Symbol`s in the place of arrays that runs will bring. Its calls of NumPy
are noted, not made; what it decides by dtypes, shapes, attributes and constants is decided then, for all runs. A kernel
that needs more (values, or a function that is not listed here) raises `Untraceable`, and runs call it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_LARGE = 1 << 16  # elements: results of more are not computed while tracing
_SMALL = 1 << 12  # elements: arrays of more are freed after their last reader

# Functions whose result's shape follows from shapes, and that do not change their arguments.
_FUNCTIONS = frozenset({
    np.where, np.concatenate, np.stack, np.reshape, np.transpose, np.broadcast_to, np.expand_dims, np.squeeze,
    np.zeros_like, np.ones_like, np.full_like, np.take, np.take_along_axis, np.repeat, np.tile, np.flip, np.roll,
    np.pad, np.cumsum, np.cumprod, np.argmax, np.argmin, np.real, np.imag, np.clip, np.moveaxis, np.swapaxes,
    np.diagonal, np.trace, np.tensordot, np.einsum, np.split, np.round,
})
_REDUCTIONS = {np.sum: np.add, np.prod: np.multiply, np.max: np.maximum, np.min: np.minimum, np.any: np.logical_or,
               np.all: np.logical_and}
# On NumPy's scalars these take a tenth of the time, and give the same bits.
_OPERATORS = {np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/"}
_SCALARS = (np.dtype(np.float32), np.dtype(np.float64))


class Untraceable(Exception):
    """A kernel does something that cannot be noted."""


class Symbol:
    """An array or a NumPy scalar of each run, as a kernel sees it while it is traced.

    Args:
      listing: the program that is being written.
      name: its name there.
      like: a value of the same dtype and rank and, if `known`, shape.
      known: whether its shape is known.
      fresh: whether it is certain that no other value shares its memory.

    Attributes:
      like, known, fresh: as above.
    """

    __slots__ = ("listing", "name", "like", "known", "fresh", "_forms")
    __array_priority__ = 1e6

    def __init__(self, listing: Listing, name: str, like: Any, known: bool, fresh: bool = False):
        self.listing = listing
        self.name = name
        self.like = like
        self.known = known
        self.fresh = fresh
        self._forms: dict[str, str] = {}

    @property  # type: ignore[misc]  # read-only, as it is meant
    def __class__(self) -> type:  # kernels ask whether they have an array
        return np.ndarray

    @property
    def is_scalar(self) -> bool:
        """Whether runs have a scalar of NumPy's here, and not an array."""
        return isinstance(self.like, np.generic)

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self.like.dtype

    @property
    def ndim(self) -> int:
        """The rank."""
        return int(self.like.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        shape: tuple[int, ...] = self._sized().shape
        return shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._sized().size)

    def _sized(self) -> Any:
        if not self.known:
            raise Untraceable
        return self.like

    def as_array(self) -> str:
        """Returns the name of the value as an array."""
        return self._form("asarray") if self.is_scalar else self.name

    def as_scalar(self) -> str:
        """Returns the name of the value, which has no dimensions, as a scalar."""
        return self.name if self.is_scalar else self._form("item")

    def _form(self, kind: str) -> str:
        if kind not in self._forms:
            text = f"asarray({self.name})" if kind == "asarray" else f"{self.name}[()]"
            self._forms[kind] = self.listing.line(text, [self.name], True)
        return self._forms[kind]

    # -- what kernels do ---------------------------------------------------------------

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__":
            return self.listing.call(ufunc, inputs, options)
        if method == "reduce":
            return self.listing.reduction(ufunc, *inputs, **options)
        raise Untraceable

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in _REDUCTIONS:
            return self.listing.reduction(_REDUCTIONS[function], *args, **{"axis": None, **options})
        if function not in _FUNCTIONS or "out" in options:
            raise Untraceable
        return self.listing.function(function, args, options)

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(name)  # not an AttributeError: kernels would go on without it

    def _untraceable(self, *_: Any) -> Any:
        raise Untraceable

    __bool__ = __int__ = __float__ = __index__ = __len__ = __iter__ = __contains__ = _untraceable
    __setitem__ = __pow__ = __rpow__ = _untraceable
    __hash__ = object.__hash__

    @property
    def T(self) -> Any:  # NumPy's name
        """The transpose."""
        return self.listing.attribute(self, "T")

    def astype(self, dtype: Any, **options: Any) -> Any:
        """Returns the value in another dtype; itself in its own."""
        if options:
            raise Untraceable
        if np.dtype(dtype) == self.dtype:
            self.fresh = False  # it has two names in the kernel now
            return self
        return self.listing.method(self, "astype", (np.dtype(dtype),), True)

    def reshape(self, *shape: Any) -> Any:
        """Returns the value in another shape."""
        self._sized()
        return self.listing.method(self, "reshape", shape, False)

    def transpose(self, *axes: Any) -> Any:
        """Returns the value with its axes permuted."""
        return self.listing.method(self, "transpose", axes, False)

    def __getitem__(self, index: Any) -> Any:
        self._sized()
        parts = index if type(index) is tuple else (index,)
        if not all(p is None or p is Ellipsis or type(p) in (int, slice) for p in parts):
            raise Untraceable
        return self.listing.item(self, index)


def _binary(ufunc: Any, swapped: bool = False) -> Callable[..., Any]:
    def operator(self: Symbol, other: Any) -> Any:
        return self.listing.call(ufunc, (other, self) if swapped else (self, other), {})

    return operator


def _unary(ufunc: Any) -> Callable[..., Any]:
    return lambda self: self.listing.call(ufunc, (self,), {})


for _name, _ufunc in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
                      "floordiv": np.floor_divide, "mod": np.remainder, "and": np.bitwise_and, "or": np.bitwise_or,
                      "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
                      "matmul": np.matmul}.items():
    setattr(Symbol, f"__{_name}__", _binary(_ufunc))
    setattr(Symbol, f"__r{_name}__", _binary(_ufunc, True))
for _name, _ufunc in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                      "ge": np.greater_equal}.items():
    setattr(Symbol, f"__{_name}__", _binary(_ufunc))
for _name, _ufunc in {"neg": np.negative, "abs": np.absolute, "invert": np.invert}.items():
    setattr(Symbol, f"__{_name}__", _unary(_ufunc))


def is_symbol(value: Any) -> bool:
    """Returns whether a value is a `Symbol`; `isinstance` says that those are arrays."""
    return type(value) is Symbol


class Line(NamedTuple):
    """A line of a program.

    Attributes:
      text: the line.
      gives: the names that it gives values, or whose values it changes.
      uses: the names whose values it needs.
      needed: whether it stays even if nobody uses what it gives.
    """

    text: str
    gives: Sequence[str]
    uses: Sequence[str]
    needed: bool = False


class Listing:
    """Lines of Python that compute with NumPy.

    Attributes:
      lines: the lines.
      names: what the lines refer to besides: functions and constants.
      large: names of values that may take much memory.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.names: dict[str, Any] = {"asarray": np.asarray}
        self.large: set[str] = set()
        self._known: dict[Any, str] = {}
        self._count = 0

    def line(self, text: str, uses: Sequence[str], small: bool = False) -> str:
        """Adds a line that computes a value; returns the value's name."""
        name = self.new()
        self.lines.append(Line(f"{name} = {text}", (name,), uses))
        if not small:
            self.large.add(name)
        return name

    def new(self) -> str:
        """Returns a new name."""
        self._count += 1
        return f"v{self._count}"

    def refer(self, thing: Any, prefix: str = "c") -> str:
        """Returns a name for a function or a constant."""
        name = self._known.get(id(thing))
        if name is None:
            name = self._known[id(thing)] = f"{prefix}{len(self.names)}"
            self.names[name] = thing  # which keeps it alive, and its id its own
        return name

    def constant(self, value: Any) -> str:
        """Returns a name for an array that kernels made while they were traced, and that nobody changes any more."""
        if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiub":
            key = value.dtype, value.tobytes()
            if key not in self._known:
                self._known[key] = self.refer(np.array(value))
            return self._known[key]
        return self.refer(np.array(value)) if isinstance(value, (np.ndarray, np.generic)) else self.refer(value)

    # -- what is noted -----------------------------------------------------------------

    def call(self, ufunc: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        """Notes the call of a ufunc."""
        if ufunc.nout != 1 or any(type(i) in (list, tuple) for i in inputs):
            raise Untraceable
        if out := options.pop("out", None):
            return self._in_place(ufunc, inputs, out, options)
        if options:
            raise Untraceable
        inputs = _same_kind(inputs)
        like = ufunc(*map(_like, inputs))
        known = all(not is_symbol(i) or i.known for i in inputs)
        if ufunc in _OPERATORS and isinstance(like, np.generic) and all(_is_plain(i, like.dtype) for i in inputs):
            texts = [i.as_scalar() if is_symbol(i) else self.refer_scalar(i, like.dtype) for i in inputs]
            return self._result(f" {_OPERATORS[ufunc]} ".join(texts), texts, like, known)
        texts = [self._text(i) for i in inputs]
        return self._result(f"{self.refer(ufunc, 'f')}({', '.join(texts)})", texts, like, known)

    def _in_place(self, ufunc: Any, inputs: Sequence[Any], out: Any, options: dict[str, Any]) -> Any:
        target: Any = out[0] if len(out) == 1 else None
        if options or not is_symbol(target) or not target.fresh or not target.ndim or target.is_scalar:
            raise Untraceable
        like = ufunc(*map(_like, inputs))
        if like.dtype != target.dtype or like.shape != target.like.shape:
            raise Untraceable
        texts = [self._text(i) for i in inputs]
        call = f"{self.refer(ufunc, 'f')}({', '.join([*texts, target.name])})"
        self.lines.append(Line(call, (target.name,), [*texts, target.name]))
        return target

    def reduction(self, ufunc: Any, x: Any, *args: Any, **options: Any) -> Any:
        """Notes a reduction."""
        if args or options.keys() - {"axis", "dtype", "keepdims", "initial"} or not is_symbol(x):
            raise Untraceable
        for name, default in (("keepdims", False), ("dtype", x.dtype if x.dtype.kind == "f" else None)):
            if name in options and options[name] in (default, None):
                del options[name]
        if any(map(is_symbol, options.values())):
            raise Untraceable
        like = ufunc.reduce(x.like, **options)
        text = "".join([f", {k}={self._text(v)}" for k, v in options.items()])
        return self._result(f"{self.refer(ufunc.reduce, 'f')}({x.as_array()}{text})", [x.as_array()], like, x.known)

    def function(self, function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
        """Notes the call of another function of NumPy's."""
        like = function(*map(_like, args), **{k: _like(v) for k, v in options.items()})
        uses: list[str] = []
        texts = [self._text(a, uses) for a in args] + [f"{k}={self._text(v, uses)}" for k, v in options.items()]
        if not isinstance(like, (np.ndarray, np.generic)) or not _all_known([*args, *options.values()]):
            raise Untraceable
        return self._result(f"{self.refer(function, 'f')}({', '.join(texts)})", uses, like, True, False)

    def attribute(self, x: Symbol, name: str) -> Any:
        """Notes the access to an attribute that is an array."""
        return self._result(f"{x.name}.{name}", [x.name], getattr(x.like, name), x.known, False)

    def method(self, x: Symbol, name: str, args: Sequence[Any], fresh: bool) -> Any:
        """Notes the call of a method."""
        if any(map(is_symbol, args)):
            raise Untraceable
        like = getattr(x.like if fresh else np.asarray(x.like), name)(*args)
        target = x.name if fresh else x.as_array()
        text = f"{target}.{name}({', '.join([self._text(a) for a in args])})"
        return self._result(text, [target], like, x.known, fresh)

    def item(self, x: Symbol, index: Any) -> Any:
        """Notes an access to elements."""
        return self._result(f"{x.name}[{self.refer(index)}]", [x.name], x.like[index], True, False)

    def _result(self, text: str, uses: Sequence[str], like: Any, known: bool, fresh: bool = True) -> Symbol:
        if like.dtype == object or like.size > _LARGE:
            raise Untraceable
        small = known and like.size <= _SMALL
        return Symbol(self, self.line(text, uses, small), like, known, fresh)

    def refer_scalar(self, value: Any, dtype: Any) -> str:
        """Returns a name for a constant as a scalar of NumPy's."""
        key = "scalar", dtype, np.asarray(value, dtype).tobytes()
        if key not in self._known:
            self._known[key] = self.refer(dtype.type(value))
        return self._known[key]

    def _text(self, value: Any, uses: list[str] | None = None) -> str:
        if is_symbol(value):
            if uses is not None:
                uses.append(value.name)
            return value.name
        if type(value) in (list, tuple):
            inner = "".join([self._text(v, uses) + ", " for v in value])
            return f"[{inner}]" if type(value) is list else f"({inner})"
        if value is None or type(value) in (bool, int):
            return repr(value)
        return self.constant(value)


def _like(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_like, value))
    return value.like if is_symbol(value) else value


def _all_known(values: Sequence[Any]) -> bool:
    return all(_all_known(v) if type(v) in (list, tuple) else not is_symbol(v) or v.known for v in values)


def _same_kind(inputs: Sequence[Any]) -> Sequence[Any]:
    """Converts Python's numbers among the operands to the dtype that NumPy would convert them to, once for all runs."""
    floats = {i.dtype for i in inputs if not isinstance(i, (int, float))}
    if len(floats) != 1 or (dtype := floats.pop()) not in _SCALARS:
        return inputs
    return [np.asarray(i, dtype) if type(i) in (int, float) else i for i in inputs]


def _is_plain(value: Any, dtype: Any) -> bool:
    return dtype in _SCALARS and value.ndim == 0 and value.dtype == dtype
