"""Joining, gathering, repeating and indexing ragged tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32, int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.array.mask import boolean_mask

from .ragged_tensor import RaggedTensor
from .row_partitions import _ends, _from_zero, _rowids

Given = dict[str, Any]


def rank_of(t: Any) -> int:
    """Returns the number of axes."""
    rank = t.shape.rank
    if rank is None:
        raise ValueError("the flat values of a ragged tensor must have a known rank here. Fix: use set_shape")
    return int(rank)


def axis_of(axis: int, rank: int) -> int:
    """Returns an axis counted from the front; raises ValueError if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected -{rank}<=axis<{rank}. Fix: give an axis that there is")
    return axis % rank


def _joined(tensors: Sequence[Any], axis: int = 0) -> Any:
    return tensors[0] if len(tensors) == 1 else raw.ConcatV2(list(tensors), axis)


def _raised(t: Any, ragged_rank: int) -> Any:
    """Returns the same tensor with more of its axes as ragged ones."""
    if not ragged_rank:
        return t
    if not isinstance(t, RaggedTensor):
        return RaggedTensor.from_tensor(t, ragged_rank=ragged_rank)
    return t if t.ragged_rank == ragged_rank else t.with_values(_raised(t.values, ragged_rank - 1))


def _alike(values: Any) -> list[Any]:
    """Converts tensors to ragged ones of the same ragged rank, with the same dtype of splits."""
    parts = [v if isinstance(v, RaggedTensor) else convert_to_tensor(v) for v in values]
    ranks = {rank_of(p) for p in parts}
    if len(ranks) > 1:
        raise ValueError(f"all values must have the same rank, not {sorted(ranks)}. Fix: expand_dims the shorter ones")
    deepest = max(p.ragged_rank for p in parts if isinstance(p, RaggedTensor))
    parts = [_raised(p, deepest) for p in parts]
    if len({p.row_splits.dtype for p in parts}) > 1:
        parts = [p.with_row_splits_dtype(int64) for p in parts]
    return parts


def _all_rows(parts: Sequence[Any]) -> Any:
    """Concatenates the rows of all tensors."""
    result = _joined([p.flat_values for p in parts])
    lengths = [p.nested_row_lengths() for p in parts]
    for level in reversed(range(parts[0].ragged_rank)):
        result = RaggedTensor._of(result, _ends(_joined([n[level] for n in lengths])))
    return result


def _in_turn(parts: Sequence[Any]) -> Any:
    """Interleaves rows: the first ones of all tensors, then their second ones, and so on."""
    m, n = len(parts), raw.Cast(parts[0].nrows(), DstT=int32)
    order = raw.Transpose(raw.Reshape(raw.Range(0, raw.Mul(n, m), 1), raw.Pack([m, n])), [1, 0])
    return ragged_gather(_all_rows(parts), raw.Reshape(order, [-1]))


def _concat(parts: list[Any], axis: int) -> Any:
    if len(parts) == 1:
        return parts[0]
    if not isinstance(parts[0], RaggedTensor):
        return raw.ConcatV2(parts, axis)
    if not axis:
        return _all_rows(parts)
    if axis > 1:
        return parts[0].with_values(_concat([p.values for p in parts], axis - 1))
    rows = _in_turn(parts)
    splits = rows.row_splits[:: len(parts)]
    if isinstance(splits, Tensor):
        splits.set_shape(parts[0].row_splits.shape)
    return RaggedTensor._of(rows.values, splits)


