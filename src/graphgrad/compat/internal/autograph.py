"""The conversion of functions by libraries: `tf.__internal__.autograph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.frontend.structure.structure_types import P, R


class ControlStatusCtx(NamedTuple):
    """Whether functions are converted where a library asks; they are.

    Attributes:
      status: "unspecified".
      options: None.
    """

    status: str = "unspecified"
    options: Any = None


def control_status_ctx() -> ControlStatusCtx:
    """Returns whether functions are converted here."""
    return ControlStatusCtx()


def tf_convert(f: Callable[P, R], ctx: Any, convert_by_default: bool = True,
               user_requested: bool = False) -> Callable[P, R]:
    """Returns a function in which `if`, `while` and `for` on tensors become operations.

    Args:
      f: the function.
      ctx: accepted.
      convert_by_default: whether to convert it.
      user_requested: whether it is converted although an installed library defines it.
    """
    return convert(f, asked=user_requested) if convert_by_default else f


class StackTraceMapper:
    """Maps lines of converted functions to their source; errors here name the source themselves.

    Args:
      converted_fn: accepted.
    """

    def __init__(self, converted_fn: Any = None):
        self._converted = converted_fn

    def get_effective_source_map(self) -> dict[Any, Any]:
        """Returns what is mapped: nothing."""
        return {}
