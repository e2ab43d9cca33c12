"""Writing files; compressed strings; sparse tensors and JSON as strings."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import ANY, as_dtype, int64, string
from graphgrad.ir.files.atomic_files import make_folders, system_errors
from graphgrad.ir.files.inflate import inflated
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import DTypeLike, Tensor
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .tensor_proto import _as_message, from_message

_HOST = ("host",)


def _objects(values: Any, shape: Any) -> Any:
    out = np.empty(len(values), object)
    out[:] = values
    return out.reshape(shape)


def _declare(name: str, signature: str, flags: tuple[str, ...] = _HOST, **options: Any) -> Any:
    def decorate(kernel: Any) -> Any:
        record = op(name, signature, flags=flags, **options)(kernel)
        record.grad(NOT_DIFFERENTIABLE)
        return record

    return decorate


def _same(x):
    return x


# -- files -------------------------------------------------------------------------------


def _write_shape(filename, contents):
    for what, shape in (("filename", filename), ("contents", contents)):
        if shape:
            raise Complaint(f"Input {what} tensor must be scalar, but had shape: {list(shape)}", "write one file")
    return []


@_declare("WriteFile", "filename: string, contents: string ->", ("host", "stateful"), shape=_write_shape)
def write_file_op(xp, filename, contents):
    """Writes a file; creates its directory if necessary."""
    path = filename.item().decode()
    with system_errors(path):
        make_folders(os.path.dirname(path) or ".")
        with open(path, "wb") as f:
            f.write(contents.item())
    return ()


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation | Any:
    """Writes a file; creates its directory if necessary.

    Args:
      filename: a string scalar.
      contents: a string scalar.
      name: a name for the operation.
    Returns: the operation.
    Raises: TensorFlow's errors at run time if it cannot be written, such as ResourceExhaustedError for a full disk.
    Gradient: none.
    Reference: TensorFlow 2.21 WriteFile.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f")
    >>> sess.run(tf.write_file(path, "abc"))
    >>> sess.run(tf.read_file(path))
    b'abc'
    """
    return raw.WriteFile(filename, contents, name=name)


# -- compression ---------------------------------------------------------------------------


def _compression(bytes, compression_type):
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise Complaint(f"Only ZLIB, GZIP or NONE are supported compressions, not {compression_type!r}",
                        "compression_type='GZIP'")
    return bytes


@_declare("DecodeCompressed", "bytes: string -> output: string", shape=_compression)
def decode_compressed_op(xp, data, *, compression_type=""):
    """Decompresses strings."""
    if not compression_type:
        return data
    return _objects([inflated(d, compression_type) for d in data.reshape(-1).tolist()], data.shape)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompresses strings.

    Args:
      bytes: strings.
      compression_type: 'ZLIB', 'GZIP', or '' for none.
      name: a name for the operation.
    Returns: strings of the same shape.
    Raises: ValueError for other types; DataLossError at run time for damaged strings.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeCompressed.

    >>> import zlib
    >>> sess.run(tf.io.decode_compressed(zlib.compress(b"abc"), "ZLIB"))
    b'abc'
    """
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


# -- sparse tensors as strings ---------------------------------------------------------------

_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: string"


def _messages(indices, values, shape):
    kind = string if values.dtype == object else as_dtype(values.dtype)
    return [_as_message(indices, int64), _as_message(values, kind), _as_message(np.asarray(shape), int64)]


@_declare("SerializeSparse", _SPARSE, T=ANY, shape=lambda indices, values, shape: (3,))
def serialize_sparse_op(xp, indices, values, shape):
    """Serializes a sparse tensor as three strings."""
    return _objects(_messages(indices, values, shape), (3,))


@_declare("SerializeManySparse", _SPARSE, T=ANY, shape=lambda indices, values, shape: (None, 3))
def serialize_many_sparse_op(xp, indices, values, shape):
    """Serializes the rows of a sparse tensor as three strings each."""
    rows = []
    for i in range(int(shape[0])):
        own = indices[:, 0] == i
        rows += _messages(indices[own, 1:], values[own], shape[1:])
    return _objects(rows, (-1, 3))


@_declare("DeserializeManySparse", "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, "
          "sparse_shape: int64", dtype=ANY)
