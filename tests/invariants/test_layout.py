"""The layout of the package: which part may import which, no cycles, and what an import costs."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).parents[2] / "src" / "graphgrad"

# A part may import itself and the parts of the lines above its own; those of one line never each other.
_LINES = [{"errors", "op_index", "op_traits"}, {"system"}, {"ir"}, {"ops", "gradients", "executor"}, {"frontend"},
          {"training", "viz", "layers", "platform", "testing"}, {"extras"}, {"compat", "v1", "cli", "__main__", ""}]
_LEVEL = {part: i for i, line in enumerate(_LINES) for part in line}

MODULES = {
    ".".join(("graphgrad", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def _part(module: str) -> str:
    return (module.split(".") + [""])[1]


def _imports(module: str, everything: bool) -> Iterator[tuple[str, int]]:
    """The package's modules that a module imports, with the line; inside functions too if `everything`."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not everything:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from ((a.name, node.lineno) for a in node.names if a.name.split(".")[0] == "graphgrad")
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
            if origin.split(".")[0] == "graphgrad":
                for alias in node.names:
                    full = f"{origin}.{alias.name}"
                    yield (full if full in MODULES else origin), node.lineno
        waiting.extend(ast.iter_child_nodes(node))


@pytest.mark.parametrize("module", MODULES)
def test_order(module: str) -> None:
    """Imports go one way: errors < ir < {ops, gradients, executor} < frontend < {train, ...} < ... < the faces."""
    own = _part(module)
    assert own in _LEVEL, f"{module} belongs to no part; say in test_layout.py which line it is on"
    wrong = []
    for imported, line in _imports(module, everything=True):
        other = _part(imported)
        faces = own in _LINES[-1] and other in _LINES[-1]
        if not (other == own or faces or _LEVEL[other] < _LEVEL[own]):
            wrong.append(f"{MODULES[module].relative_to(PACKAGE.parent)}:{line}: {module} imports {imported}")
    assert not wrong, "\n".join(wrong)


def test_no_cycles() -> None:
    """Importing any module first works: the imports made while importing form no cycle."""
    edges = {m: sorted({i for i, _ in _imports(m, everything=False) if i in MODULES and i != m}) for m in MODULES}
    state: dict[str, int] = {}  # 1: on the path, 2: done
    for start in MODULES:
        path = [start]
        while path:
            module = path[-1]
            state[module] = 1
            nxt = next((i for i in edges[module] if state.get(i) != 2), None)
            if nxt is None:
                state[module] = 2
                path.pop()
            elif state.get(nxt) == 1:
                raise AssertionError(" -> ".join([*path[path.index(nxt) :], nxt]))
            else:
                path.append(nxt)


def test_families_use_raw() -> None:
    """A family of ops takes another family's ops from `raw`, not from its module."""
    from graphgrad.ir.opdef import OpDef

    wrong = []
    for module, path in MODULES.items():
        if _part(module) != "ops":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            origin_name = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if origin_name.startswith(("graphgrad.ops.", "graphgrad.extras.")):
                origin = importlib.import_module(origin_name)
                for a in node.names:
                    if isinstance(getattr(origin, a.name, None), OpDef):
                        wrong.append(f"{path.name}:{node.lineno}: {a.name} of {node.module}")
    assert not wrong, "\n".join(wrong)


_ALLOWED = {"numpy", "ml_dtypes", "graphgrad"}
_SHOW = """
import sys
import numpy, ml_dtypes
before = set(sys.modules)
import {module}
import os
site = os.path.dirname(os.path.dirname(numpy.__file__))
for name in sorted(set(sys.modules) - before):
    path = getattr(sys.modules[name], "__file__", None) or ""
    if path.startswith(site) or name.split(".")[0] in ("jax", "jaxlib", "scipy", "tensorflow"):
        print(name.split(".")[0])
"""


@pytest.mark.parametrize("module", ["graphgrad", "graphgrad.v1", "graphgrad.compat.v1", "graphgrad.compat.v2"])
def test_import_is_light(module: str) -> None:
    """`import graphgrad` imports NumPy and the standard library alone: JAX waits for the first run."""
    result = subprocess.run([sys.executable, "-c", _SHOW.format(module=module)], capture_output=True, text=True,
                            env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    heavy = set(result.stdout.split()) - _ALLOWED
    assert not heavy, f"import {module} imports {sorted(heavy)}"


def test_building_is_light() -> None:
    """Building and differentiating a graph does not import JAX either."""
    program = ("import graphgrad.compat.v1 as tf, sys\n"
               "with tf.Graph().as_default():\n"
               "    x = tf.placeholder(tf.float32, [None, 3])\n"
               "    y = tf.reduce_sum(tf.matmul(tf.tanh(x), tf.ones([3, 2])))\n"
               "    tf.gradients(y, x)\n"
               "assert 'jax' not in sys.modules\n")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr


def test_rules_take_attributes_as_they_are_kept() -> None:
    """`Operation.get_attr` gives what TensorFlow's gives (bytes, messages); rules want `Operation._attr`."""
    found = [path.name for path in PACKAGE.rglob("*.py") if ".get_attr(" in path.read_text()]
    assert found == []
