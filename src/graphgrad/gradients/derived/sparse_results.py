"""What `jacobian` and `hessians` do with `sparse=`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.core.gradient_paths import GraphView
from graphgrad.gradients.core.outer_graphs import Outside
from graphgrad.gradients.core.registry import is_users
from graphgrad.gradients.core.unconnected import zeros_of
from graphgrad.gradients.core.value_shapes import value_shape
from graphgrad.ir.dtypes import int64
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.sparse_hooks import sparse_batch_jacobian, sparse_jacobian, sparse_tensor


def is_sparse(sparse: Any) -> bool:
    """Returns whether an argument `sparse` is True or a pattern."""
    return not isinstance(sparse, (bool, np.bool_, type(None))) or bool(sparse)


def sparse_jacobians(y: Tensor, xs: list[Tensor], outside: Outside, sparse: Any, what: str,
                     summed: Sequence[Tensor] = ()) -> list[Any]:
    """Computes a sparse Jacobian of y with respect to each x.

    Args:
      y, xs, outside: as `outer_graphs.leave` gives them.
      sparse: True, or the pattern for a single x; "substitution" for a Hessian.
      what: the function that was called.
      summed: the tensors of which y is the gradient, for a Hessian.
    Returns: a `SparseTensor` or None for each x.
    """
    if len(xs) > 1 and not isinstance(sparse, (bool, np.bool_, str)):
        raise ValueError(f"a pattern is for one x, but there are {len(xs)}.\n  Asked for at {user_source(2)}\n"
                         f"  Fix: sparse=True, or call tf.{what} for each x")
    _check_word(sparse, bool(summed), what)
    symmetric = bool(summed) and not _has_given_gradients(summed, outside)
    pattern = True if isinstance(sparse, (bool, np.bool_)) else sparse
    return [sparse_jacobian(y, x, outside, pattern, symmetric, what) for x in xs]


def sparse_batch(y: Tensor, x: Tensor, outside: Outside, sparse: Any, what: str, summed: Tensor | None = None) -> Any:
    """Computes the sparse Jacobian of each example of y with respect to that of x.

    Args:
      y, x, outside, sparse, what: as in `sparse_jacobians`, of batches.
      summed: the tensor of which y is the gradient, for a Hessian.
    Returns: a `SparseTensor` (b, *Y, *X), or None.
    """
    _check_word(sparse, summed is not None, what)
    symmetric = summed is not None and not _has_given_gradients([summed], outside)
    pattern = True if isinstance(sparse, (bool, np.bool_)) else sparse
    return sparse_batch_jacobian(y, x, outside, pattern, what, summed, symmetric)


def _check_word(sparse: Any, is_hessian: bool, what: str) -> None:
    if isinstance(sparse, str) and (sparse != "substitution" or not is_hessian):
        raise ValueError(f"sparse={sparse!r} is not known to tf.{what}.\n  Asked for at {user_source(2)}\n"
                         '  Fix: sparse=True; sparse="substitution" is for tf.hessians, tf.hessian, tf.batch_hessian')


def _has_given_gradients(ys: Sequence[Tensor], outside: Outside) -> bool:
    """Returns whether users have given gradients on the way to ys: then second derivatives may not be symmetric."""
    waiting = [GraphView(y.graph, outside).upstream([y]) for y in ys]
    while waiting:
        for op in waiting.pop():
            if op._gradient is not None or is_users(op.type):
                return True
            if "functional" in op.opdef.flags:
                bodies = [v for v in op.attrs.values() if isinstance(v, FuncGraph)]
                waiting += [body._operations for body in bodies]
    return False


def no_entries(y: Any, x: Any) -> Any:
    """Returns a sparse tensor (*Y, *X) without entries."""
    dims = raw.ConcatV2([raw.Shape(y), raw.Shape(zeros_of(x))], np.int32(0))
    rank = None if value_shape(x) is None else len(y._spec.shape) + len(value_shape(x) or ())
    return sparse_tensor(np.zeros((0, rank or 0), np.int64), np.zeros(0, y.dtype.np_dtype), raw.Cast(dims, DstT=int64))


def no_entries_of_batch(y: Any, x: Any) -> Any:
    """Returns a sparse tensor (b, *Y, *X) without entries."""
    dims = raw.ConcatV2([raw.Shape(y), raw.StridedSlice(raw.Shape(zeros_of(x)), [1], [0], [1], end_mask=1)],
                        np.int32(0))
    rank = len(y._spec.shape) + len(value_shape(x) or ()) - 1
    return sparse_tensor(np.zeros((0, rank), np.int64), np.zeros(0, y.dtype.np_dtype), raw.Cast(dims, DstT=int64))
