"""What the core leaves to the frontend: importing this module completes it. The faces do, before they give a name.

Tensors get their operators, composite ones their specs; operations with sub-graphs run in eager mode, too.
"""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.graph import operators as operators  # installs them
from graphgrad.ir import eager
from graphgrad.ir.opdef import OpDef
from graphgrad.ir.values import composite, function_hooks, sparse_hooks


def _run_functional(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> list[Any]:
    from graphgrad.frontend.control_flow.eager_subgraphs import run_functional

    return run_functional(opdef, inputs, attrs)


def _run_large(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], seconds: float) -> list[Any] | None:
    from graphgrad.executor.runtime import eager_programs

    return eager_programs.run(opdef, inputs, attrs, seconds)


def _sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> Any:
    from graphgrad.ops.common.sparse_tensor import SparseTensor

    return SparseTensor(indices, values, dense_shape)


def _sparse_jacobian(*arguments: Any) -> Any:
    from graphgrad.gradients.sparsity.detection import sparse_jacobian

    return sparse_jacobian(*arguments)


def _sparse_batch_jacobian(*arguments: Any) -> Any:
    from graphgrad.gradients.sparsity.detection import sparse_batch_jacobian

    return sparse_batch_jacobian(*arguments)


def _derivative(*arguments: Any, **options: Any) -> Any:
    from graphgrad.frontend.autodiff.functional import derivative

    return derivative(*arguments, **options)


def _load_specs() -> None:
    from graphgrad.frontend.structure import composite_specs as composite_specs


eager.run_large_with(_run_large)
eager.run_functional_with(_run_functional)
composite.load_specs_with(_load_specs)
sparse_hooks.made_with(_sparse_tensor, _sparse_jacobian, _sparse_batch_jacobian)
function_hooks.made_with(_derivative)
