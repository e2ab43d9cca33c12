"""Finding and running a program: a file, a module by its name, or standard input."""

from __future__ import annotations

import linecache
import os
import runpy
import sys
import tempfile
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

STDIN = "<stdin>"


def module_file(name: str) -> str | None:
    """Finds the file of a module, or of a package's `__main__`, without importing its parents.

    Args:
      name: the module's name, with dots.
    Returns: its path; None if there is none.
    """
    path: Any = [os.getcwd(), *sys.path]
    spec: Any = None
    parts = name.split(".")
    while parts:
        spec = PathFinder.find_spec(parts.pop(0), path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
        if parts and path is None:
            return None
        if not parts and path is not None:
            parts = ["__main__"]
    return str(spec.origin) if spec.origin else None


def run_text(text: str) -> None:
    """Runs the text of a program as `__main__`, as `python -` does.

    Args:
      text: the program.
    """
    linecache.cache[STDIN] = len(text), None, text.splitlines(True), STDIN  # for tracebacks and tf.function
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    exec(compile(text, STDIN, "exec"), module.__dict__)


def version_of_text(text: str) -> int:
    """Detects which TensorFlow the text of a program is written for: 1 or 2.

    Args:
      text: the program.
    """
    from graphgrad.compat import importing

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return importing.detect_version(path, os.getcwd())


def version_of(path: str, folder: str, args: list[str]) -> int:
    """Detects which TensorFlow a program is written for: 1 or 2.

    A program such as pytest runs others, which its arguments name: these are looked at if it is a library itself.

    Args:
      path: the program's file.
      folder: where its modules are.
      args: its arguments.
    """
    from graphgrad.compat import importing
    from graphgrad.ir.source import is_library

    if not is_library(path):
        return importing.detect_version(path, folder)
    files: list[str] = []
    for name in [arg.partition("::")[0] for arg in args] or [folder]:
        if os.path.isdir(name):
            files += [os.path.join(name, f) for f in sorted(os.listdir(name)) if f.endswith(".py")]
        elif name.endswith(".py"):
            files.append(name)
    return 1 if any(importing.detect_version(file, folder) == 1 for file in files[:200]) else 2


def run_file(path: str, module: str | None) -> None:
    """Runs a file, or a module by its name, as `__main__`.

    Args:
      path: the file.
      module: the module's name, or None.
    """
    if module is not None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    try:
        runpy.run_path(path, run_name="__main__")
    except ImportError as error:
        if "attempted relative import" in str(error):
            error.add_note(f"Fix: graphgrad run -m {_dotted(path)}, in the folder {_top(path)}")
        raise


def _top(path: str) -> str:
    """Returns the folder in which the outermost package of a file is."""
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    if folder == os.path.dirname(os.path.abspath(path)):  # a package without __init__.py
        folder = os.path.dirname(folder)
    return folder


def _dotted(path: str) -> str:
    """Returns the name of a file's module."""
    return os.path.relpath(os.path.splitext(os.path.abspath(path))[0], _top(path)).replace(os.sep, ".")
