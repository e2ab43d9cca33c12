"""The package's modules as they are written: their trees, read once, and what they import."""

from __future__ import annotations

import ast
import functools
import pathlib
from typing import NamedTuple

from tests import ROOT

PACKAGE = ROOT / "src" / "graphgrad"
FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = {
    p: ".".join(("graphgrad", *p.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__") for p in FILES
}
MODULES = {name: path for path, name in NAMES.items()}


class Import(NamedTuple):
    """An import of a module of the package.

    Attributes:
      module: the name of the module, or of the package that has the name.
      line: where it stands.
      late: whether it stands in a function.
      typing: whether only type checkers see it.
    """

    module: str
    line: int
    late: bool
    typing: bool


@functools.cache
def tree(path: pathlib.Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text())


@functools.cache
def nodes(path: pathlib.Path) -> list[ast.AST]:
    """All nodes of a file's tree."""
    return list(ast.walk(tree(path)))


def origin(path: pathlib.Path, node: ast.ImportFrom) -> str:
    """The absolute name of what a `from ... import` of a file names."""
    package = NAMES[path].split(".") if path.name == "__init__.py" else NAMES[path].split(".")[:-1]
    base = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*base, *(node.module or "").split(".")]).rstrip(".")


@functools.cache
def imports(module: str) -> list[Import]:
    """What a module imports of the package, wherever in it."""
    path = MODULES[module]
    found = []
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree(path), False, False)]
    while waiting:
        node, late, typing = waiting.pop()
        if isinstance(node, ast.Import):
            found += [Import(a.name, node.lineno, late, typing) for a in node.names if a.name in MODULES]
        elif isinstance(node, ast.ImportFrom):
            source = origin(path, node)
            names = [f"{source}.{a.name}" for a in node.names]
            names = [name if name in MODULES else source for name in names]
            found += [Import(name, node.lineno, late, typing) for name in names if name in MODULES]
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            waiting += [(child, late, True) for child in node.body]
            waiting += [(child, late, typing) for child in node.orelse]
        elif isinstance(node, (ast.stmt, ast.Module, ast.ExceptHandler, ast.match_case)):
            late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            waiting += [(child, late, typing) for child in ast.iter_child_nodes(node)]
    return found
