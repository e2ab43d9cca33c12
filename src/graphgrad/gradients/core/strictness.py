"""Whether None is an error where a gradient is asked for; `diagnose.strict` switches it on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphgrad.ir.context import Inherited
from graphgrad.ir.graph import Tensor

from .unconnected import UnconnectedGradients

# Explains, given ys, an x and the tensors where gradients stop, why there is no gradient.
Explain = Callable[[list[Tensor], Tensor, list[Tensor]], object]


class _State(Inherited):
    explain: Explain | None = None


_state = _State()


def explain_none_with(explain: Explain | None) -> Explain | None:
    """Makes None an error in this thread, worded by a function; None makes it none.

    Returns: the previous setting, to be restored.
    """
    before = _state.explain
    _state.explain = explain
    return before


@contextlib.contextmanager
def none_allowed() -> Iterator[None]:
    """Gives a `with` block in which None is no error."""
    before = explain_none_with(None)
    try:
        yield
    finally:
        explain_none_with(before)


def is_on() -> bool:
    """Returns whether None is an error in this thread."""
    return _state.explain is not None


_EXPLAINED = 3  # xs


def check(ys: list[Tensor], xs: list[Tensor], results: Sequence[Any], stops: list[Tensor],
          unconnected: UnconnectedGradients) -> None:
    """Raises ValueError in strict mode if a result is None."""
    explain = _state.explain
    if explain is None or unconnected is UnconnectedGradients.ZERO:
        return
    missing = [x for x, g in zip(xs, results, strict=True) if g is None]
    if missing:
        texts = [str(explain(ys, x, stops)) for x in missing[:_EXPLAINED]]
        if len(missing) > _EXPLAINED:
            texts.append(f"Nor have these a gradient: {', '.join(x.name for x in missing[_EXPLAINED:][:20])}")
        raise ValueError("\n".join(texts) + "\n(strict_gradients is on: None is an error)")
