"""Formulas in records: Python expressions of an operation's inputs and attributes, as `OpTraits.formula` has them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

from .terms import Term, Terms

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//",
    ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@functools.cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def names_in(text: str) -> set[str]:
    """Returns the names that a formula reads."""
    return {n.id for n in ast.walk(_parsed(text)) if isinstance(n, ast.Name)}


def built(text: str, names: Mapping[str, Any], terms: Terms, call: Callable[..., Term]) -> Term:
    """Builds the value of a formula.

    Args:
      text: the formula.
      names: values, and lists of them, by names.
      terms: what makes them.
      call: a function of (name, arguments, whether the whole formula is this call) that makes the value of a call.
    """
    whole = _parsed(text)

    def build(part: Any) -> Any:
        if isinstance(part, ast.Name):
            return names[part.id]
        if isinstance(part, ast.Constant):
            return terms.constant(part.value)
        if isinstance(part, ast.UnaryOp):
            return (terms.negative if isinstance(part.op, ast.USub) else terms.inverted)(build(part.operand))
        if isinstance(part, ast.BinOp):
            return terms.binary(_BINARY[type(part.op)], build(part.left), build(part.right))
        if isinstance(part, ast.Compare):
            return terms.binary(_BINARY[type(part.ops[0])], build(part.left), build(part.comparators[0]))
        assert isinstance(part, ast.Call) and isinstance(part.func, ast.Name), text
        return call(part.func.id, list(map(build, part.args)), part is whole)

    found: Term = build(whole)
    return found
