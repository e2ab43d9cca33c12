"""CSV: text records to columns.

Reference: RFC 4180; TensorFlow 2.21 DecodeCSV.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir.blocking import located
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, float64, int32, int64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor

_NUMBER = re.compile(rb"[-+]?\d+\Z")
_TYPES = (float32, float64, int32, int64, string)
_CPP_NAMES = {"float32": "float", "float64": "double"}


def _refused(problem: str, fix: str) -> Any:
    return located(InvalidArgumentError, problem, fix)


def _fields(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """Splits a record into fields."""
    if not record:
        return []
    if not quotes or (b'"' not in record and b"\n" not in record and b"\r" not in record):
        return record.split(delimiter)
    fields: list[bytes] = []
    at = 0
    while True:
        if record[at : at + 1] != b'"':
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            field = record[at:end]
            if re.search(rb'["\r\n]', field):
                raise _refused("Unquoted fields cannot have quotes/CRLFs inside",
                               "put the field in quotes, or decode with use_quote_delim=False")
        else:
            field, end = _quoted(record, at + 1, delimiter)
        fields.append(field)
        if end >= len(record):
            return fields
        at = end + 1
        if at == len(record):
            return [*fields, b""]


def _quoted(record: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    """Parses the quoted field whose content begins at `at`; returns it, and where it ends."""
    parts: list[bytes] = []
    while True:
        quote = record.find(b'"', at)
        if quote < 0:
            raise _refused("Quoted field has to end with quote followed by delim or end", "add the closing quote")
        parts.append(record[at:quote])
        behind = record[quote + 1 : quote + 2]
        if behind in (b"", delimiter):
            return b"".join(parts), quote + 1
        if behind != b'"':
            raise _refused("Quote inside a string has to be escaped by another quote", 'write "" for a quote')
        parts.append(b'"')
        at = quote + 2


def _number(field: bytes, dtype: Any, column: int, row: int) -> Any:
    text = field.strip()
    try:
        if dtype.is_floating:
            if b"_" in text:
                raise ValueError
            return dtype.np_dtype.type(text)
        if not _NUMBER.match(text):
            raise ValueError
        value = int(text)
        if not dtype.min <= value <= dtype.max:
            raise ValueError
        return value
    except ValueError:
        raise _refused(f"Field {column} in record {row} is not a valid {_CPP_NAMES.get(dtype.name, dtype.name)}: "
                       f"{field.decode(errors='replace')}", "correct the record, or let the column's default be of "
                       "another dtype") from None


@op("DecodeCSV", "records: string, record_defaults: list(OUT_TYPE) -> output: list(OUT_TYPE)", OUT_TYPE=_TYPES,
    flags=("host",))
def _decode_csv(xp, records, record_defaults, *, field_delim=",", use_quote_delim=True, na_value="", select_cols=(),
                OUT_TYPE):
    """Splits records into columns."""
    columns = select_cols or range(len(OUT_TYPE))
    missing, delimiter = na_value.encode(), field_delim.encode()
    found = [np.empty(records.size, t.np_dtype) for t in OUT_TYPE]
    for row, record in enumerate(records.reshape(-1).tolist()):
        fields = _fields(record, delimiter, use_quote_delim)
        if (len(fields) != len(columns)) if not select_cols else (columns[-1] >= len(fields)):
            raise _refused(f"Expect {columns[-1] + 1} fields but have {len(fields)} in record {row}",
                           "give a default for each column, or choose columns with select_cols")
        for i, (column, dtype, default) in enumerate(zip(columns, OUT_TYPE, record_defaults, strict=True)):
            field = fields[column]
            if not field or field == missing:
                if not np.size(default):
                    raise _refused(f"Field {i} is required but missing in record {row}!",
                                   "give the column a default")
                found[i][row] = np.asarray(default).reshape(-1)[0]
            else:
                found[i][row] = field if dtype is string else _number(field, dtype, i, row)
    return [f.reshape(records.shape) for f in found]


@_decode_csv.shape
def _decode_csv_shape(records, record_defaults):
    for shape in record_defaults:
        if shape is not None and (len(shape) > 1 or (shape and shape[0] is not None and shape[0] > 1)):
            raise Complaint("Shape of a default must be a length-0 or length-1 vector, or a scalar",
                            "give [default] for each column")
    return [records] * len(record_defaults)


_decode_csv.grad(NOT_DIFFERENTIABLE)


def decode_csv_v1(records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True,
                  name: str | None = None, na_value: str = "", select_cols: Any = None) -> list[Tensor]:
    """Splits records of comma-separated values into columns (1.x arguments).

    Args:
      records: strings of any shape, each a record.
      record_defaults: for each column [default], whose dtype is the column's: float32, float64, int32, int64 or
        string; an empty tensor of a dtype where a value is required.
      field_delim: the separator of the fields.
      use_quote_delim: whether quotes enclose fields.
      name: a name for the operation.
      na_value: a further string, besides the empty one, that is replaced by the default.
      select_cols: the columns to take, in ascending order; all by default.
    Returns: a list of tensors of the shape of `records`, one for each column.
    Raises: ValueError for defaults or columns that do not fit; InvalidArgumentError at run time for
      records that do not.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeCSV; RFC 4180.

    >>> sess.run(tf.decode_csv(["1,a", '2,"b, c"'], [[0], [""]]))
    [array([1, 2], dtype=int32), array([b'a', b'b, c'], dtype=object)]
    """
    return decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


def decode_csv(records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True,
               na_value: str = "", select_cols: Any = None, name: str | None = None) -> list[Tensor]:
    """Splits records of comma-separated values into columns.

    Args:
      records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name: as for
        `tf.compat.v1.decode_csv`.
    Returns: a list of tensors of the shape of `records`, one for each column.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.io.decode_csv`.

    >>> sess.run(tf.io.decode_csv("3,,x", [[0.0], [7], [""]]))
    [np.float32(3.0), np.int32(7), b'x']
    """
    columns = tuple(int(c) for c in select_cols or ())
    if any(a >= b for a, b in itertools.pairwise(columns)):
        raise ValueError(f"select_cols is not strictly increasing: {columns}. Fix: sort them")
    if columns and columns[0] < 0:
        raise ValueError(f"select_cols contains negative values: {columns}. Fix: count columns from 0")
    if columns and len(columns) != len(record_defaults):
        raise ValueError(f"Length of select_cols and record_defaults do not match: {len(columns)} and "
                         f"{len(record_defaults)}. Fix: give one default for each column")
    with name_scope(name, "DecodeCSV") as scope:
        text = convert_to_tensor(records, string, name="records")
        defaults = [convert_to_tensor(d, name=f"record_defaults_{i}") for i, d in enumerate(record_defaults)]
        wrong = next((d.dtype.name for d in defaults if d.dtype not in _TYPES), None)
        if wrong is not None:
            raise TypeError(f"Value passed to parameter 'record_defaults' has DataType {wrong} not in list of allowed "
                            "values: float32, float64, int32, int64, string. Fix: give a default of one of these")
        return list(raw.DecodeCSV(text, defaults, field_delim=field_delim, use_quote_delim=use_quote_delim,
                                  na_value=na_value, select_cols=columns, name=scope))
