"""What `jacobian` and `hessians` do with `sparse=`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.unconnected import zeros_of
from graphgrad.ir.dtypes import int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.sparse_hooks import sparse_jacobian, sparse_tensor

from .value_shapes import value_shape


def is_sparse(sparse: Any) -> bool:
    """Returns whether an argument `sparse` is True or a pattern."""
    return not isinstance(sparse, (bool, np.bool_, type(None))) or bool(sparse)


def sparse_jacobians(y: Tensor, xs: list[Tensor], outside: Outside, sparse: Any, what: str) -> list[Any]:
    """Returns a sparse Jacobian of y with respect to each x, or None; `what` is the function that was called."""
    if len(xs) > 1 and not isinstance(sparse, (bool, np.bool_)):
        raise ValueError(f"a pattern is for one x, but there are {len(xs)}.\n  Asked for at {user_source(2)}\n"
                         f"  Fix: sparse=True, or call tf.{what} for each x")
    pattern = True if isinstance(sparse, (bool, np.bool_)) else sparse
    return [sparse_jacobian(y, x, outside, pattern, what == "hessians", what) for x in xs]


def no_entries(y: Any, x: Any) -> Any:
    """Returns a sparse tensor (*Y, *X) without entries."""
    dims = raw.ConcatV2([raw.Shape(y), raw.Shape(zeros_of(x))], np.int32(0))
    rank = None if value_shape(x) is None else len(y._spec.shape) + len(value_shape(x) or ())
    return sparse_tensor(np.zeros((0, rank or 0), np.int64), np.zeros(0, y.dtype.np_dtype), raw.Cast(dims, DstT=int64))
