"""Rewrites statements and expressions that may meet a tensor as calls of `staged_operators`.

A branch or loop becomes functions without arguments that work on the names of the function around them
(`nonlocal`), so in Python's own way of running them nothing changes. Two more functions get and set the names that
the statement passes on; with these the graph's way tries branches and bodies on symbolic values.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .jumps import keeps_form
from .liveness import Liveness, bound

_NEVER_TENSORS = frozenset({"isinstance", "hasattr", "callable", "issubclass"})
_AS_THEY_ARE = _NEVER_TENSORS | {
    "super", "locals", "globals", "vars", "dir", "eval", "exec", "type", "getattr", "setattr", "id", "repr", "str",
    "tuple", "list", "dict", "set", "frozenset", "bytes"}


class Rewriter(ast.NodeTransformer):
    """Rewrites the body of one function.

    Args:
      live: the liveness of its names.
      local: the names that it binds, those it declares nonlocal among them.
      global_: the names that it declares global.
      builtin_functions: whether `print` prints tensors when the graph runs.
      first: its first argument, the object of a method.
    """

    def __init__(self, live: Liveness, local: set[str], global_: set[str], builtin_functions: bool,
                 first: str | None = None):
        self.live = live
        self.first = first
        self.local = local
        self.global_ = global_
        self.print_too = builtin_functions
        self.count = 0

    # -- statements ----------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> Any:
        """Rewrites `if test:` to a call of `operators.if_`."""
        if keeps_form(node) or _is_plain(node.test):
            return self.generic_visit(node)
        changed = self._changed([*node.body, *node.orelse])
        after = self.live.after[id(node)] | {n for n in changed if "." in n}
        names = sorted(changed & (after | self.live.head[id(node)]), key=lambda n: (n not in after, n))
        results = sum(n in after for n in names)  # the first ones
        self.count += 1
        k = self.count
        body = self._function(f"_ag_if_{k}", self._block(node.body), changed, node)
        orelse = self._function(f"_ag_else_{k}", self._block(node.orelse), changed, node)
        access = self._access(k, names, node)
        call = f"_ag.if_(_0, _ag_if_{k}, _ag_else_{k}, _ag_get_{k}, _ag_set_{k}, {tuple(names)!r}, {results})"
        return [body, orelse, *access, _template(call, node, self.visit(node.test))]

    def visit_While(self, node: ast.While) -> Any:
        """Rewrites `while test:` to a call of `loops.while_`."""
        if keeps_form(node) or node.orelse:
            return self.generic_visit(node)
        options = self._loop_options(node)
        changed = self._changed(node.body)
        names = sorted(n for n in changed if "." in n or n in self.live.head[id(node)])
        self.count += 1
        k = self.count
        test: ast.expr = node.test
        for flag in getattr(node, "_ag_stops", ()):
            test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), _load(flag)), test])
        goes_on = self._function(f"_ag_test_{k}", [ast.Return(self.visit(_place(test, node)))], set(), node)
        body = self._function(f"_ag_while_{k}", self._block(node.body), changed, node)
        access = self._access(k, names, node)
        call = f"_ag.while_(_ag_test_{k}, _ag_while_{k}, _ag_get_{k}, _ag_set_{k}, {tuple(names)!r}, _0)"
        return [goes_on, body, *access, _template(call, node, options)]

    def visit_For(self, node: ast.For) -> Any:
        """Rewrites `for target in rows:` to a call of `loops.for_`."""
        if keeps_form(node) or node.orelse:
            return self.generic_visit(node)
        options = self._loop_options(node)
        changed = self._changed([node.target, *node.body])
        names = sorted(n for n in changed if "." in n or n in self.live.head[id(node)])
        self.count += 1
        k = self.count
        stops = getattr(node, "_ag_stops", ())
        flags: ast.expr = ast.Constant(None)
        if stops:
            nots: list[ast.expr] = [ast.UnaryOp(ast.Not(), _load(f)) for f in stops]
            both = nots[0] if len(nots) == 1 else ast.BoolOp(ast.And(), nots)
            flags = ast.Lambda(_no_arguments(), self.visit(_place(both, node)))
        item = ast.Assign([node.target], ast.Name("_ag_item", ast.Load()))
        body = self._function(f"_ag_for_{k}", [self.visit(_place(item, node)), *self._block(node.body)], changed, node,
                              "_ag_item")
        access = self._access(k, names, node)
        call = f"_ag.for_(_0, _1, _ag_for_{k}, _ag_get_{k}, _ag_set_{k}, {tuple(names)!r}, _2)"
        return [body, *access, _template(call, node, self.visit(node.iter), flags, options)]

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Rewrites `assert test, message` to a call of `operators.assert_`."""
        if _is_plain(node.test):
            return self.generic_visit(node)
        message = ast.Lambda(_no_arguments(), self.visit(node.msg) if node.msg else ast.Constant(None))
        return _template("_ag.assert_(_0, _1)", node, self.visit(node.test), message)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Removes the annotation of a name: in a function it is never evaluated, and shared names must have none."""
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], self.visit(node.value)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Rewrites a nested function with its own names."""
        from .convert import rewrite_body

        node.body = rewrite_body(node, self.print_too)
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Leaves coroutines unchanged."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Leaves classes unchanged; their methods are rewritten when they are called."""
        return node

    # -- expressions ---------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Rewrites `a and b`: b is evaluated only where a holds."""
        if _is_plain(node) or any(map(_binds, node.values)):
            return self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return _call(name, node, *[ast.Lambda(_no_arguments(), self.visit(v)) for v in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """Rewrites `not a`."""
        if not isinstance(node.op, ast.Not) or _is_plain(node):
            return self.generic_visit(node)
        return _call("not_", node, self.visit(node.operand))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """Rewrites `a if test else b`: only one of the two is evaluated."""
        if _is_plain(node.test) or _binds(node.body) or _binds(node.orelse):
            return self.generic_visit(node)
        sides = [ast.Lambda(_no_arguments(), self.visit(v)) for v in (node.body, node.orelse)]
        return _call("if_exp", node, self.visit(node.test), *sides)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Rewrites `a < b < c`: each operand is evaluated once."""
        if len(node.ops) == 1 or any(map(_binds, node.comparators)):
            return self.generic_visit(node)
        pairs: list[ast.expr] = [
            ast.Lambda(_two_arguments(), ast.Compare(_load("_ag_a"), [o], [_load("_ag_b")])) for o in node.ops
        ]
        values = [ast.Lambda(_no_arguments(), self.visit(v)) for v in (node.left, *node.comparators)]
        return _call("chain", node, ast.Tuple(pairs, ast.Load()), *values)

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrites `f(x)` to call what `f` is rewritten to."""
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        if isinstance(node.func, ast.Name) and node.func.id in _AS_THEY_ARE:
            if node.func.id == "super" and not node.args and self.first is not None:  # else not known in branches
                node.args = [_place(_load("__class__"), node), _place(_load(self.first), node)]
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            if self.print_too:
                node.func = _place(ast.Attribute(_load("_ag"), "print_", ast.Load()), node)
            return node
        node.func = _call("converted", node.func, self.visit(node.func))
        return node

    # -- helpers -------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in statements:
            new = self.visit(s)
            found.extend(new if isinstance(new, list) else [new])
        return found

    def _changed(self, statements: Sequence[ast.AST]) -> set[str]:
        """Returns the names of the function that statements bind, and attributes that they set."""
        return {n for n in bound(statements) if "." in n or n in self.local or n in self.global_}

    def _declared(self, names: set[str]) -> list[ast.stmt]:
        plain = {n for n in names if "." not in n}
        shared, outside = sorted(plain - self.global_), sorted(plain & self.global_)
        found: list[ast.stmt] = [ast.Nonlocal(shared)] if shared else []
        return [*found, *([ast.Global(outside)] if outside else [])]

    def _function(self, name: str, body: list[ast.stmt], changed: set[str], at: ast.stmt,
                  argument: str | None = None) -> ast.stmt:
        args = _no_arguments()
        if argument is not None:
            args.args.append(ast.arg(argument))
        declared = self._declared(changed)
        function = ast.FunctionDef(name, args, [*declared, *(body or [ast.Pass()])], [], None)
        return _place(function, at)

    def _access(self, k: int, names: list[str], at: ast.stmt) -> list[ast.stmt]:
        """Builds functions that get and set the names; a name without a value is `UNDEFINED`."""
        gets = ", ".join(f"_ag.value(lambda: {n})" for n in names)
        lines = [f"def _ag_get_{k}():", f"  return ({gets}{',' if names else ''})", f"def _ag_set_{k}(_ag_v):"]
        plain = {n for n in names if "." not in n}
        if shared := sorted(plain - self.global_):
            lines.append(f"  nonlocal {', '.join(shared)}")
        if outside := sorted(plain & self.global_):
            lines.append(f"  global {', '.join(outside)}")
        for i, n in enumerate(names):
            if n in plain:
                lines += [f"  {n} = _ag_v[{i}]", f"  if {n} is _ag.UNDEFINED: del {n}"]
            else:
                owner, attribute = n.split(".")
                lines.append(f"  _ag.set_attribute(_ag.value(lambda: {owner}), {attribute!r}, _ag_v[{i}])")
        lines.append("  return None")
        return [_place(s, at, everything=True) for s in ast.parse("\n".join(lines)).body]

    def _loop_options(self, node: ast.While | ast.For) -> ast.expr:
        """Removes a call of `set_loop_options` from the body of a loop."""
        for s in node.body:
            call = s.value if isinstance(s, ast.Expr) else None
            if isinstance(call, ast.Call) and isinstance(call.func, (ast.Attribute, ast.Name)):
                if getattr(call.func, "attr", getattr(call.func, "id", None)) == "set_loop_options":
                    node.body.remove(s)
                    if not node.body:
                        node.body.append(ast.copy_location(ast.Pass(), s))
                    return _call("loop_options", call, *call.args, keywords=call.keywords)
        return ast.Constant(None)


def _is_plain(test: ast.expr) -> bool:
    """Returns whether an expression is certainly not a tensor."""
    if isinstance(test, ast.BoolOp):
        return all(map(_is_plain, test.values))
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _is_plain(test.operand)
    if isinstance(test, ast.Compare):
        return all(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in test.ops)
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id in _NEVER_TENSORS
    return isinstance(test, ast.Constant)


def _binds(node: ast.expr) -> bool:
    """Returns whether an expression binds names or yields, which a function around it would change."""
    return any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def _two_arguments() -> ast.arguments:
    return ast.arguments([], [ast.arg("_ag_a"), ast.arg("_ag_b")], None, [], [], None, [])


def _place(node: Any, at: ast.AST, everything: bool = False) -> Any:
    """Gives new nodes the source position of an old one."""
    for inner in ast.walk(node):
        if hasattr(inner, "lineno") and not everything:
            continue
        if isinstance(inner, (ast.stmt, ast.expr, ast.arg)):
            put(inner, at)
    return node


def put(node: Any, at: Any) -> None:
    """Gives a new node the source position of an old one, in one line: Python reports the last line of several."""
    node.lineno = node.end_lineno = at.lineno
    node.col_offset = node.end_col_offset = at.col_offset


def _call(name: str, at: ast.AST, *args: ast.expr, keywords: Any = ()) -> ast.expr:
    call = ast.Call(ast.Attribute(_load("_ag"), name, ast.Load()), list(args), list(keywords))
    placed: ast.expr = _place(call, at)
    return placed


class _Fill(ast.NodeTransformer):
    def __init__(self, parts: tuple[ast.expr, ...]):
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id[0] == "_" and node.id[1:].isdigit():
            return self.parts[int(node.id[1:])]
        return node


def _template(text: str, at: ast.stmt, *parts: ast.expr) -> ast.stmt:
    """Builds a statement from a template with expressions for `_0`, `_1` and so on."""
    (statement,) = ast.parse(text).body
    _place(statement, at, everything=True)
    filled: ast.stmt = _Fill(parts).visit(statement)
    return _place(filled, at)
