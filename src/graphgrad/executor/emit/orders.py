"""What programs that are written without JAX do along an axis: sorting, positions of extremes, running totals."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import Array, binary
from .element_types import Unsupported, comparison, kind_of, type_of


def _region(xp: Any, arguments: Sequence[tuple[str, Any]], body: Callable[[], Sequence[Array]]) -> str:
    with xp.text.region() as block:
        results = body()
    head = ", ".join([f"{name}: {type_of((), dtype)}" for name, dtype in arguments])
    names, types = ", ".join([r.name for r in results]), ", ".join([r.type for r in results])
    return "\n".join([f"({{\n  ^bb0({head}):", *block.lines, f"    stablehlo.return {names} : {types}", "  })"])


def _scalars(xp: Any, dtypes: Sequence[Any]) -> list[Array]:
    return [Array(xp.text, xp.text.name(), (), dtype) for dtype in dtypes]


def sort(xp: Any, operands: Sequence[Array], axis: int, stable: bool, keys: int = 1) -> list[Array]:
    """Sorts arrays together along an axis, by the first ones; NaNs are the last."""
    first = operands[0]
    if any(o.shape != first.shape for o in operands) or not first.size or any(
            kind_of(o.dtype) == "c" for o in operands[:keys]):
        raise Unsupported("such arrays")
    pairs = _scalars(xp, [o.dtype for o in operands for _ in (0, 1)])

    def before() -> list[Array]:
        found = None
        for x, y in reversed(list(zip(pairs[: 2 * keys : 2], pairs[1 : 2 * keys : 2], strict=True))):
            x, y = (_canonical(xp, v) for v in (x, y))
            how = "TOTALORDER" if kind_of(x.dtype) == "f" else comparison(x.dtype)
            less, same = (x.made(f"stablehlo.compare {d}, {x.name}, {y.name}, {how}", (), bool, y)
                          for d in ("LT", "EQ"))
            found = less if found is None else less | same & found
        return [found]  # type: ignore[list-item]  # there is a key

    region = _region(xp, [(p.name, p.dtype) for p in pairs], before)
    types = ", ".join([o.type for o in operands])
    line = (f'"stablehlo.sort"({", ".join([o.name for o in operands])}) <{{dimension = {axis % first.ndim} : i64, '
            f"is_stable = {str(stable).lower()}}}> {region}")
    names = xp.text.add_many(line, f"({types}) -> ({types})", len(operands))
    return [Array(xp.text, n, o.shape, o.dtype) for n, o in zip(names, operands, strict=True)]


def _canonical(xp: Any, x: Array) -> Array:
    """Makes all zeros the same, and all NaNs."""
    if kind_of(x.dtype) != "f":
        return x
    plain = xp.where(x == 0, np.zeros((), x.dtype), x)
    return xp.where(binary("not_equal", x, x), np.asarray(np.nan, x.dtype), plain)


def between(xp: Any, rows: Array, values: Array, side: str) -> Array:
    """Returns before which element of sorted rows values belong, by bisection; int32.

    Args:
      xp: the array module.
      rows: (*B, n), sorted.
      values: (*B, *V), of the same dtype.
      side: "left" for the first such place, "right" for the last.
    """
    batch, n = rows.ndim - 1, rows.shape[-1]
    if rows.dtype != values.dtype or rows.shape[:-1] != values.shape[:batch] or not n or not values.size:
        raise Unsupported("such rows")

    def halve(_: Array, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = binary("quotient", low + high, 2)
        there = xp.take_in_batches(rows, middle, batch, batch)
        x, y = (_canonical(xp, v) for v in (values, there))
        how = "TOTALORDER" if kind_of(x.dtype) == "f" else comparison(x.dtype)
        left = x.made(f"stablehlo.compare {'LE' if side == 'left' else 'LT'}, {x.name}, {y.name}, {how}", x.shape, bool,
                      y)
        return xp.where(left, low, middle), xp.where(left, middle, high)

    ends = xp.zeros(values.shape, np.int32), xp.full(values.shape, n, np.int32)
    return xp.written_lax.fori_loop(0, (n + 1).bit_length(), halve, ends)[1]


def position(xp: Any, x: Array, axis: int, largest: bool, dtype: Any) -> Array:
    """Returns where the largest or the smallest element is, the first one of several; NaN is both."""
    kind, axis = kind_of(x.dtype), axis % max(x.ndim, 1)
    if not x.ndim or not x.shape[axis] or kind not in "iufb":
        raise Unsupported("such an array")
    if kind in "iu":
        least: Any = np.iinfo(x.dtype).min if largest else np.iinfo(x.dtype).max
    else:
        least = not largest if kind == "b" else -np.inf if largest else np.inf
    places = xp.text.add(f"stablehlo.iota dim = {axis}", type_of(x.shape, dtype))
    indices = Array(xp.text, places, x.shape, dtype)
    one, at, other, there = _scalars(xp, [x.dtype, dtype, x.dtype, dtype])

    def better() -> list[Array]:
        chosen = binary("or", binary("greater" if largest else "less", one, other), binary("not_equal", one, one))
        first = binary("or", chosen, binary("equal", one, other) & binary("less", at, there))
        return [xp.where(chosen, one, other), xp.where(first, at, there)]

    region = _region(xp, [(a.name, a.dtype) for a in (one, at, other, there)], better)
    starts = [xp.asarray(np.asarray(v, d)) for v, d in ((least, x.dtype), (0, dtype))]
    rest = [n for i, n in enumerate(x.shape) if i != axis]
    types = ", ".join([v.type for v in (x, indices, *starts)])
    line = (f'"stablehlo.reduce"({x.name}, {places}, {starts[0].name}, {starts[1].name}) <{{dimensions = array<i64: '
            f"{axis}>}}> {region}")
    names = xp.text.add_many(line, f"({types}) -> ({type_of(rest, x.dtype)}, {type_of(rest, dtype)})", 2)
    return Array(xp.text, names[1], rest, dtype)


def accumulated(xp: Any, operation: str, x: Array, axis: int, reverse: bool) -> Array:
    """Returns running sums, products ("multiply") or extremes along an axis, over windows that begin before it."""
    axis %= x.ndim
    n = x.shape[axis]
    if not x.size or kind_of(x.dtype) not in "iufc":
        raise Unsupported("such an array")
    if operation in ("add", "multiply"):
        neutral: Any = 0 if operation == "add" else 1
    elif kind_of(x.dtype) == "f":
        neutral = -np.inf if operation == "maximum" else np.inf
    else:
        raise Unsupported("such an array")
    sizes = [n if i == axis else 1 for i in range(x.ndim)]
    pads = [[0, 0] if i != axis else [0, n - 1] if reverse else [n - 1, 0] for i in range(x.ndim)]
    combine = functools.partial(binary, operation)
    return _of_windows(xp, x, np.asarray(neutral, x.dtype), combine, sizes, [1] * x.ndim, pads, x.shape)


def reduce_window(xp: Any, x: Array, start: Any, combine: Callable[[Array, Array], Array], sizes: Sequence[int],
                  steps: Sequence[int]) -> Array:
    """Combines the elements of each window that lies within an array.

    Args:
      x: the array.
      start: the neutral element.
      combine: a function of two numbers.
      sizes, steps: of the windows.
    """
    shape = [(n - size) // step + 1 for n, size, step in zip(x.shape, sizes, steps, strict=True)]
    if min(shape, default=0) < 1:
        raise Unsupported("such windows")
    return _of_windows(xp, x, start, combine, sizes, steps, [[0, 0]] * x.ndim, shape)


def _of_windows(xp: Any, x: Array, start: Any, combine: Callable[[Array, Array], Array], sizes: Sequence[int],
                steps: Sequence[int], pads: Sequence[Sequence[int]], shape: Sequence[int]) -> Array:
    one, other = _scalars(xp, [x.dtype] * 2)
    region = _region(xp, [(a.name, a.dtype) for a in (one, other)], lambda: [combine(one, other)])
    first = xp.asarray(start)
    dimensions, strides = (", ".join(map(str, numbers)) for numbers in (sizes, steps))
    line = (f'"stablehlo.reduce_window"({x.name}, {first.name}) <{{padding = dense<{pads}> : tensor<{x.ndim}x2xi64>, '
            f"window_dimensions = array<i64: {dimensions}>, window_strides = array<i64: {strides}>}}> {region}")
    return x.made(line, shape, None, first)


def top_k(xp: Any, x: Array, k: int) -> tuple[Array, Array]:
    """Returns the k largest elements along the last axis, the largest first, and where they are."""
    if not x.ndim or not x.size or not 0 < k <= x.shape[-1] or kind_of(x.dtype) not in "iuf":
        raise Unsupported("such an array")
    shape = (*x.shape[:-1], k)
    values, places = xp.text.add_many(
        f'"chlo.top_k"({x.name}) <{{k = {k} : i64}}>',
        f"({x.type}) -> ({type_of(shape, x.dtype)}, {type_of(shape, np.int32)})", 2)
    return Array(xp.text, values, shape, x.dtype), Array(xp.text, places, shape, np.int32)
