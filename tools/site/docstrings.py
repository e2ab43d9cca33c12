"""Docstrings as HTML: sections, tables of arguments, examples."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterable
from typing import NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Gradient", "Reference")
_TITLE = re.compile(rf"({'|'.join(SECTIONS)}):(?:\s+(.*))?$")
_NAMES = re.compile(r"[\w*., ]+")
_PROMPT = re.compile(r"\s*>>> ")
_FORMAT = HtmlFormatter(nowrap=True)
_CONSOLE, _PYTHON = PythonConsoleLexer(), PythonLexer()


class Docstring(NamedTuple):
    """A docstring in parts: its first sentence, and everything as HTML."""

    summary: str
    html: str


def code(text: str, console: bool = False) -> str:
    """Code as the theme shows it."""
    lexed = highlight(text, _CONSOLE if console else _PYTHON, _FORMAT).rstrip("\n")
    return f'<div class="highlight"><pre><code>{lexed}\n</code></pre></div>'


def words(text: str) -> str:
    """A text in which what stands in backticks is code."""
    parts = re.split(r"(``?)(.+?)\1", " ".join(text.split()))
    return "".join(f"<code>{html.escape(p, False)}</code>" if i % 3 == 2 else "" if i % 3 else html.escape(p, False)
                   for i, p in enumerate(parts))


def parse(text: str | None) -> Docstring:
    """The parts of a docstring."""
    lines = inspect.cleandoc(text or "").splitlines()
    found: list[str] = []
    summary, at = "", 0
    while at < len(lines):
        end = _block_end(lines, at)
        block = lines[at:end]
        if title := _TITLE.match(block[0]):
            found.append(_section(title[1], [title[2] or "", *block[1:]]))
        elif _PROMPT.match(block[0]):
            found.append(code("\n".join(_unindented(block)), console=True))
        elif block[0].startswith(("- ", "* ")):
            items = re.split(r"^[-*] ", "\n".join(block), flags=re.M)[1:]
            found.append(f"<ul>{''.join(f'<li>{words(item)}</li>' for item in items)}</ul>")
        elif block[0].startswith("    "):
            found.append(code("\n".join(_unindented(block))))
        else:
            summary = summary or words(re.split(r"(?<=[.:])\s", " ".join(block))[0]).rstrip(".:")
            found.append(f"<p>{words(' '.join(block))}</p>")
        at = end
        while at < len(lines) and not lines[at].strip():
            at += 1
    return Docstring(summary, "\n".join(found))


def _block_end(lines: list[str], at: int) -> int:
    """Where the block that begins at a line ends: at an empty line, or at the next section."""
    end = at + 1
    plain = not _PROMPT.match(lines[at])
    while end < len(lines) and lines[end].strip():
        if plain and (_TITLE.match(lines[end]) or _PROMPT.match(lines[end])):
            break
        end += 1
    return end


def _unindented(lines: Iterable[str]) -> list[str]:
    return inspect.cleandoc("\n" + "\n".join(lines)).splitlines()


def _section(title: str, lines: list[str]) -> str:
    """A section: a table where it lists arguments, else a paragraph with its title."""
    if title not in ("Args", "Attributes"):
        return f'<p><span class="gg-section">{title}</span> {words(" ".join(lines))}</p>'
    entries: list[str] = []
    for line in filter(None, lines):
        if line.startswith("    ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line.strip())
    cells = ""
    for entry in entries:
        names, _, text = entry.partition(": ")
        if not _NAMES.fullmatch(names):
            names, text = "", entry
        cells += f"<dt>{', '.join(f'<code>{n}</code>' for n in names.split(', ') if n)}</dt><dd>{words(text)}</dd>"
    title = "Arguments" if title == "Args" else title
    return f'<p class="gg-section">{title}</p><dl class="gg-args">{cells}</dl>'
