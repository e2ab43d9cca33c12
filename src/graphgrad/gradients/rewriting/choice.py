"""Decides whether passes of Taylor coefficients pay, compared with the nested derivatives that are there."""

from __future__ import annotations

from .coefficient_passes import Passes


def pays(passes: Passes, built: int, count: int) -> str:
    """Returns why passes would not be faster; "" if they would.

    Args:
      passes: the passes.
      built: how many operations the calls of `gradients` behind the derivatives have built.
      count: how many operations lie between x and what is differentiated.
    """
    carried = sum(p.size * max(1.0, p.order / 2) for p in passes.list)
    nested = built / max(count, 1)
    if carried <= nested:
        return ""
    return (f"it would take {sum(p.size for p in passes.list)} coefficients of each tensor, more than the "
            f"{built} operations of nested derivatives cost")
