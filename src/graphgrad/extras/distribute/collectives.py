"""Sums, means and concatenations over replicas, as operations of one graph on several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.distribute.contexts import ReduceOp, device_block, reduce_op, require_replica_context
from graphgrad.frontend.structure import nest
from graphgrad.gradients.core.custom import custom_gradient
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.values.indexed_slices import IndexedSlices

from .replica_values import DistributedValues, Mirrored, PerReplica, parts


def combine(op: ReduceOp, values: Sequence[Any], device: str) -> Any:
    """Returns the sum or the mean of values on a device; the sum is taken from the first to the last.

    Args:
      op: which.
      values: tensors of one shape and dtype, or `IndexedSlices`, whose rows are put behind each other.
      device: the device.
    """
    with device_block(device):
        if any(isinstance(v, IndexedSlices) for v in values):
            return _combine_rows(op, [_rows(v) for v in values])
        tensors = [convert_to_tensor(v) for v in values]
        total = tensors[0] if len(tensors) == 1 else raw.AddN(tensors)
        return total if op is ReduceOp.SUM else divided(total, len(tensors))


def divided(total: Any, count: int) -> Any:
    """Returns a sum divided by the number of its terms; of integers in float64, as Python divides."""
    if total.dtype.is_integer:
        return raw.RealDiv(raw.Cast(total, DstT=_float64()), convert_to_tensor(count, _float64()))
    return raw.RealDiv(total, convert_to_tensor(count, total.dtype))


def _float64() -> Any:
    from graphgrad.ir.dtypes import float64

    return float64


def _rows(value: Any) -> IndexedSlices:
    """Converts a tensor to the slices of all of its rows."""
    if isinstance(value, IndexedSlices):
        return value
    tensor = convert_to_tensor(value)
    shape = raw.Shape(tensor)
    count = raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
    return IndexedSlices(tensor, raw.Range(0, count, 1), shape)


def _combine_rows(op: ReduceOp, values: Sequence[IndexedSlices]) -> IndexedSlices:
    if len(values) == 1:
        return values[0]
    rows = raw.ConcatV2([v.values for v in values], 0)
    indices = raw.ConcatV2([v.indices for v in values], 0)
    shape = next((v.dense_shape for v in values if v.dense_shape is not None), None)
    return IndexedSlices(rows if op is ReduceOp.SUM else divided(rows, len(values)), indices, shape)


def copies(value: Any, devices: Sequence[str]) -> Any:
    """Returns a value with a copy on each of some devices; the value itself for one device.

    Args:
      value: a tensor, or `IndexedSlices`.
      devices: the devices.
    """
    if len(devices) == 1:
        return value
    found = []
    for device in devices:
        with device_block(device):
            found.append(_copy(value))
    return Mirrored(found)


def _copy(value: Any) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(raw.Identity(value.values), raw.Identity(value.indices), value.dense_shape)
    return raw.Identity(value)


def all_reduce(replica: Any, op: Any, value: Any) -> Any:
    """Returns the sum or the mean over replicas of a structure of tensors; see `ReplicaContext.all_reduce`."""
    require_replica_context(replica)
    op = reduce_op(op)
    leaves = [v if isinstance(v, IndexedSlices) else convert_to_tensor(v) for v in nest.flatten(value)]

    def meet(tensors: Sequence[Any]) -> Any:
        return replica.merge_call(_reduce_all, args=(op, *tensors))

    if not leaves:
        return value
    if any(isinstance(v, IndexedSlices) for v in leaves):
        return nest.pack_sequence_as(value, list(meet(leaves)))
    return nest.pack_sequence_as(value, _with_gradient(leaves, meet(leaves), meet))


def _with_gradient(tensors: Sequence[Any], results: Sequence[Any], backward: Callable[[Sequence[Any]], Any]) -> Any:
    """Returns the results of a collective, whose gradients with respect to its tensors are those of a function.

    The collective itself was built by the thread of all replicas, which the tapes of this one do not see.
    """
    @custom_gradient
    def collective(*_: Any) -> Any:
        return list(results), lambda *dys: list(backward(dys))

    return list(collective(*tensors))


def _reduce_all(strategy: Any, op: ReduceOp, *values: Any) -> list[Any]:
    devices = strategy.extended.worker_devices
    return [copies(combine(op, parts(v, len(devices)), devices[0]), devices) for v in values]


def all_gather(replica: Any, value: Any, axis: int) -> Any:
    """Returns the values of replicas behind each other; see `ReplicaContext.all_gather`."""
    require_replica_context(replica)
    leaves = [convert_to_tensor(v) for v in nest.flatten(value)]
    for leaf in leaves:
        check_axis(leaf.shape, axis)

    def gather_one(tensor: Any) -> Any:
        whole, begin, size = replica.merge_call(_gather_all, args=(tensor, axis))

        def gradient(dys: Sequence[Any]) -> Any:
            (total,) = replica.merge_call(_reduce_all, args=(ReduceOp.SUM, *dys))
            return [_part(total, begin, size, axis)]

        return _with_gradient([tensor], [whole], gradient)[0]

    return nest.pack_sequence_as(value, [gather_one(leaf) for leaf in leaves])


def check_axis(shape: Any, axis: int) -> None:
    """Raises ValueError if tensors of a shape cannot be put behind each other along an axis."""
    rank = TensorShape(shape).rank
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"gather along axis {axis}: there is no such axis; shape={TensorShape(shape)}. "
                         "Fix: give values of at least one dimension, e.g. tf.expand_dims(value, 0)")


def _gather_all(strategy: Any, value: Any, axis: int) -> Any:
    devices = strategy.extended.worker_devices
    given = parts(value, len(devices))
    whole, begins, sizes, begin = concat(given, axis, devices[0]), [], [], convert_to_tensor(0)
    for part in given:
        size = raw.StridedSlice(raw.Shape(part), [axis], [axis + 1 or _END], [1], shrink_axis_mask=1)
        begins.append(begin)
        sizes.append(size)
        begin = raw.AddV2(begin, size)
    one = len(devices) == 1
    return copies(whole, devices), begins[0] if one else PerReplica(begins), sizes[0] if one else PerReplica(sizes)


_END = 2**31 - 1


def concat(values: Sequence[Any], axis: int, device: str) -> Any:
    """Returns values behind each other, on a device."""
    with device_block(device):
        return values[0] if len(values) == 1 else raw.ConcatV2(list(values), axis)


def _part(total: Any, begin: Any, size: Any, axis: int) -> Any:
    rank = total.shape.rank
    axis = axis % rank
    starts = raw.Pack([begin if i == axis else convert_to_tensor(0) for i in range(rank)])
    sizes = raw.Pack([size if i == axis else convert_to_tensor(-1) for i in range(rank)])
    return raw.Slice(total, starts, sizes)


def reduce_over(op: ReduceOp, value: Any, axis: int | None, device: str) -> Any:
    """Returns the sum or the mean over the replicas of a value and, if given, over an axis of each part.

    Args:
      op: which.
      value: a value with parts, or one that is the same for all.
      axis: the axis; None for none.
      device: where the result is computed.
    Raises: ValueError for the sum of a value without parts.
    """
    if not isinstance(value, DistributedValues):
        if op is ReduceOp.SUM and not hasattr(value, "_copies"):
            raise ValueError(f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {op}.")
        return convert_to_tensor(value) if axis is None else _over(op, value, axis)
    given = list(value._values)
    if axis is None:
        return combine(op, given, device)
    if op is ReduceOp.SUM:
        return combine(op, [_over(op, v, axis) for v in given], device)
    sums = combine(ReduceOp.SUM, [_over(ReduceOp.SUM, v, axis) for v in given], device)
    sizes = [raw.StridedSlice(raw.Shape(v), [axis], [axis + 1 or _END], [1], shrink_axis_mask=1) for v in given]
    count = combine(ReduceOp.SUM, sizes, device)
    with device_block(device):
        kind = _float64() if sums.dtype.is_integer else sums.dtype
        sums = raw.Cast(sums, DstT=kind) if sums.dtype is not kind else sums
        return raw.RealDiv(sums, raw.Cast(count, DstT=kind))


def _over(op: ReduceOp, value: Any, axis: int) -> Any:
    from graphgrad.ops.math.reduce_functions import reduce_mean, reduce_sum

    return (reduce_mean if op is ReduceOp.MEAN else reduce_sum)(value, axis)
