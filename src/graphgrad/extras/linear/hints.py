"""Infers hints (self-adjoint, positive definite, ...) of compound operators: True, False or None."""

from __future__ import annotations

from typing import Any


def refuse(problem: str, fix: str) -> ValueError:
    """Returns the error for hints and arguments that contradict each other."""
    return ValueError(f"{problem}\n  Fix: {fix}")


def settled(always: bool | None, given: bool | None, problem: str, what: str) -> bool | None:
    """Returns a hint that follows from the kind of operator; raises ValueError if the user says otherwise."""
    if always is None:
        return given
    if given is not None and bool(given) is not always:
        raise refuse(problem, f"leave {what} out")
    return always


def implied(known: bool, given: bool | None, problem: str, what: str) -> bool | None:
    """Returns a hint that is True if `known`, and else what the user says."""
    return settled(True if known else None, given, problem, what)


def shared(operator: Any, what: str, given: bool | None, problem: str) -> bool | None:
    """Returns a hint that holds for an operator exactly if it holds for another one, derived from it."""
    own = getattr(operator, what)
    if own is not None and given is not None and bool(own) is not bool(given):
        raise refuse(problem, f"leave {what} out")
    return given if own is None else own


def non_singular(a: Any, b: Any) -> Any:
    """Infers the hint for a product of square operators."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def self_adjoint(a: Any, b: Any) -> bool | None:
    """Infers the hint for a product of operators that commute."""
    if a.is_self_adjoint and b.is_self_adjoint:
        return True
    return False if {a.is_self_adjoint, b.is_self_adjoint} == {True, False} else None


def positive_definite(a: Any, b: Any) -> bool | None:
    """Infers the hint for a product of operators that commute."""
    return True if all(o.is_positive_definite and o.is_self_adjoint for o in (a, b)) else None


def commuting(a: Any, b: Any) -> dict[str, Any]:
    """Infers the hints of a product of square operators that commute, as arguments."""
    return {"is_non_singular": non_singular(a, b), "is_self_adjoint": self_adjoint(a, b),
            "is_positive_definite": positive_definite(a, b), "is_square": True}


def square(a: Any, b: Any) -> bool | None:
    """Returns whether a product is square."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        rows, columns = a.shape[-2], b.shape[-1]
        return None if rows is None or columns is None else bool(rows == columns)
    if a.is_square is not None and b.is_square is not None:
        return False
    return None


def product(a: Any, b: Any) -> dict[str, Any]:
    """Infers the hints of any product, as arguments."""
    is_square = square(a, b)
    if is_square is False:
        return dict.fromkeys(("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"), False)
    return {"is_non_singular": non_singular(a, b) if is_square else None, "is_square": is_square}


def own(operator: Any) -> dict[str, Any]:
    """Returns an operator's hints, for its adjoint or inverse."""
    return {"is_non_singular": operator.is_non_singular, "is_self_adjoint": operator.is_self_adjoint,
            "is_positive_definite": operator.is_positive_definite, "is_square": True}


def is_adjoint_pair(x: Any, y: Any) -> bool:
    """Returns whether two operators are known to be each other's adjoints."""
    if x is y and x.is_self_adjoint is not None:
        return bool(x.is_self_adjoint)
    return x.H is y or y.H is x


def is_own_square(operators: list[Any]) -> bool:
    """Returns whether a product of operators has the form A A^H."""
    if len(operators) % 2:
        return False
    return all(is_adjoint_pair(operators[i], operators[-1 - i]) for i in range(len(operators) // 2))
