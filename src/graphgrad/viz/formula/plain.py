"""Formulas as plain text: Python, with NumPy's names where NumPy has the function."""

from __future__ import annotations

from collections.abc import Mapping

from .expressions import FormulaNode

# How tightly operators bind.
_ATOM, _POWER, _SIGN, _PRODUCT, _SUM, _COMPARISON = 6, 5, 4, 3, 2, 1
_BINDING = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "@": _PRODUCT}


def plain(part: FormulaNode, names: Mapping[FormulaNode, str]) -> str:
    """Writes a node as text.

    Args:
      part: the node.
      names: nodes that are written as names; the node itself is written out all the same.
    """
    return _written(part, names, True)[0]


def _written(node: FormulaNode, names: Mapping[FormulaNode, str], outer: bool = False) -> tuple[str, int]:
    """Returns the text and how tightly it binds."""
    if not outer and node in names:
        return names[node], _ATOM
    kind, args = node.kind, node.args
    if kind == "number":
        return _number(node.value)
    if kind in ("name", "text"):
        return node.value if kind == "name" else repr(node.value), _ATOM
    if kind in ("tuple", "list", "call"):
        return _bracketed(node, names), _ATOM
    parts = [_written(a, names) for a in args]
    if kind == "item":
        return f"{_in_brackets(parts[0], _ATOM)}[{node.value}]", _ATOM
    if kind == "T":
        rank = len(node.dims) if node.dims is not None else 0
        return (f"{_in_brackets(parts[0], _ATOM)}.T" if rank == 2 else f"swapaxes({parts[0][0]}, -1, -2)"), _ATOM
    if kind in ("-x", "~x"):
        return f"{kind[0]}{_in_brackets(parts[0], _SIGN)}", _SIGN
    if kind == "**":
        return f"{_in_brackets(parts[0], _ATOM)}**{_in_brackets(parts[1], _SIGN)}", _POWER
    return _operated(node, *parts)


def _operated(node: FormulaNode, first: tuple[str, int], second: tuple[str, int]) -> tuple[str, int]:
    """Writes an operator between two operands."""
    kind, args = node.kind, node.args
    if kind not in _BINDING:
        return f"{_in_brackets(first, _SUM)} {kind} {_in_brackets(second, _SUM)}", _COMPARISON
    binding = _BINDING[kind]
    joins = kind == "+" or (kind == "*" and args[0].kind == "number" and args[1].kind == "*")
    left, right = _in_brackets(first, binding), _in_brackets(second, binding + (not joins))
    if kind == "@" and args[0].kind != "@" and first[1] == _PRODUCT:
        left = f"({left})"  # a * b @ c is read as (a * b) @ c, but not by everyone
    return f"{left} {kind} {right}", binding


def _in_brackets(part: tuple[str, int], least: int) -> str:
    text, binding = part
    return text if binding >= least else f"({text})"


def _number(value: object) -> tuple[str, int]:
    text = str(value)
    return text, _SIGN if text.startswith("-") else _ATOM


def _bracketed(node: FormulaNode, names: Mapping[FormulaNode, str]) -> str:
    texts = [_written(a, names)[0] for a in node.args]
    if node.kind == "list":
        return f"[{', '.join(texts)}]"
    if node.kind == "tuple":
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
    name, options = node.value
    plain_ones = texts[: len(texts) - len(options)]
    return f"{name}({', '.join([*plain_ones, *(f'{k}={v}' for k, v in zip(options, texts[len(plain_ones):]))])})"
