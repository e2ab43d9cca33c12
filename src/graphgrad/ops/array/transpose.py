"""Transpose, reverse, roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import normalize_axis, with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import axes, host_array, join, minus, rank_of
from graphgrad.ops.common.synonyms import either


@op("Transpose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host=("perm",), partial_value=folded, data_movement=True,
    linear=Linear.JOINTLY, formula="transpose(x, perm)")
def transpose_op(xp, x, perm):
    """Permutes the axes."""
    return xp.transpose(x, _axes(tuple(perm.tolist()), len(x.shape)))


def _axes(perm, rank):
    """Returns the permutation with its axes counted from the front; raises a Complaint if it is not a permutation."""
    if len(perm) != rank:
        raise Complaint(f"perm has {len(perm)} elements for a tensor of rank {rank}", "name every axis once")
    axes = tuple([p + rank if p < 0 else p for p in perm])
    if sorted(axes) != list(range(rank)):
        raise Complaint(f"perm {list(perm)} is not a permutation of the {rank} axes", "name every axis once")
    return axes


@transpose_op.shape
def _transpose_shape(x, perm):
    if perm is None:
        return None if x is None else (None,) * len(x)
    shape = with_rank(x, len(perm), "x")
    if None in perm:
        return (None,) * len(perm)
    return tuple([shape[p] for p in _axes(perm, len(perm))])


def _inverse(perm):
    known = host_array(perm)
    if known is None:
        return raw.InvertPermutation(raw.FloorMod(perm, raw.Size(perm, out_type=perm.dtype)))
    return np.argsort(known % max(len(known), 1)).astype(known.dtype)


@transpose_op.stacked
def _transpose_stacked(op, operands, stacked):
    (x, _), perm = operands, host_array(op.inputs[1])
    if stacked[1] or perm is None or x._spec.shape is None or len(x._spec.shape) != len(perm) + 1:
        return None
    return raw.Transpose(x, np.array([0, *(perm % len(perm) + 1)], perm.dtype))


@transpose_op.grad
def _transpose_grad(op, dy):
    return raw.Transpose(dy, _inverse(op.inputs[1])), None


@op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, host=("perm",), shape=_transpose_shape,
    linear=Linear.JOINTLY)
def conjugate_transpose_op(xp, x, perm):
    """Permutes the axes of the complex conjugate."""
    return xp.transpose(xp.conj(x), _axes(tuple(perm.tolist()), len(x.shape)))


@conjugate_transpose_op.grad
def _conjugate_transpose_grad(op, dy):
    return raw.ConjugateTranspose(dy, _inverse(op.inputs[1])), None


@op("InvertPermutation", "x: T -> y: T", prefers={"T": "int32"}, T=INDEX, partial_value=folded)
def invert_permutation_op(xp, x):
    """Returns the inverse of a permutation `x`: y[x[i]] = i."""
    return xp.argsort(x).astype(x.dtype)


@invert_permutation_op.on_host
def _invert_permutation_host(xp, x):
    if sorted(x.tolist()) != list(range(len(x))):
        raise Complaint(f"{x.tolist()} is not a permutation of 0 .. {len(x) - 1}", "name every index once")
    return np.argsort(x).astype(x.dtype)


@invert_permutation_op.shape
def _invert_permutation_shape(x):
    return with_rank(x, 1, "x")


@invert_permutation_op.refuses("x")
def _invert_permutation_refuses(xp, x):
    return [xp.sort(x) != xp.arange(x.shape[0], dtype=x.dtype)]


invert_permutation_op.grad(NOT_DIFFERENTIABLE)


# -- reversal and rotation ---------------------------------------------------------


@op("ReverseV2", "tensor: T, axis: Tidx -> output: T", Tidx=INDEX, host=("axis",), partial_value=folded,
    data_movement=True, linear=Linear.JOINTLY)
def reverse_op(xp, x, axis):
    """Reverses the order of elements along some axes."""
    return xp.flip(x, _distinct(tuple(axis.tolist()), len(x.shape)))


def _distinct(axis, rank):
    found = tuple([normalize_axis(a, rank) for a in axis])
    if len(set(found)) < len(found):
        raise Complaint(f"axis {list(axis)} names an axis twice", "name every axis once")
    return found


@reverse_op.shape
def _reverse_shape(x, axis):
    if x is not None and axis is not None and None not in axis:
        _distinct(axis, len(x))
    return x


@reverse_op.grad
def _reverse_grad(op, dy):
    return raw.ReverseV2(dy, op.inputs[1]), None


@op("Reverse", "tensor: T, dims: bool -> output: T", host=("dims",), linear=Linear.JOINTLY)
def reverse_v1_op(xp, x, dims):
    """Reverses the order of elements along the axes where `dims` is true."""
    return xp.flip(x, tuple(np.flatnonzero(dims).tolist()))


@reverse_v1_op.shape
def _reverse_v1_shape(x, dims):
    return x if dims is None else with_rank(x, len(dims), "tensor")


@reverse_v1_op.grad
def _reverse_v1_grad(op, dy):
    return raw.Reverse(dy, op.inputs[1]), None


@op("ReverseSequence", "input: T, seq_lengths: Tlen -> output: T", Tlen=INDEX, data_movement=True,
    linear=Linear.JOINTLY)
def reverse_sequence_op(xp, x, lengths, *, seq_dim, batch_dim=0):
    """Reverses the first `seq_lengths[i]` elements along `seq_dim` in batch i."""
    seq, batch = (normalize_axis(a, len(x.shape)) for a in (seq_dim, batch_dim))
    size = x.shape[seq]
    if isinstance(lengths, np.ndarray) and lengths.size and (lengths.min() < 0 or lengths.max() > size):
        raise Complaint(f"seq_lengths must lie in [0, {size}], the size of axis {seq}", "give lengths that fit")
    place = np.arange(size)
    lengths = xp.reshape(lengths, (-1, 1))
    index = xp.where(place < lengths, lengths - 1 - place, place)  # (batch, size)
    if seq < batch:
        index = xp.transpose(index)
    shape = [1] * len(x.shape)
    shape[seq], shape[batch] = size, x.shape[batch]
    return xp.take_along_axis(x, xp.reshape(index, shape), seq)


@reverse_sequence_op.refuses("seq_lengths")
def _reverse_sequence_refuses(xp, x, lengths, seq_dim):
    return [(lengths, x.shape[seq_dim] + 1)]


@reverse_sequence_op.shape
def _reverse_sequence_shape(x, lengths, seq_dim, batch_dim):
    (n,) = with_rank(lengths, 1, "seq_lengths")
    if x is None:
        return None
    seq, batch = (normalize_axis(a, len(x), w) for a, w in ((seq_dim, "seq_dim"), (batch_dim, "batch_dim")))
    if seq == batch:
        raise Complaint(f"batch_dim == seq_dim == {seq}", "give two different axes")
    if x[batch] is None or n is None:
        return x[:batch] + (n if x[batch] is None else x[batch],) + x[batch + 1 :]
    if x[batch] != n:
        raise Complaint(f"seq_lengths has {n} elements but axis {batch} has size {x[batch]}",
                        "give one length for each row of the batch")
    return x


@reverse_sequence_op.grad
def _reverse_sequence_grad(op, dy):
    return raw.ReverseSequence(dy, op.inputs[1], seq_dim=op._attr("seq_dim"),
                               batch_dim=op._attr("batch_dim")), None


@op("Roll", "input: T, shift: Tshift, axis: Taxis -> output: T", Tshift=INDEX, Taxis=INDEX, host=("axis",),
    data_movement=True, linear=Linear.JOINTLY)
def roll_op(xp, x, shift, axis):
    """Rotates elements along some axes."""
    wanted = [normalize_axis(a, len(x.shape)) for a in np.atleast_1d(axis).tolist()]
    shift = np.atleast_1d(shift).tolist() if isinstance(shift, np.ndarray) else xp.atleast_1d(shift)
    if len(shift) != len(wanted):
        raise _not_one_each()
    return xp.roll(x, tuple(shift[i] for i in range(len(wanted))), tuple(wanted))


@roll_op.shape
def _roll_shape(x, shift, axis):
    if x == ():
        raise Complaint("input must be 1-D or higher", "give a tensor that has an axis")
    for a in axis if isinstance(axis, tuple) else (axis,):
        if x is not None and a is not None:
            normalize_axis(a, len(x))
    count = None if axis is None else 1 if not isinstance(axis, tuple) else len(axis)
    if shift is not None and None not in shift and count is not None and (shift[0] if shift else 1) != count:
        raise _not_one_each()
    return x


def _not_one_each():
    return Complaint("shift and axis must have the same size", "give one shift for each axis")


@roll_op.grad
def _roll_grad(op, dy):
    _, shift, axis = op.inputs
    return raw.Roll(dy, raw.Neg(shift), axis), None, None


# -- functions ---------------------------------------------------------------------


def transpose(a: TensorLike, perm: Any = None, conjugate: bool = False, name: str | None = "transpose") -> Tensor:
    """Permutes the axes of a tensor.

    Args:
      a: any shape and dtype.
      perm: an integer vector: axis i of the result is axis perm[i] of `a`; reversed by default.
      conjugate: whether to take the complex conjugate too.
      name: a name for the operation.
    Returns: a tensor of the same dtype.
    Raises: ValueError, or InvalidArgumentError at run time, if perm is not a permutation.
    Gradient: dy with its axes in the original order.
    Reference: TensorFlow 2.21 Transpose.

    >>> sess.run(tf.transpose([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    a = convert_to_tensor(a, name=f"{name or 'transpose'}/a")
    kind = raw.ConjugateTranspose if conjugate and a.dtype.is_complex else raw.Transpose
    if perm is not None:
        return kind(a, perm, name=name)
    shape = a._spec.shape
    if shape is not None:
        return kind(a, np.arange(len(shape) - 1, -1, -1, dtype=np.int32), name=name)
    return kind(a, raw.Range(raw.Sub(raw.Rank(a), 1), -1, -1), name=name)


def transpose_v1(a: TensorLike, perm: Any = None, name: str | None = "transpose", conjugate: bool = False) -> Tensor:
    """Calls `transpose` with the arguments in TensorFlow 1's order.

    Args:
      a, perm, name, conjugate: as for `transpose`.
    Returns: as for `transpose`.
    Raises: as for `transpose`.
    Gradient: as for `transpose`.
    Reference: TensorFlow 2.21 `tf.compat.v1.transpose`.

    >>> sess.run(tf.transpose([[1, 2]], [1, 0]))
    array([[1],
           [2]], dtype=int32)
    """
    return transpose(a, perm, conjugate, name)


def matrix_transpose(a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Exchanges the last two axes.

    Args:
      a: (*B, m, n), any dtype.
      name: a name for the operations.
      conjugate: whether to take the complex conjugate too.
    Returns: (*B, n, m), the same dtype.
    Raises: ValueError if the rank is less than 2.
    Gradient: dy, transposed.
    Reference: TensorFlow 2.21 `tf.linalg.matrix_transpose`.

    >>> sess.run(tf.linalg.matrix_transpose([[[1, 2], [3, 4]]]))
    array([[[1, 3],
            [2, 4]]], dtype=int32)
    """
    with name_scope(name, "matrix_transpose"):
        a = convert_to_tensor(a, name="a")
        rank = rank_of(a)
        if isinstance(rank, int):
            if rank < 2:
                raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = {a}. "
                                 "Fix: add axes with tf.expand_dims")
            perm = np.array([*range(rank - 2), rank - 1, rank - 2], np.int32)
        else:
            last = raw.Reshape(minus(rank, 1), [1])
            perm = join(axes(0, minus(rank, 2)), last, raw.Sub(last, 1))
        return transpose(a, perm, conjugate)


def reverse(tensor: TensorLike, axis: Any, name: str | None = None) -> Tensor:
    """Reverses the order of elements along some axes.

    Args:
      tensor: any shape and dtype.
      axis: an integer vector, the axes. As TensorFlow 0.x did, a vector of bools is accepted
        too, one for each axis.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError, or InvalidArgumentError at run time, for an axis out of range.
    Gradient: dy, reversed.
    Reference: TensorFlow 2.21 ReverseV2.

    >>> sess.run(tf.reverse([1, 2, 3], [0]))
    array([3, 2, 1], dtype=int32)
    """
    if not is_tensor_like(axis) and np.asarray(axis).dtype == bool:
        return raw.Reverse(tensor, axis, name=name)
    return raw.ReverseV2(tensor, axis, name=name)


def reverse_sequence(input: TensorLike, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None,
                     name: str | None = None) -> Tensor:
    """Reverses the first elements of each sequence of a batch.

    Args:
      input: any shape and dtype.
      seq_lengths: (n,), int32 or int64, n the size of the batch axis: the number of elements to reverse.
      seq_axis: int, the axis that is reversed.
      batch_axis: int, the axis of the batch; 0 by default.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError if the two axes are the same or sizes differ; InvalidArgumentError at
      run time for a length that does not fit.
    Gradient: dy, reversed in the same way.
    Reference: TensorFlow 2.21 ReverseSequence.

    >>> sess.run(tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], 1))
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    return raw.ReverseSequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


def reverse_sequence_v1(input: TensorLike, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None,
                        name: str | None = None, seq_dim: Any = None, batch_dim: Any = None) -> Tensor:
    """Calls `reverse_sequence`, with `seq_dim` and `batch_dim` as other names of the axes.

    Args:
      input, seq_lengths, seq_axis, batch_axis, name: as for `reverse_sequence`.
      seq_dim, batch_dim: the same as `seq_axis` and `batch_axis`.
    Returns: as for `reverse_sequence`.
    Raises: as for `reverse_sequence`; ValueError if both names of an argument are given.
    Gradient: as for `reverse_sequence`.
    Reference: TensorFlow 2.21 `tf.compat.v1.reverse_sequence`.

    >>> sess.run(tf.reverse_sequence([[1, 2, 3]], [2], seq_dim=1))
    array([[2, 1, 3]], dtype=int32)
    """
    seq_axis = either("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = either("batch_axis", batch_axis, "batch_dim", batch_dim)
    return reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


def roll(input: TensorLike, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Rotates the elements along some axes.

    Args:
      input: any shape and dtype.
      shift: an int or a vector: the number of positions to move forward.
      axis: an int or a vector of the same length.
      name: a name for the operation.
    Returns: a tensor of the same shape and dtype.
    Raises: ValueError, or InvalidArgumentError at run time, for an axis out of range.
    Gradient: dy, rotated back.
    Reference: TensorFlow 2.21 Roll.

    >>> sess.run(tf.roll([1, 2, 3], 1, 0))
    array([3, 1, 2], dtype=int32)
    """
    return raw.Roll(input, shift, axis, name=name)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the inverse of a permutation.

    Args:
      x: (n,), int32 or int64, a permutation of 0, ..., n - 1.
      name: a name for the operation.
    Returns: (n,), the same dtype: y[x[i]] = i.
    Raises: InvalidArgumentError at run time if x is not a permutation and NumPy inverts it.
    Gradient: None.
    Reference: TensorFlow 2.21 InvertPermutation.

    >>> sess.run(tf.math.invert_permutation([2, 0, 1]))
    array([1, 2, 0], dtype=int32)
    """
    return raw.InvertPermutation(x, name=name)


limit_ranks(vectors="ConjugateTranspose.perm Reverse.dims ReverseV2.axis Transpose.perm", at_most_vectors="Roll.axis")
