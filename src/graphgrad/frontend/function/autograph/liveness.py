"""Liveness analysis: which names statements bind and read, and which are read later."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def bound(nodes: Sequence[ast.AST], names_only: bool = False) -> set[str]:
    """Returns the names that statements bind in their function.

    Args:
      nodes: the statements.
      names_only: whether to omit `a.b` for an attribute of a name, and containers whose elements are set.
    """
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and not names_only:
                name = node.value.id
                found.add(f"{name}.{node.attr}" if isinstance(node, ast.Attribute) else name)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            found.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


def read(node: ast.AST) -> set[str]:
    """Returns the names that a node reads, in nested functions too."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
            found.add(inner.id)
        elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            found.add(inner.target.id)
    return found


class Liveness:
    """For each statement of a function the names that may be read after it.

    Attributes:
      after: names by the id of the statement.
      head: for a loop, the names that may be read when its condition is next asked; for a branch, those that
        may be read in it or after it.
    """

    def __init__(self, body: list[ast.stmt], outliving: set[str]):
        self.after: dict[int, set[str]] = {}
        self.head: dict[int, set[str]] = {}
        self._jumps: list[set[str]] = []
        self.kept = outliving | _kept_by_closures(body)
        self._block(body, set())

    def _block(self, statements: list[ast.stmt], out: set[str]) -> set[str]:
        for s in reversed(statements):
            self.after[id(s)] = out | self.kept
            out = self._statement(s, out)
        return out

    def _statement(self, s: ast.stmt, out: set[str]) -> set[str]:
        if isinstance(s, ast.If):
            inside = self._block(s.body, out) | self._block(s.orelse, out)
            self.head[id(s)] = inside | out | self.kept
            return read(s.test) | inside
        if isinstance(s, (ast.While, ast.For, ast.AsyncFor)):
            return self._loop(s, out)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            inner = self._block(s.body, out)
            for item in reversed(s.items):
                inner = (inner - bound([item])) | read(item)
            return inner
        if isinstance(s, (ast.Try, ast.TryStar)):
            rest: set[str] = set(out)  # an exception may lead to any of the handlers
            for part in (*s.handlers, *s.orelse, *s.finalbody):
                rest |= read(part)
            for block in (s.finalbody, s.orelse, *[h.body for h in s.handlers]):
                self._block(block, rest)
            return self._block(s.body, rest) | rest
        if isinstance(s, ast.Match):
            live = read(s.subject)
            for case in s.cases:
                live |= self._block(case.body, out)
                live |= read(case.pattern) | (read(case.guard) if case.guard else set())
            return live | out
        if isinstance(s, (ast.Return, ast.Raise)):
            return read(s)
        if isinstance(s, (ast.Break, ast.Continue)):
            return out | (self._jumps[-1] if self._jumps else set())
        return (out - bound([s])) | read(s)

    def _loop(self, s: ast.While | ast.For | ast.AsyncFor, out: set[str]) -> set[str]:
        entry = read(s.test) if isinstance(s, ast.While) else set()
        target = set() if isinstance(s, ast.While) else bound([s.target])
        head = out | entry | set(getattr(s, "_ag_stops", ()))
        out = self._block(s.orelse, out)
        while True:
            self._jumps.append(head | out)
            more = head | (self._block(s.body, head) - target)
            self._jumps.pop()
            if more == head:
                break
            head = more
        self.head[id(s)] = head | self.kept
        return head if isinstance(s, ast.While) else head | read(s.iter) | read(s.target)


def _kept_by_closures(body: list[ast.stmt]) -> set[str]:
    """Returns the names that nested functions read, which may be called at any time.

    A lambda that is handed to a call at once counts as read there and then.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            found |= read(node)
            continue
        if isinstance(node, ast.Call):
            handed = [*node.args, *[k.value for k in node.keywords]]
            waiting.extend(a.body if isinstance(a, ast.Lambda) else a for a in handed)
            waiting.append(node.func)
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found
