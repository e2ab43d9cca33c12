"""Ragged tensors as variants: whole, or one for each of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ANY, INDEX, as_dtype, int64, string
from graphgrad.ir.opdef import op, raw

_HOST = ("host",)


class RaggedRows:
    """The value of such a variant: the splits of rows, and the values.

    Attributes:
      splits: for each ragged axis the row splits, the outermost first.
      values: the flat values.
    """

    __slots__ = ("splits", "values")

    shape, ndim, dtype = (), 0, np.dtype(object)  # of the tensor that holds it

    def __init__(self, splits: Any, values: Any):
        self.splits, self.values = list(splits), values

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def __add__(self, other: Any) -> RaggedRows:
        """Adds values with the same rows: gradients are summed."""
        return RaggedRows(self.splits, self.values + other.values)


def _components(encoded: Any) -> list[RaggedRows]:
    return list(np.asarray(encoded, object).reshape(-1))


def _array(components: list[Any], shape: Any) -> Any:
    if not shape:
        return components[0]
    out = np.empty(len(components), object)
    out[:] = components
    return out.reshape(shape)


def _parted(splits: Any, values: Any) -> list[RaggedRows]:
    """Splits a ragged tensor into its rows, each with its own splits."""
    if not splits:
        return [RaggedRows([], v) for v in values]
    found = []
    for a, b in zip(splits[0][:-1], splits[0][1:], strict=True):
        own = []
        for inner in splits[1:]:
            part = inner[a : b + 1]
            own.append(part - part[0])
            a, b = part[0], part[-1]
        found.append(RaggedRows(own, values[a:b]))
    return found


@op("RaggedTensorToVariant", "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: Tvalues -> "
    "encoded_ragged: variant", Tvalues=ANY, Tsplits=INDEX, flags=_HOST)
def to_variant_op(xp, splits, values, *, batched_input, Tsplits=int64):
    """Wraps a ragged tensor as one variant, or its rows as a vector of variants."""
    if not batched_input:
        return RaggedRows(splits, values)
    rows = _parted(splits, values)
    return _array(rows, (len(rows),))


@to_variant_op.shape
def _to_variant_shape(splits, values, batched_input):
    if not batched_input:
        return ()
    if splits:
        return (None,) if not splits[0] or splits[0][0] is None else (splits[0][0] - 1,)
    if values == ():
        raise Complaint("Can't unbatch rank-0 tensor.", "give values of rank 1 or more")
    return (None,) if values is None else values[:1]


@to_variant_op.grad
def _to_variant_grad(op, d_encoded):
    *splits, values = op.inputs
    first = splits[0] if splits else np.zeros((), np.int64)
    d_values = raw.RaggedTensorToVariantGradient(d_encoded, first, raw.Shape(values), Tvalues=values.dtype)
    return [*[None] * len(splits), d_values]


@op("RaggedTensorToVariantGradient", "encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32 -> "
    "dense_values_grad: Tvalues", Tvalues=ANY, Tsplits=INDEX, flags=_HOST, peek=("dense_values_shape",))
def to_variant_grad_op(xp, encoded, row_splits, shape, *, Tvalues):
    """Concatenates the values of variants."""
    values = [np.asarray(c.values, Tvalues.np_dtype) for c in _components(encoded)]
    return np.concatenate([v.reshape(-1) for v in values] or [np.zeros(0, Tvalues.np_dtype)]).reshape(shape)


@to_variant_grad_op.shape
def _to_variant_grad_shape(encoded, row_splits, shape):
    return shape


@to_variant_grad_op.grad
def _to_variant_grad_grad(op, dy):
    return raw.RaggedVariantLike(op.inputs[0], dy), None, None


@op("RaggedVariantLike", "encoded: variant, values: T -> like: variant", T=ANY, flags=_HOST)
def variant_like_op(xp, encoded, values):
    """Makes variants with the rows of others and other values."""
    found, at = [], 0
    flat = values.reshape(-1)
    for c in _components(encoded):
        n = int(np.size(c.values))
        found.append(RaggedRows(c.splits, flat[at : at + n].reshape(np.shape(c.values))))
        at += n
    return _array(found, np.shape(np.asarray(encoded, object)))


@variant_like_op.shape
def _variant_like_shape(encoded, values):
    return encoded


@variant_like_op.grad
def _variant_like_grad(op, d_like):
    values = op.inputs[1]
    zero = np.zeros((), np.int64)
    return None, raw.RaggedTensorToVariantGradient(d_like, zero, raw.Shape(values), Tvalues=values.dtype)


@op("RaggedTensorFromVariant", "encoded_ragged: variant -> output_nested_splits: output_ragged_rank*Tsplits, "
    "output_dense_values: Tvalues", Tvalues=ANY, Tsplits=INDEX, flags=_HOST)
def from_variant_op(xp, encoded, *, input_ragged_rank, output_ragged_rank, Tvalues, Tsplits=int64):
    """Assembles a ragged tensor from variants that are its rows."""
    components, shape = _components(encoded), np.shape(np.asarray(encoded, object))
    own = output_ragged_rank - len(shape) if input_ragged_rank == -1 else input_ragged_rank
    if own < 0 or output_ragged_rank != own + len(shape):
        raise Complaint("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                        f"output_ragged_rank: {output_ragged_rank}, input_ragged_rank: {own}, encoded_ragged.dims(): "
                        f"{len(shape)}", f"output_ragged_rank={max(own, 0) + len(shape)}")
    for c in components:
        kind = string if c.values.dtype == object else as_dtype(c.values.dtype)
        if kind is not Tvalues:
            raise Complaint(f"Expected values Tensor dtype: {Tvalues.name}, found: {kind.name}", f"Tvalues={kind!r}")
        if len(c.splits) != own:
            raise Complaint(f"Encoded input RaggedTensorVariant has ragged_rank={len(c.splits)}.  Expected "
                            f"ragged_rank={own}.", f"input_ragged_rank={len(c.splits)}")
    splits: list[Any] = [np.arange(int(np.prod(shape[:i])) + 1) * shape[i] for i in range(1, len(shape))]
    if shape:
        splits.append(np.cumsum([0, *(c.nrows for c in components)]))
    for level in range(own):
        steps = [np.diff(c.splits[level]) for c in components]
        splits.append(np.cumsum(np.concatenate([[0], *steps])))
    values = np.concatenate([c.values for c in components]) if components else np.zeros(0, Tvalues.np_dtype)
    return [s.astype(Tsplits.np_dtype) for s in splits], values if shape else components[0].values


@from_variant_op.shape
def _from_variant_shape(encoded, output_ragged_rank):
    return [*[(None,)] * output_ragged_rank, None]


@from_variant_op.grad
def _from_variant_grad(op, *grads):
    (encoded,), splits, dy = op.inputs, op.outputs[:-1], grads[-1]
    rank = None if encoded._spec.shape is None else len(encoded._spec.shape)
    if rank in (0, 1):
        return raw.RaggedTensorToVariant(list(splits), dy, batched_input=bool(rank))
    return raw.RaggedVariantLike(encoded, dy)