def deserialize_many_sparse_op(xp, serialized, *, dtype):
    """Parses serialized sparse tensors, and stacks them to one."""
    places, values, shapes = [], [], []
    for i, row in enumerate(serialized.tolist()):
        try:
            (_, at), (kind, own), (_, size) = map(from_message, row)
        except (ValueError, TypeError):
            raise Complaint("Could not parse serialized proto", "give what serialize_sparse returned") from None
        if kind is not dtype:
            raise Complaint(f"Requested SparseTensor of type {dtype.name} but SparseTensor[{i}].values.dtype() == "
                            f"{kind.name}", f"dtype=tf.{kind.name}")
        if at.ndim != 2 or own.ndim != 1 or size.ndim != 1 or at.shape != (len(own), len(size)) or at.dtype != np.int64:
            raise Complaint(f"Expected serialized_sparse[{i}] to hold places, values and a shape that fit, but their "
                            f"shapes are {at.shape}, {own.shape}, {size.shape}", "give what serialize_sparse returned")
        places.append(np.concatenate([np.full((len(at), 1), i, np.int64), at], 1))
        values.append(own)
        shapes.append(size)
    if len({len(s) for s in shapes}) > 1:
        raise Complaint("sparse tensors of different ranks cannot be put together", "give tensors of one rank")
    size = np.max(shapes, axis=0) if shapes else np.zeros(0, np.int64)
    return (np.concatenate([*places, np.zeros((0, 1 + len(size)), np.int64)]),
            np.concatenate([np.zeros(0, dtype.np_dtype), *values]).astype(dtype.np_dtype),
            np.asarray([len(shapes), *size], np.int64))


@deserialize_many_sparse_op.shape
def _deserialize_many_shape(serialized):
    return [(None, None), (None,), (None,)]


def _converted(sp_input: Any) -> SparseTensor:
    if isinstance(sp_input, SparseTensor):
        return sp_input
    if isinstance(sp_input, tuple) and len(sp_input) == 3:
        return SparseTensor.from_value(sp_input)
    raise TypeError(f"Input must be a SparseTensor, not {type(sp_input).__name__}. Fix: tf.sparse.from_dense(x)")


def _out_type(out_type: Any) -> None:
    if as_dtype(out_type) is not string:
        raise NotImplementedError("sparse tensors are serialized as strings alone. Fix: out_type=tf.string")


