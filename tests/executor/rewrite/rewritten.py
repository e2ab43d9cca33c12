"""Compiles a function's program as a rewriting left it."""

import io
from collections.abc import Callable
from typing import Any

import jax

from graphgrad.executor.backend import xla


def rewritten(rewrite: Callable[[Any], None], function: Callable[..., Any], *arguments: Any) -> tuple[list[Any], str]:
    """Returns the results of a function's rewritten program, and the program's text.

    Args:
      rewrite: changes a module.
      function: of JAX.
      arguments: its arguments, arrays.
    """
    with jax.enable_x64(True):
        lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",))
        operation = lowered.compiler_ir("stablehlo").operation
        rewrite(operation)
        assert operation.verify()
        module = io.BytesIO()
        operation.write_bytecode(module)
    outputs = [xla.ArraySpec(o.shape, o.dtype) for o in jax.tree_util.tree_leaves(lowered.out_info)]
    device = xla.device()
    program = device.compile(module.getvalue(), outputs, frozenset())
    return [xla.to_numpy(v) for v in program([device.put(a) for a in arguments])], operation.get_asm()
