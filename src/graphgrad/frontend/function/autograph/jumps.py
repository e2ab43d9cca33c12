"""Replaces `break`, `continue` and `return` by flags.

What follows a branch that always jumps moves into the other branch; what follows one that may jump is
put under `if not flag`. A loop goes on while its flags are down.
"""

from __future__ import annotations

import ast

Statements = list[ast.stmt]

_LOOPS = (ast.While, ast.For)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
RETURNED, VALUE = "_ag_returned", "_ag_value"


def _jumps_out(node: ast.stmt) -> bool:
    """Returns whether a statement contains a jump that leaves it: a return, or a break of an outer loop."""
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return True
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        inner, in_loop = waiting.pop()
        if isinstance(inner, ast.Return) or (isinstance(inner, (ast.Break, ast.Continue)) and not in_loop):
            return True
        if isinstance(inner, _SCOPES):
            continue
        for field, value in ast.iter_fields(inner):
            within = in_loop or (isinstance(inner, _LOOPS) and field == "body")
            waiting.extend((v, within) for v in (value if isinstance(value, list) else [value])
                           if isinstance(v, ast.AST))
    return False


def stays_python(node: ast.stmt) -> bool:
    """Returns whether a statement stays Python's: it contains a `try` or `match` that a jump leaves."""
    return any(isinstance(inner, (ast.Try, ast.Match, ast.TryStar)) and _jumps_out(inner) for inner in walk(node))


def keeps_form(node: ast.stmt) -> bool:
    """Returns whether an `if` or a loop cannot become functions: remaining jumps leave it, or its parts."""
    if stays_python(node) or _jumps_out(node):
        return True
    return isinstance(node, _LOOPS) and any(map(_jumps_out, node.body))


def walk(node: ast.AST) -> list[ast.AST]:
    """Yields `node` and the nodes beneath it, except those of functions and classes in it."""
    found, waiting = [], [node]
    while waiting:
        inner = waiting.pop()
        found.append(inner)
        if not isinstance(inner, _SCOPES) or inner is node:
            waiting.extend(ast.iter_child_nodes(inner))
    return found


def lower_function(body: Statements) -> Statements:
    """Lowers the statements of a function to ones without jumps inside branches and loops."""
    if not any(_jumps_out(s) for s in body if not isinstance(s, ast.Return) and not stays_python(s)):
        return _Lowering(returns=False).block(body)[0]
    first = body[0]
    start = [_set(RETURNED, ast.Constant(False), first), _set(VALUE, _operator("NO_VALUE", first), first)]
    lowered, _, always = _Lowering(returns=True).block(body)
    arguments = [_name(VALUE)] if always else [_name(VALUE), _name(RETURNED)]
    value = ast.Call(_operator("returned", first), arguments, [])
    return [*start, *lowered, _at(ast.Return(value), body[-1])]


