"""Seeds a sweep with the gradient of the sum of ys with respect to each y."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir import dtypes
from graphgrad.ir.conversion import constant_in, convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import _CONTRADICTION, is_fully_defined, merge, shape_str
from graphgrad.ir.values.indexed_slices import IndexedSlices

from .rules import Call, beside


def seed(call: Call, ys: list[Tensor], grad_ys: list[Any]) -> list[Any]:
    """Returns the gradient of the sum of ys with respect to each y: its grad_y, or ones."""
    graph = call.graph
    seeds: list[Any] = []
    for i, (y, grad_y) in enumerate(zip(ys, grad_ys, strict=True)):
        with beside(graph, y.op, call.colocate):
            seeds.append(_ones_like(graph, y, i) if grad_y is None else _checked_grad_y(y, grad_y, i))
    return seeds


def _ones_like(graph: Graph, y: Tensor, i: int) -> Any:
    if y.dtype.is_complex:
        raise TypeError(
            f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name}).\n"
            f"  Built at {y.op.source}\n"
            "  Fix: differentiate a real function of it, e.g. tf.abs(y), or give grad_ys"
        )
    if y.dtype.kind == "o":
        raise TypeError(
            f"Cannot differentiate {y} of dtype {y.dtype.name}.\n  Built at {y.op.source}\n  Fix: leave it out of ys"
        )
    shape = y._spec.shape
    if is_fully_defined(shape):
        kind = np.int32 if max(shape or (0,)) < 2**31 else np.int64  # type: ignore[type-var, operator]  # all known
        dims: Any = constant_in(graph, np.asarray(shape, kind), graph.unique_name(raw.Shape.name))
    else:
        dims = raw.Shape(y)
    # Named as TensorFlow names them: gradients/grad_ys_0 and gradients/grad_ys_0/Const.
    full = graph.unique_name(f"grad_ys_{i}")
    one = constant_in(graph, np.ones((), y.dtype.np_dtype), graph._names.unique(f"{full}/Const"), y.dtype)
    return raw.Fill(dims, one, name=full + "/")


def _checked_grad_y(y: Tensor, grad_y: Any, i: int) -> Any:
    if y.dtype.kind in "bo" and y.dtype is not dtypes.variant:
        raise TypeError(
            f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default gradient, but has grad_ys[{i}].\n"
            f"  Built at {y.op.source}\n  Fix: leave it out of ys"
        )
    if isinstance(grad_y, IndexedSlices):
        if grad_y.dtype is not y.dtype:
            raise _wrong_grad_type(y, grad_y.dtype, i)
        # Identities, so that parts can be fetched and fed by name.
        indices = raw.Identity(grad_y.indices, name=f"grad_ys_{i}_indices")
        values = raw.Identity(grad_y.values, name=f"grad_ys_{i}_values")
        shape = grad_y.dense_shape
        return IndexedSlices(
            values, indices, None if shape is None else raw.Identity(shape, name=f"grad_ys_{i}_shape")
        )
    dtype = grad_y.dtype if is_tensor_like(grad_y) else getattr(grad_y, "dtype", None)
    if dtype is not None and is_tensor_like(grad_y) and dtypes.as_dtype(dtype) is not y.dtype:
        raise _wrong_grad_type(y, dtypes.as_dtype(dtype), i)
    try:
        g = convert_to_tensor(grad_y, y.dtype, name=f"grad_ys_{i}")
    except TypeError as e:
        raise TypeError(f"grad_ys[{i}] does not fit {y}: {e}") from None
    shape = g._spec.shape
    one = shape is not None and all(n == 1 for n in shape)  # the rules broadcast a scalar, or reject it
    if not one and merge(shape, y._spec.shape) is _CONTRADICTION:
        raise ValueError(
            f"grad_ys[{i}] has shape {shape_str(g._spec.shape)}, but {y} has shape "
            f"{shape_str(y._spec.shape)}.\n  Built at {y.op.source}\n"
            "  Fix: give a grad_y of y's shape, e.g. tf.broadcast_to(grad_y, tf.shape(y))"
        )
    return raw.Identity(g, name=f"grad_ys_{i}")


def _wrong_grad_type(y: Tensor, dtype: DType, i: int) -> TypeError:
    kind = "complex" if y.dtype.is_complex else "real or integer"
    return TypeError(
        f"Gradient type {dtype.name} generated for {kind}-valued tensor {y} with type {y.dtype.name} must "
        f"be {y.dtype.name}: grad_ys[{i}] is of another dtype.\n  Built at {y.op.source}\n"
        f"  Fix: tf.cast(grad_y, tf.{y.dtype.name})"
    )
