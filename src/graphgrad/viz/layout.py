"""Positions of boxes: a panel for each part of the graph, rows that match between panels.

The forward part flows down, its gradient flows up beside it, so that the gradient of an
operation is in the operation's row; users of gradients are on the right. Rows
follow from that. Within a panel, igraph's Sugiyama layout orders each row such that few
lines cross; positions are then moved as little as boxes of different widths demand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .boxes import Arrow, Box, GraphPart, View

ROW = 74.0  # from the top of a row to the top of the next
BOX_HEIGHT = 36.0
_GAP = 18.0  # between boxes of a row
_BEND = 10.0  # the width of a line that passes through a row
_PANEL_GAP = 90.0
_SWEEPS = 26


class Panel(NamedTuple):
    """A part of the graph and the rectangle that holds its boxes."""

    part: GraphPart
    left: float
    right: float


class Placed(NamedTuple):
    """The layout: centres of boxes, points that arrows pass through, panels, and the total size."""

    centre: dict[Box, tuple[float, float]]
    route: dict[Arrow, list[tuple[float, float]]]
    panels: list[Panel]
    width: float
    height: float


def place(view: View, widths: dict[Box, float]) -> Placed:
    """Places the boxes of a view.

    Args:
      view: boxes and arrows.
      widths: the width of each box.
    Raises: ImportError, with a remedy, where igraph is missing.
    """
    rows = _rows(view)
    centre: dict[Box, tuple[float, float]] = {}
    route: dict[Arrow, list[tuple[float, float]]] = {}
    panels = []
    left = 0.0
    for part in sorted({b.part for b in view.boxes}):
        boxes = [b for b in view.boxes if b.part == part]
        inner = [a for a in view.arrows if a.source.part == part == a.target.part]
        x, bends = _columns(boxes, inner, rows, widths)
        low = min(x[b] - widths[b] / 2 for b in boxes)
        high = max(x[b] + widths[b] / 2 for b in boxes)
        for points in bends.values():
            low = min([low, *(px for px, _ in points)])
            high = max([high, *(px for px, _ in points)])
        for b in boxes:
            centre[b] = (x[b] - low + left, rows[b] * ROW + BOX_HEIGHT / 2)
        for arrow in inner:
            points = bends.get(arrow, [])
            route[arrow] = [(px - low + left, row * ROW + BOX_HEIGHT / 2) for px, row in points]
        panels.append(Panel(part, left, left + high - low))
        left += high - low + _PANEL_GAP
    height = (max(rows.values(), default=0) + 1) * ROW - (ROW - BOX_HEIGHT)
    return Placed(centre, route, panels, max(left - _PANEL_GAP, 0.0), height)


# -- rows ------------------------------------------------------------------------------


def _rows(view: View) -> dict[Box, int]:
    """Returns the row of each box; rows without boxes are omitted."""
    rows: dict[Box, int] = {}
    owner = {op.index: b for b in view.boxes for op in b.ops}
    forward_of = {b: _forward_box(b, owner) for b in view.boxes}
    for part in sorted({b.part for b in view.boxes}):
        boxes = [b for b in view.boxes if b.part == part]
        before, after = _neighbours(boxes, view.arrows)
        order = _in_order(boxes, before, after)
        if part.kind == "gradient":
            _rows_upward(order, before, after, forward_of, rows, view)
        else:
            _rows_downward(order, before, after, forward_of, rows, view)
    used = {row: i for i, row in enumerate(sorted(set(rows.values())))}
    return {b: used[r] for b, r in rows.items()}


_Near = dict[Box, list[Box]]


def _neighbours(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> tuple[_Near, _Near]:
    before: _Near = {b: [] for b in boxes}
    after: _Near = {b: [] for b in boxes}
    for a in arrows:
        if a.source in before and a.target in before:
            before[a.target].append(a.source)
            after[a.source].append(a.target)
    return before, after


def _in_order(boxes: list[Box], before: _Near, after: _Near) -> list[Box]:
    """Returns the boxes in topological order; arrows that close a cycle of folded scopes are taken out."""
    waiting = {b: len(before[b]) for b in boxes}
    ready = [b for b in boxes if not waiting[b]]
    order: list[Box] = []
    done: set[Box] = set()
    while len(order) < len(boxes):
        if not ready:
            b = next(b for b in boxes if b not in done)
            for p in [p for p in before[b] if p not in done]:
                before[b].remove(p)
                after[p].remove(b)
            ready.append(b)
        b = ready.pop(0)
        order.append(b)
        done.add(b)
        for n in after[b]:
            waiting[n] -= 1
            if not waiting[n] and n not in done:
                ready.append(n)
    return order


def _forward_box(box: Box, owner: dict[int, Box]) -> Box | None:
    """Returns the box that most operations of a gradient box are the gradient of."""
    counts = Counter(op._original_op.index for op in box.ops if op._original_op is not None)
    for index, _ in counts.most_common():
        found = owner.get(index)
        if found is not None and found is not box:
            return found
    return None


def _rows_downward(order: list[Box], before: _Near, after: _Near, forward_of: dict[Box, Box | None],
                   rows: dict[Box, int], view: View) -> None:
    """Assigns rows of a part that flows down; a box leaves as many rows free as its gradient is deep."""
    depth = _gradient_depths(view, forward_of)
    elsewhere = _rows_of_sources(view, rows)
    for b in order:
        wish = elsewhere.get(b)
        least = max((rows[p] + max(1, depth.get(p, 0)) for p in before[b]), default=None)
        if least is None:
            rows[b] = wish if wish is not None else 0
        else:
            rows[b] = least if wish is None else max(least, wish)
    for b in reversed(order):  # sources are just above their users
        if not before[b] and after[b] and b not in elsewhere:
            rows[b] = min(rows[n] for n in after[b]) - 1


def _rows_upward(order: list[Box], before: _Near, after: _Near, forward_of: dict[Box, Box | None],
                 rows: dict[Box, int], view: View) -> None:
    """Assigns rows of a gradient: level with the forward operations, as far as arrows allow."""
    depth = _gradient_depths(view, forward_of)
    for b in order:
        forward = forward_of[b]
        most = min((rows[p] - 1 for p in before[b]), default=None)
        wish = None
        if forward is not None and forward in rows:
            wish = rows[forward] + max(0, depth.get(forward, 1) - 1)
        if wish is None:
            wish = most if most is not None else max(rows.values(), default=0)
        rows[b] = wish if most is None else min(wish, most)
    for b in reversed(order):
        if not before[b] and after[b]:
            rows[b] = max(rows[n] for n in after[b]) + 1


def _gradient_depths(view: View, forward_of: dict[Box, Box | None]) -> dict[Box, int]:
    """Returns the number of rows that the gradient of each box needs: the longest path among its gradient's boxes."""
    depth: dict[Box, int] = {}
    length: dict[Box, int] = {}
    boxes = [b for b in view.boxes if forward_of[b] is not None]
    before, after = _neighbours(boxes, [a for a in view.arrows
                                        if forward_of[a.source] is forward_of[a.target] is not None
                                        and a.source.part == a.target.part])
    for b in _in_order(boxes, before, after):
        length[b] = 1 + max((length[p] for p in before[b]), default=0)
        forward = forward_of[b]
        if forward is not None:
            depth[forward] = max(depth.get(forward, 1), length[b])
    return depth


