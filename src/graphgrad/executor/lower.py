"""Lowering: a cluster becomes a function that JAX can trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .plan import Cluster, Plan
from .program import execute


def lower(plan: Plan, cluster: Cluster, known: Sequence[Any]) -> Callable[..., Any]:
    """The function that computes a cluster.

    Args:
      plan: the plan that the cluster belongs to.
      cluster: the cluster.
      known: NumPy values for `cluster.known`, compiled in.
    Returns: `f(*ins, *reads[, rng]) -> (outs, writes)`, for `jax.jit`.
    """
    import jax.numpy as jnp

    n_ins, n_reads = len(cluster.ins), len(cluster.reads)

    def run(*args: Any) -> tuple[list[Any], list[Any]]:
        env: list[Any] = [None] * plan.slots
        cells: list[Any] = [None] * len(plan.cells)
        for slot, value in zip(cluster.ins, args, strict=False):
            env[slot] = value
        for slot, value in zip(cluster.known, known, strict=True):
            env[slot] = value
        for cell, value in zip(cluster.reads, args[n_ins:], strict=False):
            cells[cell] = value
        rng = args[n_ins + n_reads] if cluster.random else None
        with np.errstate(all="ignore"):  # what is folded follows IEEE as silently as XLA does
            execute(jnp, cluster.program, env, cells, plan.cells, rng)
        return [env[s] for s in cluster.outs], [cells[c] for c in cluster.writes]

    return run
