"""Segment reductions: over rows that share an id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, NUMERIC, REAL, int16, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import merged
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.dependence import added_to, numbers
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.row_sums import LARGE, sums_by_row
from graphgrad.system.late_imports import load

from .division import truediv
from .reduce import truncated_mean, wide

# -- sorted ids: the last id gives the number of rows ----------------------------------

_UFUNC = {"Sum": np.add, "Mean": np.add, "Prod": np.multiply, "Max": np.maximum, "Min": np.minimum}


def _sorted_shape(data, segment_ids):
    if segment_ids is not None and len(segment_ids) != 1:
        raise Complaint("segment_ids should be a vector", "tf.reshape(segment_ids, [-1])")
    if data is None:
        return None
    if not data:
        raise Complaint("data should have at least one dimension", "tf.expand_dims(data, 0)")
    merged(data[:1], segment_ids)
    return (None, *data[1:])


def _segment_elements(op, values, index):
    if values[1] is None:
        return None
    shape, ids = op.outputs[0]._spec.shape, values[1]
    if not shape[0]:
        return None
    inside = (ids >= 0) & (ids < shape[0])
    places = np.where(inside[..., None], numbers(shape).reshape(shape[0], -1)[np.where(inside, ids, 0)], -1)
    return [added_to(shape, places), *[None] * (len(op.inputs) - 1)]


def _declare_sorted(kind, types, doc):
    """Declares SegmentSum and its like. The ids decide the shape, so they run on the host."""

    def kernel(xp, data, segment_ids):
        ids = np.asarray(segment_ids)
        if len(ids) != len(data):
            raise Complaint("segment_ids should be the same size as dimension 0 of input", "give one id a row")
        if len(ids) and (ids[0] < 0 or (ids[1:] < ids[:-1]).any()):
            raise Complaint("segment ids are not increasing or negative",
                            "sort them, or use tf.math.unsorted_segment_" + kind.lower())
        values = wide(np.asarray(data))
        rows = int(ids[-1]) + 1 if len(ids) else 0
        out = np.full((rows, *data.shape[1:]), kind == "Prod", values.dtype)
        if rows:
            if _UFUNC[kind] is np.add and values.size >= LARGE:
                out = sparse_sums(values, ids, rows)
            else:
                begins = np.ones(len(ids), np.bool_)
                np.not_equal(ids[1:], ids[:-1], out=begins[1:])
                (starts,) = begins.nonzero()
                out[ids[starts]] = _UFUNC[kind].reduceat(values, starts, axis=0)
            if kind == "Mean":
                sizes = np.maximum(np.bincount(ids, minlength=rows), 1).astype(values.dtype)
                sizes = sizes.reshape((-1,) + (1,) * (data.ndim - 1))
                out = truncated_mean(np, out, sizes) if values.dtype.kind in "iu" else out / sizes
        return out.astype(data.dtype, copy=False)

    kernel.__doc__ = doc
    return op(f"Segment{kind}", "data: T, segment_ids: Tindices -> output: T", T=types, Tindices=INDEX,
              flags=("host",), shape=_sorted_shape, linear=Linear.JOINTLY if kind in ("Sum", "Mean") else None)(kernel)




def sparse_sums(values, ids, rows, picked=None):
    """Sums rows by sorted ids, as a product with a sparse matrix of ones: a tenth of the time of `reduceat`.

    Args:
      values: (n, *D), single or double precision, complex or integer.
      ids: (count,), sorted.
      rows: the number of sums.
      picked: (count,), which row of the values each id is for; all in order by default.
    """
    sparse = load("scipy.sparse")

    count = len(ids)
    index = np.int32 if max(count, len(values)) < 2**31 else np.int64
    starts = np.searchsorted(ids, np.arange(rows + 1, dtype=ids.dtype)).astype(index)
    picked = np.arange(count, dtype=index) if picked is None else picked.astype(index)
    matrix = sparse.csr_array((np.ones(count, values.dtype), picked, starts), (rows, len(values)))
    return (matrix @ values.reshape(len(values), -1)).reshape(rows, *values.shape[1:])


_segment_sum = _declare_sorted("Sum", NUMERIC, "Computes the sum of each segment; 0 for an empty one.")
_segment_mean = _declare_sorted("Mean", NUMERIC, "Computes the mean of each segment; 0 for an empty one.")
_segment_prod = _declare_sorted("Prod", NUMERIC, "Computes the product of each segment; 1 for an empty one.")
_segment_max = _declare_sorted("Max", REAL, "Computes the maximum of each segment; 0 for an empty one.")
_segment_min = _declare_sorted("Min", REAL, "Computes the minimum of each segment; 0 for an empty one.")


@_segment_sum.grad
def _segment_sum_grad(op, dy):
    return raw.GatherV2(dy, op.inputs[1], 0), None


@_segment_mean.grad
def _segment_mean_grad(op, dy):
    data, ids = op.inputs
    sizes = raw.SegmentSum(_ones_by_row(data, ids, dy.dtype), ids)
    return raw.GatherV2(raw.DivNoNan(dy, sizes), ids, 0), None


def _ones_by_row(data, ids, dtype):
    """Returns a 1 for each id, of a shape that broadcasts against the data."""
    rank = data._spec.shape and len(data._spec.shape)
    one = dtype.np_dtype.type(1)
    if rank is not None:
        return raw.Reshape(raw.Fill(raw.Shape(ids), one), [-1] + [1] * (rank - 1))
    tail = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(data), 1), 0), np.int32(1))
    return raw.Fill(raw.ConcatV2([raw.Shape(ids), tail], 0), one)


@_segment_max.grad
def _segment_max_grad(op, dy):
    """Divides dy in equal shares among the elements that attain the extremum of their segment."""
    data, ids = op.inputs
    chosen = raw.Cast(raw.Equal(data, raw.GatherV2(op.outputs[0], ids, 0)), DstT=dy.dtype)
    shares = raw.DivNoNan(dy, raw.SegmentSum(chosen, ids))
    return raw.Mul(chosen, raw.GatherV2(shares, ids, 0)), None


_segment_min.grad(_segment_max_grad)


@_segment_prod.grad
def _segment_prod_grad(op, dy):
    """Computes dy times the product of the other elements of the segment, also where one of them is zero."""
    data, ids = conj(op.inputs[0]), op.inputs[1]
    is_zero = raw.Equal(data, 0)
    zeros = raw.SegmentSum(raw.Cast(is_zero, DstT=int32), ids)
    dy = raw.SelectV2(raw.Greater(zeros, 1), 0, dy)
    nonzero = raw.SelectV2(is_zero, 1, data)
    without = raw.GatherV2(raw.SegmentProd(nonzero, ids), ids, 0)
    divided = raw.RealDiv(raw.GatherV2(conj(op.outputs[0]), ids, 0), nonzero)
    return raw.Mul(raw.GatherV2(dy, ids, 0), raw.SelectV2(is_zero, without, divided)), None


# -- ids in any order: the caller gives the number of rows -----------------------------


def _unsorted_shape(data, segment_ids, num_segments):
    if data is None or segment_ids is None:
        return None
    n = len(segment_ids)
    if len(data) < n:
        raise Complaint("data.shape must start with segment_ids.shape", "give one id for each row of data")
    merged(data[:n], segment_ids)
    return (num_segments, *data[n:])


def _lowest(dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else _finfo(dtype).min


def _highest(dtype):
    return np.iinfo(dtype).max if dtype.kind in "iu" else _finfo(dtype).max


def _finfo(dtype):
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def _declare_unsorted(kind, types, start, doc):
    """Declares UnsortedSegmentSum and its like; `start` gives the value of an empty segment."""
    method = {"Sum": "add", "Prod": "multiply", "Max": "max", "Min": "min"}[kind]

    def kernel(xp, data, segment_ids, num_segments):
        if data.shape[: segment_ids.ndim] != segment_ids.shape:
            raise Complaint("data.shape must start with segment_ids.shape", "give one id for each row of data")
        n, ids = int(num_segments), segment_ids.reshape(-1)
        rows = data.reshape((ids.size, *data.shape[segment_ids.ndim :]))
        rows, dtype = wide(rows), data.dtype
        out = xp.full((n, *rows.shape[1:]), start(np.dtype(dtype)), rows.dtype)
        if xp is not np:
            where = xp.where(ids < 0, n, ids)  # out of range, and dropped
            return getattr(out.at[where], method)(rows, mode="drop").astype(dtype)
        if ids.size and ids.max() >= n:
            where = int(np.argmax(ids >= n))
            raise Complaint(f"segment_ids[{where}] = {ids[where]} is out of range [0, {n})", "raise num_segments")
        kept = ids >= 0
        if not kept.all():
            rows, ids = rows[kept], ids[kept]
        if kind == "Sum" and rows.size >= LARGE and rows.ndim > 1 and rows.dtype.kind in "fc":
            return sums_by_row(rows, ids, n).astype(dtype, copy=False)
        _UFUNC[kind].at(out, ids, rows)
        return out.astype(dtype, copy=False)

    kernel.__doc__ = doc
    record = op(f"UnsortedSegment{kind}", "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
                T=types, Tindices=INDEX | {int16}, Tnumsegments=INDEX, host=("num_segments",),
                shape=_unsorted_shape, eager_seconds=9e-10 if kind == "Sum" else 0.0,
                linear=Linear.JOINTLY if kind == "Sum" else None)(kernel)
    record.dependences(_segment_elements)
    record.refuses("segment_ids")(_unsorted_refuses)
    return record


def _unsorted_refuses(xp, data, segment_ids, num_segments):
    return [segment_ids >= int(num_segments)]


def _zero(dtype):
    return 0


def _one(dtype):
    return 1


_unsorted_sum = _declare_unsorted("Sum", NUMERIC, _zero, "Computes sums of rows by id; ignores negative ids.")
_unsorted_prod = _declare_unsorted("Prod", NUMERIC, _one, "Computes products of rows by id; ignores negative ids.")
_unsorted_max = _declare_unsorted("Max", REAL, _lowest, "Computes maxima of rows by id; ignores negative ids.")
_unsorted_min = _declare_unsorted("Min", REAL, _highest, "Computes minima of rows by id; ignores negative ids.")


@_unsorted_sum.grad
def _unsorted_sum_grad(op, dy):
    return _gather_kept(dy, op.inputs[1]), None, None


def _gather_kept(t, ids):
    """Gathers rows of `t` by id; zeros where the id is negative."""
    rows = raw.GatherV2(t, raw.Maximum(ids, 0), 0)
    return raw.SelectV2(_kept(ids, rows), rows, 0)


def _kept(ids, rows):
    """Returns whether the id of a row counts, of a shape that broadcasts against the rows."""
    kept = raw.GreaterEqual(ids, 0)
    ids_shape, rows_shape = ids._spec.shape, rows._spec.shape
    if ids_shape is not None and rows_shape is not None:
        for _ in range(len(rows_shape) - len(ids_shape)):
            kept = raw.ExpandDims(kept, -1)
        return kept
    ones = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(rows), raw.Rank(ids)), 0), np.int32(1))
    return raw.Reshape(kept, raw.ConcatV2([raw.Shape(ids), ones], 0))


@_unsorted_max.grad
def _unsorted_max_grad(op, dy):
    """Divides dy in equal shares among the elements that attain the extremum of their segment."""
    data, ids, n = op.inputs
    top = raw.GatherV2(op.outputs[0], raw.Maximum(ids, 0), 0)
    chosen = raw.Cast(raw.LogicalAnd(raw.Equal(data, top), _kept(ids, top)), DstT=dy.dtype)
    shares = raw.DivNoNan(dy, raw.UnsortedSegmentSum(chosen, ids, n))
    return raw.Mul(chosen, _gather_kept(shares, ids)), None, None


_unsorted_min.grad(_unsorted_max_grad)


@_unsorted_prod.grad
def _unsorted_prod_grad(op, dy):
    """Computes dy times the product of the other elements of the segment, also where one of them is zero."""
    data, (ids, n) = conj(op.inputs[0]), op.inputs[1:]
    rows = raw.Maximum(ids, 0)
    is_zero = raw.Equal(data, 0)
    zeros = raw.UnsortedSegmentSum(raw.Cast(is_zero, DstT=int32), ids, n)
    dy = raw.SelectV2(raw.Greater(zeros, 1), 0, dy)
    nonzero = raw.SelectV2(is_zero, 1, data)
    without = raw.GatherV2(raw.UnsortedSegmentProd(nonzero, ids, n), rows, 0)
    divided = raw.RealDiv(raw.GatherV2(conj(op.outputs[0]), rows, 0), nonzero)
    return raw.Mul(_gather_kept(dy, ids), raw.SelectV2(is_zero, without, divided)), None, None


# -- functions ---------------------------------------------------------------------


def _sorted_function(record, what, empty, gradient, example) -> Callable[..., Tensor]:
    """Returns the public function of a SegmentX op."""

    def segment(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
        return record(data, segment_ids, name=name)

    title = record.name.removeprefix("Segment").lower()
    segment.__name__ = segment.__qualname__ = f"segment_{title}"
    segment.__doc__ = f"""Computes the {what} of the rows of each segment.

    Args:
      data: (n, *D), a numeric tensor.
      segment_ids: (n,), int32 or int64, sorted, not negative; rows with one id form a segment.
      name: a name for the operation.
    Returns: (last id + 1, *D); {empty} for an id that does not occur.
    Raises: ValueError for shapes that do not fit; InvalidArgumentError at run time if ids decrease.
    Gradient: {gradient}; None for the ids.
    Reference: TensorFlow 2.21 {record.name}.

    >>> sess.run(tf.math.segment_{title}([[1.0], [3.0], [6.0]], [0, 0, 1]))
    array([[{example}],
           [6.]], dtype=float32)
    """
    return segment


_BY_ROW = "dy, gathered by id"
_SHARED = "dy in equal shares for the elements that attain it"
_OTHERS = "dy times the product of the segment's other elements"
segment_sum = _sorted_function(raw.SegmentSum, "sum", "0", _BY_ROW, "4.")
segment_mean = _sorted_function(raw.SegmentMean, "mean", "0", "dy / size of the segment, gathered by id", "2.")
segment_prod = _sorted_function(raw.SegmentProd, "product", "1", _OTHERS, "3.")
segment_max = _sorted_function(raw.SegmentMax, "maximum", "0", _SHARED, "3.")
segment_min = _sorted_function(raw.SegmentMin, "minimum", "0", _SHARED, "1.")


def _unsorted_function(record, what, empty, gradient, example) -> Callable[..., Tensor]:
    """Returns the public function of an UnsortedSegmentX op."""

    def segment(data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None) -> Tensor:
        return record(data, segment_ids, num_segments, name=name)

    title = record.name.removeprefix("UnsortedSegment").lower()
    segment.__name__ = segment.__qualname__ = f"unsorted_segment_{title}"
    segment.__doc__ = f"""Computes the {what} of the rows that share an id.

    Args:
      data: (*I, *D), a numeric tensor.
      segment_ids: (*I), int32 or int64, below `num_segments`; rows with a negative id are left out.
      num_segments: the number of segments, an integer scalar.
      name: a name for the operation.
    Returns: (num_segments, *D); {empty} for an id that does not occur.
    Raises: ValueError for shapes that do not fit.
    Gradient: {gradient}; 0 where the id is negative; None for the ids.
    Reference: TensorFlow 2.21 {record.name}.

    >>> sess.run(tf.math.unsorted_segment_{title}([[1.0], [2.0], [6.0]], [0, 1, 0], 2))
    array([[{example}],
           [2.]], dtype=float32)
    """
    return segment


unsorted_segment_sum = _unsorted_function(raw.UnsortedSegmentSum, "sum", "0", _BY_ROW, "7.")
unsorted_segment_prod = _unsorted_function(raw.UnsortedSegmentProd, "product", "1", _OTHERS, "6.")
unsorted_segment_max = _unsorted_function(raw.UnsortedSegmentMax, "maximum", "the lowest value", _SHARED, "6.")
unsorted_segment_min = _unsorted_function(raw.UnsortedSegmentMin, "minimum", "the highest value", _SHARED, "1.")


def _sizes(data, segment_ids, num_segments):
    """Returns the size of each segment, at least 1, of a shape that broadcasts against the sums."""
    ones = raw.Fill(raw.Shape(segment_ids), data.dtype.np_dtype.type(1))
    sizes = raw.Maximum(raw.UnsortedSegmentSum(ones, segment_ids, num_segments), 1)
    data_shape, ids_shape = data._spec.shape, segment_ids._spec.shape
    if data_shape is not None and ids_shape is not None:
        return raw.Reshape(sizes, [-1] + [1] * (len(data_shape) - len(ids_shape)))
    tail = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(data), raw.Rank(segment_ids)), 0), np.int32(1))
    return raw.Reshape(sizes, raw.ConcatV2([[-1], tail], 0))


def unsorted_segment_mean(data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike,
                          name: str | None = None) -> Tensor:
    """Computes the mean of the rows that share an id.

    Args:
      data: (*I, *D), a numeric tensor; integers are divided as floats.
      segment_ids: (*I), int32 or int64, below `num_segments`; rows with a negative id are ignored.
      num_segments: the number of segments, an integer scalar.
      name: a name for the operations.
    Returns: (num_segments, *D); 0 for an id that does not occur.
    Raises: ValueError for incompatible shapes.
    Gradient: dy / size of the segment, gathered by id.
    Reference: TensorFlow 2.21 `tf.math.unsorted_segment_mean`.

    >>> sess.run(tf.math.unsorted_segment_mean([1.0, 2.0, 6.0], [0, 1, 0], 2))
    array([3.5, 2. ], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        total = raw.UnsortedSegmentSum(data, segment_ids, num_segments)
        return truediv(total, _sizes(data, segment_ids, num_segments))


def unsorted_segment_sqrt_n(data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike,
                            name: str | None = None) -> Tensor:
    """Computes the sum of the rows that share an id, divided by the root of their number.

    Args:
      data: (*I, *D), a float or complex tensor.
      segment_ids: (*I), int32 or int64, below `num_segments`; rows with a negative id are ignored.
      num_segments: the number of segments, an integer scalar.
      name: a name for the operations.
    Returns: (num_segments, *D); 0 for an id that does not occur.
    Raises: ValueError for incompatible shapes.
    Gradient: dy / sqrt(size of the segment), gathered by id.
    Reference: TensorFlow 2.21 `tf.math.unsorted_segment_sqrt_n`.

    >>> sess.run(tf.math.unsorted_segment_sqrt_n([1.0, 3.0, 1.0, 1.0, 1.0], [0, 1, 0, 0, 0], 2))
    array([2., 3.], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        total = raw.UnsortedSegmentSum(data, segment_ids, num_segments)
        return raw.RealDiv(total, raw.Sqrt(_sizes(data, segment_ids, num_segments)), name="truediv")


limit_ranks(
    scalars="""
        UnsortedSegmentMax.num_segments UnsortedSegmentMin.num_segments UnsortedSegmentProd.num_segments
        UnsortedSegmentSum.num_segments""",
)
