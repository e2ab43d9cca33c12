"""Lowering: a cluster becomes StableHLO, by way of a function that JAX traces."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .program import RandomTable, execute
from .xla import Spec

if TYPE_CHECKING:
    from .plan import Cluster


class _Shape:
    """What stands for a value of which only the shape is used."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape


def lower(cluster: Cluster, inputs: Sequence[Spec | None], shapes: Sequence[tuple[int, ...]],
          known: Sequence[Any], platform: str) -> tuple[bytes, list[Spec]]:  # fmt: skip
    """Lowers a cluster.

    Args:
      cluster: the cluster.
      inputs: shapes and dtypes of `cluster.ins`; None for a variable without a value.
      shapes: the shapes of `cluster.shapes`.
      known: NumPy values for `cluster.known`, compiled in.
      platform: XLA's name for the kind of device.
    Returns: the module as MLIR bytecode, whose arguments are the inputs that are not None, and the
      table of random states if there is one; and the specs of its results, those of `cluster.outs`.
    Raises: MustBeKnown if a kernel needs a value that it does not get.
    """
    import jax
    import jax.numpy as jnp

    slots = 1 + max((s for i in cluster.program for s in (*i.reads(), *i.gives())), default=0)
    given = [s for s, spec in zip(cluster.ins, inputs, strict=True) if spec is not None]
    rows = {row: i for i, row in enumerate(cluster.rows)}

    def run(*args: Any) -> list[Any]:
        env: list[Any] = [None] * slots
        for slot, shape in zip(cluster.shapes, shapes, strict=True):
            env[slot] = _Shape(shape)
        for slot, value in zip(cluster.known, known, strict=True):
            env[slot] = value
        for slot, value in zip(given, args, strict=False):
            env[slot] = value
        with np.errstate(all="ignore"):  # what is folded follows IEEE as silently as XLA does
            execute(jnp, cluster.program, env, RandomTable(rows, args[-1]) if rows else None)
        return [env[s] for s in cluster.outs]

    with jax.enable_x64(True):
        args = [jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in inputs if spec is not None]
        if rows:
            args.append(jax.ShapeDtypeStruct((len(rows), 3), np.uint64))
        donated = tuple(i for i, s in enumerate(given) if s in cluster.donated)
        jitted = jax.jit(run, keep_unused=True, donate_argnums=donated)
        lowered = jitted.trace(*args).lower(lowering_platforms=(platform,))
        module = io.BytesIO()
        lowered.compiler_ir("stablehlo").operation.write_bytecode(module)
        results = [Spec(tuple(o.shape), np.dtype(o.dtype)) for o in jax.tree.leaves(lowered.out_info)]
    return module.getvalue(), results
