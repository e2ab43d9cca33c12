"""What holds of the package as a whole: rooms, imports, sizes, names, and that what is written names what exists.

Where something does not hold yet, `exemptions.json` lists it. The list may only become shorter: what is in it and holds
by now fails as well. `python -m tests.invariants.test_invariants` writes the list anew, and refuses to make it longer.
"""

from __future__ import annotations

import ast
import collections
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import ROOT

from .sources import FILES, MODULES, NAMES, PACKAGE, imports, nodes, origin, tree

_TESTS = ROOT / "tests"
_EXEMPT = _TESTS / "invariants" / "exemptions.json"
_RENEW = "python -m tests.invariants.test_invariants"

# What the core may name of operations: those that the graph itself knows.
_KNOWN_TYPES = {"Const", "Placeholder", "VarHandleOp", "If", "While"}
# Knowledge about TensorFlow, which goes by its names of op types: which of them have a gradient there, here or not;
# which attributes its messages have and the records here do not; and which its `raw_ops` take.
_NAMES_OF_OTHERS = {"gradients/core/rule_types.py", "ir/graphdef.py", "compat/raw_op.py",
                    "executor/emit/written_fourier.py"}
_FACES = ("compat", "v1", "horovod", "cli", "commands", "notebook", "__main__", "")


