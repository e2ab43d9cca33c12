"""Space to batch, space to depth, and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dimension import Dimension
from graphgrad.ir.dtypes import INDEX, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array
from graphgrad.ops.common.synonyms import either


def _space_to_batch(xp, x, block, paddings):
    m = len(block)
    _space_to_batch_shape(x.shape, tuple(block), tuple(map(tuple, paddings)))
    x = xp.pad(x, [(0, 0), *map(tuple, paddings), *[(0, 0)] * (len(x.shape) - m - 1)])
    batch, space, rest = x.shape[0], x.shape[1 : m + 1], x.shape[m + 1 :]
    parts = [v for s, b in zip(space, block, strict=True) for v in (s // b, b)]
    x = xp.reshape(x, (batch, *parts, *rest))
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, len(x.shape))]
    x = xp.transpose(x, order)
    return xp.reshape(x, (batch * int(np.prod(block)), *(s // b for s, b in zip(space, block, strict=True)), *rest))


def _batch_to_space(xp, x, block, crops):
    m = len(block)
    shape = _batch_to_space_shape(x.shape, tuple(block), tuple(map(tuple, crops)))
    batch, space, rest = x.shape[0] // int(np.prod(block)), x.shape[1 : m + 1], x.shape[m + 1 :]
    x = xp.reshape(x, (*block, batch, *space, *rest))
    order = [m, *(v for i in range(m) for v in (m + 1 + i, i)), *range(2 * m + 1, len(x.shape))]
    x = xp.reshape(xp.transpose(x, order), (batch, *(s * b for s, b in zip(space, block, strict=True)), *rest))
    return x[(slice(None), *(slice(c[0], c[0] + n) for c, n in zip(crops, shape[1:], strict=False)))]


@op("SpaceToBatchND", "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T", Tblock_shape=INDEX,
    Tpaddings=INDEX, host=("block_shape", "paddings"), data_movement=True, linear=Linear.JOINTLY)
def space_to_batch_nd_op(xp, x, block_shape, paddings):
    """Pads, then moves blocks of the axes after the first into the batch."""
    return _space_to_batch(xp, x, block_shape.tolist(), paddings.tolist())


@space_to_batch_nd_op.shape
def _space_to_batch_shape(x, block, paddings):
    return _moved(x, block, paddings, "paddings", _divided, _more)


def _moved(x, block, changes, what, resize, rebatch):
    """Returns the shape after blocks of space went into the batch or came out of it."""
    count = next((len(v) for v in (block, changes) if v is not None), None)
    if x is None or count is None:
        return None if x is None else (None,) * len(x)
    _check_blocks(x, block, changes, what, count)
    block = block or (None,) * count
    changes = changes or (None,) * count
    space = []
    for axis, (dim, b, c) in enumerate(zip(x[1 : count + 1], block, changes, strict=True), 1):
        before, after = c or (None, None)
        if (before or 0) < 0 or (after or 0) < 0:
            raise Complaint(f"{what}[{axis - 1}] must not be negative: {before}, {after}", "give sizes >= 0")
        space.append(None if None in (dim, b, before, after) else resize(axis, dim, b, before, after))
    total = None if None in block else int(np.prod(block))
    batch = None if total is None or x[0] is None else rebatch(x[0], total)
    return (batch, *space, *x[count + 1 :])


def _check_blocks(x, block, changes, what, count):
    if changes is not None and len(changes) != count:
        raise Complaint(f"{what} must have shape ({count}, 2)", "give a pair for each element of block_shape")
    if len(x) < count + 1:
        raise Complaint(f"input rank {len(x)} must be at least {count + 1}", "give batch and space axes")
    if block is not None and any(b is not None and b < 1 for b in block):
        raise Complaint(f"block_shape {list(block)} must be positive", "give sizes >= 1")


def _divided(axis, dim, b, before, after):
    """Returns a padded size divided by the block."""
    if (dim + before + after) % b:
        raise Complaint(f"padded size {dim + before + after} of axis {axis} is not divisible by the block size {b}",
                        "pad it to a multiple; tf.required_space_to_batch_paddings says how")
    return (dim + before + after) // b


def _grown(axis, dim, b, before, after):
    """Returns a size multiplied by the block, less the crops."""
    if before + after > dim * b:
        raise Complaint(f"cropped size {dim * b - before - after} of axis {axis} is negative", "crop less")
    return dim * b - before - after


def _more(batch, total):
    return batch * total


def _fewer(batch, total):
    if batch % total:
        raise Complaint(f"batch of {batch} is not divisible by the {total} elements of a block", "make it a multiple")
    return batch // total

@space_to_batch_nd_op.grad
def _space_to_batch_nd_grad(op, dy):
    return raw.BatchToSpaceND(dy, op.inputs[1], op.inputs[2]), None, None


@op("BatchToSpaceND", "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T", Tblock_shape=INDEX,
    Tcrops=INDEX, host=("block_shape", "crops"), data_movement=True, linear=Linear.JOINTLY)
def batch_to_space_nd_op(xp, x, block_shape, crops):
    """Moves parts of the batch back into blocks of space, then crops."""
    return _batch_to_space(xp, x, block_shape.tolist(), crops.tolist())


@batch_to_space_nd_op.shape
def _batch_to_space_shape(x, block, crops):
    return _moved(x, block, crops, "crops", _grown, _fewer)


@batch_to_space_nd_op.grad
def _batch_to_space_nd_grad(op, dy):
    return raw.SpaceToBatchND(dy, op.inputs[1], op.inputs[2]), None, None


@op("SpaceToBatch", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, host=("paddings",),
    linear=Linear.JOINTLY)
def space_to_batch_v1_op(xp, x, paddings, *, block_size):
    """Does what SpaceToBatchND does, for square blocks of images."""
    return _space_to_batch(xp, x, [block_size] * 2, paddings.tolist())


@space_to_batch_v1_op.shape
def _space_to_batch_v1_shape(x, paddings, block_size):
    return _space_to_batch_shape(with_rank(x, 4), (block_size,) * 2, paddings)


@space_to_batch_v1_op.grad
def _space_to_batch_v1_grad(op, dy):
    return raw.BatchToSpace(dy, op.inputs[1], block_size=op._attr("block_size")), None


@op("BatchToSpace", "input: T, crops: Tidx -> output: T", Tidx=INDEX, host=("crops",), linear=Linear.JOINTLY)
def batch_to_space_v1_op(xp, x, crops, *, block_size):
    """Does what BatchToSpaceND does, for square blocks of images."""
    return _batch_to_space(xp, x, [block_size] * 2, crops.tolist())


@batch_to_space_v1_op.shape
def _batch_to_space_v1_shape(x, crops, block_size):
    return _batch_to_space_shape(with_rank(x, 4), (block_size,) * 2, crops)


@batch_to_space_v1_op.grad
def _batch_to_space_v1_grad(op, dy):
    return raw.SpaceToBatch(dy, op.inputs[1], block_size=op._attr("block_size")), None


# -- space and depth ---------------------------------------------------------------


def _nhwc(shape, data_format):
    """Returns batch, height, width, channels of a shape in either format, and a function that builds one."""
    shape = with_rank(shape, 4)
    if data_format == "NHWC":
        return shape, lambda n, h, w, c: (n, h, w, c)
    if data_format == "NCHW":
        n, c, h, w = shape
        return (n, h, w, c), lambda n, h, w, c: (n, c, h, w)
    raise Complaint(f"data_format {data_format!r} is not supported", "use 'NHWC' or 'NCHW'")


def _known_div(value, by, what):
    if value is None:
        return None
    if value % by:
        raise Complaint(f"{what} {value} is not divisible by block_size{'' if what != 'depth' else '^2'} {by}",
                        "pad it, or give another block_size")
    return value // by


def _known_mul(value, by):
    return None if value is None else value * by


@op("SpaceToDepth", "input: T -> output: T", data_movement=True, linear=Linear.JOINTLY)
def space_to_depth_op(xp, x, *, block_size, data_format="NHWC"):
    """Moves square blocks of space into the channels."""
    b = block_size
    shape = _space_to_depth_shape(x.shape, b, data_format)
    if data_format == "NHWC":
        n, h, w, c = x.shape
        x = xp.transpose(xp.reshape(x, (n, h // b, b, w // b, b, c)), (0, 1, 3, 2, 4, 5))
    else:
        n, c, h, w = x.shape
        x = xp.transpose(xp.reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return xp.reshape(x, shape)


@space_to_depth_op.shape
def _space_to_depth_shape(x, block_size, data_format):
    (n, h, w, c), write = _nhwc(x, data_format)
    return write(n, _known_div(h, block_size, "height"), _known_div(w, block_size, "width"),
                 _known_mul(c, block_size**2))


@space_to_depth_op.grad
def _space_to_depth_grad(op, dy):
    return raw.DepthToSpace(dy, block_size=op._attr("block_size"), data_format=op._attr("data_format"))


@op("DepthToSpace", "input: T -> output: T", data_movement=True, linear=Linear.JOINTLY)
def depth_to_space_op(xp, x, *, block_size, data_format="NHWC"):
    """Moves channels into square blocks of space."""
    b = block_size
    shape = _depth_to_space_shape(x.shape, b, data_format)
    if data_format == "NHWC":
        n, h, w, c = x.shape
        x = xp.transpose(xp.reshape(x, (n, h, w, b, b, c // b**2)), (0, 1, 3, 2, 4, 5))
    else:
        n, c, h, w = x.shape
        x = xp.transpose(xp.reshape(x, (n, b, b, c // b**2, h, w)), (0, 3, 4, 1, 5, 2))
    return xp.reshape(x, shape)


@depth_to_space_op.shape
def _depth_to_space_shape(x, block_size, data_format):
    (n, h, w, c), write = _nhwc(x, data_format)
    return write(n, _known_mul(h, block_size), _known_mul(w, block_size), _known_div(c, block_size**2, "depth"))


@depth_to_space_op.grad
def _depth_to_space_grad(op, dy):
    return raw.SpaceToDepth(dy, block_size=op._attr("block_size"), data_format=op._attr("data_format"))


# -- functions ---------------------------------------------------------------------


def space_to_batch(input: TensorLike, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Pads, then moves blocks of the axes after the first into the batch.

    Args:
      input: (n, *S, *D), any dtype; S has one axis for each element of block_shape.
      block_shape: (m,), integers >= 1.
      paddings: (m, 2), integers; they make each axis of S divisible by its block.
      name: a name for the operation.
    Returns: (n * product of block_shape, *(padded S / block_shape), *D).
    Raises: ValueError, or InvalidArgumentError at run time, if a padded size is not divisible by its block.
    Gradient: BatchToSpaceND; None for the rest.
    Reference: TensorFlow 2.21 SpaceToBatchND.

    >>> sess.run(tf.space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return raw.SpaceToBatchND(input, block_shape, paddings, name=name)


def space_to_batch_nd(input: TensorLike, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Calls `space_to_batch` of TensorFlow 2.

    Args:
      input, block_shape, paddings, name: as for `space_to_batch`.
    Returns: as for `space_to_batch`.
    Raises: as for `space_to_batch`.
    Gradient: as for `space_to_batch`.
    Reference: TensorFlow 2.21 SpaceToBatchND.

    >>> sess.run(tf.space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return raw.SpaceToBatchND(input, block_shape, paddings, name=name)


def _block(block_size: Any, block_shape: Any) -> Any:
    size = either("block_shape", block_shape, "block_size", block_size)
    if size is None:
        raise ValueError("Must specify block_shape or block_size. Fix: give block_size=2, say")
    return np.array([size, size], np.int64) if isinstance(size, (int, Dimension)) else size


def space_to_batch_v1(input: TensorLike, paddings: Any, block_size: Any = None, name: str | None = None,
                      block_shape: Any = None) -> Tensor:
    """Calls `space_to_batch` for images, with one size of block.

    Args:
      input: (n, h, w, c), any dtype.
      paddings: (2, 2), integers.
      block_size: an int, or a vector as `block_shape`.
      name: a name for the operation.
      block_shape: another name of `block_size`.
    Returns: (n * b * b, padded h / b, padded w / b, c).
    Raises: ValueError, or InvalidArgumentError at run time, if a padded size is not divisible by its block.
    Gradient: BatchToSpaceND; None for the rest.
    Reference: TensorFlow 2.21 `tf.compat.v1.space_to_batch`.

    >>> sess.run(tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [[0, 0], [0, 0]], 2))[:, 0, 0, 0]
    array([1, 2, 3, 4], dtype=int32)
    """
    return raw.SpaceToBatchND(input, _block(block_size, block_shape), paddings, name=name)


def batch_to_space(input: TensorLike, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Moves parts of the batch back into blocks of space, then crops.

    Args:
      input: (n, *S, *D), any dtype; S has one axis for each element of block_shape.
      block_shape: (m,), integers >= 1, or one int for a square block; their product divides n.
      crops: (m, 2), integers.
      name: a name for the operation.
    Returns: (n / product of block_shape, *(S * block_shape - crops), *D).
    Raises: ValueError, or InvalidArgumentError at run time, if the batch is not divisible by a block's size.
    Gradient: SpaceToBatchND; None for the rest.
    Reference: TensorFlow 2.21 BatchToSpaceND.

    >>> sess.run(tf.batch_to_space_nd([[1, 3], [2, 4]], [2], [[0, 0]]))
    array([[1, 2, 3, 4]], dtype=int32)
    """
    return raw.BatchToSpaceND(input, _block(None, block_shape), crops, name=name)


