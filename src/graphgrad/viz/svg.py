"""Writes a laid-out view as SVG: boxes, arrows, panels, a legend, and tooltips on everything."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import escape

from .box_text import shape_text, text_width, tooltip, typed, words
from .boxes import NO_MARKS, Arrow, Box, GraphPart, Marks, View
from .layout import BOX_HEIGHT, Panel, Placed
from .paths import Lanes, Ports, path_of

_MARGIN = 28.0
_HEAD = 92.0  # title, legend
_PANEL_PAD = 22.0
_PANEL_HEAD = 34.0
_MANY_LABELS = 90

# kind: (fill, stroke)
_COLOURS = {
    "forward": ("#e4edfb", "#3f6fb5"),
    "gradient": ("#fde6d2", "#d06a1c"),
    "gradient2": ("#fadadd", "#bd3f50"),
    "update": ("#dff1e0", "#3f8f4a"),
    "variable": ("#fff3c4", "#b8930f"),
    "input": ("#efe3f8", "#8454ae"),
}
_PANEL_FILL = {"forward": "#f6f9fe", "gradient": "#fff8f2", "gradient2": "#fef5f6", "update": "#f5fbf5"}
_CROSSING = "#8a93a3"

_STYLE = """
text { font-family: 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #22272e; }
.title { font-size: 17px; font-weight: bold; }
.about, .key { font-size: 11.5px; fill: #57606a; }
.head { font-size: 13px; font-weight: bold; }
.count { font-size: 11.5px; fill: #57606a; font-weight: normal; }
.type { font-size: 12px; font-weight: bold; text-anchor: middle; }
.name { font-size: 9.5px; fill: #57606a; text-anchor: middle; }
.shape { font-size: 9px; fill: #57606a; }
.halo { font-size: 9px; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; stroke-opacity: 0.8; }
.arrow { fill: none; stroke-width: 1.3; stroke-opacity: 0.75; }
.crossing { stroke-width: 1; stroke-opacity: 0.6; }
.order { stroke-dasharray: 4 3; }
.arrow:hover { stroke-width: 3; stroke-opacity: 1; }
.way { stroke: #1a7f37; stroke-width: 4; stroke-opacity: 0.9; }
.beyond { stroke: #cf222e; stroke-width: 3; stroke-opacity: 0.7; stroke-dasharray: 2 5; }
.cut { stroke: #cf222e; stroke-width: 3.5; fill: none; }
.box:hover rect { stroke-width: 2.6; }
""".strip()


def colour_key(part: GraphPart) -> str:
    """Returns the key of a part's colours."""
    return "gradient2" if part.kind == "gradient" and part.order > 1 else part.kind


def panel_title(part: GraphPart) -> str:
    """Returns the heading of a part."""
    if part.kind == "forward":
        return "Forward"
    if part.kind == "gradient":
        return {1: "Gradients", 2: "Second gradients"}.get(part.order, f"Gradients of order {part.order}")
    return "Built on gradients"


def write(view: View, placed: Placed, widths: dict[Box, float], title: str, ends: set[Box],
          marks: Marks = NO_MARKS) -> str:
    """Returns the SVG document.

    Args:
      view: boxes and arrows.
      placed: their layout.
      widths: the widths of boxes.
      title: the heading.
      ends: boxes to mark as results.
      marks: the paths and cuts of an explained gradient.
    """
    title_width = text_width(title, 17, True) + 2 * _MARGIN
    least = max(title_width, 960.0) if marks is not NO_MARKS else 640.0  # room for a longer legend
    total_width = max(placed.width + 2 * (_MARGIN + _PANEL_PAD), least)
    total_height = placed.height + _HEAD + _PANEL_HEAD + 2 * _PANEL_PAD + _MARGIN
    dx = (total_width - placed.width) / 2
    dy = _HEAD + _PANEL_HEAD + _PANEL_PAD
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total_width:.0f}" height="{total_height:.0f}" '
        f'viewBox="0 0 {total_width:.0f} {total_height:.0f}">',
        f"<style>{_STYLE}</style>",
        _markers(),
        f'<rect width="{total_width:.0f}" height="{total_height:.0f}" fill="#ffffff"/>',
        f'<text class="title" x="{_MARGIN}" y="34">{escape(title)}</text>',
        _legend(view, marks),
        f'<g transform="translate({dx:.1f} {dy:.1f})">',
    ]
    for panel in placed.panels:
        out.append(_panel(panel, view, placed.height))
    ports = Ports(view, placed, widths)
    lanes = Lanes(view, placed, widths)
    numbered = sorted(enumerate(view.arrows), key=lambda ia: ia[1].source.part == ia[1].target.part)
    for i, a in numbered:  # those between panels first, so that they lie underneath
        out.append(_arrow(a, path_of(i, a, placed, widths, ports, lanes), _mark_of(a, marks)))
    out += _shape_labels(view, placed)
    for box in view.boxes:
        out.append(_box(box, placed, widths[box], box in ends, marks.cuts.get(box)))
    out.append("</g></svg>")
    return "\n".join(out) + "\n"


def _markers() -> str:
    heads = {k: s for k, (_, s) in _COLOURS.items()} | {"crossing": _CROSSING}
    return "<defs>" + "".join(
        f'<marker id="head-{k}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8L8 4L0 7.2z" fill="{s}"/></marker>'
        for k, s in heads.items()
    ) + "</defs>"


def _panel(panel: Panel, view: View, height: float) -> str:
    key = colour_key(panel.part)
    n = sum(len(b.ops) for b in view.boxes if b.part == panel.part)
    left, width = panel.left - _PANEL_PAD, panel.right - panel.left + 2 * _PANEL_PAD
    stroke = _COLOURS[key][1]
    top = -_PANEL_HEAD - _PANEL_PAD + 12
    return (f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height + _PANEL_HEAD + _PANEL_PAD:.1f}" '
            f'rx="12" fill="{_PANEL_FILL[key]}" stroke="{stroke}" stroke-opacity="0.25"/>'
            f'<text class="head" x="{left + 14:.1f}" y="{top + 22:.1f}" style="fill:{stroke}">'
            f'{panel_title(panel.part)}<tspan class="count" dx="8">{n} ops</tspan></text>')


def _mark_of(a: Arrow, marks: Marks) -> str:
    """Returns the class of an arrow on a marked path; the gradient goes against the arrow."""
    pair = a.target, a.source
    return " way" if pair in marks.way else " beyond" if pair in marks.beyond else ""


def _arrow(a: Arrow, path: str, mark: str = "") -> str:
    crossing = a.source.part != a.target.part
    key = "crossing" if crossing else colour_key(a.source.part)
    stroke = _CROSSING if crossing else _COLOURS[key][1]
    classes = "arrow" + (" crossing" if crossing else "") + ("" if a.tensors else " order") + mark
    if a.tensors:
        told = "\n".join(f"{t.name}  {typed(t)}" for t in a.tensors[:10])
        told += f"\n… {len(a.tensors)} in all" if len(a.tensors) > 10 else ""
    else:
        told = f"{a.target.name} waits for {a.source.name}"
    return (f'<path class="{classes}" d="{path}" stroke="{stroke}" marker-end="url(#head-{key})">'
            f'<title>{escape(told)}</title></path>')


def _shape_labels(view: View, placed: Placed) -> list[str]:
    """Returns one label beside each box's exit when all that leaves it within its panel has one shape."""
    shapes: dict[tuple[Box, bool], set[str]] = defaultdict(set)
    for a in view.arrows:
        down = placed.centre[a.source][1] < placed.centre[a.target][1]
        if a.source.part == a.target.part and a.tensors and placed.centre[a.source][1] != placed.centre[a.target][1]:
            shapes[a.source, down].update(shape_text(t) for t in a.tensors if t.dtype.name not in ("resource",))
    labels = []
    for (box, down), texts in shapes.items():
        texts.discard("")
        if box.kind in ("variable", "input") or len(texts) != 1:
            continue
        x, y = placed.centre[box]
        y += BOX_HEIGHT / 2 + 11 if down else -BOX_HEIGHT / 2 - (11 if box.folded else 5)
        text = escape(texts.pop())
        labels += [f'<text class="{c}" x="{x + 5:.1f}" y="{y:.1f}">{text}</text>' for c in ("halo", "shape")]
    return labels if len(labels) <= 2 * _MANY_LABELS else []


def _box(box: Box, placed: Placed, width: float, is_end: bool, cut: str | None = None) -> str:
    x, y = placed.centre[box]
    left, top = x - width / 2, y - BOX_HEIGHT / 2
    key = box.kind if box.kind in ("variable", "input") else colour_key(box.part)
    fill, stroke = _COLOURS[key]
    radius = BOX_HEIGHT / 2 if key in ("variable", "input") else 5
    told = tooltip(box) + (f"\nThe gradient ends here: {cut}" if cut else "")
    out = [f'<g class="box"><title>{escape(told)}</title>']
    if box.folded:  # the edges of sheets behind a box show that it has contents
        for shift in (6, 3):
            out.append(f'<rect x="{left + shift:.1f}" y="{top - shift:.1f}" width="{width:.1f}" '
                       f'height="{BOX_HEIGHT:.0f}" rx="{radius}" fill="{fill}" stroke="{stroke}" '
                       'stroke-opacity="0.6"/>')
    weight = 2.4 if is_end else 1.2
    out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BOX_HEIGHT:.0f}" rx="{radius}" '
               f'fill="{fill}" stroke="{stroke}" stroke-width="{weight}"/>')
    title, detail = words(box)
    shift = 0 if detail else 4
    out.append(f'<text class="type" x="{x:.1f}" y="{y - 2 + shift:.1f}">{escape(title)}</text>')
    if detail:
        out.append(f'<text class="name" x="{x:.1f}" y="{y + 11:.1f}">{escape(detail)}</text>')
    if cut:
        right = left + width
        out.append(f'<rect class="cut" x="{left - 3:.1f}" y="{top - 3:.1f}" width="{width + 6:.1f}" '
                   f'height="{BOX_HEIGHT + 6:.0f}" rx="{radius + 3}"/>'
                   f'<path class="cut" d="M{right - 4:.1f} {top - 7:.1f}l14 14m0 -14l-14 14"/>')
    out.append("</g>")
    return "".join(out)


def _legend(view: View, marks: Marks = NO_MARKS) -> str:
    """Draws a row of keys under the title, for the elements of the picture."""
    kinds = {b.kind if b.kind in ("variable", "input") else colour_key(b.part) for b in view.boxes if not b.folded}
    kinds |= {colour_key(b.part) for b in view.boxes}
    entries = [("forward", "operation"), ("gradient", "of a gradient"), ("gradient2", "of a second gradient"),
               ("update", "built on gradients"), ("variable", "variable"), ("input", "placeholder, constant")]
    x = _MARGIN
    out = [f'<g transform="translate(0 {_HEAD - 38:.0f})">']
    for key, text in entries:
        if key not in kinds:
            continue
        fill, stroke = _COLOURS[key]
        radius = 7 if key in ("variable", "input") else 3
        out.append(f'<rect x="{x:.1f}" y="-1" width="24" height="14" rx="{radius}" fill="{fill}" stroke="{stroke}"/>'
                   f'<text class="key" x="{x + 30:.1f}" y="10">{text}</text>')
        x += 30 + text_width(text, 11.5, False) + 18
    if any(b.folded for b in view.boxes):
        out.append(f'<rect x="{x + 4:.1f}" y="-4" width="22" height="13" rx="3" fill="#fff" stroke="#57606a"/>'
                   f'<rect x="{x:.1f}" y="0" width="22" height="13" rx="3" fill="#fff" stroke="#57606a"/>'
                   f'<text class="key" x="{x + 33:.1f}" y="10">folded, more inside</text>')
        x += 33 + text_width("folded, more inside", 11.5, False) + 18
    if any(not a.tensors for a in view.arrows):
        out.append(f'<path class="order" d="M{x:.1f} 6h26" stroke="#57606a" fill="none"/>'
                   f'<text class="key" x="{x + 32:.1f}" y="10">waits for</text>')
        x += 32 + text_width("waits for", 11.5, False) + 18
    for name, there, text in (("way", marks.way, "the gradient gets so far"), ("cut", marks.cuts, "it is cut"),
                              ("beyond", marks.beyond, "never reached")):
        if there:
            out.append(f'<path class="{name}" d="M{x:.1f} 6h26" fill="none"/>'
                       f'<text class="key" x="{x + 32:.1f}" y="10">{text}</text>')
            x += 32 + text_width(text, 11.5, False) + 18
    out.append("</g>")
    return "".join(out)