def _rows_of_sources(view: View, rows: dict[Box, int]) -> dict[Box, int]:
    """Returns, for boxes fed from placed parts, the row of their sources."""
    found: dict[Box, list[int]] = defaultdict(list)
    for a in view.arrows:
        if a.source in rows and a.source.part != a.target.part:
            found[a.target].append(rows[a.source])
    return {b: sorted(r)[len(r) // 2] for b, r in found.items()}


# -- columns ---------------------------------------------------------------------------


def _columns(boxes: list[Box], arrows: list[Arrow], rows: dict[Box, int],
             widths: dict[Box, float]) -> tuple[dict[Box, float], dict[Arrow, list[tuple[float, int]]]]:
    """Returns the x of each box of a panel, and the points (x, row) that arrows over several rows pass through."""
    top = min(rows[b] for b in boxes)
    layer = [rows[b] - top for b in boxes]
    width = [widths[b] for b in boxes]
    number = {b: i for i, b in enumerate(boxes)}
    edges: list[tuple[int, int]] = []
    passing: dict[Arrow, list[int]] = {}
    trunk: dict[tuple[int, int], int] = {}  # lines that leave a box for the same row run as one
    for a in arrows:
        s, t = number[a.source], number[a.target]
        step = 1 if layer[t] > layer[s] else -1
        last, through = s, []
        for r in range(layer[s] + step, layer[t], step):
            bend = trunk.get((s, r))
            if bend is None:
                bend = trunk[s, r] = len(layer)
                layer.append(r)
                width.append(_BEND)
                edges.append((last, bend))
            last = bend
            through.append(bend)
        if layer[t] != layer[s]:
            edges.append((last, t))
        passing[a] = through
    x = _positions(layer, width, edges, len(boxes))
    bends = {a: [(x[i], layer[i] + top) for i in through] for a, through in passing.items() if through}
    return {b: x[i] for i, b in enumerate(boxes)}, bends


def _positions(layer: list[int], width: list[float], edges: list[tuple[int, int]], n_boxes: int) -> list[float]:
    """Places vertices: igraph orders each layer, then positions approach the neighbours' mean."""
    start = _sugiyama(layer, edges)
    order: dict[int, list[int]] = defaultdict(list)
    for i in sorted(range(len(layer)), key=lambda i: (start[i], i)):
        order[layer[i]].append(i)
    x = [0.0] * len(layer)
    unit = sum(width[:n_boxes]) / n_boxes + _GAP
    for row in order.values():
        _separate(row, [start[i] * unit for i in row], [1.0] * len(row), x, width)
    near: list[list[int]] = [[] for _ in layer]
    for s, t in edges:
        near[s].append(t)
        near[t].append(s)
    layers = sorted(order)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for number in layers if down else reversed(layers):
            row = order[number]
            wish, weight = [], []
            for i in row:
                # At first only the layers already passed count, which makes chains straight; then both sides.
                seen = [j for j in near[i] if sweep >= _SWEEPS - 6 or (layer[j] < number) == down]
                pull = [0.05 if len(near[j]) == 1 else 1.0 for j in seen]  # ends of a line bend it least
                wish.append(sum(x[j] * p for j, p in zip(seen, pull)) / sum(pull) if seen else x[i])
                # Straight lines through a row matter more than centred boxes.
                weight.append(0.05 if len(near[i]) <= 1 else 4.0 if i >= n_boxes else 1.0)
            _separate(row, wish, weight, x, width)
    return x


def _separate(row: list[int], wish: list[float], weight: list[float], x: list[float], width: list[float]) -> None:
    """Moves a row's vertices as close to their ideal positions as order and widths allow (isotonic regression)."""
    offsets = [0.0]
    for i, j in pairwise(row):
        offsets.append(offsets[-1] + (width[i] + width[j]) / 2 + _GAP)
    blocks: list[list[float]] = []  # [mean, weight, count]
    for w, g, o in zip(wish, weight, offsets):
        blocks.append([w - o, g, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, total, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * total) / (last[1] + total)
            last[1] += total
            last[2] += count
    k = 0
    for mean, _, count in blocks:
        for _ in range(int(count)):
            x[row[k]] = mean + offsets[k]
            k += 1


def _sugiyama(layer: list[int], edges: list[tuple[int, int]]) -> list[float]:
    """Computes igraph's x for each vertex; all edges lead to an adjacent layer."""
    igraph = _igraph()
    down = [(s, t) if layer[s] < layer[t] else (t, s) for s, t in edges]
    graph = igraph.Graph(n=len(layer), edges=down, directed=True)
    result = graph.layout_sugiyama(layers=layer, maxiter=200)
    layout = result[0] if isinstance(result, tuple) else result
    return [float(point[0]) for point in list(layout)[: len(layer)]]


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise ImportError("Drawing a graph needs the package 'igraph', which is not installed. "
                          "Fix: pip install 'graphgrad[draw]' (or: pip install igraph)") from None
    return igraph
