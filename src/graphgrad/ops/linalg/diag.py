"""Diagonals and bands of matrices."""

from __future__ import annotations

import functools

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import INDEX, NUMERIC
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import compatible, merged, shape_str, with_rank_at_least
from graphgrad.op_traits import Linear
from graphgrad.ops.common.host_arrays import BITS
from graphgrad.ops.common.rank_limits import limit_ranks

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(k):
    """Returns the lowest and the highest diagonal of `k`: an int, or one or two ints."""
    low, high = (k, k) if not isinstance(k, tuple) else (k[0], k[-1])
    if low is not None and high is not None and low > high:
        raise Complaint(f"lower_diag_index {low} must not be larger than upper_diag_index {high}", "swap the two")
    return low, high


def _length(rows, cols, d):
    """Returns the length of diagonal `d`."""
    return min(rows + min(d, 0), cols - max(d, 0))


def _check_band(low, high, rows, cols):
    for d in (low, high):
        if not (-rows < d < cols or d == 0):
            raise Complaint(f"diagonal {d} is not in ({-rows}, {cols}), those of a {rows} x {cols} matrix",
                            "give a diagonal that crosses the matrix")


def _packed_shape(rows, cols, low, high):
    """Returns the shape in which the diagonals of a band are packed, without the batch axes."""
    longest = min(rows + min(high, 0), cols - max(low, 0))
    return (longest,) if low == high else (high - low + 1, longest)


def _check_align(align):
    if align not in _ALIGNMENTS:
        raise Complaint(f"align {align!r} is not one of {', '.join(_ALIGNMENTS)}", "give one of these")


def _starts(rows, cols, low, high, align):
    """Returns, for each diagonal from the highest to the lowest, where it begins in its packed row."""
    _check_align(align)
    longest = _packed_shape(rows, cols, low, high)[-1]
    upper, lower = align.split("_")
    starts = []
    for d in range(high, low - 1, -1):
        right = (upper if d >= 0 else lower) == "RIGHT"
        starts.append(longest - _length(rows, cols, d) if right else 0)
    return longest, starts


def _to_packed(rows, cols, low, high, align):
    """Returns, for each element of the matrix, its index among the flattened packed diagonals, or -1."""
    longest, starts = _starts(rows, cols, low, high, align)
    r, c = np.indices((rows, cols))
    d = c - r
    inside = (low <= d) & (d <= high)
    row = np.clip(high - d, 0, high - low)
    place = np.minimum(r, c) + np.array(starts)[row]
    return np.where(inside, row * longest + place, -1)


def _to_matrix(rows, cols, low, high, align):
    """Returns, for each position of the packed diagonals, its index in the flattened matrix, or -1."""
    longest, starts = _starts(rows, cols, low, high, align)
    d = np.arange(high, low - 1, -1)[:, None]
    place = np.arange(longest) - np.array(starts)[:, None]
    lengths = np.minimum(rows + np.minimum(d, 0), cols - np.maximum(d, 0))
    r, c = place + np.maximum(-d, 0), place + np.maximum(d, 0)
    index = np.where((place >= 0) & (place < lengths), r * cols + c, -1)
    return index[0] if low == high else index


def _spread(xp, diagonal, background, rows, cols, low, high, align):
    """Puts the packed diagonals into `background` (a scalar or matrices)."""
    if xp is np and low == high:
        _check_align(align)
        return _with_diagonal(diagonal, background, rows, cols, low)
    index = _to_packed(rows, cols, low, high, align)
    if low == high:
        # One diagonal: its element is the same along a row (or a column), so that no gather is needed.
        n = diagonal.shape[-1]
        size = rows if low >= 0 else cols
        if size != n:
            diagonal = xp.concatenate([diagonal, xp.zeros((*diagonal.shape[:-1], size - n), diagonal.dtype)], -1)
        spread = diagonal[..., :, None] if low >= 0 else diagonal[..., None, :]
        return xp.where(index >= 0, spread, background)
    flat = xp.reshape(diagonal, (*diagonal.shape[:-2], -1))
    taken = xp.reshape(xp.take(flat, np.maximum(index, 0).ravel(), -1), (*flat.shape[:-1], rows, cols))
    return xp.where(index >= 0, taken, background)


