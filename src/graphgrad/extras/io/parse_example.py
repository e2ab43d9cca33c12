"""Ops that parse serialized examples and sequence examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import int32, int64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.proto.wire import fields_of_bytes

from .file_ops import _KINDS, _array, _features_of, entry_of, feature_of

_HOST = ("host",)
_INDEX = frozenset({int32, int64})
_NAMES = {1: "string", 2: "float", 3: "int64"}


def _keys(tensor: Any) -> list[str]:
    return [k.decode() for k in np.asarray(tensor).reshape(-1).tolist()]


def _typed(found: dict[str, Any], key: str, dtype: Any, index: int) -> list[Any] | None:
    """Returns the values of a feature; None if it is missing."""
    kind, values = found.get(key, (0, []))
    if not kind:
        return None
    if kind != _KINDS[dtype]:
        raise Complaint(f"Key: {key}, Index: {index}.  Data types don't match. Expected type: {dtype.name}, "
                        f"actual type: {_NAMES[kind]}", "correct the dtype of the feature")
    return list(values)


def _dense(examples: list[Any], key: str, dtype: Any, shape: Any, default: Any) -> Any:
    """Returns a dense feature of all examples; if its first size is unknown, padded to the longest."""
    rows, variable = [], bool(shape) and shape[0] is None
    inner = tuple(shape[1:] if variable else shape)
    size = int(np.prod(inner, dtype=np.int64))
    for i, found in enumerate(examples):
        values = _typed(found, key, dtype, i)
        if values is None and not variable and not np.size(default) and size:
            raise Complaint(f"Feature: {key} (data type: {dtype.name}) is required but could not be found",
                            "give its FixedLenFeature a default_value")
        if values is None:
            rows.append(np.zeros((0, *inner), dtype.np_dtype) if variable else np.broadcast_to(default, inner))
            continue
        if len(values) % max(1, size) if variable else len(values) != size:
            text = "is not a multiple of stride length" if variable else "!= expected"
            raise Complaint(f"Key: {key}, Index: {i}.  Number of {dtype.name} values {text}.  Values size: "
                            f"{len(values)} but output shape: {list(inner)}", "correct the shape of the feature")
        rows.append(_array(values, dtype, (-1, *inner) if variable else inner))
    return _filled_up(rows, default, dtype, inner) if variable else _stacked(rows, dtype, inner)


def _stacked(rows: list[Any], dtype: Any, inner: Any) -> Any:
    return np.stack(rows) if rows else np.zeros((0, *inner), dtype.np_dtype)


def _filled_up(rows: list[Any], default: Any, dtype: Any, inner: Any) -> Any:
    out = np.empty((len(rows), max(map(len, rows), default=0), *inner), dtype.np_dtype)
    out[...] = np.asarray(default).reshape(-1)[0] if np.size(default) else b"" if dtype is string else 0
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def _sparse(rows: list[list[Any]], dtype: Any) -> tuple[Any, Any, Any]:
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = _array([v for row in rows for v in row], dtype, (-1,))
    return (np.asarray(indices, np.int64).reshape(-1, 2), values,
            np.asarray([len(rows), max(map(len, rows), default=0)], np.int64))


def _splits(lengths: list[int], dtype: Any) -> Any:
    return np.cumsum([0, *lengths]).astype(dtype.np_dtype)


@op("ParseExampleV2", "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
    "ragged_keys: string, dense_defaults: list(Tdense) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), "
    "sparse_shapes: num_sparse*int64, dense_values: list(Tdense), ragged_values: list(ragged_value_types), "
    "ragged_row_splits: list(ragged_split_types)", Tdense=_KINDS, sparse_types=_KINDS, ragged_value_types=_KINDS,
    ragged_split_types=_INDEX, flags=_HOST)
def parse_example_op(xp, serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, *, num_sparse, Tdense,
                     sparse_types, ragged_value_types, ragged_split_types, dense_shapes):
    """Parses the features of serialized `Example`s, or of one."""
    examples = [_features_of(s) for s in serialized.reshape(-1).tolist()]
    indices, values, shapes = [], [], []
    for key, dtype in zip(_keys(sparse_keys), sparse_types, strict=True):
        rows = [_typed(found, key, dtype, i) or [] for i, found in enumerate(examples)]
        at, given, shape = _sparse(rows, dtype)
        one = not serialized.ndim
        indices.append(at[:, 1:] if one else at)
        values.append(given)
        shapes.append(shape[1:] if one else shape)
    given = zip(_keys(dense_keys), Tdense, dense_shapes, dense_defaults, strict=True)
    dense = [_dense(examples, *each) for each in given]
    flat, splits = [], []
    for key, dtype, kind in zip(_keys(ragged_keys), ragged_value_types, ragged_split_types, strict=True):
        rows = [_typed(found, key, dtype, i) or [] for i, found in enumerate(examples)]
        flat.append(_array([v for row in rows for v in row], dtype, (-1,)))
        splits.append(_splits([len(r) for r in rows], kind) if serialized.ndim else np.zeros(0, kind.np_dtype))
    if not serialized.ndim:
        dense = [d[0] for d in dense]
    return indices, values, shapes, dense, flat, splits


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


def _lists_of(serialized: bytes) -> dict[str, list[Any]]:
    """Returns the feature lists of a serialized `SequenceExample`: name -> [(kind, values)]."""
    found: dict[str, list[Any]] = {}
    try:
        for lists in fields_of_bytes(serialized, 2):
            for entry in fields_of_bytes(lists, 1):
                name, features = entry_of(entry)
                found[name] = [feature_of(feature) for feature in fields_of_bytes(features, 1)]
    except (ValueError, IndexError) as e:
        raise Complaint(f"Could not parse example input ({e})",
                        "feed what SequenceExample.SerializeToString() gives") from None
    return found


def _rows_of(lists: dict[str, list[Any]], key: str, dtype: Any, index: int) -> list[list[Any]] | None:
    if key not in lists:
        return None
    for kind, _ in lists[key]:
        if kind and kind != _KINDS[dtype]:
            raise Complaint(f"Feature list: {key}, Index: {index}.  Data types don't match. Expected type: "
                            f"{dtype.name}, actual type: {_NAMES[kind]}", "correct the dtype of the feature")
    return [list(values) for _, values in lists[key]]


def _steps_of(all_lists: list[Any], key: str, dtype: Any, required: bool = False) -> list[list[list[Any]]]:
    """Returns the values of a feature list in each step of each example."""
    found = []
    for i, lists in enumerate(all_lists):
        own = _rows_of(lists, key, dtype, i)
        if own is None and required:
            raise Complaint(f"Index: {i}.  Feature list '{key}' is required but could not be found.  Did you "
                            "mean to include it in feature_list_dense_missing_assumed_empty?",
                            "give its FixedLenSequenceFeature allow_missing=True")
        found.append(own or [])
    return found


def _sparse_lists(lists: list[Any], one: bool, key: str, dtype: Any) -> tuple[Any, Any, Any]:
    """Returns a sparse feature list of all examples: indices, values, shape; of a single example without its axis."""
    found = _steps_of(lists, key, dtype)
    at = [(i, j, k) for i, steps in enumerate(found) for j, row in enumerate(steps) for k in range(len(row))]
    size = [len(found), max(map(len, found), default=0), max((len(row) for steps in found for row in steps), default=0)]
    values = _array([v for steps in found for row in steps for v in row], dtype, (-1,))
    return np.asarray(at, np.int64).reshape(-1, 3)[:, one:], values, np.asarray(size[one:], np.int64)


def _dense_lists(lists: list[Any], one: bool, key: str, dtype: Any, shape: Any, missing: bool) -> tuple[Any, Any]:
    """Returns a dense feature list of all examples, padded to the longest, and their lengths."""
    found = _steps_of(lists, key, dtype, not missing)
    size = int(np.prod(shape, dtype=np.int64))
    for i, steps in enumerate(found):
        for j, row in enumerate(steps):
            if len(row) != size:
                raise Complaint(f"Feature list: {key}, Index: {i}, step {j}.  Number of {dtype.name} values != "
                                f"expected.  Values size: {len(row)} but output shape: {list(shape)}",
                                "correct the shape of the feature")
    arrays = [_array([v for row in steps for v in row], dtype, (len(steps), *shape)) for steps in found]
    dense = arrays[0] if one else _filled_up(arrays, np.zeros(0), dtype, tuple(shape))
    return dense, np.asarray(len(found[0]) if one else [len(steps) for steps in found], np.int64)


def _ragged_lists(lists: list[Any], one: bool, key: str, dtype: Any, kind: Any) -> tuple[Any, Any, Any]:
    """Returns a ragged feature list of all examples: values, splits into examples, splits into steps."""
    found = _steps_of(lists, key, dtype)
    flat = _array([v for steps in found for row in steps for v in row], dtype, (-1,))
    outer = np.zeros(0, kind.np_dtype) if one else _splits([len(steps) for steps in found], kind)
    return flat, outer, _splits([len(row) for steps in found for row in steps], kind)


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
    "feature_list_ragged_inner_splits: list(feature_list_ragged_split_types)", Tcontext_dense=_KINDS,
    context_sparse_types=_KINDS, context_ragged_value_types=_KINDS, context_ragged_split_types=_INDEX,
    feature_list_sparse_types=_KINDS, feature_list_dense_types=_KINDS, feature_list_ragged_value_types=_KINDS,
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
    missing = np.asarray(may_be_missing).reshape(-1).tolist()
    sparse = zip(_keys(sparse_keys), feature_list_sparse_types, strict=True)
    dense = zip(_keys(dense_keys), feature_list_dense_types, feature_list_dense_shapes, missing, strict=True)
    ragged = zip(_keys(ragged_keys), feature_list_ragged_value_types, feature_list_ragged_split_types, strict=True)
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

