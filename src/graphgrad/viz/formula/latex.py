"""Formulas as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .expressions import FormulaNode

_ATOM, _POWER, _SIGN, _PRODUCT, _SUM, _COMPARISON = 6, 5, 4, 3, 2, 1
_OWN = frozenset("sin cos tan sinh cosh tanh exp log max min arcsin arccos arctan".split())  # functions LaTeX knows
_CALLED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "maximum": "max", "minimum": "min"}
_GREEK = frozenset("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon "
                   "phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split())
_RELATIONS = {"<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne", "&": r"\wedge", "|": r"\vee", "^": r"\oplus"}
_LETTER = re.compile(r"([A-Za-z])_?(\d*)$")


class Latex:
    """Writes nodes as LaTeX.

    Args:
      names: nodes that are written as names.
      times: the sign of products element by element.
    """

    def __init__(self, names: Mapping[FormulaNode, str], times: str):
        self.names = names
        self.times = times

    def write(self, part: FormulaNode) -> str:
        """Writes a node out."""
        return self._written(part, True)[0]

    def _written(self, node: FormulaNode, outer: bool = False) -> tuple[str, int]:
        if not outer and node in self.names:
            return name(self.names[node]), _ATOM
        kind = node.kind
        if kind == "number":
            text = _number(node.value)
            return text, _SIGN if text.startswith("-") else _PRODUCT if "^" in text else _ATOM
        if kind == "name":
            return name(node.value), _ATOM
        if kind == "text":
            return rf"\text{{{_escaped(str(node.value))}}}", _ATOM
        if kind in ("tuple", "list"):
            inner = ", ".join(self._written(a)[0] for a in node.args)
            return rf"\left[{inner}\right]" if kind == "list" else rf"\left({inner}\right)", _ATOM
        if kind == "call":
            return self._call(node)
        if kind in ("item", "T", "-x", "~x"):
            return self._unary(node)
        return self._binary(node)

    def _unary(self, node: FormulaNode) -> tuple[str, int]:
        inner = self._written(node.args[0])
        if node.kind == "item":
            return rf"{_in_brackets(inner, _ATOM)}\left[{_escaped(node.value)}\right]", _ATOM
        if node.kind == "T":
            return rf"{_in_brackets(inner, _ATOM)}^{{\top}}", _POWER
        sign = "-" if node.kind == "-x" else r"\neg "
        return f"{sign}{_in_brackets(inner, _PRODUCT if node.kind == '-x' else _SIGN)}", _SIGN

    def _binary(self, node: FormulaNode) -> tuple[str, int]:
        kind = node.kind
        left, right = self._written(node.args[0]), self._written(node.args[1])
        if kind == "/":
            return rf"\frac{{{left[0]}}}{{{right[0]}}}", _ATOM
        if kind == "**":
            return f"{_in_brackets(left, _ATOM)}^{{{right[0]}}}", _POWER
        if kind in ("+", "-"):
            return f"{left[0] if left[1] >= _SUM else _brackets(left[0])} {kind} " \
                   f"{_in_brackets(right, _SUM if kind == '+' else _PRODUCT)}", _SUM
        if kind in ("*", "@", "//", "%"):
            return self._product(node, left, right)
        return f"{_in_brackets(left, _SUM)} {_RELATIONS.get(kind, kind)} {_in_brackets(right, _SUM)}", _COMPARISON

    def _product(self, node: FormulaNode, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
        sign = {"@": r"\,", "//": r"\mathbin{//}", "%": r"\bmod"}.get(node.kind, self.times)
        if node.kind == "*" and node.args[0].kind == "number":
            sign = r"\cdot" if right[0][:1].isdigit() or right[0].startswith(r"\frac") else r"\,"
        elif node.kind == "@" and any(a.kind == "*" for a in node.args if a not in self.names):
            left, right = [(t, _SUM) if a.kind == "*" and a not in self.names else (t, b)
                           for a, (t, b) in zip(node.args, (left, right), strict=True)]
        joins = node.kind == "@" or node.args[0].kind == "number"  # a product on the right needs no brackets
        second = _in_brackets(right, _PRODUCT if joins and right[1] == _PRODUCT else _POWER)
        return f"{_in_brackets(left, _PRODUCT)} {sign} {second}", _PRODUCT

    def _call(self, node: FormulaNode) -> tuple[str, int]:
        called, options = node.value
        args = node.args[: len(node.args) - len(options)]
        named = dict(zip(options, node.args[len(args):], strict=True))
        texts = [self._written(a)[0] for a in args]
        if called == "sqrt":
            return rf"\sqrt{{{texts[0]}}}", _ATOM
        if called == "abs":
            return rf"\left|{texts[0]}\right|", _ATOM
        if called == "where":
            return (rf"\begin{{cases}} {texts[1]} & \text{{if }} {texts[0]} \\ {texts[2]} & \text{{otherwise}} "
                    rf"\end{{cases}}"), _SUM
        if called == "array":
            return texts[0], _ATOM
        if called == "sum" and "keepdims" not in named:
            axis = f"_{{{self._written(named['axis'])[0]}}}" if "axis" in named else ""
            return rf"\sum{axis} {_in_brackets(self._written(args[0]), _PRODUCT)}", _PRODUCT
        if called == "exp" and len(texts[0]) < 40 and r"\begin" not in texts[0]:
            return f"e^{{{texts[0]}}}", _POWER
        texts += [rf"\mathrm{{{_escaped(k)}}}={self._written(v)[0]}" for k, v in named.items()]
        return rf"{_function(called)}\left({', '.join(texts)}\right)", _ATOM


def name(text: str) -> str:
    """Writes a name: single letters and Greek ones as such, with numbers as indices."""
    match = _LETTER.match(text)
    if match:
        return f"{match[1]}_{{{match[2]}}}" if match[2] else match[1]
    stem = text.rstrip("0123456789").rstrip("_")
    number = text[len(stem):].lstrip("_")
    if stem in _GREEK:
        return rf"\{stem}_{{{number}}}" if number else rf"\{stem}"
    return rf"\mathrm{{{_escaped(text)}}}"


def _function(text: str) -> str:
    text = _CALLED.get(text, text)
    if text in _OWN:
        return rf"\{text}"
    return r"\sigma" if text == "sigmoid" else rf"\operatorname{{{_escaped(text)}}}"


def _number(value: object) -> str:
    text = {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{NaN}"}.get(str(value), str(value))
    mantissa, _, exponent = text.partition("e")
    if exponent and not text.startswith("\\"):
        power = f"10^{{{int(exponent)}}}"
        return {"1": power, "-1": f"-{power}"}.get(mantissa, rf"{mantissa} \cdot {power}")
    return text


def _escaped(text: str) -> str:
    return re.sub(r"([_&%$#{}])", r"\\\1", text)


def _in_brackets(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else _brackets(part[0])


def _brackets(text: str) -> str:
    return rf"\left({text}\right)"
