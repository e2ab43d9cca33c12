"""What kernels use of jax.numpy, for programs that are written without it; all else raises Unsupported."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import contractions, orders
from .array_indices import gathered, take
from .arrays import Array, binary, same_type
from .element_types import Unsupported, kind_of, promoted, type_of
from .number_functions import NumberFunctions
from .written_fourier import WrittenFourier
from .written_lax import WrittenLax
from .written_linalg import WrittenLinalg
from .written_special import WrittenSpecial

_REDUCED = {"sum": ("add", 0), "prod": ("multiply", 1), "max": ("maximum", -np.inf), "min": ("minimum", np.inf),
            "any": ("or", False), "all": ("and", True)}
_TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "complex64", "complex128")


class _Type:
    """A type of numbers, which also makes them, as `jnp.float32`.

    Args:
      dtype: NumPy's.
    """

    def __init__(self, dtype: np.dtype[Any]):
        self.dtype = dtype

    def __call__(self, value: Any) -> Any:
        return value.astype(self.dtype) if isinstance(value, Array) else np.asarray(value, self.dtype)[()]


class Namespace(NumberFunctions):
    """The functions, by NumPy's names.

    Args:
      text: the program that they write.
    """

    newaxis, inf, nan, pi = None, np.inf, np.nan, np.pi
    bool_ = np.bool_

    @property
    def written_special(self) -> WrittenSpecial:
        return WrittenSpecial(self)

    @property
    def linalg(self) -> WrittenLinalg:
        return WrittenLinalg(self)

    @property
    def fft(self) -> WrittenFourier:
        return WrittenFourier(self)

    @property
    def written_lax(self) -> WrittenLax:
        return WrittenLax(self)

    def __getattr__(self, name: str) -> Any:
        if name in _REDUCED:
            return lambda x, axis=None, **how: self._reduced(name, self._array(x), axis, **how)
        if name in _TYPES:
            return _Type(np.dtype(name))
        return super().__getattr__(name)

    # -- making arrays -----------------------------------------------------------------

    def asarray(self, value: Any, dtype: Any = None) -> Array:
        return self._array(value, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Array:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any) -> Array:
        return self.full(shape, 1, dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, value, dtype or x.dtype)

    def arange(self, start: Any, stop: Any = None, step: int = 1, dtype: Any = None) -> Array:
        if stop is None:
            start, stop = 0, start
        start, stop, step = (operator.index(n) for n in (start, stop, step))
        n = max(0, -(-(stop - start) // step))
        found = self.iota(np.int64 if dtype is None else dtype, (n,), 0)
        if step != 1:
            found = found * step
        return found + start if start else found

    def iota(self, dtype: Any, shape: Sequence[int], axis: int) -> Array:
        dtype = np.dtype(dtype)
        return Array(self.text, self.text.add(f"stablehlo.iota dim = {axis}", type_of(shape, dtype)), shape, dtype)

    def eye(self, rows: int, columns: int | None = None, k: int = 0, dtype: Any = np.float64) -> Array:
        return self._band((rows, rows if columns is None else columns), k, "equal").astype(dtype)

    def _band(self, shape: Sequence[int], k: int, relation: str) -> Array:
        """Returns where the column compares to the row + k."""
        down, right = (self.iota(np.int32, shape, axis) for axis in (0, 1))
        return binary(relation, right, down + k)

    def tril(self, x: Any, k: int = 0) -> Array:
        return self.where(self._band(x.shape[-2:], k, "less_equal"), x, self.zeros_like(x))

    def triu(self, x: Any, k: int = 0) -> Array:
        return self.where(self._band(x.shape[-2:], k, "greater_equal"), x, self.zeros_like(x))

    def diagonal(self, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        x = self._array(x)
        if offset or (axis1 % x.ndim, axis2 % x.ndim) != (x.ndim - 2, x.ndim - 1) or x.shape[-1] != x.shape[-2]:
            raise Unsupported("such a diagonal")
        flat = x.reshape(*x.shape[:-2], x.shape[-1] * x.shape[-1])
        return flat[..., :: x.shape[-1] + 1]

    def diag(self, x: Any) -> Array:
        x = self._array(x)
        if x.ndim != 1:
            raise Unsupported("such a diagonal")
        shape = (x.shape[0], x.shape[0])
        return self.where(self._band(shape, 0, "equal"), x[:, None], self.zeros_like(x[:, None]))

    def searchsorted(self, rows: Any, values: Any, side: str = "left") -> Array:
        return orders.between(self, self._array(rows), self._array(values), side)

    def atleast_1d(self, x: Any) -> Array:
        x = self._array(x)
        return x if x.ndim else x.reshape(1)

    # -- shapes ------------------------------------------------------------------------

    def reshape(self, x: Any, shape: Any) -> Array:
        return self._array(x).reshape(np.ravel(shape).tolist())

    def ravel(self, x: Any) -> Array:
        return self._array(x).ravel()

    def transpose(self, x: Any, axes: Any = None) -> Array:
        return self._array(x).transpose(None if axes is None else np.ravel(axes).tolist())

    def swapaxes(self, x: Any, one: int, other: int) -> Array:
        return self._array(x).swapaxes(one, other)

    def expand_dims(self, x: Any, axis: Any) -> Array:
        x = self._array(x)
        axes = np.ravel(axis).tolist()
        return x.widened([a % (x.ndim + len(axes)) for a in axes])

    def squeeze(self, x: Any, axis: Any = None) -> Array:
        x = self._array(x)
        gone = {i for i, n in enumerate(x.shape) if n == 1} if axis is None else {
            a % x.ndim for a in np.ravel(axis).tolist()}
        return x.reshape([n for i, n in enumerate(x.shape) if i not in gone])

    def broadcast_to(self, x: Any, shape: Any) -> Array:
        return self._array(x).broadcast(np.ravel(shape).tolist())

    def concatenate(self, values: Sequence[Any], axis: int = 0) -> Array:
        arrays = [self._array(v) for v in values]
        dtype = functools.reduce(promoted, [a.dtype for a in arrays])
        arrays = [a.astype(dtype) for a in arrays]
        first = arrays[0]
        if any(a.ndim != first.ndim for a in arrays) or not first.ndim:
            raise Unsupported("arrays that do not fit")
        axis = operator.index(axis) % first.ndim
        shape = list(first.shape)
        shape[axis] = sum(a.shape[axis] for a in arrays)
        names = ", ".join(a.name for a in arrays)
        return first.made(f"stablehlo.concatenate {names}, dim = {axis}", shape, None, *arrays[1:])

    def stack(self, values: Sequence[Any], axis: int = 0) -> Array:
        return self.concatenate([self.expand_dims(v, axis) for v in values], axis)

    def tile(self, x: Any, counts: Any) -> Array:
        x, counts = self._array(x), np.ravel(counts).tolist()
        if len(counts) != x.ndim:
            raise Unsupported("such repetitions")
        pairs = list(zip(counts, x.shape, strict=True))
        wide = x.reshape([k for _, n in pairs for k in (1, n)]).broadcast([k for pair in pairs for k in pair])
        return wide.reshape([c * n for c, n in pairs])

    def moveaxis(self, x: Any, source: Any, target: Any) -> Array:
        x = self._array(x)
        origins, goals = ([a % x.ndim for a in np.ravel(v).tolist()] for v in (source, target))
        order = [i for i in range(x.ndim) if i not in origins]
        for goal, origin in sorted(zip(goals, origins, strict=True)):
            order.insert(goal, origin)
        return x.transpose(order)

    def roll(self, x: Any, shift: Any, axis: Any) -> Array:
        x = self._array(x)
        for by, a in zip(shift, axis, strict=True):
            n = x.shape[a]
            start = (n - self.mod(by, n)) if isinstance(by, Array) else n - int(by) % n if n else 0
            if n and isinstance(by, Array):
                x = self.written_lax.dynamic_slice_in_dim(self.concatenate([x, x], a), start, n, a)
            elif n:
                parts = [self.written_lax.slice_in_dim(x, low, high, axis=a) for low, high in ((start, n), (0, start))]
                x = self.concatenate(parts, a)
        return x

    def flip(self, x: Any, axis: Any = None) -> Array:
        x = self._array(x)
        axes = range(x.ndim) if axis is None else np.ravel(axis).tolist()
        return self.written_lax.rev(x, {a % x.ndim for a in axes})

    def take(self, x: Any, indices: Any, axis: int | None = None, mode: str | None = None,
             fill_value: Any = None) -> Array:
        x, indices = self._array(x), self._array(indices)
        if axis is None:
            x, axis = x.ravel(), 0
        axis %= x.ndim
        if kind_of(indices.dtype) not in "iu" or 0 in x.shape or 0 in indices.shape:
            raise Unsupported("such indices")
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        if mode == "clip":
            return take(x, indices, [axis], axis, shape)
        if mode not in (None, "fill"):
            raise Unsupported("other modes")
        wrapped = self.where(indices < 0, indices + x.shape[axis], indices)
        return gathered(x, wrapped.reshape(*indices.shape, 1), [axis], indices.shape, "fill", fill_value)

    def take_in_batches(self, x: Any, indices: Any, axis: int, batch: int) -> Array:
        """Does `take` for each index of the first `batch` axes, which both arrays have."""
        x, indices = self._array(x), self._array(indices)
        if 0 in (*x.shape, *indices.shape):
            raise Unsupported("no elements")
        rest = indices.ndim - batch
        shape = (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])
        offsets = [*range(batch, axis), *range(axis + rest, len(shape))]
        sizes = ", ".join(["1" if i < batch or i == axis else str(n) for i, n in enumerate(x.shape)])
        batches = list(range(batch))
        return x.made(
            f'"stablehlo.gather"({x.name}, {indices.name}) <{{dimension_numbers = #stablehlo.gather<offset_dims = '
            f"{offsets}, collapsed_slice_dims = [{axis}], operand_batching_dims = {batches}, "
            f"start_indices_batching_dims = {batches}, start_index_map = [{axis}], index_vector_dim = {indices.ndim}>, "
            f"indices_are_sorted = false, slice_sizes = array<i64: {sizes}>}}>", shape, None, indices)

    def take_along_axis(self, x: Any, indices: Any, axis: int) -> Array:
        x, indices = self._array(x), self._array(indices)
        axis %= x.ndim
        sizes = [n if m == 1 or i == axis else m for i, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True))]
        sizes[axis] = indices.shape[axis]
        if not indices.size or sizes[:axis] + sizes[axis + 1 :] != [*x.shape[:axis], *x.shape[axis + 1 :]]:
            raise Unsupported("such indices")
        indices = self.broadcast_to(indices, sizes)
        keys = [indices if i == axis else self.iota(indices.dtype, indices.shape, i) for i in range(x.ndim)]
        return x.at[tuple(keys)].get(mode="fill")

    # -- orders ------------------------------------------------------------------------

    def sort(self, x: Any, axis: int = -1) -> Array:
        return orders.sort(self, [self._array(x)], axis, True)[0]

    def argsort(self, x: Any, axis: int = -1, **how: Any) -> Array:
        x = self._array(x)
        if how.pop("kind", "stable") != "stable" or not how.pop("stable", True) or how:
            raise Unsupported("other orders")
        return orders.sort(self, [x, self.iota(np.int64, x.shape, axis % x.ndim)], axis, True)[1]

    def argmax(self, x: Any, axis: int) -> Array:
        return orders.position(self, self._array(x), axis, True, np.int64)

    def argmin(self, x: Any, axis: int) -> Array:
        return orders.position(self, self._array(x), axis, False, np.int64)

    def cumsum(self, x: Any, axis: int | None = None) -> Array:
        x = self._array(x)
        return self.written_lax.cumsum(x.ravel() if axis is None else x, axis or 0)

    def cumprod(self, x: Any, axis: int) -> Array:
        return self.written_lax.cumprod(self._array(x), axis)

    def pad(self, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
        x = self._array(x)
        if mode in ("reflect", "symmetric"):
            return self._mirrored(x, widths, int(mode == "reflect"))
        if mode != "constant":
            raise Unsupported("other modes")
        pads = [(operator.index(low), operator.index(high), 0) for low, high in widths]
        return self.written_lax.pad(x, np.asarray(constant_values, x.dtype), pads)

    def _mirrored(self, x: Array, widths: Any, skipped: int) -> Array:
        """Pads with mirror images, which leave out `skipped` elements at the border."""
        for axis, (low, high) in enumerate(widths):
            n = x.shape[axis]
            if max(low, high) > n - skipped:
                raise Unsupported("more than one image")
            before = self.written_lax.slice_in_dim(x, skipped, skipped + low, axis=axis)
            after = self.written_lax.slice_in_dim(x, n - skipped - high, n - skipped, axis=axis)
            x = self.concatenate([self.flip(before, axis), x, self.flip(after, axis)], axis)
        return x

    def split(self, x: Any, parts: Any, axis: int = 0) -> list[Array]:
        x = self._array(x)
        n = x.shape[axis]
        stops = [n // parts * i for i in range(parts + 1)] if np.ndim(parts) == 0 else [0, *np.ravel(parts), n]
        return [self.written_lax.slice_in_dim(x, a, b, axis=axis)
                for a, b in itertools.pairwise(stops)]

    # -- reductions and products -------------------------------------------------------

    def _reduced(self, name: str, x: Array, axis: Any, *, keepdims: bool = False, dtype: Any = None,
                 initial: Any = None) -> Array:
        given = range(x.ndim) if axis is None else np.ravel(axis).tolist()
        axes = sorted({operator.index(a) % x.ndim for a in given})
        result_type = self._reduced_type(name, x, dtype)
        half = kind_of(result_type) == "f" and result_type.itemsize == 2 and name in ("sum", "prod")
        x = x.astype(np.float32 if half else result_type)
        operation, neutral = _REDUCED[name]
        kind = kind_of(x.dtype)
        if name in ("max", "min") and kind != "f":
            if kind not in "iu":
                raise Unsupported(f"{name} of {x.dtype}")
            info = np.iinfo(x.dtype)
            neutral = info.min if name == "max" else info.max
        kept = [n for i, n in enumerate(x.shape) if i not in axes]
        if axes:
            start = self._array(np.asarray(neutral, x.dtype))
            result = x.made(f"stablehlo.reduce({x.name} init: {start.name}) applies stablehlo.{operation} across "
                            f"dimensions = {axes}", kept, None, start)
        else:
            result = x
        if initial is not None:
            if name not in ("max", "min"):
                raise Unsupported("a start")
            result = binary(f"{name}imum", result, initial)
        result = result.astype(result_type)
        return result.widened(axes) if keepdims else result

    def _reduced_type(self, name: str, x: Array, dtype: Any) -> np.dtype[Any]:
        """Returns in which dtype numbers are reduced."""
        kind = kind_of(x.dtype)
        if name in ("any", "all"):
            return np.dtype(bool)
        if dtype is not None:
            return np.dtype(dtype)
        if name in ("sum", "prod") and kind in "biu":
            return np.dtype(np.uint64 if kind == "u" else np.int64)
        return x.dtype

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Array:
        x = self._array(x)
        if kind_of(x.dtype) not in "fc" or dtype is not None:
            raise Unsupported("a mean of integers")
        half = x.dtype.itemsize == 2
        total = self._reduced("sum", x.astype(np.float32) if half else x, axis, keepdims=keepdims)
        return (total / float(x.size // total.size if total.size else 1)).astype(x.dtype)

    def count_nonzero(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        return self._reduced("sum", self._truth(x).astype(np.int64), axis, keepdims=keepdims)

    def matmul(self, x: Any, y: Any) -> Array:
        return contractions.matmul(self._array(x), y)

    def tensordot(self, x: Any, y: Any, axes: Any = 2) -> Array:
        x, y = same_type(self._array(x), y)
        if isinstance(axes, (int, np.integer)):
            axes = list(range(x.ndim - axes, x.ndim)), list(range(axes))
        mine, others = ([a % v.ndim for a in np.ravel(given).tolist()] for v, given in zip((x, y), axes, strict=True))
        return contractions.product(x, y, (mine, others))

    def einsum(self, equation: str, *operands: Any, precision: str | None = None) -> Array:
        return contractions.einsum(self, equation, *operands, precision=precision)
