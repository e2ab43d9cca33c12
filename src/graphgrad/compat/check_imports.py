"""Which names of TensorFlow's a package uses, and which of them are missing: `graphgrad check-imports`."""

from __future__ import annotations

import ast
import collections
import contextlib
import importlib
import importlib.util
import io
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

from . import importing


class Use(NamedTuple):
    """A use of a name of TensorFlow's.

    Attributes:
      name: the name, such as "tensorflow.python.util.nest.flatten".
      place: the file and the line.
    """

    name: str
    place: str


def files(package: str) -> list[pathlib.Path]:
    """Returns the Python files of a package, without its tests.

    Args:
      package: the name of an installed package or module, or the path of a file or folder.
    Raises: ModuleNotFoundError if there is neither.
    """
    path = pathlib.Path(package)
    if not path.exists():
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"No module named {package!r}, and no file or folder of that name. "
                                      f"Fix: pip install --no-deps {package}")
        path = pathlib.Path(spec.origin)
        path = path.parent if path.name == "__init__.py" else path
    if path.is_file():
        return [path]
    return [p for p in sorted(path.rglob("*.py")) if not p.stem.endswith("_test") and "tests" not in p.parts]


def uses(path: pathlib.Path) -> Iterator[Use]:
    """Yields the uses of TensorFlow's names in a file.

    Args:
      path: the file.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # a file for Python 2
        return
    scan = _Scan(path)
    scan.visit(tree)
    yield from scan.found


class _Scan(ast.NodeVisitor):
    def __init__(self, path: pathlib.Path):
        self.path = path
        self.bound = {}  # a name in the file -> what it stands for
        self.found: list[Use] = []

    bound: dict[str, str]

    def _use(self, name: str, node: ast.AST) -> None:
        self.found.append(Use(name, f"{self.path}:{getattr(node, 'lineno', 0)}"))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "tensorflow":
                self._use(alias.name, node)
                self.bound[alias.asname or "tensorflow"] = alias.name if alias.asname else "tensorflow"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module and node.module.split(".")[0] == "tensorflow":
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                self._use(name, node)
                self.bound[alias.asname or alias.name] = name

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts = [node.attr]
        inner: ast.AST = node.value
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.bound:
            self._use(".".join([self.bound[inner.id], *reversed(parts)]), node)
        else:
            self.generic_visit(node)


def missing(package: str, version: int = 2) -> dict[str, list[str]]:
    """Returns the names of TensorFlow's that a package uses and that are missing here.

    Args:
      package: as in `files`.
      version: 1 or 2: which TensorFlow `import tensorflow` is.
    Returns: for each name the places where it is used; attributes of classes and functions are not looked at.
    """
    found = collections.defaultdict(list)
    for path in files(package):
        for use in uses(path):
            found[use.name].append(use.place)
    installed = importing.installed()
    if not installed:
        importing.install(version)
    try:
        lost: dict[str, list[str]] = collections.defaultdict(list)
        for name, places in found.items():
            absent = _absent(name)
            if absent is not None:
                lost[absent] += places
        return dict(lost)
    finally:
        if not installed:
            importing.uninstall()


def _absent(name: str) -> str | None:
    """Returns the shortest missing beginning of a name; None if all of it is there."""
    parts = name.split(".")
    value = None
    for i in range(1, len(parts) + 1):
        path = ".".join(parts[:i])
        if value is not None and not isinstance(value, type(ast)):
            return None  # what classes have is not looked at
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                value = getattr(value, parts[i - 1]) if value is not None else importlib.import_module(path)
                continue
            except AttributeError:
                pass  # a module, perhaps
            try:
                value = importlib.import_module(path)
            except ImportError:
                return path
    return None


def report(package: str, version: int = 2) -> str:
    """Returns what `graphgrad check-imports` prints.

    Args:
      package, version: as in `missing`.
    """
    lost = missing(package, version)
    if not lost:
        return f"{package}: nothing is missing"
    lines = [f"{package}: {len(lost)} names are missing"]
    for name, places in sorted(lost.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {name:60} {len(places):4}  {places[0]}")
    return "\n".join(lines)
