"""Converts a Python function: source, syntax tree, rewritten code, function."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import linecache
import os
import types
from typing import Any

from graphgrad.ir.source import is_internal

from . import jumps
from .liveness import Liveness, bound
from .rewrite import Rewriter, put

_FUTURE = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
_NAME = "_ag_function"
_FILES = 8  # limit of cached syntax trees


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Returns the folders of Python's own and of installed packages."""
    import sysconfig

    return tuple(os.path.realpath(sysconfig.get_path(p)) + os.sep for p in ("stdlib", "purelib", "platlib"))


class _Kept:
    """Cached conversions of code objects, by id; keeps them alive.

    Attributes:
      rewritten: original code -> (new code or None, why not).
      own: codes that are results of rewriting, or marked not to be rewritten.
      trees: file -> (lines, function definitions by first line).
    """

    def __init__(self) -> None:
        self.rewritten: dict[tuple[int, bool, bool], tuple[Any, types.CodeType | None, str]] = {}
        self.own: dict[int, types.CodeType] = {}
        self.trees: dict[str, tuple[list[str], dict[int, list[tuple[Any, str | None]]]]] = {}


_kept = _Kept()


def mark_unconverted(f: Any) -> None:
    """Excludes a function from conversion."""
    code = getattr(f, "__code__", None)
    if code is not None:
        _keep(code)


def _keep(code: types.CodeType) -> None:
    waiting = [code]
    while waiting:
        one = waiting.pop()
        _kept.own[id(one)] = one
        waiting.extend(c for c in one.co_consts if isinstance(c, types.CodeType))


def convert(f: Any, builtin_functions: bool = False, asked: bool = False) -> Any:
    """Returns the rewritten function or method; itself if conversion is impossible or not needed.

    Args:
      f: whatever can be called.
      builtin_functions: whether `print` prints tensors when the graph runs.
      asked: whether this very function was to be converted, and not one that calls it: then it is also if an
        installed library defines it.
    """
    if isinstance(f, types.FunctionType):
        code = f.__code__
        if id(code) in _kept.own or hasattr(f, "_ag_unconverted"):
            return f
        new = _rewritten(code, builtin_functions, asked)
        return f if new is None else _function(f, new)
    if isinstance(f, types.MethodType):
        inner = convert(f.__func__, builtin_functions, asked)
        return f if inner is f.__func__ else types.MethodType(inner, f.__self__)
    if isinstance(f, functools.partial) and type(f) is functools.partial:
        inner = convert(f.func, builtin_functions, asked)
        return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
    if isinstance(f, (type, types.BuiltinFunctionType)):
        return f
    call = next((vars(c)["__call__"] for c in type(f).__mro__ if "__call__" in vars(c)), None)
    if isinstance(call, types.FunctionType):
        inner = convert(call, builtin_functions, asked)
        if inner is not call:
            return types.MethodType(inner, f)
    return f


def why_not(f: Any) -> str:
    """Says why a function is not rewritten; empty if it is, or need not be."""
    code = getattr(f, "__code__", None)
    return next((r[2] for (i, *_), r in _kept.rewritten.items() if i == id(code)), "")


def source_of(f: Any, builtin_functions: bool = False) -> str:
    """Returns the rewritten source.

    Raises: ValueError where the source cannot be found or rewritten.
    """
    node, reason = _definition(f.__code__)
    if node is None:
        raise ValueError(f"AutoGraph could not convert {getattr(f, '__name__', f)}: {reason}. "
                         "Fix: define it with `def` in a file")
    return ast.unparse(_transformed(copy.deepcopy(node[0]), node[1], f.__code__, builtin_functions))


def _rewritten(code: types.CodeType, builtin_functions: bool, asked: bool) -> types.CodeType | None:
    known = _kept.rewritten.get((id(code), builtin_functions, asked))
    if known is not None:
        return known[1]
    new, reason = None, ""
    if not (is_internal(code.co_filename) if asked else _is_library(code.co_filename)):
        found, reason = _definition(code)
        if found is not None:
            node, owner = found
            new = _compiled(_transformed(copy.deepcopy(node), owner, code, builtin_functions), code)
    _kept.rewritten[id(code), builtin_functions, asked] = code, new, reason
    return new


@functools.lru_cache(1024)
def _is_library(filename: str) -> bool:
    """Returns whether a file belongs to this package, to Python or to an installed library."""
    return is_internal(filename) or os.path.realpath(filename).startswith(_libraries())


# -- the source ------------------------------------------------------------------------


