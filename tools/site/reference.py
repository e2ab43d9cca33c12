"""The pages of the reference: every public name of the faces, from what is there and its docstrings.

A static reader of the sources would see nothing, since a face is a table of names that are imported when they are asked
for (`graphgrad.compat.lazy`). So the faces are asked.
"""

from __future__ import annotations

import collections
import enum
import html
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from graphgrad.compat import lazy
from tools.site.docstrings import code, parse

FOLDER = "reference/api"
TITLES = {"v2": "tf", "v1": "tf.compat.v1", "contrib": "tf.contrib"}
# Modules that are no tables: what a program may use of them is what they define.
_PLAIN = ("errors", "nest")
_WIDTH = 74
_ROOT = "core"


class Name(NamedTuple):
    """A public name: where it is, and what it stands for."""

    module: str  # "" is the face itself
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The dotted name below the face."""
        return f"{self.module}.{self.name}" if self.module else self.name

    @property
    def described(self) -> bool:
        """Whether it is a function or a class, so that it has a signature and a docstring."""
        return callable(self.value) and bool(inspect.getdoc(self.value))


def public_names(face: str) -> list[Name]:
    """The public names of a face and its modules, sorted.

    Args:
      face: "v1", "v2" or "contrib".
    """
    return sorted(_names(importlib.import_module(f"graphgrad.compat.{face}"), "", face), key=lambda n: n.path.lower())


def _names(module: types.ModuleType, path: str, face: str) -> Iterator[Name]:
    for name in lazy.names(module):
        value = getattr(module, name)
        below = f"{path}.{name}" if path else name
        if not isinstance(value, types.ModuleType):
            yield Name(path, name, value)
        elif value.__name__.startswith((f"graphgrad.compat.{face}", "graphgrad.compat.contrib")):
            yield from _names(value, below, face)
        elif below in _PLAIN:
            for n, v in vars(value).items():
                if not n.startswith("_") and getattr(v, "__module__", None) == value.__name__:
                    yield Name(below, n, v)


def _rank(name: Name) -> tuple[Any, ...]:
    """Of several names of one thing the first in this order is the one that describes it."""
    depth = name.path.count(".")
    return "experimental" in name.path, depth if inspect.isclass(name.value) else -depth, len(name.path), name.path


class Face:
    """A face: its names, and which of them describes what it stands for."""

    def __init__(self, face: str, beneath: Face | None = None):
        self.face, self.beneath = face, beneath
        self.title = TITLES[face]
        self.names = public_names(face)
        self.groups: dict[int, list[Name]] = collections.defaultdict(list)
        for name in self.names:
            self.groups[id(name.value)].append(name)
        self.homes = {key: min(group, key=_rank) for key, group in self.groups.items()}

    def home(self, value: Any) -> tuple[Face, Name] | None:
        """The face and the name under which a value is described, that of the face beneath first."""
        found = self.beneath.home(value) if self.beneath else None
        own = self.homes.get(id(value))
        return found or ((self, own) if own else None)

    def page(self, module: str) -> str:
        """The file, within the folder of the reference, of a module."""
        return f"{self.face}/{module.split('.')[0] or _ROOT}.md"

    def pages(self) -> dict[str, list[Name]]:
        """The names by page."""
        found = collections.defaultdict(list)
        for name in self.names:
            found[self.page(name.module)].append(name)
        return dict(sorted(found.items(), key=lambda item: (not item[0].endswith(f"/{_ROOT}.md"), item[0].lower())))

    def link(self, name: Name, text: str | None = None) -> str:
        """A link, from a page of a face, to where a name is described."""
        full = f"{self.title}.{name.path}"
        page = self.page(name.module).removesuffix(".md")
        return f'<a href="../{page}.html#{full}"><code>{html.escape(text or full)}</code></a>'


def faces() -> list[Face]:
    """The faces, that of 2.x first: names of the others that stand for the same refer to it."""
    two = Face("v2")
    one = Face("v1", two)
    return [two, one, Face("contrib", one)]


def pages() -> dict[str, tuple[str, str]]:
    """The pages of the reference: for each file, relative to the folder of pages, its title and its text."""
    found = {}
    overview = ["# Every public name", "", _OVERVIEW, ""]
    for face in faces():
        overview += [f"## {face.title}", "", "| module | functions and classes | other names |", "|---|---|---|"]
        for file, names in face.pages().items():
            module = file.rpartition("/")[2].removesuffix(".md")
            title = face.title if module == _ROOT else f"{face.title}.{module}"
            found[f"{FOLDER}/{file}"] = title, _page(face, title, names)
            described = sum(n.described for n in names)
            overview.append(f"| [`{title}`]({file}) | {described} | {len(names) - described} |")
        overview.append("")
    return {f"{FOLDER}/index.md": ("Every public name", "\n".join(overview)), **found}


_OVERVIEW = """\
This part lists every public name, module by module, with its signature and its docstring. It is made from the package
itself. The examples in it are run by the tests: `tf` is `graphgrad.compat.v1` there, `sess` is a session, and `np` is
NumPy.

- `tf` is what `import graphgrad as tf` gives, and what `import tensorflow as tf` gives under `graphgrad run --tf 2`.
- `tf.compat.v1` is what `import graphgrad.v1 as tf` gives. A name that means the same in both stands under `tf`.
- `tf.contrib` is a part of `import graphgrad.v1 as tf`.
- `tf.raw_ops` has a function for each [op type](../ops.md).

