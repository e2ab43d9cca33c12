"""Data sets of comma-separated values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.dtypes import DType, as_dtype, float32, float64, int32, int64, string
from graphgrad.ir.files.tfrecord import opened
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec

from .dataset import Dataset
from .dataset_files import _text, matched
from .elements import _now, _value
from .graph_iterator import DatasetV1

_ACCEPTED = (float32, float64, int32, int64, string)


def _content(name: str, kind: str) -> bytes:
    with opened(name, kind) as file:
        return bytes(file.read())


def records(text: str, delimiter: str, quotes: bool) -> Iterator[list[tuple[str, bool]]]:
    """Parses text into records: lists of fields, each with whether it was quoted.

    Args:
      text: the text.
      delimiter: the separator of fields.
      quotes: whether double quotes enclose fields, in which delimiters and line ends are text.
    Raises: InvalidArgumentError for misplaced or unclosed quotes.
    """
    at, end = 0, len(text)
    while at < end:
        fields: list[tuple[str, bool]] = []
        while True:
            if quotes and at < end and text[at] == '"':
                field, at = _quoted(text, at + 1)
                fields.append((field, True))
                if at < end and text[at] not in (delimiter, "\n", "\r"):
                    raise InvalidArgumentError(None, None, "Quote inside a string has to be escaped by another quote. "
                                               f"Fix: write it twice, near {text[max(0, at - 20) : at]!r}")
            else:
                stop = at
                while stop < end and text[stop] not in (delimiter, "\n", "\r"):
                    stop += 1
                field, at = text[at:stop], stop
                if quotes and '"' in field:
                    raise InvalidArgumentError(None, None, "Unquoted fields cannot have quotes inside: "
                                               f"{field!r}. Fix: use_quote_delim=False")
                fields.append((field, False))
            if at < end and text[at] == delimiter:
                at += 1
                continue
            break
        at += text.startswith("\r", at)
        at += text.startswith("\n", at)
        yield fields


def _quoted(text: str, at: int) -> tuple[str, int]:
    parts = []
    while True:
        stop = text.find('"', at)
        if stop < 0:
            raise InvalidArgumentError(None, None, "Reached end of file without closing quoted field in record. "
                                       "Fix: close the quotes")
        parts.append(text[at:stop])
        if not text.startswith('"', stop + 1):
            return '"'.join(parts), stop + 1
        at = stop + 2


class CsvDataset(DatasetV1):
    """A data set of the records of files of comma-separated values: tuples of scalars.

    Args:
      filenames: names, as a string tensor.
      record_defaults: for each field its dtype, if it is required, or the value of empty fields.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: accepted.
      header: whether to skip the first line of each file.
      field_delim: the separator of fields.
      use_quote_delim: whether double quotes enclose fields.
      na_value: a further value that counts as empty.
      select_cols, exclude_cols: the fields to take or to drop, sorted; `record_defaults` are for those taken.
    Raises: ValueError for other dtypes; InvalidArgumentError for unsorted fields, and at run time for records
      that do not fit.
    Reference: TensorFlow 2.21 `tf.data.experimental.CsvDataset`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> with open(path, "w") as f:
    ...     _ = f.write("1,2.5,yes")
    >>> rows = tf.data.experimental.CsvDataset(path, [tf.int32, 0.0, tf.string])
    >>> sess.run(rows.make_one_shot_iterator().get_next())
    (np.int32(1), np.float32(2.5), b'yes')
    """

    def __init__(self, filenames: Any, record_defaults: Any, compression_type: Any = None, buffer_size: Any = None,
                 header: bool = False, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
                 select_cols: Any = None, exclude_cols: Any = None):
        for what, columns in (("select_cols", select_cols), ("exclude_cols", exclude_cols)):
            if columns is not None and list(columns) != sorted(set(columns)):
                raise InvalidArgumentError(None, None, f"{what} should be strictly increasing indices, not "
                                           f"{list(columns)}. Fix: sort them")
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be empty.")
        if len(field_delim) != 1:
            raise ValueError(f"field_delim should be only 1 char, not {field_delim!r}.")
        self._defaults = [_default(d) for d in record_defaults]
        self._select, self._exclude = select_cols, exclude_cols
        self._header, self._delimiter, self._quotes, self._na = header, field_delim, use_quote_delim, na_value
        self._compression = compression_type
        names = _value(filenames)
        self._specs = tuple([Spec.of(dtype, ()) for dtype, _ in self._defaults])
        self._captured = [names] if isinstance(names, Tensor) else []
        self._passes = lambda given: self._rows(np.ravel(_now(names, given)).tolist())

    def _rows(self, names: Any) -> Iterator[list[Any]]:
        for name in names:
            content = _content(_text(name), _text(self._compression or "")).decode()
            found = records(content, self._delimiter, self._quotes)
            if self._header:
                next(found, None)
            for fields in found:
                yield self._row(fields)

    def _row(self, fields: list[tuple[str, bool]]) -> list[Any]:
        count = len(self._defaults)
        if self._select is not None:
            missing = [c for c in self._select if c >= len(fields)]
            if missing:
                raise InvalidArgumentError(None, None, f"Expect at least {missing[0] + 1} fields but have "
                                           f"{len(fields)} in record. Fix: correct select_cols")
            fields = [fields[c] for c in self._select]
        elif self._exclude is not None:
            fields = [f for i, f in enumerate(fields) if i not in self._exclude]
        if len(fields) != count:
            raise InvalidArgumentError(None, None, f"Expect {count} fields but have {len(fields)} in record. "
                                       "Fix: one of record_defaults for each field")
        return [_parsed(i, field, quoted, self._na, *d)
                for i, ((field, quoted), d) in enumerate(zip(fields, self._defaults))]


def _default(given: Any) -> tuple[DType, Any]:
    """Returns the dtype and the default of a field; None for a required one."""
    if isinstance(given, DType) or (isinstance(given, type) and not isinstance(given, str)):
        dtype, value = as_dtype(given), None
    else:
        array = _value(given)
        if isinstance(array, Tensor):
            raise TypeError("record_defaults must be dtypes or values, not tensors of a graph. Fix: give a number")
        dtype = as_dtype(array.dtype)
        value = array.reshape(-1)[0] if array.size else None
    if dtype not in _ACCEPTED:
        raise ValueError(f"Invalid dtype {dtype.name} in record_defaults. Fix: float32, float64, int32, int64, string")
    return dtype, value


def _parsed(place: int, field: str, quoted: bool, na: str, dtype: DType, default: Any) -> Any:
    if field == "" or (not quoted and field == na):
        if default is None:
            raise InvalidArgumentError(None, None, f"Field {place} is required but missing in record! "
                                       "Fix: a value instead of a dtype in record_defaults")
        found: Any = default
    elif dtype is string:
        found = field.encode()
    else:
        try:
            found = dtype.np_dtype.type(int(field) if dtype.is_integer else float(field))
        except (ValueError, OverflowError):
            raise InvalidArgumentError(None, None, f"Field {place} in record is not a valid {dtype.name}: {field}. "
                                       "Fix: another dtype in record_defaults") from None
    array = np.empty((), dtype.np_dtype)
    array[()] = found
    return array


def make_csv_dataset(file_pattern: Any, batch_size: int, column_names: Any = None, column_defaults: Any = None,
                     label_name: Any = None, select_columns: Any = None, field_delim: str = ",",
                     use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None,
                     shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed: Any = None,
                     prefetch_buffer_size: Any = None, num_parallel_reads: Any = None, sloppy: bool = False,
                     num_rows_for_inference: Any = 100, compression_type: Any = None, ignore_errors: bool = False,
                     encoding: str = "utf-8") -> Dataset:
    """Makes a data set of batches of the columns of files of comma-separated values, as dictionaries.

    Args:
      file_pattern: files, or glob patterns.
      batch_size: the number of rows of a batch.
      column_names: the names of columns; those of the first line by default.
      column_defaults: a dtype or default for each selected column; inferred from the first rows by default.
      label_name: the column of the label; batches are pairs then.
      select_columns: the columns to take, by names or numbers.
      field_delim, use_quote_delim, na_value, header, compression_type: as for `CsvDataset`.
      num_epochs: the number of passes; no end if None.
      shuffle, shuffle_buffer_size, shuffle_seed: whether and how to shuffle.
      prefetch_buffer_size, num_parallel_reads, sloppy, encoding: accepted.
      num_rows_for_inference: the number of rows from which dtypes are inferred; all if None.
      ignore_errors: whether to skip rows that cannot be read.
    Returns: a data set of dictionaries from names to vectors, or of pairs of that and the label.
    Raises: ValueError for no files, names that are unknown or not unique.
    Reference: TensorFlow 2.21 `tf.data.experimental.make_csv_dataset`.
    """
    files = matched(file_pattern, False, None)
    kind = _text(compression_type or "")
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = [f for f, _ in next(records(_content(files[0], kind).decode(encoding), field_delim,
                                                   use_quote_delim))]
    if len(set(column_names)) != len(column_names):
        raise ValueError(f"Cannot have duplicate column names, got {list(column_names)}.")
    columns, column_defaults = _selected(column_names, select_columns, column_defaults)
    if column_defaults is None:
        first = list(_some(files, kind, field_delim, use_quote_delim, header, num_rows_for_inference))
        column_defaults = [_inferred([row[c] for row in first if c < len(row)], na_value) for c in columns]
    names = [column_names[c] for c in columns]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Received: {label_name}.")
    if len(files) > 1 and shuffle:
        files = matched(files, True, shuffle_seed)
    dataset: Any = CsvDataset(np.array([f.encode() for f in files], object), column_defaults, compression_type, None,
                              header, field_delim, use_quote_delim, na_value,
                              None if select_columns is None else columns)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    return _by_name(dataset.batch(batch_size, drop_remainder=num_epochs is None), names, label_name)


def _selected(names: Any, chosen: Any, defaults: Any) -> tuple[list[int], Any]:
    """Returns the numbers of the columns to take, sorted, and their defaults."""
    if chosen is None:
        return list(range(len(names))), defaults
    places = [c if isinstance(c, int) else _place(names, c) for c in chosen]
    given = dict(zip(places, defaults)) if defaults is not None else {}
    return sorted(places), [given[p] for p in sorted(places)] if given else None


def _by_name(source: Any, names: list[str], label_name: Any) -> Dataset:
    """Returns a data set of dictionaries of columns, or of pairs of that and the label."""
    order = [names.index(n) for n in sorted(n for n in names if n != label_name)]
    label = None if label_name is None else names.index(label_name)
    parts: Any = OrderedDict((n, source._specs[i]) for i, n in enumerate(names) if i != label)
    specs = parts if label is None else (parts, source._specs[label])
    places = order if label is None else [*order, label]

    def passes(given: Any) -> Iterator[list[Any]]:
        return ([element[i] for i in places] for element in source._passes(given))

    return Dataset._of(specs, source._captured, passes, source._size)


def _place(names: Any, name: str) -> int:
    if name not in names:
        raise ValueError(f"Received column name {name!r} which is not one of the columns: {list(names)}.")
    return list(names).index(name)


def _some(files: Any, kind: str, delimiter: str, quotes: bool, header: bool, count: Any) -> Iterator[list[Any]]:
    """Reads the first rows of files."""
    found = 0
    for name in files:
        rows = records(_content(name, kind).decode(), delimiter, quotes)
        if header:
            next(rows, None)
        for row in rows:
            if count is not None and found >= count:
                return
            found += 1
            yield row


def _inferred(fields: list[tuple[str, bool]], na: str) -> Any:
    """Infers the default of a column: zero of the first dtype that all of its values have."""
    values = [f for f, quoted in fields if f != "" and (quoted or f != na)]
    for dtype in (int32, int64, float32, float64):
        if all(_fits(v, dtype) for v in values) and values:
            return dtype.np_dtype.type(0)
    return int32.np_dtype.type(0) if not values else ""


def _fits(text: str, dtype: DType) -> bool:
    try:
        if dtype.is_integer:
            dtype.np_dtype.type(int(text))
            return np.iinfo(dtype.np_dtype).min <= int(text) <= np.iinfo(dtype.np_dtype).max
        value = float(text)
    except (ValueError, OverflowError):
        return False
    return dtype is float64 or not np.isfinite(value) or abs(value) <= float(np.finfo(np.float32).max)
