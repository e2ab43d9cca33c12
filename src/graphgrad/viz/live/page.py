"""Puts a live picture's page together: one file with style, script and data, which needs no network."""

from __future__ import annotations

import html
import json
import os
import re
from typing import Any

_WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")
_SCRIPTS = ("model.js", "layout.js", "scene.js", "overlays.js", "details.js", "table.js", "main.js")
_DARK = """
  --page: #14171c; --bar: #1a1e25; --card: #20252d; --ink: #e6e9ee; --soft: #a8b1be; --rule: #303743; --focus: #6ea8fe;
  --line: #6c7686; --heat-colour: #b8480c; --kin: #ff9a5c;
  --forward: #223350; --forward-line: #5a82bd; --forward-ink: #9cc0f2; --forward-field: #181d26;
  --gradient: #46301f; --gradient-line: #b57c4c; --gradient-ink: #f0b078; --gradient-field: #1f1b18;
  --gradient2: #482830; --gradient2-line: #b06a75; --gradient2-ink: #f0a0ac; --gradient2-field: #201a1c;
  --update: #21402a; --update-line: #5d9969; --update-ink: #93d3a0; --update-field: #181f1a;
  --variable: #443b1c; --variable-line: #a88d3c; --variable-ink: #e6ca74;
  --input: #392b4a; --input-line: #8d6fb0; --input-ink: #c8a8ec;
"""
_DARK_RULES = (':root[data-theme="dark"] {' + _DARK + "  color-scheme: dark;\n}\n"
               '@media (prefers-color-scheme: dark) {\n:root:not([data-theme="light"]) {' + _DARK
               + "  color-scheme: dark;\n}\n}\n")


def page(data: dict[str, Any], title: str) -> str:
    """Returns the page as text.

    Args:
      data: what the page shows, as `columns` gives it.
      title: the heading.
    """
    parts = {"title": html.escape(title), "style": _style(), "script": "\n".join(map(_read, _SCRIPTS)),
             "data": _embedded(data)}
    return re.sub(r"\{(title|style|script|data)\}", lambda found: parts[found[1]], _read("page.html"))


def _style() -> str:
    return _read("style.css").replace("/*dark*/", _DARK_RULES)


def _read(name: str) -> str:
    with open(os.path.join(_WEB, name), encoding="utf-8") as f:
        return f.read()


def _embedded(data: dict[str, Any]) -> str:
    """Returns JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates in names
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
