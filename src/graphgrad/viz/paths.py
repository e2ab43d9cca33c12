"""Routes arrows: within a panel along their rows, between panels around boxes."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

from .boxes import Arrow, Box, View
from .layout import BOX_HEIGHT, Placed


class Ports:
    """The entry points of arrows, spread along the side of a box."""

    def __init__(self, view: View, placed: Placed, widths: dict[Box, float]):
        self.placed = placed
        self.widths = widths
        entering: dict[tuple[Box, str], list[tuple[float, int]]] = defaultdict(list)
        self.side: dict[int, str] = {}
        for i, a in enumerate(view.arrows):
            side = self._side(a)
            self.side[i] = side
            sx, sy = (placed.route.get(a) or [placed.centre[a.source]])[-1]
            entering[a.target, side].append((sx if side in "tb" else sy, i))
        self.place: dict[int, tuple[int, int]] = {}
        for entries in entering.values():
            for rank, (_, i) in enumerate(sorted(entries)):
                self.place[i] = rank, len(entries)

    def _side(self, a: Arrow) -> str:
        (sx, sy), (tx, ty) = self.placed.centre[a.source], self.placed.centre[a.target]
        if a.source.part != a.target.part or sy == ty:
            return "l" if sx < tx else "r"
        return "t" if sy < ty else "b"

    def end(self, i: int, a: Arrow) -> tuple[float, float, str]:
        """Returns where arrow `i` enters its target, and on which side."""
        x, y = self.placed.centre[a.target]
        w = self.widths[a.target]
        side = self.side[i]
        rank, count = self.place[i]
        offset = rank - (count - 1) / 2
        if side in "tb":
            behind = 6 if a.target.folded and side == "t" else 0
            edge = -BOX_HEIGHT / 2 - behind if side == "t" else BOX_HEIGHT / 2
            return x + offset * min(14.0, (w - 16) / count), y + edge, side
        behind = 6 if a.target.folded and side == "r" else 0
        return x + (-w / 2 if side == "l" else w / 2 + behind), y + offset * min(8.0, (BOX_HEIGHT - 8) / count), side


def path_of(i: int, a: Arrow, placed: Placed, widths: dict[Box, float], ports: Ports, lanes: Lanes) -> str:
    sx, sy = placed.centre[a.source]
    tx, ty, side = ports.end(i, a)
    if side in "tb":
        down = side == "t"
        half = BOX_HEIGHT / 2 if down else -BOX_HEIGHT / 2
        points = [(sx, sy + half)]
        for px, py in placed.route.get(a, ()):
            points += [(px, py - half), (px, py + half)]
        points.append((tx, ty - (7 if down else -7)))
        d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (x0, y0), (x1, y1) in pairwise(points):
            bend = (y1 - y0) / 2
            d += f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
        return d
    sign = 1 if side == "l" else -1
    x0 = sx + sign * widths[a.source] / 2
    x1 = tx - sign * 7
    return lanes.path(a, x0, sy, x1, ty, sign)


class Lanes:
    """A router of arrows between panels around boxes, through the gaps between rows."""

    def __init__(self, view: View, placed: Placed, widths: dict[Box, float]):
        self.placed = placed
        self.used: dict[float, int] = defaultdict(int)
        self.in_row: dict[float, list[tuple[float, float, Box]]] = defaultdict(list)
        for b, (x, y) in placed.centre.items():
            self.in_row[y].append((x - widths[b] / 2, x + widths[b] / 2, b))
        self.lane_of: dict[tuple[Box, float], float] = {}

    def _blocked(self, y: float, start: float, end: float, a: Arrow) -> bool:
        low, high = min(start, end), max(start, end)
        return any(left < high and right > low and b is not a.source and b is not a.target
                   for left, right, b in self.in_row[y])

    def _lane(self, box: Box, y: float) -> float:
        key = box, y
        lane = self.lane_of.get(key)
        if lane is None:
            lane = self.lane_of[key] = y + BOX_HEIGHT / 2 + 7 + 4.5 * (self.used[y] % 6)
            self.used[y] += 1
        return lane

    def path(self, a: Arrow, x0: float, y0: float, x1: float, y1: float, sign: int) -> str:
        """Returns a path from (x0, y0) to (x1, y1), both approached horizontally."""
        row0, row1 = self.placed.centre[a.source][1], self.placed.centre[a.target][1]
        panels = {p.part: p for p in self.placed.panels}
        source_panel, target_panel = panels[a.source.part], panels[a.target.part]
        if sign > 0:
            leave, arrive = source_panel.right + 14, target_panel.left - 14
        else:
            leave, arrive = source_panel.left - 14, target_panel.right + 14
        if a.source.part == a.target.part:
            leave, arrive = x0 + sign * 10, x1 - sign * 10
        points: list[tuple[float, float]] = [(x0, y0)]
        if self._blocked(row0, x0, leave, a):
            lane = self._lane(a.source, row0)
            points += [(x0 + sign * 9, y0), (x0 + sign * 9, lane), (leave, lane)]
        else:
            points.append((leave, y0))
        if self._blocked(row1, arrive, x1, a):
            lane = self._lane(a.target, row1)
            points += [(arrive, lane), (x1 - sign * 9, lane), (x1 - sign * 9, y1)]
        else:
            points.append((arrive, y1))
        points.append((x1, y1))
        return _rounded(points)


def _rounded(points: list[tuple[float, float]], radius: float = 8.0) -> str:
    """Returns a path through points with softened corners; slanting pieces become S-curves."""
    d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for i in range(1, len(points)):
        (x0, y0), (x1, y1) = points[i - 1], points[i]
        if abs(x1 - x0) > 0.5 and abs(y1 - y0) > 0.5:
            middle = (x0 + x1) / 2
            d += f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
            continue
        if i + 1 < len(points):
            x2, y2 = points[i + 1]
            turns = (abs(x1 - x0) < 0.5) != (abs(x2 - x1) < 0.5) and not (abs(x2 - x1) > 0.5 and abs(y2 - y1) > 0.5)
            if turns:
                r = min(radius, _distance(x0, y0, x1, y1) / 2, _distance(x1, y1, x2, y2) / 2)
                ax, ay = _towards(x1, y1, x0, y0, r)
                bx, by = _towards(x1, y1, x2, y2, r)
                d += f"L{ax:.1f} {ay:.1f}Q{x1:.1f} {y1:.1f} {bx:.1f} {by:.1f}"
                continue
        d += f"L{x1:.1f} {y1:.1f}"
    return d


def _distance(x0: float, y0: float, x1: float, y1: float) -> float:
    return math.hypot(x1 - x0, y1 - y0)


def _towards(x: float, y: float, to_x: float, to_y: float, r: float) -> tuple[float, float]:
    length = _distance(x, y, to_x, to_y) or 1.0
    return x + (to_x - x) * r / length, y + (to_y - y) * r / length
