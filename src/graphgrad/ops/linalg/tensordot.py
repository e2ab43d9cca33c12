"""`tensordot` and `matvec`, by matrix products."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import join, plus, rank_of, shape_of

from .matmul import matmul


def _known_axes(axes):
    """Returns `axes` as a Python value."""
    if hasattr(axes, "_spec"):
        value = constant_value(axes)
        if value is None:
            raise ValueError("tensordot: `axes` must be known when the graph is built. Fix: give a list of numbers")
        return value.tolist()
    return axes.tolist() if isinstance(axes, np.ndarray) else axes


def _pairs(a, b, axes):
    """Returns the axes of a and of b that are contracted with each other."""
    axes = _known_axes(axes)
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        rank = rank_of(a)
        if isinstance(rank, int) and axes > rank:
            raise ValueError(f"`axes` must not be larger than the number of dimensions of tensor {a}. "
                             f"Received {axes}, vs tensor dimensions {rank}.")
        return [plus(rank, i) for i in range(-axes, 0)], list(range(axes))
    if not isinstance(axes, (list, tuple)) or len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    of_a, of_b = ([_known_axes(v)] if isinstance(_known_axes(v), int) else list(_known_axes(v)) for v in axes)
    if len(of_a) != len(of_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(of_a)} != {len(of_b)}.")
    return _counted_from_the_front("a", a, of_a), _counted_from_the_front("b", b, of_b)


def _counted_from_the_front(which, x, axes):
    rank = rank_of(x)
    if isinstance(rank, int) and any(not -rank <= int(v) < rank for v in axes):
        raise ValueError(f"tensordot: axes {axes} are out of range for {which} of rank {rank}. "
                         f"Fix: use axes in [{-rank}, {rank})")
    return [int(v) if v >= 0 else plus(rank, int(v)) for v in axes]


def _as_matrix(x, contracted, last):
    """Reshapes x to a matrix whose rows (or columns, if not `last`) are contracted; returns also the other sizes."""
    if x._spec.shape is None:
        contracted = raw.Reshape(raw.Pack(contracted, axis=0), [-1]) if contracted else np.zeros(0, np.int32)
        free = raw.ListDiff(raw.Range(0, raw.Rank(x), 1), contracted)[0]
        sizes = raw.Shape(x)
        left = raw.GatherV2(sizes, free, 0)
        ends = [raw.Prod(left, 0), raw.Prod(raw.GatherV2(sizes, contracted, 0), 0)]
        perm = raw.ConcatV2([free, contracted] if last else [contracted, free], 0)
        return raw.Reshape(raw.Transpose(x, perm), raw.Pack(ends if last else ends[::-1], axis=0)), left, None
    rank = len(x._spec.shape)
    free = [i for i in range(rank) if i not in contracted]
    perm = [*free, *contracted] if last else [*contracted, *free]
    sizes = shape_of(x)
    if isinstance(sizes, np.ndarray):
        left = sizes[free]
        ends = (int(np.prod(left)), int(np.prod(sizes[contracted])))
        target = np.asarray(ends if last else ends[::-1], np.int32)
    else:
        left = raw.GatherV2(sizes, np.asarray(free, np.int32), 0)
        inner = raw.Prod(raw.GatherV2(sizes, np.asarray(contracted, np.int32), 0), 0)
        outer = raw.Prod(left, 0)
        target = raw.Pack([outer, inner] if last else [inner, outer], axis=0)
    if perm != list(range(rank)):
        x = raw.Transpose(x, np.asarray(perm, np.int32))
    static = [x._spec.shape[i] for i in (range(len(free)) if last else range(rank - len(free), rank))]
    return raw.Reshape(x, target), left, static


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """Sums products over pairs of axes of two tensors.

    Args:
      a, b: tensors of one dtype.
      axes: n, for the last n axes of a and the first n of b; or a pair of lists of axes.
      name: a name for the operation.
    Returns: a tensor with the other axes of a, then those of b.
    Raises: ValueError if the axes do not fit.
    Gradient: that of MatMul.
    Reference: TensorFlow 2.21 `tf.tensordot`.

    >>> sess.run(tf.tensordot([[1.0, 2.0]], [3.0, 4.0], axes=1))
    array([11.], dtype=float32)
    """
    with name_scope(name, "Tensordot") as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, dtype_hint=a.dtype, name="b")
        of_a, of_b = _pairs(a, b, axes)
        rows, left_a, static_a = _as_matrix(a, of_a, last=True)
        columns, left_b, static_b = _as_matrix(b, of_b, last=False)
        product = raw.MatMul(rows, columns)
        static = None if static_a is None or static_b is None else (*static_a, *static_b)
        if static is not None and len(static) == 2 and len(static_a) == 1 and None not in static:
            return product
        result = raw.Reshape(product, join(left_a, left_b), name=scope or None)
        if hasattr(result, "op"):
            result.set_shape(static)
        return result


def matvec(a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Multiplies matrices with vectors.

    Args:
      a: (*B, m, n).
      b: (*B, n), of the same dtype.
      transpose_a, adjoint_a: whether to transpose (and conjugate) `a` first.
      a_is_sparse, b_is_sparse: hints; the result does not depend on them.
      name: a name for the scope of the operations.
    Returns: (*B, m).
    Raises: ValueError if the sizes are incompatible.
    Gradient: that of `matmul`.
    Reference: TensorFlow 2.21 `tf.linalg.matvec`.

    >>> sess.run(tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]))
    array([3., 7.], dtype=float32)
    """
    with name_scope(name, "MatVec"):
        a = convert_to_tensor(a, name="a")
        column = raw.ExpandDims(convert_to_tensor(b, dtype_hint=a.dtype, name="b"), -1)
        return raw.Squeeze(matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a), squeeze_dims=(-1,))
