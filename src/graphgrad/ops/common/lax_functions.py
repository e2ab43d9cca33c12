"""What kernels use of jax.lax, which need not be imported where programs are written without JAX."""

from __future__ import annotations

from typing import Any


def lax_of(xp: Any) -> Any:
    """Returns the functions of jax.lax, or what stands for them, that belong to an array module.

    Args:
      xp: jax.numpy, or what stands for it while a program is written without JAX (`executor/emit/namespace.py`).
    """
    found = getattr(xp, "written_lax", None)
    if found is not None:
        return found
    from jax import lax

    return lax


def module_of(array: Any) -> Any:
    """Returns the array module of an array that is not NumPy's."""
    return array.__array_namespace__()
