"""What kernels use of jax.lax, for programs that are written without JAX; all else raises Unsupported."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import contractions, orders, regions
from .array_indices import dynamic_slice, dynamic_update
from .arrays import Array, binary
from .element_types import Unsupported, kind_of

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "quotient", "rem": "remainder",
           "max": "maximum", "min": "minimum", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
           "shift_left": "shift_left", "shift_right_logical": "shift_right_logical",
           "shift_right_arithmetic": "shift_right_arithmetic", "pow": "power", "atan2": "atan2", "lt": "less",
           "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_UNARY = {"neg": "negative", "exp": "exp", "log": "log", "tanh": "tanh", "sqrt": "sqrt", "floor": "floor",
          "ceil": "ceil", "abs": "abs", "sign": "sign", "sin": "sin", "cos": "cos", "log1p": "log1p", "expm1": "expm1",
          "bitwise_not": "invert", "population_count": "bitwise_count", "square": "square", "real": "real",
          "imag": "imag", "is_finite": "isfinite"}
_CHLO = ("erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i1e", "polygamma", "zeta")


class WrittenLax:
    """What kernels use of jax.lax.

    Args:
      xp: the array module.
    """

    def __init__(self, xp: Any):
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        if name in _BINARY:
            return lambda x, y: binary(_BINARY[name], self._xp.asarray(x) if isinstance(x, np.ndarray) else x, y)
        if name in _UNARY:
            return getattr(self._xp, _UNARY[name])
        if name in _CHLO:
            return lambda *operands: self._xp.chlo(name, *operands)
        raise Unsupported(name)

    def logistic(self, x: Any) -> Array:
        return 1 / (1 + self._xp.exp(-self._xp.asarray(x)))

    def rsqrt(self, x: Any) -> Array:
        return self._floating("rsqrt", x)

    def _floating(self, name: str, x: Any) -> Array:
        x = self._xp.asarray(x)
        if kind_of(x.dtype) != "f":
            raise Unsupported(f"{name} of {x.dtype}")
        return x.made(f"stablehlo.{name} {x.name}", x.shape)

    def concatenate(self, values: Sequence[Any], axis: int) -> Array:
        return self._xp.concatenate(values, axis)

    def dot(self, x: Any, y: Any, *, dimension_numbers: Any) -> Array:
        return self.dot_general(x, y, dimension_numbers)

    def dot_general(self, x: Any, y: Any, dimension_numbers: Any, precision: str = "DEFAULT") -> Array:
        summed, batch = dimension_numbers
        return contractions.product(self._xp.asarray(x), self._xp.asarray(y), summed, batch, precision)

    @property
    def linalg(self) -> Any:
        return self._xp.linalg

    def conv_general_dilated(self, x: Any, f: Any, strides: Any, pads: Any, lhs_dilation: Any = None,
                             rhs_dilation: Any = None, dimension_numbers: Any = None, feature_group_count: int = 1,
                             batch_group_count: int = 1) -> Array:
        x, f = self._xp.asarray(x), self._xp.asarray(f)
        if x.dtype != f.dtype or kind_of(x.dtype) != "f" or 0 in (*x.shape, *f.shape):
            raise Unsupported("such a convolution")
        image, kernel, out = dimension_numbers
        nd = len(strides)
        places = [c for c in kernel if c not in "IO"]  # letters of the spatial axes, in order
        apart, spread = (list(d) if d is not None else [1] * nd for d in (lhs_dilation, rhs_dilation))
        shape = [0] * len(out)
        for k, c in enumerate(places):
            n, e = x.shape[image.index(c)], f.shape[kernel.index(c)]
            low, high = pads[k]
            within = max(n - 1, 0) * apart[k] + 1 + low + high - ((e - 1) * spread[k] + 1)
            shape[out.index(c)] = within // strides[k] + 1 if within >= 0 else 0
        shape[out.index("N")] = x.shape[image.index("N")] // batch_group_count
        shape[out.index("C")] = f.shape[kernel.index("O")]
        if 0 in shape:
            raise Unsupported("no windows")

        def written(letters: str) -> str:
            names = {"N": "b", "C": "f", "I": "i", "O": "o"} | {c: str(k) for k, c in enumerate(places)}
            return f"[{', '.join(names[c] for c in letters)}]"

        default = "#stablehlo<precision DEFAULT>"
        return x.made(
            f"stablehlo.convolution({x.name}, {f.name}) dim_numbers = {written(image)}x{written(kernel)}->"
            f"{written(out)}, window = {{stride = {list(strides)}, pad = {[list(p) for p in pads]}, lhs_dilate = "
            f"{apart}, rhs_dilate = {spread}}} {{batch_group_count = {batch_group_count} : i64, feature_group_count = "
            f"{feature_group_count} : i64, precision_config = [{default}, {default}]}}", shape, None, f)

    def slice(self, x: Any, starts: Any, stops: Any, strides: Any = None) -> Array:
        x = self._xp.asarray(x)
        steps = [1] * x.ndim if strides is None else strides
        return x[tuple([slice(operator.index(a), operator.index(b), operator.index(c))
                        for a, b, c in zip(starts, stops, steps, strict=True)])]

    def slice_in_dim(self, x: Any, start: int, stop: int, stride: int = 1, axis: int = 0) -> Array:
        x = self._xp.asarray(x)
        part = slice(operator.index(start), operator.index(stop), operator.index(stride))
        return x[(*(slice(None),) * (axis % x.ndim), part)]

    def index_in_dim(self, x: Any, i: int, axis: int = 0, keepdims: bool = True) -> Array:
        cut = self.slice_in_dim(x, i, i + 1, axis=axis)
        return cut if keepdims else self._xp.squeeze(cut, axis)

    def rev(self, x: Any, axes: Any) -> Array:
        x = self._xp.asarray(x)
        return x[tuple([slice(None, None, -1 if i in axes else 1) for i in range(x.ndim)])]

    def pad(self, x: Any, value: Any, pads: Any) -> Array:
        x = self._xp.asarray(x)
        value = self._xp.asarray(value)
        if value.dtype != x.dtype or value.ndim:
            raise Unsupported("such padding")
        low, high, inner = ([operator.index(p[i]) for p in pads] for i in range(3))
        shape = [a + b + n + max(n - 1, 0) * c for n, a, b, c in zip(x.shape, low, high, inner, strict=True)]
        if min(shape, default=0) < 0 or 0 in x.shape:
            raise Unsupported("such padding")
        return x.made(f"stablehlo.pad {x.name}, {value.name}, low = {low}, high = {high}, interior = {inner}", shape,
                      None, value)

    # -- types and places --------------------------------------------------------------

    def bitcast_convert_type(self, x: Any, dtype: Any) -> Array:
        x, dtype = self._xp.asarray(x), np.dtype(dtype)
        if "b" in (kind_of(x.dtype), kind_of(dtype)):
            raise Unsupported("bits")
        was, size = x.dtype.itemsize, dtype.itemsize
        if was < size and x.shape[-1:] != (size // was,):
            raise Unsupported("such bits")
        shape = x.shape if was == size else (*x.shape, was // size) if was > size else x.shape[:-1]
        return x.made(f"stablehlo.bitcast_convert {x.name}", shape, dtype)

    def convert_element_type(self, x: Any, dtype: Any) -> Array:
        return self._xp.asarray(x, dtype)

    def iota(self, dtype: Any, n: int) -> Array:
        return self._xp.iota(dtype, (n,), 0)

    def broadcasted_iota(self, dtype: Any, shape: Sequence[int], axis: int) -> Array:
        return self._xp.iota(dtype, shape, axis)

    def expand_dims(self, x: Any, axes: Any) -> Array:
        return self._xp.expand_dims(x, axes)

    def select(self, which: Any, x: Any, y: Any) -> Array:
        return self._xp.where(which, x, y)

    def complex(self, x: Any, y: Any) -> Array:
        return self._xp.complex(x, y)

    def _starts(self, x: Array, starts: Sequence[Any]) -> list[Array]:
        """Returns the beginnings of a slice, of one dtype; negative ones count from the end."""
        found = []
        for start, n in zip(starts, x.shape, strict=True):
            if isinstance(start, Array) and kind_of(start.dtype) == "i":
                start = self._xp.where(start < 0, start + n, start)
            found.append(start if isinstance(start, Array) else int(start) + n * (int(start) < 0))
        dtypes = {s.dtype for s in found if isinstance(s, Array)}
        dtype = np.dtype(np.int64) if len(dtypes) != 1 else dtypes.pop()
        return [self._xp.asarray(s, dtype) for s in found]

    def dynamic_slice(self, x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Array:
        x = self._xp.asarray(x)
        return dynamic_slice(x, self._starts(x, starts), [operator.index(n) for n in sizes])

    def dynamic_update_slice(self, x: Any, update: Any, starts: Sequence[Any]) -> Array:
        x, update = self._xp.asarray(x), self._xp.asarray(update)
        return dynamic_update(x, update, self._starts(x, starts))

    def dynamic_slice_in_dim(self, x: Any, start: Any, size: int, axis: int = 0) -> Array:
        x = self._xp.asarray(x)
        starts, sizes = [0] * x.ndim, list(x.shape)
        starts[axis], sizes[axis] = start, operator.index(size)
        return self.dynamic_slice(x, starts, sizes)

    def dynamic_update_slice_in_dim(self, x: Any, update: Any, start: Any, axis: int) -> Array:
        starts = [0] * x.ndim
        starts[axis] = start
        return self.dynamic_update_slice(x, update, starts)

    def dynamic_index_in_dim(self, x: Any, i: Any, axis: int = 0, keepdims: bool = True) -> Array:
        cut = self.dynamic_slice_in_dim(x, i, 1, axis)
        return cut if keepdims else self._xp.squeeze(cut, axis)

    def dynamic_update_index_in_dim(self, x: Any, update: Any, i: Any, axis: int) -> Array:
        if update.ndim != x.ndim:
            update = self._xp.expand_dims(update, axis)
        return self.dynamic_update_slice_in_dim(x, update, i, axis)

    # -- orders ------------------------------------------------------------------------

    def reduce_window(self, x: Any, start: Any, combine: Any, sizes: Any, steps: Any, padding: str) -> Array:
        if padding != "VALID":
            raise Unsupported("padded windows")
        return orders.reduce_window(self._xp, x, start, combine, sizes, steps)

    def cumsum(self, x: Any, axis: int = 0, reverse: bool = False) -> Array:
        return orders.accumulated(self._xp, "add", x, axis, reverse)

    def cumprod(self, x: Any, axis: int = 0, reverse: bool = False) -> Array:
        return orders.accumulated(self._xp, "multiply", x, axis, reverse)

    def cummax(self, x: Any, axis: int = 0, reverse: bool = False) -> Array:
        return orders.accumulated(self._xp, "maximum", x, axis, reverse)

    def cummin(self, x: Any, axis: int = 0, reverse: bool = False) -> Array:
        return orders.accumulated(self._xp, "minimum", x, axis, reverse)

    def sort(self, x: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
        if isinstance(x, (list, tuple)):
            return tuple(orders.sort(self._xp, list(x), dimension, is_stable, num_keys))
        return orders.sort(self._xp, [x], dimension, is_stable)[0]

    def top_k(self, x: Any, k: int) -> tuple[Array, Array]:
        return orders.top_k(self._xp, self._xp.asarray(x), k)

    # -- loops and branches ------------------------------------------------------------

    def while_loop(self, condition: Callable[[Any], Any], body: Callable[[Any], Any], start: Any) -> Any:
        return regions.while_loop(self._xp, condition, body, start)

    def fori_loop(self, low: Any, high: Any, body: Callable[[Any, Any], Any], start: Any) -> Any:
        return regions.fori_loop(self._xp, low, high, body, start)

    def scan(self, step: Callable[[Any, Any], Any], start: Any, rows: Any, reverse: bool = False) -> Any:
        return regions.scan(self._xp, step, start, rows, reverse)

    def cond(self, which: Any, if_true: Callable[..., Any], if_false: Callable[..., Any], *operands: Any) -> Any:
        return regions.cond(self._xp, which, if_true, if_false, *operands)

    def eval_shape(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return regions.shapes_of(self._xp, function, *arguments)