class _Lowering:
    def __init__(self, returns: bool):
        self.returns = returns
        self.loops: list[tuple[str, str]] = []  # the flags of outer loops
        self.count = 0

    def block(self, statements: Statements) -> tuple[Statements, set[str], bool]:
        """Returns new statements; the flags that they may raise; whether they always raise one."""
        out: Statements = []
        flags: set[str] = set()
        for i, s in enumerate(statements):
            rest = statements[i + 1 :]
            if stays_python(s):
                out.append(s)
            elif isinstance(s, ast.Return) and self.returns:
                out += [_set(RETURNED, ast.Constant(True), s), _set(VALUE, s.value or ast.Constant(None), s)]
                return out, flags | {RETURNED}, True
            elif isinstance(s, (ast.Break, ast.Continue)) and self.loops:
                flag = self.loops[-1][isinstance(s, ast.Continue)]
                out.append(_set(flag, ast.Constant(True), s))
                return out, flags | {flag}, True
            elif isinstance(s, ast.If):
                raised, always, done = self._branch(s, rest, out)
                flags |= raised
                if done:
                    return out, flags, always
                if raised:
                    return self._guarded(rest, raised, out, flags, s)
            elif isinstance(s, (ast.With, ast.AsyncWith)):
                s.body, raised, always = self.block(s.body)
                out.append(s)
                flags |= raised
                if always:
                    return out, flags, True
                if raised:
                    return self._guarded(rest, raised, out, flags, s)
            elif isinstance(s, _LOOPS):
                raised = self._loop(s, out)
                flags |= raised
                if raised:
                    return self._guarded(rest, raised, out, flags, s)
            elif isinstance(s, ast.Try):
                for part in ("body", "orelse", "finalbody"):
                    setattr(s, part, self.block(getattr(s, part))[0])
                for handler in s.handlers:
                    handler.body = self.block(handler.body)[0]
                out.append(s)
            else:
                out.append(s)
        return out, flags, False

    def _branch(self, s: ast.If, rest: Statements, out: Statements) -> tuple[set[str], bool, bool]:
        """Lowers an `if`; the last result is whether it has absorbed the rest of the block."""
        body, body_flags, body_always = self.block(s.body)
        if body_always:
            s.body = body
            s.orelse, flags, always = self.block([*s.orelse, *rest])
            out.append(s)
            return body_flags | flags, always, True
        orelse, flags, always = self.block(s.orelse)
        if always:
            # The body has been lowered, the rest has not: each is lowered once.
            after, after_flags, after_always = self._after(body, body_flags, rest, s)
            s.body, s.orelse = after, orelse
            out.append(s)
            return body_flags | flags | after_flags, after_always, True
        s.body, s.orelse = body, orelse
        out.append(s)
        return body_flags | flags, False, False

    def _after(self, body: Statements, raised: set[str], rest: Statements,
               at: ast.stmt) -> tuple[Statements, set[str], bool]:
        if raised:
            return self._guarded(rest, raised, list(body), set(raised), at)
        more, flags, always = self.block(rest)
        return [*body, *more], flags, always

    def _guarded(self, rest: Statements, raised: set[str], out: Statements, flags: set[str],
                 at: ast.stmt) -> tuple[Statements, set[str], bool]:
        """Guards the rest of a block: it runs unless one of some flags is raised."""
        if not rest:
            return out, flags, False
        lowered, more, always = self.block(rest)
        out.append(_at(ast.If(_none_of(raised), lowered, []), at))
        return out, flags | more, always

    def _loop(self, s: ast.While | ast.For, out: Statements) -> set[str]:
        self.count += 1
        broken, skipped = f"_ag_break_{self.count}", f"_ag_continue_{self.count}"
        self.loops.append((broken, skipped))
        s.body, flags, _ = self.block(s.body)
        self.loops.pop()
        if skipped in flags:
            s.body.insert(0, _set(skipped, ast.Constant(False), s))
        stops = flags - {skipped}
        if broken in flags:
            out.append(_set(broken, ast.Constant(False), s))
        s._ag_stops = sorted(stops)  # type: ignore[union-attr]  # read by the rewriting
        orelse, s.orelse = s.orelse, []
        out.append(s)
        raised = stops - {broken}
        if orelse:
            lowered, more, _ = self.block(orelse)
            out += [_at(ast.If(_none_of(stops), lowered, []), s)] if stops else lowered
            raised |= more
        return raised


def _at(node: ast.stmt, place: ast.AST) -> ast.stmt:
    for inner in ast.walk(node):
        if isinstance(inner, (ast.stmt, ast.expr)) and not hasattr(inner, "lineno"):
            inner.lineno = inner.end_lineno = place.lineno  # type: ignore[attr-defined]  # statements have it
            # Silenced: expressions and statements have it.
            inner.col_offset = inner.end_col_offset = place.col_offset  # type: ignore[attr-defined]
    return node


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _operator(name: str, place: ast.AST) -> ast.expr:
    return ast.Attribute(_name("_ag"), name, ast.Load())


def _set(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _none_of(flags: set[str]) -> ast.expr:
    """Builds `not (a or b)`, without superfluous operators on tensors."""
    names = [_name(f) for f in sorted(flags)]
    return ast.UnaryOp(ast.Not(), names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names))
