"""The layout of the package: which part may import which, no cycles, and what an import costs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys

import pytest

from tests import ROOT

from .sources import MODULES, PACKAGE, imports, nodes

# A part may import itself and the parts of the lines above its own; those of one line never each other.
_LINES = [{"errors", "op_index", "op_traits"}, {"system"}, {"ir"}, {"ops", "gradients", "executor"}, {"frontend"},
          {"training", "viz", "layers", "platform", "testing"}, {"extras"},
          {"compat", "v1", "horovod", "commands", "notebook", "cli", "__main__", ""}]
_LEVEL = {part: i for i, line in enumerate(_LINES) for part in line}


def _part(module: str) -> str:
    return (module.split(".") + [""])[1]


def test_order() -> None:
    """Imports go one way: errors < ir < {ops, gradients, executor} < frontend < {train, ...} < ... < the faces."""
    homeless = {m for m in MODULES if _part(m) not in _LEVEL}
    assert not homeless, f"{sorted(homeless)} belong to no part; say in test_layout.py which line they are on"
    wrong = []
    for module, path in MODULES.items():
        own = _part(module)
        for other in imports(module):
            part = _part(other.module)
            faces = own in _LINES[-1] and part in _LINES[-1]
            if not (other.typing or part == own or faces or _LEVEL[part] < _LEVEL[own]):
                wrong.append(f"{path.relative_to(PACKAGE.parent)}:{other.line}: {module} imports {other.module}")
    assert not wrong, "\n".join(wrong)


def test_no_cycles() -> None:
    """Importing any module first works: the imports made while importing form no cycle."""
    edges = {m: sorted({i.module for i in imports(m) if not (i.late or i.typing)} - {m}) for m in MODULES}
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
        for node in nodes(path):
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


def test_modes_of_tests() -> None:
    """No test module imports `graphgrad.v1` itself, which would turn graph mode on for all tests of its process."""
    at_fault = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{a.name}" for a in node.names] + [node.module or ""]
            if "graphgrad.v1" in names:
                at_fault.append(str(path.relative_to(ROOT)))
    assert not at_fault