def batch_to_space_v1(input: TensorLike, crops: Any, block_size: Any, name: str | None = None,
                      block_shape: Any = None) -> Tensor:
    """Calls `batch_to_space` for images, with one size of block.

    Args:
      input: (n, h, w, c), any dtype.
      crops: (2, 2), integers.
      block_size: an int, or a vector as `block_shape`.
      name: a name for the operation.
      block_shape: another name of `block_size`.
    Returns: (n / b / b, h * b - crops, w * b - crops, c).
    Raises: ValueError, or InvalidArgumentError at run time, if the batch is not divisible by a block's size.
    Gradient: SpaceToBatchND; None for the rest.
    Reference: TensorFlow 2.21 `tf.compat.v1.batch_to_space`.

    >>> sess.run(tf.batch_to_space(np.ones([4, 1, 1, 1]), [[0, 0], [0, 0]], 2)).shape
    (1, 2, 2, 1)
    """
    return raw.BatchToSpaceND(input, _block(block_size, block_shape), crops, name=name)


def batch_to_space_nd(input: TensorLike, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Calls `batch_to_space` of TensorFlow 2.

    Args:
      input, block_shape, crops, name: as for `batch_to_space`.
    Returns: as for `batch_to_space`.
    Raises: as for `batch_to_space`.
    Gradient: as for `batch_to_space`.
    Reference: TensorFlow 2.21 BatchToSpaceND.

    >>> sess.run(tf.batch_to_space_nd([[1, 3], [2, 4]], [2], [[0, 0]]))
    array([[1, 2, 3, 4]], dtype=int32)
    """
    return raw.BatchToSpaceND(input, block_shape, crops, name=name)


def space_to_depth(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Moves square blocks of space into the channels.

    Args:
      input: (n, h, w, c) or, for 'NCHW', (n, c, h, w), any dtype.
      block_size: int b; divides h and w.
      data_format: 'NHWC' or 'NCHW'.
      name: a name for the operation.
    Returns: (n, h / b, w / b, c * b * b), or that in 'NCHW'.
    Raises: ValueError if b does not divide.
    Gradient: DepthToSpace.
    Reference: TensorFlow 2.21 SpaceToDepth.

    >>> sess.run(tf.space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
    array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    return raw.SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def space_to_depth_v1(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Calls `space_to_depth` with the arguments in TensorFlow 1's order.

    Args:
      input, block_size, name, data_format: as for `space_to_depth`.
    Returns: as for `space_to_depth`.
    Raises: as for `space_to_depth`.
    Gradient: as for `space_to_depth`.
    Reference: TensorFlow 2.21 `tf.compat.v1.space_to_depth`.

    >>> sess.run(tf.space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
    array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    return raw.SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Moves channels into square blocks of space.

    Args:
      input: (n, h, w, c) or, for 'NCHW', (n, c, h, w), any dtype.
      block_size: int b; b * b divides c.
      data_format: 'NHWC' or 'NCHW'.
      name: a name for the operation.
    Returns: (n, h * b, w * b, c / b / b), or that in 'NCHW'.
    Raises: ValueError if b * b does not divide c.
    Gradient: SpaceToDepth.
    Reference: TensorFlow 2.21 DepthToSpace.

    >>> sess.run(tf.depth_to_space([[[[1, 2, 3, 4]]]], 2))[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return raw.DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space_v1(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Calls `depth_to_space` with the arguments in TensorFlow 1's order.

    Args:
      input, block_size, name, data_format: as for `depth_to_space`.
    Returns: as for `depth_to_space`.
    Raises: as for `depth_to_space`.
    Gradient: as for `depth_to_space`.
    Reference: TensorFlow 2.21 `tf.compat.v1.depth_to_space`.

    >>> sess.run(tf.depth_to_space([[[[1, 2, 3, 4]]]], 2))[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    return raw.DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None,
                                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """Returns the paddings that make sizes divisible by a block, and the crops that undo them.

    Args:
      input_shape: (m,), integers.
      block_shape: (m,), integers.
      base_paddings: (m, 2), integers, the least paddings; 0 by default.
      name: a name for the operations.
    Returns: (paddings, crops), each (m, 2); constants where everything is known.
    Raises: ValueError if shapes are incompatible.
    Gradient: none; they are integers.
    Reference: TensorFlow 2.21 `tf.required_space_to_batch_paddings`.

    >>> sess.run(tf.required_space_to_batch_paddings([3, 4], [2, 2]))[0]
    array([[0, 1],
           [0, 0]], dtype=int32)
    """
    with name_scope(name, "required_space_to_batch_paddings"):
        sizes = convert_to_tensor(input_shape, int32, "input_shape")
        block = convert_to_tensor(block_shape, int32, "block_shape")
        (m,) = block._spec.shape
        if sizes._spec.shape not in (None, (None,), (m,)):
            raise ValueError(f"input_shape must have {m} elements as block_shape has, not shape {sizes.shape}. "
                             "Fix: give one size for each block")
        base = np.zeros((m, 2), np.int32) if base_paddings is None else base_paddings
        base = convert_to_tensor(base, int32, "base_paddings")
        known = [host_array(t) for t in (sizes, block, base)]
        if all(k is not None for k in known):
            before, after = known[2][:, 0], known[2][:, 1]
            more = -(known[0] + before + after) % known[1]
            paddings = np.stack([before, after + more], 1)
            crops = np.stack([np.zeros_like(more), more], 1)
            return constant(paddings, name="paddings"), constant(crops, name="crops")
        before, after = raw.Unpack(base, num=2, axis=1)
        more = raw.FloorMod(raw.Neg(raw.AddV2(raw.AddV2(sizes, before), after)), block)
        return (raw.Pack([before, raw.AddV2(after, more)], axis=1, name="paddings"),
                raw.Pack([raw.ZerosLike(more), more], axis=1, name="crops"))


limit_ranks(
    vectors="BatchToSpaceND.block_shape SpaceToBatchND.block_shape",
    matrices="BatchToSpace.crops BatchToSpaceND.crops SpaceToBatch.paddings SpaceToBatchND.paddings",
)
