"""String tensors: arrays of bytes, processed in Python."""

from __future__ import annotations

import base64
import itertools
import math
import re
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, OutOfRangeError
from graphgrad.ir.dtypes import BOOL, COMPLEX, FLOATING, INDEX, INTEGER, float32, float64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.shape import broadcast, merged
from graphgrad.ops.common.rank_limits import limit_ranks

_HOST = ("host",)
_WEB_SAFE = re.compile(rb"[A-Za-z0-9_-]*")


def _map(function: Any, *arrays: Any) -> Any:
    """Applies a Python function to the elements of equally shaped arrays; gives an array of objects."""
    arrays = tuple(np.asarray(a) for a in arrays)
    out = np.empty(arrays[0].shape, object)
    flat = out.reshape(-1)
    for i, values in enumerate(zip(*(a.reshape(-1).tolist() for a in arrays), strict=True)):
        flat[i] = function(*values)
    return out


def _same(x):
    return x


def _declare(name: str, signature: str, **options: Any) -> Any:
    """Declares an op on strings: on the host, without a gradient."""

    def decorate(kernel: Any) -> Any:
        opdef = op(name, signature, flags=_HOST, **options)(kernel)
        opdef.grad(NOT_DIFFERENTIABLE)
        return opdef

    return decorate


# -- from and to numbers -------------------------------------------------------------------------


@_declare("AsString", "input: T -> output: string", T=FLOATING | INTEGER | COMPLEX | BOOL | {string}, shape=_same,
          limits={"precision": range(-(2**31), 4097), "width": range(-(2**31), 4097)})
def as_string_op(xp, x, *, precision=-1, scientific=False, shortest=False, width=-1, fill=""):
    """Formats numbers as `printf` does."""
    x = np.asarray(x)
    kind = x.dtype.kind if x.dtype.kind in "biucO" else "f"
    if scientific and shortest:
        raise Complaint("Cannot select both scientific and shortest notation", "choose one")
    if len(fill) > 1:
        raise Complaint("Fill string must be one or fewer characters", "give one character")
    if kind in "biu" and precision >= 0:
        raise Complaint(f"precision not supported for datatype {x.dtype}", "leave precision out")
    if kind in "biu" and (scientific or shortest):
        raise Complaint(f"scientific and shortest format not supported for datatype {x.dtype}", "leave them out")
    letter = "d" if kind in "iu" else "e" if scientific else "g" if shortest else "f"
    digits = f".{precision}" if precision >= 0 else ".6" if kind in "fc" else ""

    def text(v: Any) -> bytes:
        if kind == "O":
            return v if isinstance(v, bytes) else v.encode()
        if kind == "b":
            return b"true" if v else b"false"
        if kind == "c":
            parts = [_printf(x, fill, width, digits, letter) for x in (v.real, v.imag)]
            return f"({','.join(parts)})".encode()
        return _printf(v, fill, width, digits, letter).encode()

    return _map(text, x.astype(np.float64) if kind == "f" else x)


def _printf(value: Any, fill: str, width: int, digits: str, letter: str) -> str:
    return f"%{fill}{width if width > -1 else ''}{digits}{letter}" % value


@_declare("StringToNumber", "string_tensor: string -> output: out_type", out_type=INDEX | {float32, float64},
          shape=_same)
def string_to_number_op(xp, x, *, out_type=float32):
    """Parses strings as numbers."""

    def read(v: bytes) -> Any:
        text = v.decode("utf-8", "replace").strip()
        try:
            if "_" in text:
                raise ValueError
            value: Any = int(text) if out_type.is_integer else float(text)
            if out_type.is_integer and not out_type.min <= value <= out_type.max:
                raise ValueError
        except ValueError:
            raise Complaint(f"StringToNumberOp could not correctly convert string: {v.decode('utf-8', 'replace')}",
                            f"give strings that are numbers of type {out_type.name}") from None
        return value

    return _map(read, x).astype(out_type.np_dtype)


