"""Rewrites a StableHLO program, before it is compiled, into what XLA:CPU computes sooner."""

from __future__ import annotations

import io
from typing import Any

from graphgrad.system.late_imports import load

from . import layouts, reductions, transposed_products


def rewrite(module: Any, text: str, sums: bool) -> None:
    """Rewrites a module, in place.

    Args:
      module: an operation of `jaxlib.mlir.ir`.
      text: the module, in StableHLO.
      sums: whether sums become products.
    """
    if layouts.found(text):
        layouts.rewrite(module)
    if sums:
        reductions.rewrite(module)
    if "stablehlo.dot_general" in text:
        transposed_products.rewrite(module)


def parsed(text: str, sums: bool) -> bytes:
    """Returns a program, rewritten, as bytecode; a defect of the text is found here.

    Args:
      text: the program, in StableHLO.
      sums: as for `rewrite`.
    """
    ir = load("jaxlib.mlir.ir")
    registry = ir.DialectRegistry()
    load("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    with ir.Context() as context, ir.Location.unknown():
        context.append_dialect_registry(registry)
        for dialect in ("stablehlo", "chlo"):
            load(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
        module = ir.Module.parse(text)
        rewrite(module.operation, text, sums)
        code = io.BytesIO()
        module.operation.write_bytecode(code)
    return code.getvalue()
