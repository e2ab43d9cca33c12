"""Flowcharts of the pages as boxes within boxes, so that reading the site needs no script from elsewhere.

Understood is the part of Mermaid that the pages use: `flowchart`, nested `subgraph`s, nodes with or without a label,
several joined by `&`, and arrows, which become a line of text beneath.
"""

from __future__ import annotations

import html
import re

_FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
_NODE = re.compile(r'([\w-]+)(?:\["(.*)"\])?')


def boxes(markdown: str) -> str:
    """A page whose flowcharts are HTML."""
    return _FENCE.sub(lambda m: _chart(m[1]), markdown)


def _chart(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or not lines[0].startswith("flowchart"):
        raise ValueError(f"diagrams.py draws flowcharts, not {lines[:1]}")
    found, arrows = ['<div class="gg-chart">'], []
    labels: dict[str, str] = {}
    for line in lines[1:]:
        if line == "end":
            found.append("</div></div>")
        elif line.startswith("subgraph "):
            name, label = _labelled(line.removeprefix("subgraph "))
            labels[name] = label.partition(":")[0]
            found.append(f'<div class="gg-box"><span>{html.escape(label)}</span><div class="gg-inside">')
        elif "-->" in line:
            arrows.append(" → ".join(labels.get(n.strip(), n.strip()) for n in line.split("-->")))
        else:
            for node in line.split(" & "):
                _, label = _labelled(node.strip())
                found.append(f'<div class="gg-node">{html.escape(label)}</div>')
    return "".join([*found, f"<p>Imports: {html.escape('; '.join(arrows))}.</p>" if arrows else "", "</div>"])


def _labelled(text: str) -> tuple[str, str]:
    match = _NODE.fullmatch(text)
    if not match:
        raise ValueError(f"diagrams.py does not understand {text!r}")
    return match[1], match[2] or match[1]