Names that TensorFlow has and graphgrad lacks are listed under [What is not here](../not-here.md)."""


def _page(face: Face, title: str, names: list[Name]) -> str:
    """A page: for each module a table of its names, then those that are described here."""
    parts = [f"# {title}", ""]
    modules = collections.defaultdict(list)
    for name in names:
        modules[name.module].append(name)
    for module, own in sorted(modules.items()):
        full = f"{face.title}.{module}" if module else face.title
        if len(modules) > 1:
            parts += [f"## {full} {{ #module-{full} }}", ""]
        parts += [_table(face, own), ""]
        for name in own:
            if name.described and face.home(name.value) == (face, name):
                parts += _entry(face, name)
    return "\n".join(parts)


def _table(face: Face, names: list[Name]) -> str:
    """The names of a module, each with a line on it and a link to where it is described."""
    rows = []
    for name in names:
        if name.described and (home := face.home(name.value)):
            where, described = home
            own = where is face and described == name
            text = parse(inspect.getdoc(name.value)).summary
            same = "" if own else f' <span class="gg-same">= {where.link(described)}</span>'
            linked = face.link(name, name.name) if own else where.link(described, name.name)
            rows.append(f"<tr><td>{linked}</td><td>{text}{same}</td></tr>")
        else:
            value = html.escape(_shown(name.value))
            rows.append(f"<tr><td><code>{html.escape(name.name)}</code></td><td><code>{value}</code></td></tr>")
    return f'<div class="gg-names"><table><tbody>{"".join(rows)}</tbody></table></div>'


def _shown(value: Any) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return text if len(text) < _WIDTH else f"{text[: _WIDTH - 3]}..."


def _entry(face: Face, name: Name) -> list[str]:
    """A function or a class: heading, signature, docstring, methods."""
    full = f"{face.title}.{name.path}"
    also = ", ".join(f"<code>{face.title}.{n.path}</code>" for n in face.groups[id(name.value)] if n != name)
    body = [code(_signature(full, name.value))]
    if also:
        body.append(f'<p class="gg-also">Also {also}</p>')
    body.append(parse(inspect.getdoc(name.value)).html)
    if inspect.isclass(name.value):
        body += _members(face, full, name.value)
    return [f'### {full} {{ #{full} data-toc-label="{name.name}" }}', "",
            f'<div class="gg-entry">{_one_block(body)}</div>', ""]


def _one_block(parts: list[str]) -> str:
    """HTML without empty lines, which Markdown would take for the end of a block."""
    return re.sub(r"\n(?=\s*\n)", "\n&#8203;", "\n".join(p for p in parts if p))


def _members(face: Face, full: str, cls: type) -> list[str]:
    """The methods and properties of a class; those of public bases by name, with a link to the base."""
    found: list[str] = []
    inherited: dict[str, list[str]] = collections.defaultdict(list)
    for name in sorted(n for n in dir(cls) if not n.startswith("_")):
        member = inspect.getattr_static(cls, name)
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        text = inspect.getdoc(function) if inspect.isfunction(function) else ""
        if not text or not function.__module__.startswith("graphgrad."):
            continue
        owner = next(c for c in cls.__mro__ if name in vars(c))
        if owner is not cls and (home := face.home(owner)):
            inherited[home[0].link(home[1])].append(name)
            continue
        bound = not isinstance(member, staticmethod)
        signature = name if isinstance(member, property) else _signature(name, function, bound)
        found.append(f'<details class="gg-member" id="{full}.{name}"><summary><code>{html.escape(name)}</code> '
                     f"{parse(text).summary}</summary>{code(signature)}{parse(text).html}</details>")
    found += [f'<p class="gg-also">From {link}: {", ".join(f"<code>{n}</code>" for n in names)}</p>'
              for link, names in inherited.items()]
    return ['<p class="gg-section">Methods and properties</p>', *found] if found else []


def _signature(full: str, value: Any, bound: bool = False) -> str:
    """A signature as Python has it, one parameter a line where it is long."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return full
    parameters = list(signature.parameters.values())[bound:]
    shown = [_parameter(p) for p in parameters]
    for i, p in enumerate(parameters):
        if p.kind is p.KEYWORD_ONLY and not any(q.kind in (q.VAR_POSITIONAL, q.KEYWORD_ONLY) for q in parameters[:i]):
            shown.insert(i, "*")
            break
    returns = "" if signature.return_annotation is signature.empty or inspect.isclass(value) else (
        f" -> {_annotation(signature.return_annotation)}")
    line = f"{full}({', '.join(shown)}){returns}"
    return line if len(line) <= _WIDTH else "{}(\n{}){}".format(full, "".join(f"    {s},\n" for s in shown), returns)


def _parameter(p: inspect.Parameter) -> str:
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    annotated = p.annotation not in (p.empty, "Any", Any)
    text = f"{star}{p.name}" + (f": {_annotation(p.annotation)}" if annotated else "")
    if p.default is p.empty:
        return text
    return f"{text} = {_default(p.default)}" if annotated else f"{text}={_default(p.default)}"


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\bgraphgrad(?:\.\w+)*\.", "", text)


def _default(value: Any) -> str:
    if inspect.isfunction(value) or inspect.isclass(value):
        return str(value.__name__)
    if isinstance(value, enum.Enum) or type(value).__module__.startswith("graphgrad."):
        return str(value) if str(value)[:1] != "<" else f"{type(value).__name__}()"
    return _shown(value)
