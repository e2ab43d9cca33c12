"""What dependence rules of several families share: groups of elements along axes, windows, products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.op_traits import Dependence


def numbers(shape: Sequence[int]) -> Any:
    """Returns the numbers of the elements of an array, in its shape."""
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(tuple(shape))


def along(shape: Sequence[int], axes: Sequence[int], rows: Any = None) -> Dependence:
    """Returns the dependence on all elements along some axes.

    Args:
      shape: the shape of the input.
      axes: those that are summed over.
      rows: for each element of the result the number of its group; by default they are numbered alike.
    """
    kept = [1 if i in axes else n for i, n in enumerate(shape)]
    groups = np.broadcast_to(numbers(kept), tuple(shape)).ravel()
    members = np.arange(len(groups), dtype=np.int32)
    return Dependence(numbers(kept).ravel() if rows is None else rows, groups, members)


def spread(shape: Sequence[int], axes: Sequence[int]) -> Dependence:
    """Returns the dependence of a result with the input's shape on all elements along some axes."""
    kept = [1 if i in axes else n for i, n in enumerate(shape)]
    return along(shape, axes, np.broadcast_to(numbers(kept), tuple(shape)).ravel())


def last_axis(op: Any, values: Any, index: int) -> list[Dependence | None]:
    """Says that each element depends on all of its row in the first input (softmax and its relatives)."""
    shape = op.inputs[0]._spec.shape
    return [spread(shape, [len(shape) - 1]), *[None] * (len(op.inputs) - 1)]


def beside_last_axis(op: Any, rows: Any) -> bool:
    """Says that examples stay apart where the last axis is not that of the batch (softmax and its relatives)."""
    return len(op.inputs[0]._spec.shape or ()) > 1


def added_to(shape: Sequence[int], places: Any) -> Dependence:
    """Returns the dependence of a result on what is added to its elements.

    Args:
      shape: the shape of the result.
      places: for each element of the input the number of the element that it is added to; -1 for none.
    """
    places = np.ravel(places)
    members = np.flatnonzero(places >= 0).astype(np.int32)
    return Dependence(numbers(shape).ravel(), places[members], members)


def product(own: Sequence[Any], other: Sequence[Any], result: Sequence[Any], sizes: dict[Any, int],
            factor: Any) -> Dependence:
    """Returns on which elements of a factor a product of arrays depends.

    Args:
      own, other, result: the labels of the axes of the factor, of the other one and of the result.
      sizes: label -> size.
      factor: the other factor, if its value is known: where it is zero there is no dependence.
    """
    shape = [sizes[a] for a in own]
    target = tuple(sizes[a] for a in result)
    if factor is not None and len(set(own)) == len(own) and set(own) <= set(other) | set(result):
        sparse = _with_known(own, other, result, sizes, factor)
        if sparse is not None:
            return sparse
    axes = [i for i, a in enumerate(own) if a not in result]
    kept = [a for a in own if a in result]
    at = numbers([sizes[a] for a in kept])
    order = sorted(range(len(kept)), key=lambda i: result.index(kept[i]))
    lying = [sizes[a] if a in kept else 1 for a in result]
    rows = np.broadcast_to(at.transpose(order).reshape(lying), target).ravel()
    return along(shape, axes, rows)


def _with_known(own: Sequence[Any], other: Sequence[Any], result: Sequence[Any], sizes: dict[Any, int],
                factor: Any) -> Dependence | None:
    """Returns the dependence through the nonzero elements of a known factor; None if they are not few."""
    places = dict(zip(other, np.nonzero(factor), strict=True))
    count = int(np.count_nonzero(factor))
    free = list(dict.fromkeys(a for a in (*own, *result) if a not in places))
    total = int(count * np.prod([sizes[a] for a in free], initial=1))
    if 2 * count > factor.size or total > 20_000_000:
        return None
    coordinates = {a: np.repeat(v, total // max(count, 1)) for a, v in places.items()}
    grid = np.indices([sizes[a] for a in free]).reshape(len(free), -1)
    coordinates.update((a, np.tile(g, count)) for a, g in zip(free, grid, strict=True))
    groups = _numbered([coordinates[a] for a in result], [sizes[a] for a in result], total)
    members = _numbered([coordinates[a] for a in own], [sizes[a] for a in own], total)
    return Dependence(numbers([sizes[a] for a in result]).ravel(), groups, members)


def _numbered(coordinates: Sequence[Any], sizes: Sequence[int], total: int) -> Any:
    number = np.zeros(total, np.int64)
    for c, n in zip(coordinates, sizes, strict=True):
        number = number * n + c
    return number


def windows(result: Sequence[int], shape: Sequence[int], window: Sequence[int], strides: Sequence[int],
            dilations: Sequence[int], before: Sequence[int]) -> tuple[Any, Any]:
    """Returns the pairs of a position in the result and one in its window, each numbered as they lie in memory.

    Args:
      result, shape: the sizes of the result and of the input in each spatial dimension.
      window, strides, dilations, before: the sizes of the window, its steps, the steps in it, and the padding before.
    """
    outer, inner = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for n, m, w, s, d, p in zip(result, shape, window, strides, dilations, before, strict=True):
        at = np.arange(n)[:, None]
        reads = at * s + np.arange(w) * d - p
        inside = (reads >= 0) & (reads < m)
        a, b = np.broadcast_to(at, reads.shape)[inside], reads[inside]
        outer = (outer[:, None] * n + a).ravel()
        inner = (inner[:, None] * m + b).ravel()
    return outer, inner


class WindowElements:
    """The elements of a strided window's large image x and of its small one y, by batch, position and channel.

    Args:
      x, y: the shapes.
      channels: the axis of the channels.
      window: the sizes of the window, its strides, the steps in it, and the padding before, for each spatial dimension.
    """

    def __init__(self, x: Sequence[int], y: Sequence[int], channels: int, window: Sequence[Sequence[int]]):
        kept = [np.moveaxis(numbers(shape), channels, -1) for shape in (x, y)]
        self.x, self.y = (k.reshape(k.shape[0], -1, k.shape[-1]) for k in kept)
        self.at, self.read = windows(kept[1].shape[1:-1], kept[0].shape[1:-1], *window)

    def result(self, by_channel: bool, backwards: bool = False) -> Dependence | None:
        """Returns on which elements of x those of y depend, or `backwards` the other way; None if there are many pairs.

        Args:
          by_channel: whether each channel depends on its own only.
          backwards: whether y is the input.
        """
        own, other, at, read = (self.y, self.x, self.at, self.read)
        if backwards:
            own, other, at, read = self.x, self.y, read, at
        batch, positions, depth = own.shape
        if batch * len(at) * other.shape[2] > 20_000_000 or (by_channel and depth != other.shape[2]):
            return None
        members = other[:, read, :]
        groups = np.broadcast_to((np.arange(batch)[:, None] * positions + at)[:, :, None], members.shape)
        of_own = np.broadcast_to(np.arange(batch * positions).reshape(batch, positions, 1), own.shape)
        if by_channel:
            groups, of_own = groups * depth + np.arange(depth), of_own * depth + np.arange(depth)
        rows = np.empty(own.size, np.int64)
        rows[own.ravel()] = of_own.ravel()
        return Dependence(rows, groups.ravel(), members.ravel())
