"""Histograms of fixed width, joined strings by segment, fingerprints: small operations on the host and beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.extras.strings.hashing import fingerprint as _hash
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import ANY, INDEX, as_dtype, float32, float64, int32, int64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.common.rank_limits import limit_ranks


def _bins(xp, values, value_range, nbins):
    low, high = value_range[0], value_range[1]
    width = (high - low) / xp.asarray(nbins, value_range.dtype)
    found = xp.floor((values - low) / width).astype(np.int64)
    return xp.clip(found, 0, nbins - 1)


@op("HistogramFixedWidth", "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=frozenset({int32, int64, float32, float64}), host=("nbins",))
def histogram_fixed_width_op(xp, values, value_range, nbins, *, dtype=int32):
    """How many values lie in each of some intervals of one width; those outside count at the ends."""
    n = int(nbins)
    if n <= 0:
        raise Complaint(f"nbins should be a positive number, but got '{n}'", "give a positive number")
    kind = np.float64
    at = _bins(xp, values.reshape(-1).astype(kind), value_range.astype(kind), n)
    if xp is np:
        return np.bincount(at, minlength=n).astype(dtype.np_dtype)
    return xp.zeros(n, dtype.np_dtype).at[at].add(1)


@histogram_fixed_width_op.shape
def _histogram_shape(values, value_range, nbins):
    return (nbins,)


@op("UnsortedSegmentJoin", "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    Tindices=INDEX, Tnumsegments=INDEX, flags=("host",), peek=("num_segments",))
def unsorted_segment_join_op(xp, inputs, segment_ids, num_segments, *, separator=""):
    """The strings of each segment, joined."""
    n = int(num_segments)
    ids = segment_ids.reshape(-1)
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        raise Complaint("segment_ids are not allowed to exceed num_segments or to have negative values.",
                        "give ids in [0, num_segments)")
    rest = inputs.shape[segment_ids.ndim :]
    rows = inputs.reshape((len(ids), -1)).tolist() if inputs.size else []
    width = int(np.prod(rest))
    found: dict[int, list[list[bytes]]] = {}
    for i, row in zip(ids.tolist(), rows, strict=False):
        columns = found.setdefault(i, [[] for _ in range(width)])
        for column, text in enumerate(row):
            columns[column].append(text)
    out = np.full((n, width), b"", object)
    for i, columns in found.items():
        out[i] = [separator.encode().join(c) for c in columns]
    return out.reshape((n, *rest))


@unsorted_segment_join_op.shape
def _unsorted_segment_join_shape(inputs, segment_ids, num_segments):
    if inputs is None or segment_ids is None:
        return None
    return (num_segments if isinstance(num_segments, int) else None, *inputs[len(segment_ids) :])


@op("Fingerprint", "data: T, method: string -> fingerprint: uint8", T=ANY, flags=("host",))
def fingerprint_op(xp, data, method):
    """FarmHash's fingerprint of each row, as eight bytes."""
    if np.asarray(method).item() != b"farmhash64":
        raise Complaint(f"Unsupported fingerprint method: {np.asarray(method).item()!r}", "method='farmhash64'")
    if data.ndim < 1:
        raise Complaint("`data` should have at least one dimension.", "tf.expand_dims(data, 0)")
    rows = []
    for row in data:
        if data.dtype != object:
            text = np.ascontiguousarray(row).tobytes()
        elif data.ndim == 1:
            text = row
        else:  # a fingerprint of the fingerprints of a row's strings
            text = b"".join(_hash(s).to_bytes(8, "little") for s in row.reshape(-1).tolist())
        rows.append(np.frombuffer(_hash(text).to_bytes(8, "little"), np.uint8))
    return np.stack(rows) if rows else np.zeros((0, 8), np.uint8)


@fingerprint_op.shape
def _fingerprint_shape(data, method):
    return (None if data is None else data[0], 8)


for _record in (histogram_fixed_width_op, unsorted_segment_join_op, fingerprint_op):
    _record.grad(NOT_DIFFERENTIABLE)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32,
                          name: str | None = None) -> Any:
    """How many values lie in each of some intervals of one width; those outside count at the ends.

    Args:
      values: numbers of any shape.
      value_range: (2,), where the first interval begins and the last one ends; dtype of `values`.
      nbins: how many intervals.
      dtype: int32 or int64.
      name: a name for the operation.
    Returns: (nbins,).
    Raises: InvalidArgumentError if there are no intervals.
    Gradient: none.
    Reference: TensorFlow 2.21 HistogramFixedWidth.

    >>> sess.run(tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5))
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    values = convert_to_tensor(values, name="values")
    value_range = convert_to_tensor(value_range, values.dtype, name="value_range")
    return raw.HistogramFixedWidth(values, value_range, nbins, dtype=as_dtype(dtype), name=name)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32,
                               name: str | None = None) -> Any:
    """The interval in which each value lies; see `histogram_fixed_width`.

    Args:
      values, value_range, nbins, name: as for `histogram_fixed_width`.
      dtype: int32 or int64.
    Returns: the shape of `values`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.histogram_fixed_width_bins`.

    >>> sess.run(tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5))
    array([0, 0, 1, 2, 4, 4], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width_bins"):
        values = convert_to_tensor(values, name="values")
        value_range = raw.Cast(convert_to_tensor(value_range, values.dtype, name="value_range"), DstT=float64)
        nbins = convert_to_tensor(nbins, int32, name="nbins")
        low, high = (raw.GatherV2(value_range, i, 0) for i in (0, 1))
        scaled = raw.RealDiv(raw.Sub(raw.Cast(values, DstT=float64), low), raw.Sub(high, low))
        places = raw.Cast(raw.Floor(raw.Mul(scaled, raw.Cast(nbins, DstT=float64))), DstT=int32)
        places = raw.Minimum(raw.Maximum(places, 0), raw.Sub(nbins, 1))
        return raw.Cast(places, DstT=as_dtype(dtype))


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Any:
    """Joins the strings of each segment.

    Args:
      inputs: strings.
      segment_ids: int32 or int64, a leading part of the shape of `inputs`: the segment of each.
      num_segments: how many segments there are.
      separator: what stands between joined strings.
      name: a name for the operation.
    Returns: (num_segments, ...), strings.
    Raises: InvalidArgumentError for an id outside of [0, num_segments).
    Gradient: none.
    Reference: TensorFlow 2.21 UnsortedSegmentJoin.

    >>> sess.run(tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 2, 0], 3, separator=":"))
    array([b'a:c', b'', b'b'], dtype=object)
    """
    return raw.UnsortedSegmentJoin(convert_to_tensor(inputs, string), segment_ids, num_segments, separator=separator,
                                   name=name)


def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Any:
    """A fingerprint of each row of a tensor.

    Args:
      data: (n, ...), any dtype.
      method: "farmhash64".
      name: a name for the operation.
    Returns: (n, 8), uint8.
    Raises: InvalidArgumentError for another method, or a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 Fingerprint.

    >>> sess.run(tf.fingerprint(["abc"]))
    array([[105, 243, 231, 116, 160, 179, 165,  36]], dtype=uint8)
    """
    return raw.Fingerprint(data, method, name=name)


limit_ranks(scalars="HistogramFixedWidth.nbins")