def _with_diagonal(diagonal, background, rows, cols, d):
    """Returns NumPy matrices with one diagonal given, the others from `background`."""
    shape = (*diagonal.shape[:-1], rows, cols)
    if np.ndim(background) == 0 and diagonal.dtype != object and not background:
        result = np.zeros(shape, diagonal.dtype)
    else:
        result = np.array(np.broadcast_to(background, shape), diagonal.dtype, order="C")
    n, start = _length(rows, cols, d), max(d, 0) + max(-d, 0) * cols
    if n > 0:
        flat = result.reshape(*shape[:-2], rows * cols)
        flat[..., start : start + (n - 1) * (cols + 1) + 1 : cols + 1] = diagonal[..., :n]
    return result


def _collect(xp, matrix, padding, low, high, align):
    rows, cols = matrix.shape[-2:]
    _check_band(low, high, rows, cols)
    index = _to_matrix(rows, cols, low, high, align)
    flat = xp.reshape(matrix, (*matrix.shape[:-2], rows * cols))
    taken = xp.reshape(xp.take(flat, np.maximum(index, 0).ravel(), -1), (*flat.shape[:-1], *index.shape))
    return taken if (index >= 0).all() else xp.where(index >= 0, taken, padding)


def _k_of(array):
    return tuple(array.reshape(-1).tolist())


# -- matrices from diagonals -------------------------------------------------------


def _matrix_size(n, low, high, rows, cols):
    """Returns the rows and columns of the matrix for diagonals of length n; -1 means to be inferred."""
    least_rows, least_cols = n - min(high, 0), n + max(low, 0)
    if rows == -1 and cols == -1:
        rows = cols = max(least_rows, least_cols)
    rows = least_rows if rows == -1 else rows
    cols = least_cols if cols == -1 else cols
    if rows < least_rows or cols < least_cols or (rows != least_rows and cols != least_cols):
        raise Complaint(f"a {rows} x {cols} matrix does not fit the diagonals, which need {least_rows} x {least_cols}",
                        "leave num_rows or num_cols out")
    return rows, cols


def _scalar(value):
    return value[0] if isinstance(value, tuple) else value


def _matrix_diag_shape(diagonal, k, num_rows, num_cols):
    if diagonal is None:
        return None
    low, high = _band(k) if k is not None else (None, None)
    if k is None or low is None or high is None:
        return None
    used = 1 if low == high else 2
    if len(diagonal) < used:
        raise Complaint(f"diagonal must have rank at least {used}", "give it more axes")
    if low != high and diagonal[-2] not in (None, high - low + 1):
        raise Complaint(f"diagonal has {diagonal[-2]} rows for the {high - low + 1} diagonals of k", "make them equal")
    num_rows, num_cols, n = _scalar(num_rows), _scalar(num_cols), diagonal[-1]
    if n is None or num_rows is None or num_cols is None:
        size = (None if num_rows in (-1, None) else num_rows, None if num_cols in (-1, None) else num_cols)
    else:
        size = _matrix_size(n, low, high, num_rows, num_cols)
    return diagonal[:-used] + size


def _matrix_diag_v2_shape(diagonal, k, num_rows, num_cols, padding_value):
    return _matrix_diag_shape(diagonal, k, num_rows, num_cols)


def _matrix_diag_v3_shape(diagonal, k, num_rows, num_cols, padding_value, align):
    _check_align(align)
    return _matrix_diag_shape(diagonal, k, num_rows, num_cols)


def _matrix_diag_kernel(xp, diagonal, k, num_rows, num_cols, padding, align):
    low, high = _band(_k_of(k))
    rows, cols = _matrix_size(diagonal.shape[-1], low, high, num_rows.item(), num_cols.item())
    return _spread(xp, diagonal, padding, rows, cols, low, high, align)


