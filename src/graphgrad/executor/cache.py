"""The cache of compiled clusters.

A cluster is compiled once for each signature: the shapes and dtypes of what it gets (JAX
keeps those apart) and the values that are compiled in (kept apart here).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .lower import lower
from .plan import Cluster, Plan


class ClusterCache:
    """The compiled forms of one cluster, by the values that are compiled in."""

    def __init__(self, plan: Plan, cluster: Cluster):
        self._plan = plan
        self._cluster = cluster
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def get(self, known: Sequence[np.ndarray[Any, Any]]) -> Callable[..., Any]:
        """The compiled function; compiles it the first time that it is called."""
        key = tuple([(v.dtype.str, v.shape, v.tobytes()) for v in known])
        compiled = self._compiled.get(key)
        if compiled is None:
            import jax

            compiled = self._compiled[key] = jax.jit(lower(self._plan, self._cluster, known))
        return compiled