@_declare("DecodeRaw", "bytes: string -> output: out_type", out_type=FLOATING | INTEGER | COMPLEX | BOOL)
def decode_raw_op(xp, data, *, out_type, little_endian=True):
    """Reinterprets bytes as numbers of a fixed size."""
    items = np.asarray(data).reshape(-1).tolist()
    sizes = [len(v) for v in items]
    for i, n in enumerate(sizes):
        if n != sizes[0]:
            raise Complaint(f"DecodeRaw requires input strings to all be the same size, but element {i} has size "
                            f"{n} != {sizes[0]}", "pad the shorter strings")
    if sizes and sizes[0] % out_type.size:
        raise Complaint(f"Input to DecodeRaw has length {sizes[0]} that is not a multiple of {out_type.size}, the size "
                        f"of {out_type.name}", "give whole numbers' worth of bytes")
    array = np.frombuffer(b"".join(items), out_type.np_dtype)
    if not little_endian:
        array = array.byteswap()
    return array.reshape((*np.shape(data), sizes[0] // out_type.size if sizes else 0)).copy()


@decode_raw_op.shape
def _decode_raw_shape(data):
    return None if data is None else (*data, None)


@_declare("DecodePaddedRaw", "input_bytes: string, fixed_length: int32 -> output: out_type",
          out_type=FLOATING | INTEGER | COMPLEX | BOOL, host=("fixed_length",))
def decode_padded_raw_op(xp, data, fixed_length, *, out_type, little_endian=True):
    """Reinterprets bytes as numbers of a fixed size, after cutting or padding the strings to one length."""
    n = int(fixed_length)
    padded = _map(lambda v: v[:n].ljust(n, b"\0"), data)
    return decode_raw_op.kernel(xp, padded, out_type=out_type, little_endian=little_endian)


@decode_padded_raw_op.shape
def _decode_padded_raw_shape(data, fixed_length, out_type):
    return None if data is None else (*data, None if fixed_length is None else fixed_length // out_type.size)


# -- joining and splitting -----------------------------------------------------------------------


@_declare("StringJoin", "inputs: N*string -> output: string")
def string_join_op(xp, inputs, *, separator=""):
    """Joins strings elementwise; scalars are broadcast."""
    shape = next((np.shape(x) for x in inputs if np.ndim(x)), ())
    arrays = [np.broadcast_to(np.asarray(x), shape) for x in inputs]
    glue = separator.encode() if isinstance(separator, str) else separator
    if not arrays:
        out = np.empty((), object)
        out[()] = b""
        return out
    return _map(lambda *values: glue.join(values), *arrays)


@string_join_op.shape
def _string_join_shape(inputs):
    result: Any = ()
    for shape in inputs:
        if shape is None:
            result = None if result == () else result
        elif shape != ():
            result = shape if result in ((), None) else merged(result, shape)
    return result


@_declare("ReduceJoin", "inputs: string, reduction_indices: int32 -> output: string", host=("reduction_indices",))
def reduce_join_op(xp, x, axes, *, keep_dims=False, separator=""):
    """Joins strings along axes, of which the last one varies fastest."""
    x = np.asarray(x)
    for a in np.asarray(axes).reshape(-1).tolist():
        if not -x.ndim <= a < x.ndim:
            raise OutOfRangeError(None, None, f"Invalid reduction dimension {a} for input with {x.ndim} dimension(s)")
    chosen = [a % x.ndim for a in np.asarray(axes).reshape(-1).tolist()]
    kept = [a for a in range(x.ndim) if a not in chosen]
    shape = tuple(x.shape[a] for a in kept)
    rows = x.transpose(kept + chosen).reshape(math.prod(shape), math.prod(x.shape[a] for a in chosen))
    glue = separator.encode() if isinstance(separator, str) else separator
    out = np.empty(shape, object)
    flat = out.reshape(-1)
    for i, row in enumerate(rows.tolist()):
        flat[i] = glue.join(row)
    return out.reshape([1 if a in chosen else n for a, n in enumerate(x.shape)]) if keep_dims else out


@reduce_join_op.shape
def _reduce_join_shape(x, axes, keep_dims):
    if x is None:
        return None
    axes = (axes,) if isinstance(axes, int) else axes
    if axes is None or None in axes:
        return (None,) * len(x) if keep_dims else None
    for a in axes:
        if not -len(x) <= a < len(x):
            raise Complaint(f"Invalid reduction dimension {a} for input with {len(x)} dimension(s)",
                            f"use an axis in [{-len(x)}, {len(x)})")
    chosen = {a % len(x) for a in axes}
    return tuple(1 if a in chosen else d for a, d in enumerate(x) if keep_dims or a not in chosen)


def _pieces(text: bytes, sep: bytes, maxsplit: int) -> list[bytes]:
    return text.split(sep or None, maxsplit)


@_declare("StringSplitV2", "input: string, sep: string -> indices: int64, values: string, shape: int64")
def string_split_v2_op(xp, x, sep, *, maxsplit=-1):
    """Splits strings at a separator (at runs of white space if it is empty), into a sparse matrix."""
    sep = np.asarray(sep)[()]
    return _as_sparse([_pieces(v, sep, maxsplit) for v in np.asarray(x).tolist()])


@_declare("StringSplit", "input: string, delimiter: string -> indices: int64, values: string, shape: int64")
def string_split_op(xp, x, delimiter, *, skip_empty=True):
    """Splits strings at any of some characters (into characters if there are none), into a sparse matrix."""
    delimiter = np.asarray(delimiter)[()]
    rows = []
    for v in np.asarray(x).tolist():
        if delimiter:
            row = re.split(b"[" + re.escape(delimiter) + b"]", v)
        else:
            row = [v[i : i + 1] for i in range(len(v))]
        rows.append([p for p in row if p] if skip_empty else row)
    return _as_sparse(rows)


def _as_sparse(rows: list[list[bytes]]) -> tuple[Any, Any, Any]:
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([*itertools.chain.from_iterable(rows), None], object)[:-1]
    width = max(map(len, rows), default=0)
    return np.array(indices, np.int64).reshape(-1, 2), values, np.array([len(rows), width], np.int64)


def _split_shape(x, sep):
    return [(None, 2), (None,), (2,)]


string_split_v2_op.shape(_split_shape)
string_split_op.shape(_split_shape)


@_declare("Substr", "input: string, pos: T, len: T -> output: string", T=INDEX)
def substr_op(xp, x, pos, length, *, unit="BYTE"):
    """Cuts a part out of each string."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(pos), np.shape(length))
    number = itertools.count()

    def part(v: bytes, start: int, n: int) -> bytes:
        i = next(number)
        text: Any = v if unit == "BYTE" else v.decode("utf-8", "surrogateescape")
        if not -len(text) <= start <= len(text):
            raise Complaint(f"pos {start} out of range for string {v!r} at index {i}",
                            "give positions inside the strings")
        start = start + len(text) if start < 0 else start
        piece = text[start : start + max(n, 0)]
        return piece if unit == "BYTE" else piece.encode("utf-8", "surrogateescape")

    return _map(part, *(np.broadcast_to(np.asarray(a), shape) for a in (x, pos, length)))


@substr_op.shape
def _substr_shape(x, pos, length):
    return broadcast(x, merged(pos, length))


# -- element by element --------------------------------------------------------------------------


@_declare("StringLength", "input: string -> output: int32", shape=_same)
def string_length_op(xp, x, *, unit="BYTE"):
    """Returns the lengths of strings, in bytes or characters."""
    chars = unit == "UTF8_CHAR"
    return _map(lambda v: len(v.decode("utf-8", "replace") if chars else v), x).astype(np.int32)


@_declare("StringUpper", "input: string -> output: string", shape=_same)
def string_upper_op(xp, x, *, encoding=""):
    """Converts strings to upper case; ASCII letters only unless the encoding is utf-8."""
    return _map(lambda v: v.decode("utf-8", "replace").upper().encode() if encoding == "utf-8" else v.upper(), x)


@_declare("StringLower", "input: string -> output: string", shape=_same)
def string_lower_op(xp, x, *, encoding=""):
    """Converts strings to lower case; ASCII letters only unless the encoding is utf-8."""
    return _map(lambda v: v.decode("utf-8", "replace").lower().encode() if encoding == "utf-8" else v.lower(), x)


@_declare("StringStrip", "input: string -> output: string", shape=_same)
def string_strip_op(xp, x):
    """Removes white space at the ends of strings."""
    return _map(bytes.strip, x)


@_declare("EncodeBase64", "input: string -> output: string", shape=_same)
def encode_base64_op(xp, x, *, pad=False):
    """Encodes strings in web-safe base 64."""
    return _map(lambda v: base64.urlsafe_b64encode(v) if pad else base64.urlsafe_b64encode(v).rstrip(b"="), x)


@_declare("DecodeBase64", "input: string -> output: string", shape=_same)
def decode_base64_op(xp, x):
    """Decodes strings in web-safe base 64."""

    def decode(v: bytes) -> bytes:
        bare = v.rstrip(b"=")
        if not _WEB_SAFE.fullmatch(bare):
            raise Complaint("Invalid character found in base64", "give what tf.io.encode_base64 made")
        if len(bare) % 4 == 1:
            raise Complaint("Base64 string length cannot be 1 modulo 4", "give what tf.io.encode_base64 made")
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))

    return _map(decode, x)


@op("UnsortedSegmentJoin", "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    Tindices=INDEX, Tnumsegments=INDEX, flags=("host",), peek=("num_segments",))
def unsorted_segment_join_op(xp, inputs, segment_ids, num_segments, *, separator=""):
    """Joins the strings of each segment."""
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


unsorted_segment_join_op.grad(NOT_DIFFERENTIABLE)


limit_ranks(scalars="DecodePaddedRaw.fixed_length", at_most_vectors="ReduceJoin.reduction_indices")