@op("MatrixDiagV3", "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    host=("k", "num_rows", "num_cols"), shape=_matrix_diag_v3_shape, linear=Linear.JOINTLY)
def matrix_diag_v3(xp, diagonal, k, num_rows, num_cols, padding_value, *, align="RIGHT_LEFT"):
    """Makes matrices with the given diagonals, `padding_value` elsewhere."""
    return _matrix_diag_kernel(xp, diagonal, k, num_rows, num_cols, padding_value, align)


@matrix_diag_v3.grad
def _matrix_diag_v3_grad(op, dy):
    zero = dy.dtype.np_dtype.type(0)
    diagonal = raw.MatrixDiagPartV3(dy, op.inputs[1], zero, align=op._attr("align"))
    return diagonal, None, None, None, None


@op("MatrixDiagV2", "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    host=("k", "num_rows", "num_cols"), shape=_matrix_diag_v2_shape, linear=Linear.JOINTLY)
def matrix_diag_v2(xp, diagonal, k, num_rows, num_cols, padding_value):
    """Does what MatrixDiagV3 does, with the diagonals aligned to the left."""
    return _matrix_diag_kernel(xp, diagonal, k, num_rows, num_cols, padding_value, "LEFT_LEFT")


@matrix_diag_v2.grad
def _matrix_diag_v2_grad(op, dy):
    return raw.MatrixDiagPartV2(dy, op.inputs[1], dy.dtype.np_dtype.type(0)), None, None, None, None


@op("MatrixDiag", "diagonal: T -> output: T", data_movement=True, linear=Linear.JOINTLY)
def matrix_diag_v1(xp, diagonal):
    """Makes square matrices with the given main diagonals, zero elsewhere."""
    n = diagonal.shape[-1]
    return _spread(xp, diagonal, np.zeros((), diagonal.dtype), n, n, 0, 0, "LEFT_LEFT")


@matrix_diag_v1.shape
def _matrix_diag_v1_shape(diagonal):
    shape = with_rank_at_least(diagonal, 1, "diagonal")
    return None if shape is None else shape + shape[-1:]


@matrix_diag_v1.grad
def _matrix_diag_v1_grad(op, dy):
    return raw.MatrixDiagPart(dy)


# -- diagonals of matrices ---------------------------------------------------------


def _matrix_diag_part_shape(x, k, padding_value):
    shape = with_rank_at_least(x, 2)
    low, high = _band(k) if k is not None else (None, None)
    if shape is None or low is None or high is None:
        return None
    rows, cols = shape[-2:]
    if rows is None or cols is None:
        return shape[:-2] + ((None,) if low == high else (high - low + 1, None))
    _check_band(low, high, rows, cols)
    return shape[:-2] + _packed_shape(rows, cols, low, high)


@op("MatrixDiagPartV3", "input: T, k: int32, padding_value: T -> diagonal: T", host=("k",),
    shape=_matrix_diag_part_shape, linear=Linear.JOINTLY)
def matrix_diag_part_v3(xp, x, k, padding_value, *, align="RIGHT_LEFT"):
    """Returns the diagonals of matrices, packed into rows of one length."""
    return _collect(xp, x, padding_value, *_band(_k_of(k)), align)


def _put_back(op, dy, make, put, **attrs):
    """Returns matrices like the input that are zero except for the diagonals `dy`."""
    x, k = op.inputs[:2]
    shape = x._spec.shape
    if shape is not None and None not in shape[-2:]:
        rows, cols = (np.int32(n) for n in shape[-2:])
        return make(dy, k, rows, cols, dy.dtype.np_dtype.type(0), **attrs), None, None
    return put(raw.ZerosLike(x), dy, k, **attrs), None, None


@matrix_diag_part_v3.grad
def _matrix_diag_part_v3_grad(op, dy):
    return _put_back(op, dy, raw.MatrixDiagV3, raw.MatrixSetDiagV3, align=op._attr("align"))


@op("MatrixDiagPartV2", "input: T, k: int32, padding_value: T -> diagonal: T", host=("k",),
    shape=_matrix_diag_part_shape, linear=Linear.JOINTLY)
def matrix_diag_part_v2(xp, x, k, padding_value):
    """Does what MatrixDiagPartV3 does, with the diagonals aligned to the left."""
    return _collect(xp, x, padding_value, *_band(_k_of(k)), "LEFT_LEFT")


@matrix_diag_part_v2.grad
def _matrix_diag_part_v2_grad(op, dy):
    return _put_back(op, dy, raw.MatrixDiagV2, raw.MatrixSetDiagV2)


@op("MatrixDiagPart", "input: T -> diagonal: T", data_movement=True, linear=Linear.JOINTLY)
def matrix_diag_part_v1(xp, x):
    """Returns the main diagonals of matrices."""
    return _collect(xp, x, None, 0, 0, "LEFT_LEFT")


@matrix_diag_part_v1.shape
def _matrix_diag_part_v1_shape(x):
    return _matrix_diag_part_shape(x, 0, ())


@matrix_diag_part_v1.grad
def _matrix_diag_part_v1_grad(op, dy):
    shape = op.inputs[0]._spec.shape
    if shape is not None and shape[-2] == shape[-1] is not None:
        return raw.MatrixDiag(dy)
    return raw.MatrixSetDiag(raw.ZerosLike(op.inputs[0]), dy)


# -- matrices with other diagonals -------------------------------------------------


def _set_diag_shape(x, diagonal, k):
    shape = with_rank_at_least(x, 2)
    low, high = _band(k) if k is not None else (None, None)
    if diagonal is None:
        return shape
    known = low is not None and high is not None
    if shape is None:
        single = len(diagonal) == 1 or (known and low == high)
        return (*diagonal[: -1 if single else -2], None, None) if known or single else None
    rows, cols = shape[-2:]
    if not known or rows is None or cols is None:
        return merged(shape[:-2], diagonal[: len(shape) - 2]) + shape[-2:]
    _check_band(low, high, rows, cols)
    wanted = shape[:-2] + _packed_shape(rows, cols, low, high)
    if not compatible(wanted, diagonal):
        raise Complaint(f"diagonal must have shape {shape_str(wanted)} but has {shape_str(diagonal)}",
                        "give one value for each element of the diagonals")
    return merged(shape[:-2], diagonal[: len(shape) - 2]) + shape[-2:]


def _set_diag_kernel(xp, x, diagonal, k, align):
    low, high = _band(k)
    _set_diag_shape(x.shape, diagonal.shape, k)
    return _spread(xp, diagonal, x, *x.shape[-2:], low, high, align)


@op("MatrixSetDiagV3", "input: T, diagonal: T, k: int32 -> output: T", host=("k",), shape=_set_diag_shape,
    linear=Linear.JOINTLY)
def matrix_set_diag_v3(xp, x, diagonal, k, *, align="RIGHT_LEFT"):
    """Replaces diagonals of the input."""
    return _set_diag_kernel(xp, x, diagonal, _k_of(k), align)


@matrix_set_diag_v3.grad
def _matrix_set_diag_v3_grad(op, dy):
    k, align = op.inputs[2], op._attr("align")
    taken = raw.MatrixDiagPartV3(dy, k, dy.dtype.np_dtype.type(0), align=align)
    return raw.MatrixSetDiagV3(dy, raw.ZerosLike(taken), k, align=align), taken, None


@op("MatrixSetDiagV2", "input: T, diagonal: T, k: int32 -> output: T", host=("k",), shape=_set_diag_shape,
    linear=Linear.JOINTLY)
def matrix_set_diag_v2(xp, x, diagonal, k):
    """Does what MatrixSetDiagV3 does, with the diagonals aligned to the left."""
    return _set_diag_kernel(xp, x, diagonal, _k_of(k), "LEFT_LEFT")


@matrix_set_diag_v2.grad
def _matrix_set_diag_v2_grad(op, dy):
    k = op.inputs[2]
    taken = raw.MatrixDiagPartV2(dy, k, dy.dtype.np_dtype.type(0))
    return raw.MatrixSetDiagV2(dy, raw.ZerosLike(taken), k), taken, None


@op("MatrixSetDiag", "input: T, diagonal: T -> output: T", linear=Linear.JOINTLY)
def matrix_set_diag_v1(xp, x, diagonal):
    """Replaces the main diagonals of the input."""
    return _set_diag_kernel(xp, x, diagonal, (0,), "LEFT_LEFT")


@matrix_set_diag_v1.shape
def _matrix_set_diag_v1_shape(x, diagonal):
    return _set_diag_shape(x, diagonal, 0)


@matrix_set_diag_v1.grad
def _matrix_set_diag_v1_grad(op, dy):
    taken = raw.MatrixDiagPart(dy)
    return raw.MatrixSetDiag(dy, raw.ZerosLike(taken)), taken


# -- bands -------------------------------------------------------------------------


@op("MatrixBandPart", "input: T, num_lower: Tindex, num_upper: Tindex -> band: T", Tindex=INDEX, data_movement=True,
    linear=Linear.JOINTLY)
def matrix_band_part_op(xp, x, num_lower, num_upper):
    """Sets the input to zero outside of a band around the main diagonal."""
    rows, cols = x.shape[-2:]
    for name, n, size in (("num_lower", num_lower, rows), ("num_upper", num_upper, cols)):
        if isinstance(n, np.ndarray) and n > size:
            raise Complaint(f"{name} must be negative or less or equal to {size}, got: {n}",
                            "give -1 for all diagonals")
    if xp is np and cols >= _WIDE:
        return _band_of_rows(x, int(num_lower), int(num_upper))
    known = xp is np and rows * cols <= _KEPT
    inside = _kept_inside(rows, cols, int(num_lower), int(num_upper)) if known else _inside_band(
        rows, cols, num_lower, num_upper)
    return xp.where(inside, x, np.zeros((), x.dtype))


def _inside_band(rows, cols, num_lower, num_upper):
    below = np.arange(rows)[:, None] - np.arange(cols)  # how far below the diagonal
    return ((num_lower < 0) | (below <= num_lower)) & ((num_upper < 0) | (-below <= num_upper))


_kept_inside = functools.lru_cache(64)(_inside_band)
_KEPT = 1 << 12  # elements up to which bands are kept


_WIDE = 64  # columns; then no mask of all elements is made


def _band_of_rows(x, num_lower, num_upper):
    """Does the same by the bits of the elements; the masks of all rows are parts of one array."""
    rows, cols = x.shape[-2:]
    integer = BITS.get(x.itemsize) if x.dtype.kind in "biuf" else None
    if integer is None:
        return np.where(_inside_band(rows, cols, num_lower, num_upper), x, np.zeros((), x.dtype))
    above = np.arange(-(rows - 1), cols)  # how far above the diagonal
    inside = ((num_lower < 0) | (-above <= num_lower)) & ((num_upper < 0) | (above <= num_upper))
    bits = np.negative(inside.view(np.int8), dtype=integer)
    masks = np.lib.stride_tricks.as_strided(bits[rows - 1 :], (rows, cols), (-bits.itemsize, bits.itemsize))
    return np.bitwise_and(x.view(integer), masks).view(x.dtype)


@matrix_band_part_op.shape
def _matrix_band_part_shape(x, num_lower, num_upper):
    if num_lower not in (None, ()) or num_upper not in (None, ()):
        raise Complaint("num_lower and num_upper must be scalars", "give one int each")
    return with_rank_at_least(x, 2)


@matrix_band_part_op.refuses("num_lower", "num_upper")
def _matrix_band_part_refuses(xp, x, num_lower, num_upper):
    rows, cols = x.shape[-2:]
    return [num_lower > rows, num_upper > cols]


@matrix_band_part_op.grad
def _matrix_band_part_grad(op, dy):
    return raw.MatrixBandPart(dy, *op.inputs[1:]), None, None


# -- diagonal tensors --------------------------------------------------------------


@op("Diag", "diagonal: T -> output: T", T=NUMERIC, data_movement=True, linear=Linear.JOINTLY)
def diag_op(xp, diagonal):
    """Makes a tensor of twice the rank that is zero except at [i..., i...]."""
    n = diagonal.size
    flat = xp.reshape(diagonal, (n,))
    matrix = _spread(xp, flat, np.zeros((), diagonal.dtype), n, n, 0, 0, "LEFT_LEFT")
    return xp.reshape(matrix, diagonal.shape * 2)


@diag_op.shape
def _diag_shape(diagonal):
    if diagonal == ():
        raise Complaint("Input must be at least rank 1, got 0", "give a vector")
    return None if diagonal is None else diagonal * 2


@diag_op.grad
def _diag_grad(op, dy):
    return raw.DiagPart(dy)


@op("DiagPart", "input: T -> diagonal: T", T=NUMERIC, data_movement=True, linear=Linear.JOINTLY)
def diag_part_op(xp, x):
    """Returns the elements [i..., i...] of a tensor of even rank."""
    shape = _diag_part_shape(x.shape)
    n = int(np.prod(shape))
    return xp.reshape(xp.reshape(x, (n * n,))[:: n + 1], shape)


@diag_part_op.shape
def _diag_part_shape(x):
    if x is None:
        return None
    half = len(x) // 2
    if len(x) % 2 or not x:
        raise Complaint(f"Input must have even and non-zero rank, input rank is {len(x)}", "give it another axis")
    if not compatible(x[:half], x[half:]):
        raise Complaint(f"the first and the second half of the shape differ: {shape_str(x)}", "make them equal")
    return merged(x[:half], x[half:])


@diag_part_op.grad
def _diag_part_grad(op, dy):
    return raw.Diag(dy)


limit_ranks(
    at_most_vectors="""
        MatrixDiagPartV2.k MatrixDiagPartV3.k MatrixDiagV2.k MatrixDiagV3.k MatrixSetDiagV2.k MatrixSetDiagV3.k""",
)
