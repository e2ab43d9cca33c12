"""Sums of products for programs that are written without JAX: products of matrices, einsum."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import Array, same_type
from .element_types import Unsupported, kind_of


def product(x: Array, y: Array, summed: tuple[Sequence[int], Sequence[int]],
            batch: tuple[Sequence[int], Sequence[int]] = ((), ()), precision: str = "DEFAULT") -> Array:
    """Multiplies arrays and sums over pairs of axes; the batch's axes are the first ones of the result."""
    (mine, others), (my_batch, others_batch) = summed, batch
    if x.dtype != y.dtype or kind_of(x.dtype) not in "iufc" or any(
            x.shape[i] != y.shape[j] for i, j in zip((*mine, *my_batch), (*others, *others_batch), strict=True)):
        raise Unsupported("such a product")
    shape = [x.shape[i] for i in my_batch] + [
        n for a, gone in ((x, (*mine, *my_batch)), (y, (*others, *others_batch)))
        for i, n in enumerate(a.shape) if i not in gone]
    batching = f"batching_dims = {list(my_batch)} x {list(others_batch)}, " if my_batch else ""
    return x.made(f"stablehlo.dot_general {x.name}, {y.name}, {batching}contracting_dims = {list(mine)} x "
                  f"{list(others)}, precision = [{precision}, {precision}]", shape, None, y)


def matmul(x: Array, y: Any) -> Array:
    """Multiplies stacks of matrices, whose shapes broadcast, without repeating any."""
    x, y = same_type(x, y)
    if min(x.ndim, y.ndim) < 2:
        raise Unsupported("such a product")
    count = max(x.ndim, y.ndim) - 2
    stacks = [(None,) * (count + 2 - a.ndim) + a.shape[:-2] for a in (x, y)]
    batch: list[int] = []  # axes of the result by what they are: of both, of one alone, of neither
    mine: list[int] = []
    others: list[int] = []
    neither: list[int] = []
    gone: tuple[list[int], list[int]] = ([], [])  # axes of size 1 of each operand
    pairs: list[tuple[int, int]] = []
    for i, (n, m) in enumerate(zip(*stacks, strict=True)):
        at = len(batch) + len(mine), len(batch) + len(others)
        if n is None or (n == 1 and m != 1):
            others.append(i)
        elif m is None or (m == 1 and n != 1):
            mine.append(i)
        elif n == m == 1:
            neither.append(i)
        elif n == m:
            batch.append(i)
            pairs.append(at)
        else:
            raise Unsupported("such a product")
        for k, size in enumerate((n, m)):
            if size == 1 and (i in neither or i in (others, mine)[k]):
                gone[k].append(i - stacks[k].count(None))
    x, y = (a.reshape([n for i, n in enumerate(a.shape) if i not in out]) for a, out in zip((x, y), gone, strict=True))
    mine.append(count)
    others.append(count + 1)
    order = np.argsort(batch + mine + others).tolist()
    made = product(x, y, ([x.ndim - 1], [y.ndim - 2]), ([a for a, _ in pairs], [b for _, b in pairs]))
    return made.transpose(order).widened(neither)


def einsum(xp: Any, equation: str, *operands: Any, precision: str | None = None) -> Array:
    """Sums products of one array or two, without repeated labels."""
    arrays = [xp.asarray(o) for o in operands]
    labels, arrow, out = equation.replace(" ", "").partition("->")
    parts = labels.split(",")
    if not arrow or len(parts) != len(arrays) or len(parts) > 2:
        raise Unsupported("such an equation")
    if "." in equation:
        parts, out = _spelled_out(parts, out, [a.ndim for a in arrays])
    if any(len(set(p)) < len(p) for p in (*parts, out)) or any(
            len(p) != a.ndim for p, a in zip(parts, arrays, strict=True)):
        raise Unsupported("such an equation")
    if len(arrays) == 1:
        x, left = _summed(xp, arrays[0], parts[0], out)
        return x.transpose([left.index(label) for label in out])
    return _of_two(xp, arrays, parts, out, (precision or "default").upper())


def _of_two(xp: Any, arrays: Sequence[Array], parts: Sequence[str], out: str, precision: str) -> Array:
    """Sums products of two arrays with these labels."""
    (x, of_x), (y, of_y) = _summed(xp, arrays[0], parts[0], parts[1] + out), _summed(
        xp, arrays[1], parts[1], parts[0] + out)
    sizes = dict(zip(of_x, x.shape, strict=True)) | dict(zip(of_y, y.shape, strict=True))
    if x.dtype != y.dtype or kind_of(x.dtype) not in "fc" or x.shape != tuple(map(sizes.__getitem__, of_x)):
        raise Unsupported("such operands")
    batch = [label for label in out if label in of_x and label in of_y]
    contracted = sorted(label for label in of_x if label in of_y and label not in out)
    shared = batch + contracted
    found = batch + [label for label in of_x + of_y if label not in shared]
    if "".join(found) != out:  # JAX prefers this order
        x, y, of_x, of_y = y, x, of_y, of_x
        found = batch + [label for label in of_x + of_y if label not in shared]
    summed, beside = (([of_x.index(label) for label in group], [of_y.index(label) for label in group])
                      for group in (contracted, batch))
    made = product(x, y, summed, beside, precision)
    return made.transpose([found.index(label) for label in out])


def _spelled_out(parts: Sequence[str], out: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Gives the axes behind an ellipsis labels of their own; each array must have all of them, or none."""
    free = [c for c in string.ascii_letters if c not in out + "".join(parts)]
    counts = {rank - len(p) + 3 for p, rank in zip(parts, ranks, strict=True) if "..." in p}
    if len(counts) != 1 or "..." not in out:
        raise Unsupported("such an ellipsis")
    names = "".join(free[: counts.pop()])
    return [re.sub(r"\.\.\.", names, p) for p in parts], re.sub(r"\.\.\.", names, out)


def _summed(xp: Any, x: Array, labels: str, others: str) -> tuple[Array, str]:
    """Sums over what has a label that is nowhere else."""
    alone = tuple([i for i, label in enumerate(labels) if label not in others])
    left = "".join(label for i, label in enumerate(labels) if i not in alone)
    return (xp.sum(x, alone) if alone else x), left
