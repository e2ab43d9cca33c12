"""Embedding lookup."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import axes, join, part, plus, rank_of, shape_of, times
from graphgrad.ops.math.clip import clip_by_norm


def _rows(params, ids, name=None):
    """Returns the rows of a table; of a variable without reading the whole of it."""
    if hasattr(params, "sparse_read"):
        return params.sparse_read(ids, name=name)
    return raw.GatherV2(params, ids, 0, name=name)


def _clipped(rows, ids, max_norm):
    """Returns the rows, each scaled down to the norm `max_norm` where it is larger."""
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=axes(rank_of(ids), rank_of(rows)))


def embedding_lookup(params: TensorLike, ids: TensorLike, max_norm: TensorLike = None,
                     name: str | None = None) -> Tensor:
    """Looks up rows of a table, or of a table divided into pieces.

    Args:
      params: (n, *D), a tensor or variable; or a list of them, the first of which hold one
        row more if n is not a multiple of their number (strategy "div").
      ids: (*I), int32 or int64, each in [0, n).
      max_norm: scales down each row whose norm is larger; None for no bound.
      name: a name for the operation.
    Returns: (*I, *D).
    Raises: ValueError if `params` is empty; InvalidArgumentError at run time for an id out of range.
    Gradient: IndexedSlices; None for ids.
    Reference: TensorFlow 2.21 `tf.nn.embedding_lookup`.

    >>> sess.run(tf.nn.embedding_lookup(np.float32([[1.0], [2.0], [3.0]]), [2, 0]))
    array([[3.],
           [1.]], dtype=float32)
    """
    return embedding_lookup_v1(params, ids, "div", name, True, max_norm)


def embedding_lookup_v1(params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None,
                        validate_indices: bool = True, max_norm: TensorLike = None) -> Tensor:
    """Looks up rows of a table, or of a table divided into pieces: `embedding_lookup` with TensorFlow 1's arguments.

    Args:
      params: (n, *D), a tensor or variable; or a list of them.
      ids: (*I), int32 or int64, each in [0, n).
      partition_strategy: how a list divides the table: "mod" (row i is in piece i % pieces) or
        "div" (each piece holds adjacent rows).
      name: a name for the operation.
      validate_indices: accepted as TensorFlow does; not used.
      max_norm: scales down each row whose norm is larger; None for no bound.
    Returns: (*I, *D).
    Raises: ValueError if `params` is empty or the strategy unknown.
    Gradient: IndexedSlices; None for ids.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.embedding_lookup`.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    params = _pieces(params)
    with name_scope(name, "embedding_lookup") as scope:
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1:
            return raw.Identity(_clipped(_rows(params[0], ids, scope or None), ids, max_norm))
        params = [p if hasattr(p, "sparse_read") else convert_to_tensor(p, name="params") for p in params]
        return _from_pieces(params, ids, partition_strategy, max_norm)


def _is_table(params):
    return hasattr(params, "_spec") or hasattr(params, "sparse_read")


def _pieces(params):
    """Returns `params` as a list of tables; a list of numbers is one, and so is a tuple of lists of them."""
    if _is_table(params):
        return [params]
    if isinstance(params, (list, tuple)):
        several = _is_table(params[0]) or isinstance(params[0], (np.ndarray, list))
        if several and (isinstance(params, list) or not isinstance(params[0], list)):
            return list(params)
    elif hasattr(params, "as_tensor"):  # a partitioned variable
        return list(params)
    return [convert_to_tensor(params, name="params")]


def _rows_of(piece):
    """Returns the number of rows of a piece, as an int or a tensor."""
    shape = shape_of(piece) if hasattr(piece, "_spec") else piece.shape
    if not isinstance(shape, np.ndarray) and not hasattr(shape, "_spec"):
        return int(shape[0])
    return int(shape[0]) if isinstance(shape, np.ndarray) else raw.StridedSlice(shape, [0], [1], [1],
                                                                                shrink_axis_mask=1)


def _from_pieces(params, ids, strategy, max_norm):
    n = len(params)
    flat = raw.Reshape(ids, [-1])
    positions = raw.Range(0, raw.Size(flat), 1)
    if strategy == "mod":
        piece, row = raw.FloorMod(flat, n), raw.FloorDiv(flat, n)
    elif strategy == "div":
        total = 0
        for p in params:
            total = plus(total, _rows_of(p))
        piece, row = _adjacent(flat, total, n)
    else:
        raise ValueError(f"Unrecognized partition strategy: {strategy}. Fix: use 'mod' or 'div'")
    if piece.dtype.name != "int32":
        piece = raw.Cast(piece, DstT=positions.dtype)
    row_parts = raw.DynamicPartition(row, piece, num_partitions=n)
    places = raw.DynamicPartition(positions, piece, num_partitions=n)
    found = [_clipped(_rows(p, r), r, max_norm) for p, r in zip(params, row_parts, strict=True)]
    together = raw.ParallelDynamicStitch(places, found)
    of_rows = shape_of(found[0])
    rest = of_rows[1:] if isinstance(of_rows, np.ndarray) else part(of_rows, 1, rank_of(found[0]))
    return raw.Reshape(together, join(shape_of(ids), rest))


def _adjacent(flat, total, n):
    """Returns piece and row of each id where the first `total % n` pieces hold one row more than the others."""
    if isinstance(total, int):
        each, extra = total // n, total % n
    else:
        each, extra = raw.FloorDiv(total, n), raw.FloorMod(total, n)
    if flat.dtype.name != "int32" and hasattr(each, "_spec"):
        each, extra = raw.Cast(each, DstT=flat.dtype), raw.Cast(extra, DstT=flat.dtype)
    bound = times(extra, plus(each, 1))
    if isinstance(each, int) and each == 0:
        return flat, raw.FloorMod(flat, 1)
    large = raw.FloorDiv(flat, plus(each, 1))
    piece = raw.Maximum(large, raw.FloorDiv(raw.Sub(flat, extra), each))
    first = raw.Less(flat, bound)
    row = raw.SelectV2(first, raw.FloorMod(flat, plus(each, 1)), raw.FloorMod(raw.Sub(flat, extra), each))
    return piece, row
