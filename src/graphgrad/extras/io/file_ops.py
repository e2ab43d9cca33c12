"""Files and encoded data: reading, serialized `tf.train.Example`s."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int64, string
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import as_shape, num_elements
from graphgrad.ir.tensor import Tensor

from .example_columns import KINDS, rows_of, values_of

# -- files -------------------------------------------------------------------------------


@op("ReadFile", "filename: string -> contents: string", flags=("host", "stateful"), shape=lambda filename: ())
def _read_file(xp, filename):
    """Reads the bytes of a file."""
    if filename.ndim:
        raise Complaint(f"Input filename tensor must be scalar but got shape {list(filename.shape)}", "filename[0]")
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


@op("ParseSingleExample", "serialized: string, dense_defaults: list(Tdense) -> sparse_indices: num_sparse*int64, "
    "sparse_values: list(sparse_types), sparse_shapes: num_sparse*int64, dense_values: list(Tdense)",
    Tdense=KINDS, sparse_types=KINDS, flags=("host",))
def _parse_single_example(xp, serialized, dense_defaults, *, num_sparse, sparse_keys, dense_keys, sparse_types, Tdense,
                          dense_shapes, has_default):
    """Parses the features of one serialized `Example`."""
    keys = [key.encode("utf-8", "surrogateescape") for key in (*dense_keys, *sparse_keys)]
    rows = rows_of([serialized.item()], keys)
    dense = []
    for key, row, dtype, shape, default, given in zip(
        dense_keys, rows, Tdense, dense_shapes, dense_defaults, has_default
    ):
        if row[0] is None:
            if not given:
                raise Complaint(
                    f"Feature: {key} (data type: {dtype.name}) is required but could not be found",
                    "give its FixedLenFeature a default_value",
                )
            dense.append(np.broadcast_to(np.asarray(default), shape))
            continue
        values = values_of(row, dtype)[0] if row[0][0] == KINDS[dtype] else None
        if values is None or len(values) != num_elements(shape):
            count = "" if values is None else f"{len(values)} "
            raise Complaint(
                f"Key: {key}.  Can't parse serialized Example: {count}values for shape {shape} of "
                f"dtype {dtype.name}",
                "correct shape and dtype of the FixedLenFeature",
            )
        dense.append(values.reshape(shape))
    indices, sparse, shapes = [], [], []
    for key, row, dtype in zip(sparse_keys, rows[len(dense) :], sparse_types, strict=True):
        if row[0] is not None and row[0][0] != KINDS[dtype]:
            raise Complaint(
                f"Key: {key}.  Data types don't match. Expected type: {dtype.name}",
                "correct the dtype of the VarLenFeature",
            )
        values, _ = values_of(row, dtype)
        indices.append(np.arange(len(values), dtype=np.int64).reshape(-1, 1))
        sparse.append(values)
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
