"""Padding: with a value, or with a mirror image."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import is_tensor_like
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array, shape_of


def _pad_shape(x, paddings):
    if paddings is None:
        return None if x is None else (None,) * len(x)
    if any(not (p is None or (isinstance(p, tuple) and len(p) == 2)) for p in paddings):
        raise Complaint("paddings must have shape (rank, 2)", "give [before, after] for each axis")
    shape = with_rank(x, len(paddings))
    out = []
    for axis, (dim, p) in enumerate(zip(shape, paddings, strict=True)):
        before, after = p or (None, None)
        if (before or 0) < 0 or (after or 0) < 0:
            raise Complaint(f"paddings of axis {axis} must be non-negative: {before} {after}",
                            "give sizes >= 0; tf.slice makes a tensor smaller")
        out.append(None if dim is None or before is None or after is None else dim + before + after)
    return tuple(out)


def _pad_kernel(xp, x, paddings, value):
    widths = [tuple(p) for p in paddings.tolist()]
    _pad_shape(x.shape, tuple(widths))
    if xp is np:
        result = np.full([b + n + a for n, (b, a) in zip(x.shape, widths, strict=True)], value, x.dtype)
        result[tuple([slice(b, b + n) for n, (b, _) in zip(x.shape, widths, strict=True)])] = x
        return result
    return lax_of(xp).pad(xp.asarray(x), xp.asarray(value, x.dtype), [(b, a, 0) for b, a in widths])


@op("Pad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, host=("paddings",), shape=_pad_shape,
    data_movement=True, linear=Linear.JOINTLY)
def pad_op(xp, x, paddings):
    """Pads the input with zeros."""
    return _pad_kernel(xp, x, paddings, b"" if x.dtype == object else np.zeros((), x.dtype))


@pad_op.grad
def _pad_grad(op, dy):
    return _inside(op, dy), None


def _inside(op, dy):
    """Returns the part of `dy` that belongs to the tensor that was padded."""
    x, paddings = op.inputs[:2]
    known = host_array(paddings)
    if known is None:
        before = raw.StridedSlice(paddings, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    else:
        before = known.reshape(-1, 2)[:, 0]
    return raw.Slice(dy, before, shape_of(x, paddings.dtype))


def _pad_v2_shape(x, paddings, value):
    return _pad_shape(x, paddings)


@op("PadV2", "input: T, paddings: Tpaddings, constant_values: T -> output: T", Tpaddings=INDEX, host=("paddings",),
    shape=_pad_v2_shape, data_movement=True, linear=Linear.JOINTLY)
def pad_v2_op(xp, x, paddings, value):
    """Pads the input with one value."""
    if np.shape(value):
        raise Complaint(f"constant_values must be a scalar. Found: {list(np.shape(value))}", "give one number")
    return _pad_kernel(xp, x, paddings, value)


@pad_v2_op.grad
def _pad_v2_grad(op, dy):
    # TensorFlow gives none for the value either.
    return _inside(op, dy), None, None


def _check_mirror(shape, paddings, mode):
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise Complaint(f"mode {mode!r} is neither 'REFLECT' nor 'SYMMETRIC'", "give one of the two")
    for axis, (dim, p) in enumerate(zip(shape, paddings, strict=True)):
        most = None if dim is None else dim - (mode == "REFLECT")
        if most is not None and any(v is not None and v > most for v in p or ()):
            raise Complaint(f"paddings of axis {axis} must be no greater than {most}: {p[0]}, {p[1]}",
                            "pad less; a mirror shows every element once")


@op("MirrorPad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, host=("paddings",), data_movement=True,
    linear=Linear.JOINTLY)
def mirror_pad_op(xp, x, paddings, *, mode):
    """Pads the input with its mirror image, without (REFLECT) or with (SYMMETRIC) the border."""
    widths = tuple(tuple(p) for p in paddings.tolist())
    _mirror_pad_shape(x.shape, widths, mode)
    return xp.pad(x, widths, mode=mode.lower()) if widths else x


@mirror_pad_op.shape
def _mirror_pad_shape(x, paddings, mode):
    result = _pad_shape(x, paddings)
    if paddings is not None and x is not None:
        _check_mirror(x, paddings, mode)
    return result


@mirror_pad_op.grad
def _mirror_pad_grad(op, dy):
    return raw.MirrorPadGrad(dy, op.inputs[1], mode=op._attr("mode")), None


@op("MirrorPadGrad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, host=("paddings",),
    limits={"mode": frozenset({"REFLECT", "SYMMETRIC"})}, linear=Linear.JOINTLY)
def mirror_pad_grad_op(xp, dy, paddings, *, mode):
    """Adds the mirror images back to their originals."""
    edge = int(mode == "REFLECT")
    if len(paddings) != dy.ndim:
        raise Complaint(f"paddings has {len(paddings)} rows but input has rank {dy.ndim}",
                        "give one [before, after] for each axis")
    for axis, (before, after) in enumerate(paddings.tolist()):
        n = dy.shape[axis] - before - after

        def part(start, stop, axis=axis, dy=dy):
            return dy[(slice(None),) * axis + (slice(start, stop),)]

        def placed(values, start, axis=axis, n=n):
            widths = [(0, 0)] * len(values.shape)
            widths[axis] = (start, n - start - values.shape[axis])
            return xp.pad(values, widths)

        total = part(before, before + n)
        if before:
            total = total + placed(xp.flip(part(0, before), axis), edge)
        if after:
            total = total + placed(xp.flip(part(before + n, None), axis), n - edge - after)
        dy = total
    return dy


@mirror_pad_grad_op.shape
def _mirror_pad_grad_shape(dy, paddings, mode):
    if paddings is None:
        return None if dy is None else (None,) * len(dy)
    shape = with_rank(dy, len(paddings))
    return tuple([None if d is None or p is None or None in p else d - p[0] - p[1]
                  for d, p in zip(shape, paddings, strict=True)])


@mirror_pad_grad_op.grad
def _mirror_pad_grad_grad(op, d2):
    return raw.MirrorPad(d2, op.inputs[1], mode=op._attr("mode")), None


def pad(tensor: TensorLike, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0,
        name: str | None = None) -> Tensor:
    """Pads a tensor, with a value or with its mirror image.

    Args:
      tensor: (*D), any dtype.
      paddings: (rank, 2), integers: the elements to add before and after, for each axis.
      mode: 'CONSTANT', 'REFLECT' (a mirror image without the border) or 'SYMMETRIC' (with it).
      constant_values: scalar, dtype of `tensor`; for 'CONSTANT'.
      name: a name for the operation.
    Returns: size D[i] + sum of paddings[i] along axis i, dtype of `tensor`.
    Raises: ValueError for another mode; ValueError, or InvalidArgumentError at run time, for
      paddings that are negative or larger than a mirror allows.
    Gradient: the part of dy inside, plus the mirrored parts; None for the rest.
    Reference: TensorFlow 2.21 Pad, PadV2, MirrorPad.

    >>> sess.run(tf.pad([1, 2, 3], [[1, 2]]))
    array([0, 1, 2, 3, 0, 0], dtype=int32)
    """
    kind = str(mode).upper()
    if kind == "CONSTANT":
        if is_tensor_like(constant_values) or np.any(np.asarray(constant_values) != 0):
            return raw.PadV2(tensor, paddings, constant_values, name=name)
        return raw.Pad(tensor, paddings, name=name)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of 'CONSTANT', 'REFLECT', or 'SYMMETRIC'. "
                         f"Received `mode` = {mode}")
    return raw.MirrorPad(tensor, paddings, mode=kind, name=name)


def pad_v1(tensor: TensorLike, paddings: Any, mode: str = "CONSTANT", name: str | None = None,
           constant_values: Any = 0) -> Tensor:
    """Calls `pad` with the arguments in TensorFlow 1's order.

    Args:
      tensor, paddings, mode, name, constant_values: as for `pad`.
    Returns: as for `pad`.
    Raises: as for `pad`.
    Gradient: as for `pad`.
    Reference: TensorFlow 2.21 `tf.compat.v1.pad`.

    >>> sess.run(tf.pad([1, 2, 3], [[2, 0]], "REFLECT"))
    array([3, 2, 1, 2, 3], dtype=int32)
    """
    return pad(tensor, paddings, mode, constant_values, name)


limit_ranks(matrices="MirrorPad.paddings MirrorPadGrad.paddings Pad.paddings PadV2.paddings")
