"""Elementwise functions of jax.numpy, for programs that are written without it, as JAX composes them of StableHLO."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from .arrays import Array, array, binary, common, same_type, unary
from .element_types import Unsupported, kind_of, promoted
from .program_text import Text

# Name -> StableHLO's, or CHLO's, and the kinds of numbers that it is for.
_UNARY = {"negative": ("negate", "iufc"), "exp": ("exponential", "fc"), "log": ("log", "fc"), "tanh": ("tanh", "fc"),
          "log1p": ("log_plus_one", "fc"), "expm1": ("exponential_minus_one", "fc"), "sqrt": ("sqrt", "fc"),
          "floor": ("floor", "f"), "ceil": ("ceil", "f"), "rint": ("round_nearest_even", "f"), "sin": ("sine", "f"),
          "cos": ("cosine", "f"), "tan": ("tan", "fc"), "cbrt": ("cbrt", "f"), "invert": ("not", "biu"),
          "bitwise_not": ("not", "biu"), "bitwise_count": ("popcnt", "iu")}
_CHLO = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "arcsinh": "asinh",
         "arctanh": "atanh", "arccosh": "acosh"}
_BINARY = {name: name for name in (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal")}
_BINARY |= {"true_divide": "divide", "arctan2": "atan2", "bitwise_and": "and", "bitwise_or": "or",
            "bitwise_xor": "xor", "left_shift": "shift_left"}
_LOGICAL = ("logical_and", "logical_or", "logical_xor")
_HALF = 2  # bytes of a number of half precision


class NumberFunctions:
    """The functions, by NumPy's names.

    Args:
      text: the program that they write.
    """

    def __init__(self, text: Text):
        self.text = text

    def __getattr__(self, name: str) -> Any:
        if name in _UNARY:
            return lambda x: self._unary(*_UNARY[name], x)
        if name in _CHLO:
            return lambda x: self.chlo(_CHLO[name], x)
        if name in _BINARY:
            return lambda x, y: binary(_BINARY[name], self._lifted(x, y), y)
        if name in _LOGICAL:
            return lambda x, y: binary(name, self._truth(x), self._truth(y))
        raise Unsupported(name)

    def _array(self, value: Any, dtype: Any = None) -> Array:
        return array(self.text, value, dtype)

    def _lifted(self, x: Any, y: Any) -> Any:
        return x if isinstance(x, Array) or isinstance(y, Array) else self._array(x)

    def _truth(self, x: Any) -> Array:
        return self._array(x, bool if isinstance(x, bool) else None).astype(bool)

    def _unary(self, name: str, kinds: str, x: Any) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) not in kinds:
            raise Unsupported(f"{name} of {x.dtype}")
        return unary(name, x)

    def chlo(self, name: str, *operands: Any) -> Array:
        """Applies CHLO's function of that name to floats of one dtype; XLA replaces it by others."""
        arrays = [self._array(x) for x in operands]
        first = arrays[0]
        if kind_of(first.dtype) != "f" or any((a.shape, a.dtype) != (first.shape, first.dtype) for a in arrays):
            raise Unsupported(f"{name} of {first.dtype}")
        names = ", ".join(a.name for a in arrays)
        return first.made(f'"chlo.{name}"({names})', first.shape, None, *arrays[1:])

    # -- signs and parts ---------------------------------------------------------------

    def abs(self, x: Any) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) == "c":
            return x.made(f"stablehlo.abs {x.name}", x.shape, np.empty(0, x.dtype).real.dtype)
        return x if kind_of(x.dtype) in "bu" else unary("abs", x)

    absolute = abs

    def sign(self, x: Any) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) == "u":
            return self.where(x == 0, x.dtype.type(0), x.dtype.type(1))
        return self._unary("sign", "ifc", x)

    def real(self, x: Any) -> Array:
        return self._part("real", self._array(x))

    def imag(self, x: Any) -> Array:
        x = self._array(x)
        return self._part("imag", x) if kind_of(x.dtype) == "c" else self.zeros_like(x)

    def _part(self, name: str, x: Array) -> Array:
        if kind_of(x.dtype) != "c":
            return x
        return x.made(f"stablehlo.{name} {x.name}", x.shape, np.empty(0, x.dtype).real.dtype)

    def conj(self, x: Any) -> Array:
        x = self._array(x)
        return x if kind_of(x.dtype) != "c" else self.complex(self.real(x), -self.imag(x))

    conjugate = conj

    def angle(self, x: Any) -> Array:
        return binary("atan2", self.imag(x), self.real(x))

    def complex(self, x: Any, y: Any) -> Array:
        x, y = self.broadcast_arrays(*same_type(x, y))
        if x.dtype not in (np.float32, np.float64):
            raise Unsupported(f"complex numbers of {x.dtype}")
        dtype = np.complex64 if x.dtype == np.float32 else np.complex128
        return x.made(f'"stablehlo.complex"({x.name}, {y.name})', x.shape, dtype, y)

    # -- powers and quotients ----------------------------------------------------------

    def power(self, x: Any, y: Any) -> Array:
        if not isinstance(y, Array) and np.ndim(y) == 0 and isinstance(y, (int, np.integer)):
            return self._whole_power(self._array(x), operator.index(y))
        x, y = same_type(x, y)
        if kind_of(x.dtype) == "c":
            raise Unsupported("complex powers")
        return binary("power", x, y)

    def _whole_power(self, x: Array, n: int) -> Array:
        """Multiplies as JAX does: by squares."""
        if n == 0:
            return self.ones_like(x)
        if n in (2, 3):
            return x * x if n == 2 else x * x * x
        factors, square, left = [], x, abs(n)
        while left:
            if left & 1:
                factors.append(square)
            left >>= 1
            if left:
                square = square * square
        result = functools.reduce(operator.mul, factors)
        return 1 / result if n < 0 else result

    def square(self, x: Any) -> Array:
        x = self._array(x)
        return x * x

    def reciprocal(self, x: Any) -> Array:
        return 1 / self._array(x)

    def mod(self, x: Any, y: Any) -> Array:
        x, y = self.broadcast_arrays(*same_type(x, y))
        if kind_of(y.dtype) in "iu":
            y = self.where(y == 0, y.dtype.type(1), y)
        rest = binary("remainder", x, y)
        other_sign = binary("not_equal", rest < 0, y < 0)
        return self.where(other_sign & (rest != 0), rest + y, rest)

    remainder = mod

    def fmod(self, x: Any, y: Any) -> Array:
        x, y = same_type(x, y)
        if kind_of(y.dtype) in "iu":
            y = self.where(y == 0, y.dtype.type(1), y)
        return binary("remainder", x, y)

    def floor_divide(self, x: Any, y: Any) -> Array:
        x, y = self.broadcast_arrays(*same_type(x, y))
        kind = kind_of(x.dtype)
        if kind == "u":
            return binary("quotient", x, y)
        if kind == "i":
            quotient = binary("quotient", x, y)
            apart = binary("not_equal", self.sign(x), self.sign(y))
            return self.where(apart & (binary("remainder", x, y) != 0), quotient - 1, quotient)
        rest = binary("remainder", x, y)
        quotient = binary("divide", self.where(y == 0, x, x - rest), y)
        apart = binary("and", rest != 0, binary("not_equal", self.sign(y), self.sign(rest)))
        return self._unary("round_nearest_afz", "f", self.where(apart, quotient - 1.0, quotient))

    def right_shift(self, x: Any, y: Any) -> Array:
        x, y = same_type(x, y)
        how = "logical" if kind_of(x.dtype) == "u" else "arithmetic"
        return binary(f"shift_right_{how}", x, y)

    def hypot(self, x: Any, y: Any) -> Array:
        x, y = (self.abs(v) for v in same_type(x, y))
        infinite = (x == np.inf) | (y == np.inf)
        x, y = self.maximum(x, y), self.minimum(x, y)
        ratio = binary("divide", y, self.where(x == 0, x.dtype.type(1), x))
        size = self.where(x == 0, x, x * self.sqrt(1 + ratio * ratio))
        return self.where(infinite, np.asarray(np.inf, x.dtype), size)

    def logaddexp(self, x: Any, y: Any) -> Array:
        x, y = self.broadcast_arrays(*same_type(x, y))
        apart = x - y
        return self.where(self.isnan(apart), x + y, self.maximum(x, y) + self.log1p(self.exp(-abs(apart))))

    # -- rounding and limits -----------------------------------------------------------

    def round(self, x: Any, decimals: int = 0) -> Array:
        x = self._array(x)
        if decimals:
            raise Unsupported("decimals")
        return x if kind_of(x.dtype) in "iu" else self._unary("round_nearest_even", "f", x)

    def trunc(self, x: Any) -> Array:
        x = self._array(x)
        return x if kind_of(x.dtype) in "biu" else self.where(x < 0, self.ceil(x), self.floor(x))

    def clip(self, x: Any, low: Any = None, high: Any = None) -> Array:
        x = self._array(x)
        if low is not None:
            x = binary("maximum", low, x)
        return x if high is None else binary("minimum", high, x)

    def nextafter(self, x: Any, y: Any) -> Array:
        return self.chlo("next_after", *self.broadcast_arrays(*same_type(x, y)))

    def logical_not(self, x: Any) -> Array:
        return ~self._truth(x)

    def isnan(self, x: Any) -> Array:
        x = self._array(x)
        return binary("not_equal", x, x)

    def isfinite(self, x: Any) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) != "f":
            raise Unsupported("integers")
        return x.made(f"stablehlo.is_finite {x.name}", x.shape, bool)

    def isinf(self, x: Any) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) != "f":
            raise Unsupported("integers")
        return self.abs(x) == np.inf

    def where(self, condition: Any, x: Any, y: Any) -> Array:
        condition = self._truth(condition)
        plain = [isinstance(v, (bool, int, float)) and not isinstance(v, np.generic) for v in (x, y)]
        if all(plain):
            raise Unsupported("two numbers")
        if any(plain):
            known = self._array(y if plain[0] else x)
            x, y = same_type(*(v if p else known for v, p in zip((x, y), plain, strict=True)))
        else:
            x, y = self._array(x), self._array(y)
            dtype = promoted(x.dtype, y.dtype)
            x, y = x.astype(dtype), y.astype(dtype)
        shape = common(condition.shape, x.shape, y.shape)
        x, y = x.broadcast(shape), y.broadcast(shape)
        if condition.ndim:
            condition = condition.broadcast(shape)
        name = self.text.add(f"stablehlo.select {condition.name}, {x.name}, {y.name}", f"{condition.type}, {x.type}")
        return Array(self.text, name, shape, x.dtype)

    # -- of the namespace --------------------------------------------------------------

    def broadcast_arrays(self, *values: Any) -> list[Array]:
        arrays = [self._array(v) for v in values]
        shape = common(*[a.shape for a in arrays])
        return [a.broadcast(shape) for a in arrays]

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        return self._array(value, dtype).broadcast(np.ravel(shape).astype(int).tolist())

    def zeros_like(self, x: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, 0, dtype or x.dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, 1, dtype or x.dtype)
