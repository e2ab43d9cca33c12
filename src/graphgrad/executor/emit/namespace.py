"""What kernels use of jax.numpy, for programs that are written without it; all else raises Unsupported."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, array, binary, common, unary
from .program_text import Text, Unsupported

_UNARY = {"negative": "negate", "abs": "abs", "absolute": "abs", "exp": "exponential", "log": "log", "tanh": "tanh",
          "log1p": "log_plus_one", "expm1": "exponential_minus_one", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil",
          "rint": "round_nearest_even", "sign": "sign", "sin": "sine", "cos": "cosine"}
_INTEGERS_TOO = ("negative", "abs", "absolute")
_FLOATING = {"power": "power", "arctan2": "atan2"}
_BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
           "greater", "greater_equal", "logical_and", "logical_or")
_REDUCED = {"sum": ("add", 0), "prod": ("multiply", 1), "max": ("maximum", -np.inf), "min": ("minimum", np.inf),
            "any": ("or", False), "all": ("and", True)}


class Namespace:
    """The functions, by NumPy's names.

    Args:
      text: the program that they write.
    """

    def __init__(self, text: Text):
        self.text = text

    @property
    def written_lax(self) -> Lax:
        return Lax(self)

    def __getattr__(self, name: str) -> Any:
        if name in _UNARY:
            return lambda x: self._elementwise(name, x)
        if name in _FLOATING:
            return lambda x, y: self._of_floats(_FLOATING[name], x, y)
        if name in _BINARY:
            return lambda x, y: binary(name, self._lifted(x, y), y)
        if name in _REDUCED:
            return lambda x, axis=None, **how: self._reduced(name, self._array(x), axis, **how)
        raise Unsupported(name)

    newaxis = None

    # -- making arrays -----------------------------------------------------------------

    def _array(self, value: Any, dtype: Any = None) -> Array:
        return array(self.text, value, dtype)

    def _lifted(self, x: Any, y: Any) -> Any:
        return x if isinstance(x, Array) or isinstance(y, Array) else self._array(x)

    def asarray(self, value: Any, dtype: Any = None) -> Array:
        return self._array(value, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Array:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any) -> Array:
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        sizes = np.ravel(shape).tolist()
        return self._array(value, dtype).broadcast(sizes)

    def zeros_like(self, x: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, 0, dtype or x.dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, 1, dtype or x.dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Array:
        return self.full(x.shape, value, dtype or x.dtype)

    def arange(self, stop: int, dtype: Any) -> Array:
        n = operator.index(stop)
        kind = Array(self.text, "", (n,), dtype).type
        return Array(self.text, self.text.add("stablehlo.iota dim = 0", kind), (n,), dtype)

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
        rank = x.ndim + len(axes)
        places = {a % rank for a in axes}
        sizes = iter(x.shape)
        return x.reshape([1 if i in places else next(sizes) for i in range(rank)])

    def squeeze(self, x: Any, axis: Any = None) -> Array:
        x = self._array(x)
        gone = {i for i, n in enumerate(x.shape) if n == 1} if axis is None else {
            a % x.ndim for a in np.ravel(axis).tolist()}
        return x.reshape([n for i, n in enumerate(x.shape) if i not in gone])

    def broadcast_to(self, x: Any, shape: Any) -> Array:
        return self._array(x).broadcast(np.ravel(shape).tolist())

    def broadcast_arrays(self, *values: Any) -> list[Array]:
        arrays = [self._array(v) for v in values]
        shape = common(*[a.shape for a in arrays])
        return [a.broadcast(shape) for a in arrays]

    def concatenate(self, values: Sequence[Any], axis: int = 0) -> Array:
        arrays = [self._array(v) for v in values]
        first = arrays[0]
        if any(a.dtype != first.dtype or a.ndim != first.ndim for a in arrays) or not first.ndim:
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

    def flip(self, x: Any, axis: Any) -> Array:
        x = self._array(x)
        return self.written_lax.rev(x, {a % x.ndim for a in np.ravel(axis).tolist()})

    def take(self, x: Any, indices: Any, axis: int | None = None, mode: str | None = None) -> Array:
        if mode != "clip" or axis is None:
            raise Unsupported("other modes")
        x, indices = self._array(x), self._array(indices)
        axis %= x.ndim
        if indices.dtype.kind != "i" or 0 in x.shape or 0 in indices.shape:
            raise Unsupported("such indices")
        rank = indices.ndim
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        offsets = [*range(axis), *range(axis + rank, len(shape))]
        sizes = ", ".join(str(1 if i == axis else n) for i, n in enumerate(x.shape))
        return x.made(
            f'"stablehlo.gather"({x.name}, {indices.name}) <{{dimension_numbers = #stablehlo.gather<offset_dims = '
            f"{offsets}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], index_vector_dim = {rank}>, "
            f"indices_are_sorted = false, slice_sizes = array<i64: {sizes}>}}>", shape, None, indices)

    def pad(self, x: Any, widths: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
        x = self._array(x)
        if mode != "constant":
            raise Unsupported("other modes")
        pads = [(operator.index(low), operator.index(high), 0) for low, high in widths]
        return self.written_lax.pad(x, np.asarray(constant_values, x.dtype), pads)

    def split(self, x: Any, parts: Any, axis: int = 0) -> list[Array]:
        x = self._array(x)
        n = x.shape[axis]
        stops = [n // parts * i for i in range(parts + 1)] if np.ndim(parts) == 0 else [0, *np.ravel(parts), n]
        return [self.written_lax.slice_in_dim(x, a, b, axis=axis)
                for a, b in itertools.pairwise(stops)]

    # -- elementwise -------------------------------------------------------------------

    def _elementwise(self, name: str, x: Any) -> Array:
        x = self._array(x)
        if x.dtype.kind != "f" and not (x.dtype.kind == "i" and name in _INTEGERS_TOO):
            raise Unsupported(f"{name} of {x.dtype}")
        return unary(_UNARY[name], x)

    def _of_floats(self, name: str, x: Any, y: Any) -> Array:
        if not (isinstance(x, Array) and isinstance(y, Array)) or x.dtype != y.dtype or x.dtype.kind != "f":
            raise Unsupported(name)
        x, y = self.broadcast_arrays(x, y)
        return Array(self.text, self.text.add(f"stablehlo.{name} {x.name}, {y.name}", x.type), x.shape, x.dtype)

    def logaddexp(self, x: Any, y: Any) -> Array:
        x, y = self.broadcast_arrays(x, y)
        apart = x - y
        return self.where(self.isnan(apart), x + y, self.maximum(x, y) + self.log1p(self.exp(-abs(apart))))

    def square(self, x: Any) -> Array:
        x = self._array(x)
        return x * x

    def logical_not(self, x: Any) -> Array:
        return ~self._array(x)

    def isnan(self, x: Any) -> Array:
        x = self._array(x)
        return binary("not_equal", x, x)

    def isfinite(self, x: Any) -> Array:
        x = self._array(x)
        if x.dtype.kind != "f":
            raise Unsupported("integers")
        return x.made(f"stablehlo.is_finite {x.name}", x.shape, bool)

    def where(self, condition: Any, x: Any, y: Any) -> Array:
        known = x if isinstance(x, Array) else y
        if not isinstance(known, Array):
            known = self._array(np.asarray(x))
        x, y = (self._array(v, known.dtype if isinstance(v, (bool, int, float)) else None) for v in (x, y))
        condition = self._array(condition)
        if condition.dtype != bool or x.dtype != y.dtype:
            raise Unsupported("dtypes that do not fit")
        shape = common(condition.shape, x.shape, y.shape)
        condition, x, y = (v.broadcast(shape) for v in (condition, x, y))
        name = self.text.add(f"stablehlo.select {condition.name}, {x.name}, {y.name}", f"{condition.type}, {x.type}")
        return Array(self.text, name, shape, x.dtype)

    # -- reductions and products -------------------------------------------------------

    def _reduced(self, name: str, x: Array, axis: Any, *, keepdims: bool = False, dtype: Any = None,
                 initial: Any = None) -> Array:
        given = range(x.ndim) if axis is None else np.ravel(axis).tolist()
        axes = sorted({operator.index(a) % x.ndim for a in given})
        logical = name in ("any", "all")
        if logical != (x.dtype == bool) or (dtype is not None and np.dtype(dtype) != x.dtype):
            raise Unsupported(f"{name} of {x.dtype}")
        if dtype is None and x.dtype.kind == "i" and name in ("sum", "prod") and x.dtype != np.int64:
            raise Unsupported("a sum of another dtype")
        operation, neutral = _REDUCED[name]
        if x.dtype.kind == "i" and name in ("max", "min"):
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
            result = binary(f"{name}imum", result, self._array(initial))
        return result.reshape([1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else result

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        x = self._array(x)
        if x.dtype.kind != "f":
            raise Unsupported("a mean of integers")
        total = self._reduced("sum", x, axis, keepdims=keepdims)
        return total / float(x.size // total.size if total.size else 1)

    def matmul(self, x: Any, y: Any) -> Array:
        x, y = self._array(x), self._array(y)
        rank = x.ndim
        fits = rank == y.ndim >= 2 and x.shape[:-2] == y.shape[:-2] and x.shape[-1] == y.shape[-2]
        if not fits or x.dtype != y.dtype or x.dtype.kind != "f":
            raise Unsupported("such a product")
        batch = list(range(rank - 2))
        batching = f"batching_dims = {batch} x {batch}, " if batch else ""
        return x.made(f"stablehlo.dot_general {x.name}, {y.name}, {batching}contracting_dims = [{rank - 1}] x "
                      f"[{rank - 2}], precision = [DEFAULT, DEFAULT]", (*x.shape[:-1], y.shape[-1]), None, y)

    def einsum(self, equation: str, *operands: Any) -> Array:
        labels, arrow, out = equation.replace(" ", "").partition("->")
        parts = labels.split(",")
        plain = bool(arrow) and "." not in equation and all(len(set(p)) == len(p) for p in parts)
        if not plain or not len(parts) == len(operands) == 2:
            raise Unsupported("such an equation")
        x, y = map(self._array, operands)
        (x, of_x), (y, of_y) = self._summed(x, parts[0], parts[1] + out), self._summed(y, parts[1], parts[0] + out)
        sizes = dict(zip(of_x, x.shape, strict=True)) | dict(zip(of_y, y.shape, strict=True))
        if x.dtype != y.dtype or x.dtype.kind != "f" or x.shape != tuple(map(sizes.__getitem__, of_x)):
            raise Unsupported("such operands")
        both = [label for label in of_x if label in of_y]
        batch, contracted = [[label for label in both if (label in out) is kept] for kept in (True, False)]
        found = batch + [label for label in of_x + of_y if label not in both]
        pairs = [f"{[of_x.index(label) for label in group]} x {[of_y.index(label) for label in group]}"
                 for group in (batch, contracted)]
        batching = f"batching_dims = {pairs[0]}, " if batch else ""
        result = x.made(f"stablehlo.dot_general {x.name}, {y.name}, {batching}contracting_dims = {pairs[1]}, "
                        "precision = [DEFAULT, DEFAULT]", [sizes[label] for label in found], None, y)
        return result.transpose([found.index(label) for label in out])

    def _summed(self, x: Array, labels: str, others: str) -> tuple[Array, str]:
        """Sums over what has a label that is nowhere else."""
        alone = tuple([i for i, label in enumerate(labels) if label not in others])
        left = "".join(label for i, label in enumerate(labels) if i not in alone)
        return (self.sum(x, alone) if alone else x), left


class Lax:
    """What kernels use of jax.lax.

    Args:
      xp: the array module.
    """

    def __init__(self, xp: Namespace):
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(name)

    def add(self, x: Any, y: Any) -> Array:
        return binary("add", self._xp.asarray(x), y)

    def max(self, x: Any, y: Any) -> Array:
        return binary("maximum", self._xp.asarray(x), y)

    def logistic(self, x: Any) -> Array:
        return self._floating("logistic", x)

    def rsqrt(self, x: Any) -> Array:
        return self._floating("rsqrt", x)

    def _floating(self, name: str, x: Any) -> Array:
        x = self._xp.asarray(x)
        if x.dtype.kind != "f":
            raise Unsupported(f"{name} of {x.dtype}")
        return unary(name, x)

    def concatenate(self, values: Sequence[Any], axis: int) -> Array:
        return self._xp.concatenate(values, axis)

    def dot(self, x: Any, y: Any, *, dimension_numbers: Any) -> Array:
        x, y = self._xp.asarray(x), self._xp.asarray(y)
        (mine, others), batch = dimension_numbers
        if any(batch) or x.dtype != y.dtype or x.dtype.kind != "f":
            raise Unsupported("such a product")
        kept = [n for a, summed in ((x, mine), (y, others)) for i, n in enumerate(a.shape) if i not in summed]
        return x.made(f"stablehlo.dot_general {x.name}, {y.name}, contracting_dims = {list(mine)} x {list(others)}, "
                      "precision = [DEFAULT, DEFAULT]", kept, None, y)

    def conv_general_dilated(self, x: Any, f: Any, strides: Any, pads: Any, lhs_dilation: Any = None,
                             rhs_dilation: Any = None, dimension_numbers: Any = None, feature_group_count: int = 1,
                             batch_group_count: int = 1) -> Array:
        x, f = self._xp.asarray(x), self._xp.asarray(f)
        if x.dtype != f.dtype or x.dtype.kind != "f" or 0 in (*x.shape, *f.shape):
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

    def slice_in_dim(self, x: Any, start: int, stop: int, axis: int = 0) -> Array:
        x = self._xp.asarray(x)
        return x[(*(slice(None),) * (axis % x.ndim), slice(operator.index(start), operator.index(stop)))]

    def index_in_dim(self, x: Any, i: int, axis: int = 0, keepdims: bool = True) -> Array:
        cut = self.slice_in_dim(x, i, i + 1, axis)
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
