"""Ops that parse serialized examples and sequence examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import int32, int64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.proto.wire import fields_of_bytes

from .example_columns import KINDS, NAMES, Row, content_of, entry_of, rows_of, values_of

_HOST = ("host",)
_INDEX = frozenset({int32, int64})


def _of_type(rows: list[Row], dtype: Any) -> int:
    """Returns the number of rows before the first one of another type; all if there is none."""
    kind = KINDS[dtype]
    return next((i for i, row in enumerate(rows) if row is not None and row[0] != kind), len(rows))


def _other_type(what: str, key: bytes, dtype: Any, index: int, row: Any) -> Complaint:
    return Complaint(f"{what}: {key.decode()}, Index: {index}.  Data types don't match. Expected type: {dtype.name}, "
                     f"actual type: {NAMES[row[0]]}", "correct the dtype of the feature")


def _values(rows: list[Row], key: bytes, dtype: Any) -> tuple[Any, Any]:
    """Returns the values of a feature of all examples, and the number of values of each."""
    good = _of_type(rows, dtype)
    if good < len(rows):
        raise _other_type("Key", key, dtype, good, rows[good])
    return values_of(rows, dtype)


def _dense(rows: list[Row], key: bytes, dtype: Any, shape: Any, default: Any) -> Any:
    """Returns a dense feature of all examples; if its first size is unknown, padded to the longest."""
    variable = bool(shape) and shape[0] is None
    inner = tuple(shape[1:] if variable else shape)
    size = int(np.prod(inner, dtype=np.int64))
    good = _of_type(rows, dtype)
    flat, counts = values_of(rows[:good], dtype)
    there = np.fromiter((row is not None for row in rows[:good]), bool, good)
    wrong = there & (counts % max(1, size) != 0 if variable else counts != size)
    missing = ~there if not variable and not np.size(default) and size else np.zeros(good, bool)
    if (wrong | missing).any():
        i = int(np.argmax(wrong | missing))
        if missing[i]:
            raise Complaint(f"Feature: {key.decode()} (data type: {dtype.name}) is required but could not be found",
                            "give its FixedLenFeature a default_value")
        text = "is not a multiple of stride length" if variable else "!= expected"
        raise Complaint(f"Key: {key.decode()}, Index: {i}.  Number of {dtype.name} values {text}.  Values size: "
                        f"{counts[i]} but output shape: {list(inner)}", "correct the shape of the feature")
    if good < len(rows):
        raise _other_type("Key", key, dtype, good, rows[good])
    if variable:
        return _filled_up(flat, counts // max(1, size), default, dtype, inner)
    if there.all():
        return flat.reshape(len(rows), *inner)
    out = np.empty((len(rows), *inner), dtype.np_dtype)
    out[~there] = default
    out[there] = flat.reshape(int(there.sum()), *inner)
    return out


def _filled_up(flat: Any, counts: Any, default: Any, dtype: Any, inner: Any) -> Any:
    """Pads rows to the longest.

    Args:
      flat: the values of all rows.
      counts: the number of values of each, in parts of shape `inner`.
    """
    longest = int(counts.max(initial=0))
    out = np.empty((len(counts), longest, *inner), dtype.np_dtype)
    out[...] = np.asarray(default).reshape(-1)[0] if np.size(default) else b"" if dtype is string else 0
    out[np.arange(longest) < counts[:, None]] = flat.reshape(int(counts.sum()), *inner)
    return out


def _places(counts: Any) -> tuple[Any, Any]:
    """Returns the row of each value, and its place in the row."""
    total = int(counts.sum())
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)


def _sparse(values: Any, counts: Any) -> tuple[Any, Any, Any]:
    shape = np.asarray([len(counts), counts.max(initial=0)], np.int64)
    return np.stack(_places(counts), 1).astype(np.int64, copy=False), values, shape


def _splits(lengths: Any, dtype: Any) -> Any:
    return np.cumsum([0, *lengths]).astype(dtype.np_dtype)


@op("ParseExampleV2", "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
    "ragged_keys: string, dense_defaults: list(Tdense) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), "
    "sparse_shapes: num_sparse*int64, dense_values: list(Tdense), ragged_values: list(ragged_value_types), "
    "ragged_row_splits: list(ragged_split_types)", Tdense=KINDS, sparse_types=KINDS, ragged_value_types=KINDS,
    ragged_split_types=_INDEX, flags=_HOST)
def parse_example_op(xp, serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, *, num_sparse, Tdense,
                     sparse_types, ragged_value_types, ragged_split_types, dense_shapes):
    """Parses the features of serialized `Example`s, or of one."""
    sparse, dense, ragged = (np.asarray(keys).reshape(-1).tolist() for keys in (sparse_keys, dense_keys, ragged_keys))
    rows = iter(rows_of(serialized.reshape(-1).tolist(), [*sparse, *dense, *ragged]))
    one = not serialized.ndim
    indices, values, shapes = [], [], []
    for key, dtype in zip(sparse, sparse_types, strict=True):
        at, given, shape = _sparse(*_values(next(rows), key, dtype))
        indices.append(at[:, 1:] if one else at)
        values.append(given)
        shapes.append(shape[1:] if one else shape)
    arrays = [_dense(next(rows), *each) for each in zip(dense, Tdense, dense_shapes, dense_defaults, strict=True)]
    flat, splits = [], []
    for key, dtype, kind in zip(ragged, ragged_value_types, ragged_split_types, strict=True):
        given, counts = _values(next(rows), key, dtype)
        flat.append(given)
        splits.append(np.zeros(0, kind.np_dtype) if one else _splits(counts, kind))
    return indices, values, shapes, [a[0] for a in arrays] if one else arrays, flat, splits


@parse_example_op.shape
def _parse_example_shape(serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, num_sparse,
                         dense_shapes, ragged_value_types):
    if serialized is None:
        n, rank = [None], None
    else:
        n, rank = list(serialized), len(serialized) + 1
    many = len(ragged_value_types)
    row_splits = [(0,) if rank == 1 else (None if rank is None or n[0] is None else n[0] + 1,)] * many
    dense = [None if rank is None else (*n, *shape) for shape in dense_shapes]
    return [*[(None, rank)] * num_sparse, *[(None,)] * num_sparse, *[(rank,)] * num_sparse, *dense, *[(None,)] * many,
            *row_splits]


parse_example_op.grad(NOT_DIFFERENTIABLE)


# -- sequences -----------------------------------------------------------------------------


def _lists_of(serialized: bytes) -> dict[bytes, list[Row]]:
    """Returns the feature lists of a serialized `SequenceExample`, by name: the contents of each step."""
    found: dict[bytes, list[Row]] = {}
    try:
        for lists in fields_of_bytes(serialized, 2):
            for entry in fields_of_bytes(lists, 1):
                name, features = entry_of(entry)
                found[name] = [content_of(feature) for feature in fields_of_bytes(features, 1)]
    except (ValueError, IndexError) as e:
        raise Complaint(f"Could not parse example input ({e})",
                        "feed what SequenceExample.SerializeToString() gives") from None
    return found


def _steps_of(all_lists: list[Any], key: bytes, dtype: Any, required: bool = False) -> tuple[list[Row], Any]:
    """Returns the contents of a feature list in all steps of all examples, and the number of steps of each."""
    found: list[Row] = []
    counts = []
    for i, lists in enumerate(all_lists):
        own = lists.get(key)
        if own is not None and _of_type(own, dtype) < len(own):
            raise _other_type("Feature list", key, dtype, i, own[_of_type(own, dtype)])
        if own is None and required:
            raise Complaint(f"Index: {i}.  Feature list '{key.decode()}' is required but could not be found.  Did you "
                            "mean to include it in feature_list_dense_missing_assumed_empty?",
                            "give its FixedLenSequenceFeature allow_missing=True")
        found += own or []
        counts.append(len(own or ()))
    return found, np.asarray(counts, np.int64)


def _sparse_lists(lists: list[Any], one: bool, key: bytes, dtype: Any) -> tuple[Any, Any, Any]:
    """Returns a sparse feature list of all examples: indices, values, shape; of a single example without its axis."""
    rows, steps = _steps_of(lists, key, dtype)
    values, counts = values_of(rows, dtype)
    row, place = _places(counts)
    example, step = _places(steps)
    at = np.stack([example[row], step[row], place], 1).astype(np.int64, copy=False)
    size = [len(steps), steps.max(initial=0), counts.max(initial=0)]
    return at[:, one:], values, np.asarray(size[one:], np.int64)


def _dense_lists(lists: list[Any], one: bool, key: bytes, dtype: Any, shape: Any, missing: bool) -> tuple[Any, Any]:
    """Returns a dense feature list of all examples, padded to the longest, and their lengths."""
    rows, steps = _steps_of(lists, key, dtype, not missing)
    size = int(np.prod(shape, dtype=np.int64))
    values, counts = values_of(rows, dtype)
    if (counts != size).any():
        bad = int(np.argmax(counts != size))
        example, step = (int(each[bad]) for each in _places(steps))
        raise Complaint(f"Feature list: {key.decode()}, Index: {example}, step {step}.  Number of {dtype.name} values "
                        f"!= expected.  Values size: {counts[bad]} but output shape: {list(shape)}",
                        "correct the shape of the feature")
    if one:
        return values.reshape(len(rows), *shape), np.asarray(steps[0])
    return _filled_up(values, steps, np.zeros(0), dtype, tuple(shape)), steps


def _ragged_lists(lists: list[Any], one: bool, key: bytes, dtype: Any, kind: Any) -> tuple[Any, Any, Any]:
    """Returns a ragged feature list of all examples: values, splits into examples, splits into steps."""
    rows, steps = _steps_of(lists, key, dtype)
    values, counts = values_of(rows, dtype)
    return values, np.zeros(0, kind.np_dtype) if one else _splits(steps, kind), _splits(counts, kind)


@op("ParseSequenceExampleV2", "serialized: string, debug_name: string, context_sparse_keys: string, "
    "context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, "
    "feature_list_dense_keys: string, feature_list_ragged_keys: string, "
    "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: list(Tcontext_dense) -> "
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: list(context_sparse_types), "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: list(Tcontext_dense), "
    "context_ragged_values: list(context_ragged_value_types), "
    "context_ragged_row_splits: list(context_ragged_split_types), "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: list(feature_list_sparse_types), "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: list(feature_list_dense_types), feature_list_dense_lengths: Nfeature_list_dense*int64, "
    "feature_list_ragged_values: list(feature_list_ragged_value_types), "
    "feature_list_ragged_outer_splits: list(feature_list_ragged_split_types), "
    "feature_list_ragged_inner_splits: list(feature_list_ragged_split_types)", Tcontext_dense=KINDS,
    context_sparse_types=KINDS, context_ragged_value_types=KINDS, context_ragged_split_types=_INDEX,
    feature_list_sparse_types=KINDS, feature_list_dense_types=KINDS, feature_list_ragged_value_types=KINDS,
    feature_list_ragged_split_types=_INDEX, flags=_HOST)
def parse_sequence_op(xp, serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys,
                      sparse_keys, dense_keys, ragged_keys, may_be_missing, context_dense_defaults, *, Ncontext_sparse,
                      Tcontext_dense, context_sparse_types, context_ragged_value_types, context_ragged_split_types,
                      context_dense_shapes, Nfeature_list_sparse, Nfeature_list_dense, feature_list_dense_types,
                      feature_list_sparse_types, feature_list_ragged_value_types, feature_list_ragged_split_types,
                      feature_list_dense_shapes):
    """Parses contexts and feature lists of serialized `SequenceExample`s, or of one."""
    context = parse_example_op.kernel(
        xp, serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys,
        context_dense_defaults, num_sparse=Ncontext_sparse, Tdense=Tcontext_dense, sparse_types=context_sparse_types,
        ragged_value_types=context_ragged_value_types, ragged_split_types=context_ragged_split_types,
        dense_shapes=context_dense_shapes)
    one = not serialized.ndim
    lists = [_lists_of(s) for s in serialized.reshape(-1).tolist()]
    sparse, dense, ragged, missing = (np.asarray(given).reshape(-1).tolist() for given in (
        sparse_keys, dense_keys, ragged_keys, may_be_missing))
    sparse = zip(sparse, feature_list_sparse_types, strict=True)
    dense = zip(dense, feature_list_dense_types, feature_list_dense_shapes, missing, strict=True)
    ragged = zip(ragged, feature_list_ragged_value_types, feature_list_ragged_split_types, strict=True)
    return (*context, *_columns(3, [_sparse_lists(lists, one, *each) for each in sparse]),
            *_columns(2, [_dense_lists(lists, one, *each) for each in dense]),
            *_columns(3, [_ragged_lists(lists, one, *each) for each in ragged]))


def _columns(n: int, rows: list[Any]) -> list[list[Any]]:
    return [[row[i] for row in rows] for i in range(n)]


@parse_sequence_op.shape
def _parse_sequence_shape(serialized, debug_name, a, b, c, d, e, f, g, defaults, Ncontext_sparse, context_dense_shapes,
                          context_ragged_value_types, Nfeature_list_sparse, Nfeature_list_dense,
                          feature_list_dense_shapes, feature_list_ragged_value_types):
    context = _parse_example_shape(serialized, None, None, None, None, None, Ncontext_sparse, context_dense_shapes,
                                   context_ragged_value_types)
    n = None if serialized is None else serialized
    rank = None if n is None else len(n) + 2
    dense = [None if n is None else (*n, None, *shape) for shape in feature_list_dense_shapes]
    many = len(feature_list_ragged_value_types)
    return [*context, *[(None, rank)] * Nfeature_list_sparse, *[(None,)] * Nfeature_list_sparse,
            *[(rank,)] * Nfeature_list_sparse, *dense, *[n] * Nfeature_list_dense, *[(None,)] * (3 * many)]


parse_sequence_op.grad(NOT_DIFFERENTIABLE)