def _definition(code: types.CodeType) -> tuple[tuple[Any, str | None] | None, str]:
    """Returns the syntax tree of a code object, with the name of its class; or why there is none."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None, "generators and coroutines are not supported"
    candidates = [c for c in _functions(code.co_filename).get(code.co_firstlineno, ()) if _is_of(c[0], code)]
    if len(candidates) > 1 and code.co_name == "<lambda>":
        candidates = [c for c in candidates if _covers(c[0], code)]
    if len(candidates) != 1:
        return None, "its source code is not available"
    return candidates[0], ""


def _functions(filename: str) -> dict[int, list[tuple[Any, str | None]]]:
    lines = linecache.getlines(filename)
    known = _kept.trees.get(filename)
    if known is not None and known[0] == lines:
        return known[1]
    found: dict[int, list[tuple[Any, str | None]]] = {}
    try:
        waiting: list[tuple[ast.AST, str | None]] = [(ast.parse("".join(lines)), None)]
    except SyntaxError:  # not Python, or a changed file
        waiting = []
    while waiting:
        node, owner = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
            found.setdefault(first, []).append((node, owner))
        elif isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append((node, owner))
        elif isinstance(node, ast.ClassDef):
            owner = node.name
        waiting.extend((child, owner) for child in ast.iter_child_nodes(node))
    while len(_kept.trees) >= _FILES:
        _kept.trees.pop(next(iter(_kept.trees)))
    _kept.trees[filename] = lines, found
    return found


def _is_of(node: Any, code: types.CodeType) -> bool:
    if getattr(node, "name", "<lambda>") != code.co_name:
        return False
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    found = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return len(names) == len(found) and all(
        n == c or (n.startswith("__") and c.endswith(n)) for n, c in zip(names, found, strict=True)
    )


def _covers(node: ast.Lambda, code: types.CodeType) -> bool:
    """Returns whether a lambda's code was compiled from this one of the lambdas in its line."""
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [(p[0], p[2]) for p in code.co_positions() if p[2] is not None and p[3] != 0]
    inside = [start <= (line or 0, column or 0) <= end for line, column in places]
    return any(inside) and all(inside[1:])


# -- the new function ------------------------------------------------------------------


def rewrite_body(node: Any, builtin_functions: bool) -> list[ast.stmt]:
    """Rewrites the statements of a function definition."""
    body = list(node.body)
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in jumps.walk(node)):
        return body  # generators are not supported
    outside = {n for s in jumps.walk(node) if isinstance(s, ast.Global) for n in s.names}
    shared = {n for s in jumps.walk(node) if isinstance(s, ast.Nonlocal) for n in s.names}
    declarations = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
    head = body[:1] if ast.get_docstring(node, clean=False) is not None else []
    body = [s for s in body[len(head) :] if s not in declarations] or [ast.copy_location(ast.Pass(), node)]
    body = jumps.lower_function(body)
    args = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    made = bound(body, names_only=True) - outside - shared
    live = Liveness(body, outside | shared)
    first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), None)
    rewriter = Rewriter(live, args | made | shared, outside, builtin_functions, first)
    body = rewriter._block(body)
    inner = sorted(made - args)
    if inner and rewriter.count:
        # Never runs; makes these names local here, not in the functions made of branches.
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in inner]
        known = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], [])
        for new in ast.walk(known):
            if isinstance(new, (ast.stmt, ast.expr)):
                put(new, node)
        body = [known, *body]
    return [*head, *declarations, *body]


def _transformed(node: Any, owner: str | None, code: types.CodeType, builtin_functions: bool) -> ast.Module:
    """Wraps the rewritten function in one that provides the names of its closure."""
    if owner is not None:
        _Mangle(owner).visit(node)
    if isinstance(node, ast.Lambda):
        live = Liveness([], set())
        node.body = Rewriter(live, set(), set(), builtin_functions).visit(node.body)
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
        node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
        statement: ast.stmt = ast.Expr(node)
    else:
        node.body = rewrite_body(node, builtin_functions)
        node.name = _NAME  # its own name belongs to the defining scope
        node.decorator_list = []
        node.returns = None
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
        node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
        statement = node
    names = [*code.co_freevars, "_ag"]
    known: list[ast.stmt] = [ast.Assign([ast.Name(n, ast.Store()) for n in names], ast.Constant(None))]
    no_arguments = ast.arguments([], [], None, [], [], None, [])
    module = ast.Module([ast.FunctionDef("_ag_closure", no_arguments, [*known, statement], [], None)], [])
    for new in ast.walk(module):
        if isinstance(new, (ast.stmt, ast.expr, ast.arg)) and not hasattr(new, "lineno"):
            put(new, node)
    return module


def _compiled(module: ast.Module, code: types.CodeType) -> types.CodeType:
    whole = compile(module, code.co_filename, "exec", code.co_flags & _FUTURE, True)
    around = next(c for c in whole.co_consts if isinstance(c, types.CodeType))
    new = next(c for c in around.co_consts if isinstance(c, types.CodeType) and c.co_name in (_NAME, "<lambda>"))
    new = new.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    _keep(new)
    return new


def _function(f: types.FunctionType, code: types.CodeType) -> types.FunctionType:
    from . import runtime

    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    cells["_ag"] = types.CellType(runtime)
    closure = tuple([cells[name] for name in code.co_freevars])
    new = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
    new.__kwdefaults__ = f.__kwdefaults__
    new.__qualname__ = f.__qualname__
    new.__doc__ = f.__doc__
    new.__module__ = f.__module__
    new.__annotations__ = f.__annotations__
    new.__dict__.update(f.__dict__)
    return new


class _Mangle(ast.NodeTransformer):
    """Mangles private names of a class as Python does."""

    def __init__(self, owner: str):
        self.prefix = "_" + owner.lstrip("_")

    def _name(self, name: str) -> str:
        return self.prefix + name if name.startswith("__") and not name.endswith("__") else name

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._name(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self._name(node.attr)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = self._name(node.arg)
        return self.generic_visit(node)

