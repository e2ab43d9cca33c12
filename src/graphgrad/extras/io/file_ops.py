"""Files and encoded data: reading, serialized `tf.train.Example`s."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int64, string
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.proto.wire import DELIMITED, FIXED32, VARINT, fields_of_bytes, read_fields, read_packed, signed
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import Shape, as_shape, num_elements
from graphgrad.ir.tensor import Tensor

# -- files -------------------------------------------------------------------------------


@op("ReadFile", "filename: string -> contents: string", flags=("host", "stateful"), shape=lambda filename: ())
def _read_file(xp, filename):
    """Reads the bytes of a file."""
    path = filename.item()
    with system_errors(path), open(path, "rb") as f:
        contents = f.read()
    result = np.empty((), object)
    result[()] = contents
    return result


_read_file.grad(NOT_DIFFERENTIABLE)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """Reads the contents of a file.

    Args:
      filename: a string scalar.
      name: a name for the operation.
    Returns: a string scalar.
    Raises: NotFoundError at run time if there is no such file.
    Gradient: none.
    Reference: TensorFlow 2.21 ReadFile.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f")
    >>> with open(path, "w") as f:
    ...     _ = f.write("abc")
    >>> sess.run(tf.read_file(path))
    b'abc'
    """
    return raw.ReadFile(filename, name=name)


# -- examples ----------------------------------------------------------------------------


class FixedLenFeature(NamedTuple):
    """A feature of an `Example` that always has the same shape.

    Args:
      shape: the shape.
      dtype: float32, int64 or string.
      default_value: the value for missing entries.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of an `Example` with any number of values, parsed to a `SparseTensor`.

    Args:
      dtype: float32, int64 or string.
    """

    dtype: Any


def _values(kind: int, message: bytes) -> list[Any]:
    """Parses the values of a BytesList (kind 1), FloatList (2) or Int64List (3)."""
    values: list[Any] = []
    for number, wire, value in read_fields(message):
        if number != 1:
            continue
        if kind == 1 and wire == DELIMITED:
            values.append(value)
        elif kind == 2 and wire in (FIXED32, DELIMITED):
            values.extend(np.frombuffer(value, "<f4").tolist())
        elif kind == 3 and wire in (VARINT, DELIMITED):
            values.extend(map(signed, [value] if wire == VARINT else read_packed(value)))
    return values


_KINDS = {string: 1, float32: 2, int64: 3}


def _features_of(serialized: bytes) -> dict[str, tuple[int, list[Any]]]:
    """Parses the features of a serialized `Example`: name -> (kind, values)."""
    found: dict[str, tuple[int, list[Any]]] = {}
    try:
        for features in fields_of_bytes(serialized, 1):
            for entry in fields_of_bytes(features, 1):
                name, feature = entry_of(entry)
                found[name] = feature_of(feature)
    except (ValueError, IndexError) as e:
        raise Complaint(f"Could not parse example input ({e})", "feed what Example.SerializeToString() gives") from None
    return found


def entry_of(entry: bytes) -> tuple[str, bytes]:
    """Parses the name and value of an entry of a map of messages."""
    parts = {number: value for number, wire, value in read_fields(entry) if wire == DELIMITED}
    return parts.get(1, b"").decode("utf-8", "surrogateescape"), parts.get(2, b"")


def feature_of(message: bytes) -> tuple[int, list[Any]]:
    """Parses the kind (see `_values`) and values of a `Feature`; kind 0 if it has none."""
    kinds = [(n, value) for n, wire, value in read_fields(message) if wire == DELIMITED and n in (1, 2, 3)]
    return (kinds[-1][0], _values(*kinds[-1])) if kinds else (0, [])


def _array(values: list[Any], dtype: Any, shape: Shape) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), dtype.np_dtype)
    array[:] = values
    return array.reshape(shape)


@op("ParseSingleExample", "serialized: string, dense_defaults: list(Tdense) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, dense_values: list(Tdense)",
    Tdense=_KINDS, sparse_types=_KINDS, flags=("host",))
def _parse_single_example(xp, serialized, dense_defaults, *, num_sparse, sparse_keys, dense_keys, sparse_types, Tdense,
                          dense_shapes, has_default):
    """Parses the features of one serialized `Example`."""
    found = _features_of(serialized.item())
    dense = []
    for key, dtype, shape, default, given in zip(
        dense_keys, Tdense, dense_shapes, dense_defaults, has_default, strict=True
    ):
        kind, values = found.get(key, (0, []))
        if not kind:
            if not given:
                raise Complaint(
                    f"Feature: {key} (data type: {dtype.name}) is required but could not be found",
                    "give its FixedLenFeature a default_value",
                )
            dense.append(np.broadcast_to(np.asarray(default), shape))
            continue
        if kind != _KINDS[dtype] or len(values) != num_elements(shape):
            raise Complaint(
                f"Key: {key}.  Can't parse serialized Example: {len(values)} values for shape {shape} of "
                f"dtype {dtype.name}",
                "correct shape and dtype of the FixedLenFeature",
            )
        dense.append(_array(values, dtype, shape))
    indices, sparse, shapes = [], [], []
    for key, dtype in zip(sparse_keys, sparse_types, strict=True):
        kind, values = found.get(key, (0, []))
        if kind and kind != _KINDS[dtype]:
            raise Complaint(
                f"Key: {key}.  Data types don't match. Expected type: {dtype.name}",
                "correct the dtype of the VarLenFeature",
            )
        indices.append(np.arange(len(values), dtype=np.int64).reshape(-1, 1))
        sparse.append(_array(values, dtype, (-1,)))
        shapes.append(np.array([len(values)], np.int64))
    return indices, sparse, shapes, dense


@_parse_single_example.shape
def _parse_single_example_shape(serialized, dense_defaults, num_sparse, dense_shapes):
    return [(None, 1)] * num_sparse + [(None,)] * num_sparse + [(1,)] * num_sparse + list(dense_shapes)


_parse_single_example.grad(NOT_DIFFERENTIABLE)


def parse_single_example_v1(serialized: Any, features: dict[str, Any], name: str | None = None,
                            example_names: Any = None) -> dict[str, Any]:
    """Parses one serialized `Example` (1.x arguments).

    Args:
      serialized: a string scalar.
      features: name -> `FixedLenFeature` or `VarLenFeature`.
      name: a name scope.
      example_names: accepted as TensorFlow does.
    Returns: name -> a tensor, or a `SparseTensor` for a `VarLenFeature`.
    Raises: ValueError if `features` is empty or holds anything else; InvalidArgumentError at run
      time for unparsable data.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseSingleExample.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.parse_single_example(example, {"a": tf.FixedLenFeature([3], tf.int64)}))
    {'a': array([1, 2, 3])}
    """
    from graphgrad.ops.common.sparse_tensor import SparseTensor

    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    wrong = {k: f for k, f in features.items() if not isinstance(f, (FixedLenFeature, VarLenFeature))}
    if wrong:
        raise ValueError(f"Features must be FixedLenFeature or VarLenFeature here, not {wrong}.")
    dense = {k: f for k, f in sorted(features.items()) if isinstance(f, FixedLenFeature)}
    sparse = {k: f for k, f in sorted(features.items()) if isinstance(f, VarLenFeature)}
    types = [as_dtype(f.dtype) for f in dense.values()]
    with name_scope(name, "ParseSingleExample"):
        zeros = {string: b"", float32: 0.0, int64: 0}
        defaults = [convert_to_tensor(zeros[t] if f.default_value is None else f.default_value, t)
                    for f, t in zip(dense.values(), types, strict=True)]
        indices, values, shapes, tensors = raw.ParseSingleExample(
            serialized, defaults, num_sparse=len(sparse), sparse_keys=tuple(sparse), dense_keys=tuple(dense),
            sparse_types=tuple(as_dtype(f.dtype) for f in sparse.values()),
            dense_shapes=tuple(as_shape(f.shape) for f in dense.values()),
            has_default=tuple(f.default_value is not None for f in dense.values()))
    result: dict[str, Any] = dict(zip(dense, tensors, strict=True))
    for key, *parts in zip(sparse, indices, values, shapes, strict=True):
        result[key] = SparseTensor(*parts)
    return {k: result[k] for k in features}


def parse_single_example(serialized: Any, features: dict[str, Any], example_names: Any = None,
                         name: str | None = None) -> dict[str, Any]:
    """Parses one serialized `Example`.

    Args:
      serialized, features, example_names, name: as in `tf.compat.v1.parse_single_example`.
    Returns: name -> a tensor, or a `SparseTensor` for a `VarLenFeature`.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.io.parse_single_example`.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.io.parse_single_example(example, {"a": tf.io.FixedLenFeature([3], tf.int64)}))
    {'a': array([1, 2, 3])}
    """
    return parse_single_example_v1(serialized, features, name, example_names)