def _place(path: pathlib.Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _room(name: str) -> str:
    """The folder of a module; files of the package's own folder and the faces are rooms of their own."""
    if name in ("graphgrad.errors",):
        return "errors"
    parts = name.split(".")[1:]
    if not parts or parts[0] in _FACES:
        return "faces"
    return ".".join(parts if MODULES[name].name == "__init__.py" else parts[:-1])


def _room_graph() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = collections.defaultdict(set)
    for path in FILES:
        room = _room(NAMES[path])
        for other in {i.module for i in imports(NAMES[path])}:
            if MODULES[other].name != "__init__.py" and path.name != "__init__.py":
                edges[room].add(_room(other))
    return {room: others - {room} for room, others in edges.items()}


def _components(edges: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected components of more than one room, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


# -- what is measured: each gives what does not hold, as text -> a number -------------------------


def rooms_in_cycles() -> dict[str, int]:
    """Imports between rooms that import each other, in turn; counted wherever they stand in the code."""
    edges = _room_graph()
    return {f"{a} -> {b}": 1 for part in _components(edges) for a in part for b in edges[a] & part}


def types_named_outside() -> dict[str, int]:
    """Types of operations as literals in the graph, in gradients and in the executor, in a file."""
    registered = _registered()
    found = {}
    for path in FILES:
        if _place(path).split("/")[0] in ("ir", "gradients", "executor"):
            names = [w for words in _texts(path) for w in words if w in registered and w not in _KNOWN_TYPES]
            if names and _place(path) not in _NAMES_OF_OTHERS:
                found[_place(path)] = len(names)
    return found


def unregistered_types() -> dict[str, int]:
    """Names in tables of types of operations that no operation has."""
    registered = _registered()
    found = {}
    for path in FILES:
        if _place(path) in _NAMES_OF_OTHERS:
            continue
        for node in nodes(path):
            if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
                names = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            elif isinstance(node, ast.Dict):
                names = [k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
                owner = node.func.value
                names = owner.value.split() if isinstance(owner, ast.Constant) and isinstance(owner.value, str) else []
            else:
                continue
            known = [n for n in names if n in registered]
            if len(known) >= 3 and 2 * len(known) > len(names):
                found.update({f"{_place(path)}: {n}": 1 for n in names if n not in registered})
    return found


def long_files() -> dict[str, int]:
    """Files of more than 500 lines."""
    lengths = {_place(p): p.read_text().count("\n") for p in FILES}
    return {place: n for place, n in lengths.items() if n > 500}


def long_functions() -> dict[str, int]:
    """Functions whose code, without the docstring, has more than 60 lines."""
    found = {}
    for path, name, node in _functions():
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and (lines := node.end_lineno - body[0].lineno + 1) > 60:
            found[f"{_place(path)}: {name}"] = lines
    return found


def complex_functions() -> dict[str, int]:
    """Functions with more than 20 ways through them (McCabe's number; nested functions count by themselves)."""
    branches = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.match_case)

    def ways(node: ast.AST) -> int:
        n = 0
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                continue
            n += isinstance(child, branches) + (len(child.values) - 1 if isinstance(child, ast.BoolOp) else 0)
            n += ways(child)
        return n

    numbers = {f"{_place(path)}: {name}": 1 + ways(node) for path, name, node in _functions()}
    return {k: n for k, n in numbers.items() if n > 20}


def full_folders() -> dict[str, int]:
    """Folders of more than 25 files."""
    counts = collections.Counter(p.parent.relative_to(ROOT).as_posix() for p in FILES if p.name != "__init__.py")
    counts.update(p.parent.relative_to(ROOT).as_posix() for p in _TESTS.rglob("*.py") if p.name != "__init__.py")
    return {folder: n for folder, n in counts.items() if n > 25 and "/compat/" not in folder}


def empty_names() -> dict[str, int]:
    """Files whose name says nothing: the rest of something, the old, the more, the second."""
    says_nothing = re.compile(r".*_(more|rest|old|of_\d|\d)$|inside|misc|utils?|helpers?|stuff")
    named = [p for p in FILES if not _place(p).startswith("compat/")] + list(_TESTS.rglob("*.py"))
    return {p.relative_to(ROOT).as_posix().removeprefix("src/graphgrad/"): 1 for p in named
            if says_nothing.fullmatch(p.stem)}


def doubled_basenames() -> dict[str, int]:
    """Files in two rooms with the same name."""
    places = collections.defaultdict(list)
    for path in FILES:
        if path.name != "__init__.py" and not _place(path).startswith("compat/"):
            places[path.stem].append(_place(path))
    return {", ".join(p): 1 for p in places.values() if len(p) > 1}


def doubled_classes() -> dict[str, int]:
    """Public classes that are defined in two files."""
    places = collections.defaultdict(list)
    for path in FILES:
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(_place(path))
    return {f"{name}: {', '.join(p)}": 1 for name, p in places.items() if len(p) > 1}


def assigned_modules() -> dict[str, int]:
    """Assignments to names of other modules."""
    found: collections.Counter[str] = collections.Counter()
    for path in FILES:
        modules = set()
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom):
                source = origin(path, node)
                modules |= {a.asname or a.name for a in node.names if f"{source}.{a.name}" in MODULES}
                classes = {a.asname or a.name for a in node.names if source in MODULES and a.name[:1].isupper()}
                modules |= {c for c in classes if c[1:2].islower()}
        for node in nodes(path):
            if not isinstance(node, (ast.Assign, ast.AugAssign)):
                continue
            for t in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id in modules:
                    found[f"{_place(path)}: {t.value.id}.{t.attr}"] += 1
    return dict(found)


def paths_that_are_not_there() -> dict[str, int]:
    """Files that the documents and docstrings name, and that do not exist."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *FILES]
    path_like = re.compile(r"(?<![\w/.])((?:[\w.-]+/)+[\w-]+\.(?:py|md|svg|json|toml))\b")
    found = {}
    for page in pages:
        if page.name in ("CHANGELOG.md",):
            continue
        for match in path_like.finditer(page.read_text()):
            name = match[1]
            tops = {p.name for p in PACKAGE.iterdir()} | {"src", "tests", "docs", "benchmarks", "examples"}
            there = any((base / name).exists() for base in (ROOT, PACKAGE, page.parent))
            if name.split("/")[0] in tops and not there:
                found[f"{page.relative_to(ROOT).as_posix()}: {name}"] = 1
    return found


def recorders_that_nobody_runs() -> dict[str, int]:
    """Recorders that `make record` does not run: they stand elsewhere, or have no `main`."""
    run = "-m tests.record" in (ROOT / "Makefile").read_text()
    folder = _TESTS / "record"
    files = [p for p in folder.rglob("*.py") if p.stem not in ("__init__", "__main__")]
    calls = re.compile(r"^    (?:sys\.exit\()?main\(", re.M)
    lost = [p for p in files if not (run and calls.search(p.read_text()))]
    return {p.relative_to(_TESTS).as_posix(): 1 for p in [*lost, *_TESTS.rglob("record_*.py")]}


# Words that end like verbs and begin noun phrases, as in "Values of ...".
_PLURALS = {"Axes", "Classes", "Elements", "Gradients", "Indices", "Its", "Names", "Numbers", "Ones", "Rows", "Shapes",
            "Strings", "Tensors", "This", "Values", "Variables", "Vectors", "Words", "Zeros"}


def docstrings_without_verbs() -> dict[str, int]:
    """Public functions whose docstrings do not begin with a verb in the third person: "Returns ...", not "The ..."."""
    found: collections.Counter[str] = collections.Counter()
    for path, name, node in _functions():
        first = (ast.get_docstring(node) or "").split(maxsplit=1)[:1]
        public = not any(part.startswith("_") for part in name.split("."))
        if public and first and not any("property" in ast.unparse(d) for d in node.decorator_list):
            word = first[0].strip(",;:.")
            if not (word.isalpha() and word[0].isupper() and word.endswith("s")) or word in _PLURALS:
                found[f"{_place(path)}: {name}"] += 1
    return dict(found)


_MEASURES: list[Callable[[], dict[str, int]]] = [
    rooms_in_cycles, types_named_outside, unregistered_types, long_files, long_functions, complex_functions,
    full_folders, empty_names, doubled_basenames, doubled_classes, assigned_modules, paths_that_are_not_there,
    recorders_that_nobody_runs, docstrings_without_verbs,
]


def _registered() -> set[str]:
    import graphgrad  # noqa: F401  # registers the ops
    from graphgrad.ir.opdef import registry

    return set(registry)


def _texts(path: pathlib.Path) -> Iterator[list[str]]:
    """The words of each string of a module that may be a list of names: no docstring, no message."""
    prose = {id(n.value) for n in nodes(path) if isinstance(n, ast.Expr)}
    prose.update(id(part) for n in nodes(path) if isinstance(n, ast.JoinedStr) for part in n.values)
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            words = node.value.split()
            if all(word.isidentifier() for word in words):
                yield words


def _functions() -> Iterator[tuple[pathlib.Path, str, Any]]:
    def below(node: ast.AST, prefix: str) -> Iterator[tuple[str, Any]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{prefix}{child.name}"
                if not isinstance(child, ast.ClassDef):
                    yield name, child
                yield from below(child, name + ".")
            else:
                yield from below(child, prefix)

    for path in FILES:
        yield from ((path, name, node) for name, node in below(tree(path), ""))


@pytest.mark.parametrize("measure", _MEASURES, ids=lambda m: m.__name__)
def test_invariant(measure: Callable[[], dict[str, int]]) -> None:
    """Nothing but what is exempt, and nothing exempt that holds by now."""
    allowed = json.loads(_EXEMPT.read_text()).get(measure.__name__, {})
    found = measure()
    worse = {k: n for k, n in found.items() if n > allowed.get(k, 0)}
    assert not worse, f"{measure.__doc__} These are new, or have grown: {json.dumps(worse, indent=1)}"
    better = {k: n for k, n in allowed.items() if found.get(k, 0) < n}
    assert not better, f"Better than exempt; run `{_RENEW}`: {json.dumps(better, indent=1)}"


def main() -> None:
    """Writes what is exempt, if it has become less."""
    old = json.loads(_EXEMPT.read_text()) if _EXEMPT.exists() else None
    new = {m.__name__: dict(sorted(found.items())) for m in _MEASURES if (found := m())}
    if old is not None and "--longer" not in sys.argv:
        for measure, found in new.items():
            worse = {k: n for k, n in found.items() if n > old.get(measure, {}).get(k, 0)}
            if worse:
                raise SystemExit(f"{measure}: these are new, or have grown: {json.dumps(worse, indent=1)}")
    _EXEMPT.write_text(json.dumps(new, indent=1) + "\n")
    print({k: len(v) for k, v in new.items()})


if __name__ == "__main__":
    main()
