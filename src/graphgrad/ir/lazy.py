"""Importing late what most programs never need, without a trace in the program's own state.

Importing JAX draws from NumPy's global random state (jax 0.10: a waiting time for clusters) and sets environment
variables; SciPy adds filters for warnings. A program that drew numbers after its second run would draw other ones.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any


@functools.cache
def load(name: str) -> Any:
    """The module of this name, imported `undisturbed`.

    Args:
      name: a module's full name, such as "scipy.special".
    Raises: ImportError if it is not there.
    """
    with undisturbed():
        return importlib.import_module(name)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A `with` block that leaves random states, the environment and filters for warnings as they were."""
    environment = dict(os.environ)
    # A module that is not there yet is seeded from nowhere when it comes.
    random, numpy_random = sys.modules.get("random"), sys.modules.get("numpy.random")
    drawn, drawn_by_numpy = random and random.getstate(), numpy_random and numpy_random.get_state(legacy=False)
    with warnings.catch_warnings():
        try:
            yield
        finally:
            if random is not None:
                random.setstate(drawn)
            if numpy_random is not None:
                numpy_random.set_state(drawn_by_numpy)
            for variable in os.environ.keys() - environment.keys():
                del os.environ[variable]
            for variable, value in environment.items():
                if os.environ.get(variable) != value:
                    os.environ[variable] = value
