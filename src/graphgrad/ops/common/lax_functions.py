"""What kernels use of jax.lax, which need not be imported where programs are written without JAX."""

from __future__ import annotations

from collections.abc import Callable
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


def special_of(xp: Any) -> Any:
    """Returns the functions of jax.scipy.special, or what stands for them.

    Args:
      xp: as for `lax_of`.
    """
    if hasattr(xp, "written_lax"):
        return xp.written_special
    from jax.scipy import special

    return special


def shapes_of(xp: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what a function would return, of which only the shapes and dtypes of arrays may be used.

    Args:
      xp: as for `lax_of`.
      function: the function.
      *arguments: its arguments.
    """
    if hasattr(xp, "written_lax"):
        return xp.written_lax.eval_shape(function, *arguments)
    import jax

    return jax.eval_shape(function, *arguments)


def module_of(array: Any) -> Any:
    """Returns the array module of an array that is not NumPy's."""
    return array.__array_namespace__()