def serialize_sparse(sp_input: Any, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Serializes a sparse tensor as three strings: messages `TensorProto` of indices, values and shape.

    Args:
      sp_input: a `SparseTensor`.
      out_type: tf.string.
      name: a name for the operation.
    Returns: (3), strings.
    Raises: TypeError for anything but sparse tensors; NotImplementedError for variants.
    Gradient: none.
    Reference: TensorFlow 2.21 SerializeSparse.

    >>> tf.io.serialize_sparse(tf.SparseTensor([[0, 1]], [5.0], [2, 3])).shape.as_list()
    [3]
    """
    _out_type(out_type)
    t = _converted(sp_input)
    return raw.SerializeSparse(t.indices, t.values, t.dense_shape, name=name)


def serialize_sparse_v1(sp_input: Any, name: str | None = None, out_type: DTypeLike = string) -> Tensor:
    """Serializes a sparse tensor as three strings (1.x arguments).

    Args:
      sp_input, name, out_type: as for `tf.io.serialize_sparse` of TensorFlow 2.
    Returns: (3), strings.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 SerializeSparse.
    """
    return serialize_sparse(sp_input, out_type, name)


def serialize_many_sparse(sp_input: Any, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Serializes the rows of a sparse tensor as three strings each.

    Args:
      sp_input: a `SparseTensor` of rank 2 or more.
      out_type: tf.string.
      name: a name for the operation.
    Returns: (N, 3), strings.
    Raises: TypeError for anything but sparse tensors; NotImplementedError for variants.
    Gradient: none.
    Reference: TensorFlow 2.21 SerializeManySparse.

    >>> sess.run(tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1]], [5.0], [2, 3]))).shape
    (2, 3)
    """
    _out_type(out_type)
    t = _converted(sp_input)
    return raw.SerializeManySparse(t.indices, t.values, t.dense_shape, name=name)


def serialize_many_sparse_v1(sp_input: Any, name: str | None = None, out_type: DTypeLike = string) -> Tensor:
    """Serializes the rows of a sparse tensor as three strings each (1.x arguments).

    Args:
      sp_input, name, out_type: as for `tf.io.serialize_many_sparse` of TensorFlow 2.
    Returns: (N, 3), strings.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 SerializeManySparse.
    """
    return serialize_many_sparse(sp_input, out_type, name)


def deserialize_many_sparse(serialized_sparse: Any, dtype: DTypeLike, rank: Any = None,
                            name: str | None = None) -> SparseTensor:
    """Parses serialized sparse tensors, and stacks them to one.

    Args:
      serialized_sparse: (N, 3), strings.
      dtype: the dtype of the values.
      rank: the rank of each, if it is known.
      name: a name for the operation.
    Returns: a `SparseTensor`, as large as the largest.
    Raises: InvalidArgumentError at run time for another dtype, or strings that are not such messages.
    Gradient: none.
    Reference: TensorFlow 2.21 DeserializeManySparse.

    >>> rows = tf.io.serialize_many_sparse(tf.SparseTensor([[0, 1]], [5.0], [2, 3]))
    >>> sess.run(tf.io.deserialize_many_sparse(rows, tf.float32)).dense_shape
    array([2, 3])
    """
    parts = raw.DeserializeManySparse(serialized_sparse, dtype=as_dtype(dtype), name=name)
    known = None if rank is None else whole(rank) + 1
    for part, shape in zip(parts, ((None, known), (None,), (known,)), strict=True):
        part.set_shape(shape)
    return SparseTensor(*parts)


# -- JSON ------------------------------------------------------------------------------------


@_declare("DecodeJSONExample", "json_examples: string -> binary_examples: string", shape=_same)
def decode_json_op(xp, texts):
    """Converts `Example`s from JSON to serialized messages."""
    return _objects([_message(t) for t in texts.reshape(-1).tolist()], texts.shape)


def _message(text: bytes) -> bytes:
    import base64
    import json

    from graphgrad.ir.proto.example_messages import BytesList, Example, Feature, Features, FloatList, Int64List

    def feature_of(given: dict[str, Any]) -> Any:
        if not given:
            return Feature()
        ((kind, values),) = given.items()
        values = _member(values, "value", [])
        if kind in ("int64List", "int64_list"):
            return Feature(int64_list=Int64List(value=[_integer(v) for v in values]))
        if kind in ("floatList", "float_list"):
            return Feature(float_list=FloatList(value=[float(v) for v in values]))
        if kind in ("bytesList", "bytes_list"):
            decoded = [base64.b64decode(v.replace("-", "+").replace("_", "/"), validate=True) for v in values]
            return Feature(bytes_list=BytesList(value=decoded))
        raise ValueError(f"no such field: {kind!r}")

    try:
        features = _member(_member(json.loads(text), "features", {}), "feature", {})
        made = {key: feature_of(feature) for key, feature in features.items()}
        return bytes(Example(features=Features(feature=made) if made else None).SerializeToString())
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as e:
        raise Complaint(f"Error while parsing JSON: {e}", "give Examples in protocol buffers' JSON") from None


def _member(given: dict[str, Any], name: str, default: Any) -> Any:
    """Returns the single member that a JSON object may have."""
    strange = sorted(given.keys() - {name})
    if strange:
        raise ValueError(f"no such field: {strange[0]!r}")
    return default if given.get(name) is None else given[name]


def _integer(value: Any) -> int:
    number = int(value)
    if number != (float(value) if isinstance(value, float) else number) or not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{value!r} is no integer of 64 bits")
    return number


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Converts `Example`s from JSON to serialized messages.

    Args:
      json_examples: strings.
      name: a name for the operation.
    Returns: strings of the same shape.
    Raises: InvalidArgumentError at run time for invalid JSON.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeJSONExample.

    >>> text = '{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}'
    >>> sess.run(tf.parse_single_example(tf.io.decode_json_example(text), {"a": tf.FixedLenFeature([], tf.int64)}))
    {'a': np.int64(7)}
    """
    return raw.DecodeJSONExample(convert_to_tensor(json_examples, string), name=name)
