"""Bundles: merges parallel boxes of a picture, such as the branches of a wide sum."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.graph import Tensor

from .boxes import Arrow, Box, pattern

_LEAST = 5  # that many parallel boxes become one


def bundled(boxes: list[Box], arrows: list[Arrow]) -> tuple[list[Box], list[Arrow]]:
    """Merges parallel boxes.

    Boxes are parallel if they look the same, and so do their neighbours, the neighbours of these,
    and so on. They are found by refining a partition of the boxes until
    the members of each class have neighbours in the same classes.
    """
    before: dict[Box, list[Box]] = {b: [] for b in boxes}
    after: dict[Box, list[Box]] = {b: [] for b in boxes}
    for a in arrows:
        before[a.target].append(a.source)
        after[a.source].append(a.target)
    ordered = sorted(boxes, key=_first_index)
    height, depth = _distances(ordered, before), _distances(ordered[::-1], after)
    colour = _numbered({b: (b.part, b.kind, _look(b), height[b], depth[b]) for b in boxes})
    classes = len(set(colour.values()))
    while True:
        finer = _numbered({
            b: (colour[b], frozenset([colour[p] for p in before[b]]), frozenset([colour[n] for n in after[b]]))
            for b in boxes
        })
        count = len(set(finer.values()))
        if count == classes:
            break
        colour, classes = finer, count
    members: dict[int, list[Box]] = {}
    for b in boxes:
        members.setdefault(colour[b], []).append(b)
    into = {}
    for group in members.values():
        if len(group) >= _LEAST:
            for b in group[1:]:
                into[b] = group[0]
                group[0].ops += b.ops
            group[0].copies, group[0].folded = len(group), True
    joined: dict[tuple[Box, Box], dict[int, Tensor]] = {}
    for a in arrows:
        pair = into.get(a.source, a.source), into.get(a.target, a.target)
        joined.setdefault(pair, {}).update({id(t): t for t in a.tensors})
    return [b for b in boxes if b not in into], [Arrow(s, t, tuple(ts.values())) for (s, t), ts in joined.items()]


def _first_index(box: Box) -> int:
    return box.ops[0].index


def _look(box: Box) -> str:
    return pattern(tuple(box.name.split("/"))) if box.folded else box.main.type


def _distances(boxes: list[Box], near: dict[Box, list[Box]]) -> dict[Box, int]:
    """Returns the length of the longest path to each box, through boxes before it in the list."""
    length: dict[Box, int] = {}
    for b in boxes:
        length[b] = 1 + max((length[n] for n in near[b] if n in length), default=0)
    return length


def _numbered(keys: dict[Box, Any]) -> dict[Box, int]:
    """Returns the same classes, with numbers for names."""
    numbers: dict[Any, int] = {}
    return {b: numbers.setdefault(key, len(numbers)) for b, key in keys.items()}
