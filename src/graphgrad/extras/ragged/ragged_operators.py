"""The operators of ragged tensors, those of tensors; and what functions of tensors do with ragged ones."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from graphgrad.ir.values.dispatch import Api, register_kind


def install(cls: type) -> None:
    """Gives a class of ragged tensors the operators, and the functions.

    Args:
      cls: the class.
    """

    def method(f: Callable[..., Any], turned: bool) -> Any:
        def combine(self: Any, other: Any) -> Any:
            from .ragged_elementwise import apply

            return apply(f, (other, self) if turned else (self, other), f)

        return combine

    def unary(f: Callable[..., Any]) -> Any:
        def apply(self: Any) -> Any:
            return self.with_flat_values(f(self.flat_values))

        return apply

    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
        f = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(cls, f"__{name}__", method(f, False))
        setattr(cls, f"__r{name}__", method(f, True))
    for name in ("lt", "le", "gt", "ge"):
        setattr(cls, f"__{name}__", method(getattr(operator, name), False))
    for name in ("neg", "abs", "invert"):
        setattr(cls, f"__{name}__", unary(getattr(operator, name)))
    register_kind(cls, _call)


def _call(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from .ragged_dispatch import call

    return call(api, args, kwargs)