def concat(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Concatenates tensors, some of them ragged, along an axis.

    Args:
      name: the function's name.
      f: the function of dense tensors.
      given: its arguments by name.
    """
    parts = _alike(given["values"])
    return _concat(parts, axis_of(int(given["axis"]), rank_of(parts[0])))


def _stack(parts: list[Any], axis: int) -> Any:
    if not isinstance(parts[0], RaggedTensor):
        return raw.Pack(parts, axis=axis)
    m = len(parts)
    if not axis:
        rows = raw.Pack([p.nrows() for p in parts])
        return RaggedTensor._of(_all_rows(parts), _ends(rows))
    if axis > 1:
        return parts[0].with_values(_stack([p.values for p in parts], axis - 1))
    return RaggedTensor.from_uniform_row_length(_in_turn(parts), m, parts[0].nrows(), validate=False)


def stack(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Stacks tensors, some of them ragged, along a new axis; arguments as for `concat`."""
    parts = _alike(given["values"])
    return _stack(parts, axis_of(int(given.get("axis", 0)), rank_of(parts[0]) + 1))


# -- gathering -----------------------------------------------------------------------------


def _rows_of(params: Any, indices: Any) -> Any:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_rows_of(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return raw.GatherV2(params, indices, 0)
    return ragged_gather(params, indices) if rank_of(indices) else params[indices]


def _within_rows(params: Any, indices: Any) -> Any:
    """Gathers elements of each row of `params` by the indices of the same row."""
    if not isinstance(params, RaggedTensor):
        params = RaggedTensor.from_tensor(params)
    if isinstance(indices, RaggedTensor):
        inner = indices
        starts = params.row_starts()
        while isinstance(inner, RaggedTensor):
            starts = raw.GatherV2(starts, _rowids(inner.row_splits), 0)
            inner = inner.values
        for _ in range(rank_of(inner) - 1):
            starts = raw.ExpandDims(starts, -1)
        places = raw.AddV2(raw.Cast(inner, DstT=starts.dtype), starts)
        return _rows_of(params.values, indices.with_flat_values(places))
    starts = params.row_starts()
    for _ in range(rank_of(indices) - 1):
        starts = raw.ExpandDims(starts, -1)
    return _rows_of(params.values, raw.AddV2(raw.Cast(indices, DstT=starts.dtype), starts))


def gather(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Gathers slices of `params`; these or the indices are ragged; arguments as for `concat`."""
    params, indices = given["params"], given["indices"]
    params = params if isinstance(params, RaggedTensor) else convert_to_tensor(params)
    indices = indices if isinstance(indices, RaggedTensor) else convert_to_tensor(indices)
    batch = int(given.get("batch_dims", 0))
    batch = axis_of(batch, rank_of(indices)) if batch < 0 else batch
    axis = given.get("axis")
    axis = batch if axis is None else axis_of(int(axis), rank_of(params))
    if batch > axis or batch > rank_of(indices):
        raise ValueError(f"batch_dims={batch} must be at most axis={axis} and the rank of indices, "
                         f"{rank_of(indices)}. Fix: give fewer batch dimensions")
    return _in_batches(params, indices, axis, batch)


def _in_batches(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """Gathers along an axis; the first axes of both are the same."""
    if not batch:
        return _along(params, indices, axis)
    if batch == 1 and axis == 1:
        return _within_rows(params, indices)
    params = _raised(params, max(1, params.ragged_rank if isinstance(params, RaggedTensor) else 1))
    if batch > 1:
        inner = indices.values if isinstance(indices, RaggedTensor) else _raised(indices, 1).values
        return params.with_values(_in_batches(params.values, inner, axis - 1, batch - 1))
    repeated = _rows_of(indices, _rowids(params.row_splits))  # the indices, for each row of the second axis
    return params.with_values(_in_batches(params.values, repeated, axis - 1, 1))


def _by_ragged(params: Any, indices: RaggedTensor, axis: int) -> Any:
    """Gathers along an axis other than the first by ragged indices."""
    outer = _along(params, indices.flat_values, axis)
    outer = _raised(outer, max(axis, outer.ragged_rank if isinstance(outer, RaggedTensor) else 0))
    levels = [outer]
    while len(levels) < axis:
        levels.append(levels[-1].values)
    count, found = levels[-1].nrows(), levels[-1].values
    for length in reversed(indices.nested_row_lengths()):
        repeated = raw.Tile(length, raw.Reshape(raw.Cast(count, DstT=int32), [1]))
        found = RaggedTensor._of(found, _ends(repeated))
    made = RaggedTensor.from_uniform_row_length(found, indices.nrows(), count, validate=False)
    for level in reversed(levels[:-1]):
        made = level.with_values(made)
    return made


def _along(params: Any, indices: Any, axis: int) -> Any:
    """Gathers along an axis."""
    if axis == 0:
        return _rows_of(params, indices)
    if isinstance(indices, RaggedTensor):
        return _by_ragged(params, indices, axis)
    if not isinstance(params, RaggedTensor):
        return raw.GatherV2(params, indices, axis)
    if axis > 1:
        return params.with_values(_along(params.values, indices, axis - 1))
    starts = params.row_starts()
    for _ in range(rank_of(indices)):
        starts = raw.ExpandDims(starts, -1)
    return _rows_of(params.values, raw.AddV2(raw.Cast(indices, DstT=starts.dtype), starts))


def gather_nd(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Gathers slices of ragged `params` by their first coordinates; arguments as for `concat`."""
    params, indices = given["params"], given["indices"]
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(gather_nd(name, f, {**given, "indices": indices.flat_values}))
    indices = convert_to_tensor(indices)
    depth = indices.shape.as_list()[-1]
    parts = raw.Unpack(indices, num=depth, axis=-1)
    at = parts[0]
    for part in parts[1:]:
        if not isinstance(params, RaggedTensor):
            break
        at = raw.AddV2(raw.Cast(raw.GatherV2(params.row_starts(), at, 0), DstT=part.dtype), part)
        params = params.values
        parts = parts[1:]
    if isinstance(params, RaggedTensor):
        return ragged_gather(params, at)
    return raw.GatherNd(params, raw.Pack([at, *parts[1:]], axis=-1))


def where(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Returns the coordinates of true elements, or selects between two tensors; arguments as for `concat`."""
    condition = given["condition"]
    if given.get("x") is None and given.get("y") is None:
        indices, flags, _ = raw.RaggedTensorToSparse(list(condition.nested_row_splits), condition.flat_values)
        return boolean_mask(indices, flags)
    from .ragged_elementwise import apply

    return apply(f, [condition, given.get("x"), given.get("y")], f)


def mask(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Applies a mask to each row; arguments as for `concat`."""
    from .ragged_functions import ragged_boolean_mask

    return ragged_boolean_mask(given["tensor"], given["mask"])


# -- other shapes --------------------------------------------------------------------------


def tile(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Repeats a ragged tensor; arguments as for `concat`."""
    t = given["input"]
    times = constant_value(convert_to_tensor(given["multiples"]))
    if times is None:
        raise ValueError("tile of a ragged tensor needs multiples that are known. Fix: give numbers")
    if len(times) != rank_of(t):
        raise ValueError(f"multiples must be {rank_of(t)} numbers, not {len(times)}. Fix: give one for each axis")
    inner = times[t.ragged_rank + 1 :]
    if any(n != 1 for n in inner):
        t = t.with_flat_values(raw.Tile(t.flat_values, np.asarray([1, *inner], np.int32)))
    for axis in reversed(range(t.ragged_rank + 1)):
        if times[axis] == 0:
            raise ValueError("multiples of 0 are not offered for ragged axes. Fix: slice with [:0]")
        t = _concat([t] * int(times[axis]), axis)
    return t


def expand_dims(t: Any, axis: int) -> Any:
    """Inserts an axis of size 1, counted from the front."""
    if not isinstance(t, RaggedTensor):
        return raw.ExpandDims(t, axis)
    if axis > 1:
        return t.with_values(expand_dims(t.values, axis - 1))
    one = raw.OnesLike(t.nrows())
    if axis:
        return RaggedTensor.from_uniform_row_length(t, one, t.nrows(), validate=False)
    return RaggedTensor._of(t, _from_zero(raw.ExpandDims(t.nrows(), 0)))


def expanded(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Inserts an axis of size 1; arguments as for `concat`."""
    t, axis = given["input"], given["axis"] if "axis" in given else given["dim"]
    return expand_dims(t, axis_of(int(axis), rank_of(t) + 1))


def _squeezed(t: Any, axis: int) -> Any:
    if not isinstance(t, RaggedTensor):
        return raw.Squeeze(t, squeeze_dims=(axis,))
    if axis > 1:
        return t.with_values(_squeezed(t.values, axis - 1))
    return t.values if axis else t[0]


def squeeze(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Removes axes of size 1 from a ragged tensor; arguments as for `concat`."""
    t, axis = given["input"], given.get("axis", given.get("squeeze_dims"))
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument. Fix: give the axes to leave out")
    for a in sorted((axis_of(a, rank_of(t)) for a in np.asarray(axis).reshape(-1).tolist()), reverse=True):
        t = _squeezed(t, a)
    return t


def reverse(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Reverses axes of a ragged tensor; arguments as for `concat`."""
    t = given["tensor"]
    for axis in {axis_of(a, rank_of(t)) for a in np.asarray(given["axis"]).reshape(-1).tolist()}:
        t = t[(slice(None),) * axis + (slice(None, None, -1),)]
    return t


def split(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Splits the rows of a ragged tensor into parts; arguments as for `concat`."""
    if "num_or_size_splits" not in given:
        raise TypeError("tf.strings.split does not take a RaggedTensor. Fix: split its flat_values")
    t, sizes = given["value"], given["num_or_size_splits"]
    if given.get("axis", given.get("split_dim", 0)):
        raise NotImplementedError("split of a ragged tensor is offered along the first axis alone. Fix: axis=0")
    if isinstance(sizes, int):
        n = t.shape.as_list()[0]
        if n is None or n % sizes:
            raise ValueError(f"{n} rows cannot be split into {sizes} equal parts. Fix: give the sizes")
        sizes = [n // sizes] * sizes
    ends = np.cumsum([0, *np.asarray(sizes).tolist()]).tolist()
    return [t[a:b] for a, b in itertools.pairwise(ends)]


def one_hot(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Makes one-hot vectors of ragged indices; arguments as for `concat`."""
    indices, axis = given.pop("indices"), given.get("axis")
    if axis not in (None, -1):
        raise ValueError(f"one_hot of ragged indices is offered along a new last axis alone, not {axis}. Fix: axis=-1")
    return indices.with_flat_values(f(indices.flat_values, **given))


def size(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Counts the elements; arguments as for `concat`."""
    return f(given["input"].flat_values, **{k: v for k, v in given.items() if k == "out_type"})


def rank(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Returns the number of axes; arguments as for `concat`."""
    return convert_to_tensor(rank_of(given["input"]), int32)


def embedding_lookup(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Looks up rows of a table by ragged ids; arguments as for `concat`."""
    ids = given.pop("ids")
    params = given.pop("params")
    return ids.with_flat_values(f(params, ids.flat_values, **given))


# -- indexing ------------------------------------------------------------------------------


def _bound(value: Any, default: Any, lengths: Any, low: int) -> Any:
    """Returns where the slice of each row begins or ends."""
    if value is None:
        return default
    value = raw.Cast(convert_to_tensor(value), DstT=lengths.dtype)
    value = raw.SelectV2(raw.Less(value, 0), raw.AddV2(value, lengths), raw.AddV2(value, raw.ZerosLike(lengths)))
    return raw.Maximum(raw.Minimum(value, raw.AddV2(lengths, low)), low)


def _row_slices(t: RaggedTensor, key: slice) -> RaggedTensor:
    """Returns a slice of each row."""
    if key == slice(None):
        return t
    step = 1 if key.step is None else int(key.step)
    if not step:
        raise ValueError("slice step cannot be zero. Fix: leave it out")
    lengths, low = t.row_lengths(), 0 if step > 0 else -1
    first, last = (raw.ZerosLike(lengths), lengths) if step > 0 else (raw.Sub(lengths, 1), raw.ZerosLike(lengths) - 1)
    begin, end = _bound(key.start, first, lengths, low), _bound(key.stop, last, lengths, low)
    starts = t.row_starts()
    splits, at = raw.RaggedRange(raw.AddV2(begin, starts), raw.AddV2(end, starts),
                                 np.asarray(step, starts.dtype.np_dtype), Tsplits=starts.dtype)
    return RaggedTensor._of(_rows_of(t.values, at), splits)


def _in_rows(t: Any, keys: list[Any]) -> Any:
    """Indexes every row of `t`."""
    if not keys:
        return t
    if not isinstance(t, RaggedTensor):
        return t[(slice(None), *keys)]
    key, *rest = keys
    if key is None:
        return expand_dims(_in_rows(t, rest), 1)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension. Fix: slice it, or x.to_tensor()[:, i]")
    rows = _row_slices(t, key)
    return rows.with_values(_in_rows(rows.values, rest)) if rest else rows


def getitem(t: Any, key: Any) -> Any:
    """Evaluates `t[key]` for a ragged tensor."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(k is Ellipsis for k in keys):
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        missing = rank_of(t) - sum(k is not None for k in keys) + 1
        keys[at : at + 1] = [slice(None)] * missing
    return _indexed(t, keys)


def _indexed(t: Any, keys: list[Any]) -> Any:
    if not keys:
        return t
    if not isinstance(t, RaggedTensor):
        return t[tuple(keys)]
    key, *rest = keys
    if key is None:
        return expand_dims(_indexed(t, rest), 0)
    if not isinstance(key, slice):
        rows = t.row_splits.shape.with_rank(1).as_list()[0]
        if isinstance(key, int) and rows is not None and current_graph() is not None and not 1 - rows <= key < rows - 1:
            raise ValueError(f"slice index {key} of dimension 0 out of bounds: there are {rows - 1} rows.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give an index below the number of rows")
        i = convert_to_tensor(key, None if hasattr(key, "dtype") else t.row_splits.dtype)
        if current_graph() is None and int(i) >= int(t.nrows()):  # by this error `for row in t` finds the end
            raise IndexError(f"Row key {int(i)} out of bounds: there are {int(t.nrows())} rows.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give an index below the number of rows")
        i = raw.SelectV2(raw.Less(i, 0), raw.AddV2(i, raw.Cast(t.nrows(), DstT=i.dtype)), i)
        first, end = raw.GatherV2(t.row_starts(), i, 0), raw.GatherV2(t.row_limits(), i, 0)
        return _indexed(t.values[first:end], rest)
    if key != slice(None):
        t = ragged_gather(t, raw.Range(0, raw.Cast(t.nrows(), DstT=int32), 1)[key])
    return _in_rows(t, rest)


def ragged_gather(params: RaggedTensor, indices: Any) -> Any:
    """Gathers rows of a ragged tensor, by their numbers; for `tf.gather`.

    Args:
      params: a `RaggedTensor`.
      indices: a tensor of ints of known rank.
    Returns: a `RaggedTensor`.
    """
    indices = convert_to_tensor(indices)
    n = params.ragged_rank + len(indices.shape.as_list()) - 1
    splits, values = raw.RaggedGather(list(params.nested_row_splits), params.flat_values, indices,
                                      OUTPUT_RAGGED_RANK=n)
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
