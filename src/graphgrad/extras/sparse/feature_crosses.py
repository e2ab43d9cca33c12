"""Crosses of features: every combination of their values, row by row, as strings or hashed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int64, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.sparse_tensor import SparseTensor

_KINDS = frozenset({int64, string})
DEFAULT_HASH_KEY = 0xDECAFCAFFE
_MASK, _FACTOR = 2**64 - 1, 0xC6A4A7935BD1E995


def _mixed(value: int) -> int:
    return value ^ (value >> 47)


def combined(one: int, other: int) -> int:
    """Combines two hashes by farmhash64."""
    found = one ^ _FACTOR
    found ^= _mixed(other * _FACTOR & _MASK) * _FACTOR & _MASK
    found = found * _FACTOR & _MASK
    found = _mixed(found) * _FACTOR & _MASK
    return _mixed(found)


def crossed(rows: Any, hashed: bool, num_buckets: int, key: int, separator: bytes) -> list[list[Any]]:
    """Returns all combinations of a row's values, given as a list of lists; for each row."""
    from graphgrad.extras.strings.hashing import farmhash64

    if not hashed:
        def text(v: Any) -> bytes:
            return v if isinstance(v, bytes) else str(whole(v)).encode()

        return [[separator.join(map(text, c)) for c in itertools.product(*row)] for row in rows]
    found = []
    for row in rows:
        own = []
        for choice in itertools.product(*row):
            total = key
            for v in choice:
                total = combined(total, farmhash64(v) if isinstance(v, bytes) else int(v) & _MASK)
            own.append(total % (num_buckets or 2**63 - 1))
        found.append(own)
    return found


def sparse_rows(indices: Any, values: Any, n: int) -> list[list[Any]]:
    """Returns the values of each row of a sparse matrix."""
    rows: list[list[Any]] = [[] for _ in range(n)]
    for i, v in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        rows[i].append(v)
    return rows


def _features(indices: Any, values: Any, shapes: Any, dense: Any) -> tuple[list[Any], int]:
    sizes = {int(s[0]) for s in shapes} | {len(d) for d in dense}
    if len(sizes) > 1:
        raise Complaint(f"Expected batch size {min(sizes)}, but got {max(sizes)}", "give features of the same examples")
    n = sizes.pop() if sizes else 0
    parts = [sparse_rows(i, v, n) for i, v in zip(indices, values, strict=True)] + [d.tolist() for d in dense]
    return [list(row) for row in zip(*parts, strict=True)], n


def _as_sparse(rows: list[list[Any]], dtype: Any) -> tuple[Any, Any, Any]:
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(places), dtype.np_dtype)
    values[:] = [v for row in rows for v in row]
    return (np.asarray(places, np.int64).reshape(-1, 2), values,
            np.asarray([len(rows), max(map(len, rows), default=0)], np.int64))


def _shape(indices, *unused):
    return [(None, 2), (None,), (2,)]


_INPUTS = "indices: N*int64, values: list(sparse_types), shapes: N*int64, dense_inputs: list(dense_types)"
_PLACES = "output_indices: int64, output_values: {}, output_shape: int64"


@op("SparseCross", f"{_INPUTS} -> {_PLACES.format('out_type')}", sparse_types=_KINDS, dense_types=_KINDS,
    out_type=_KINDS, flags=("host",), shape=_shape)
def sparse_cross_op(xp, indices, values, shapes, dense, *, hashed_output, num_buckets, hash_key, out_type,
                    internal_type):
    """Combines features of each example in all ways."""
    rows, _ = _features(indices, values, shapes, dense)
    return _as_sparse(crossed(rows, hashed_output, num_buckets, hash_key, b"_X_"), out_type)


@op("SparseCrossV2", f"{_INPUTS}, sep: string -> {_PLACES.format('string')}", sparse_types=_KINDS, dense_types=_KINDS,
    flags=("host",), shape=_shape)
def sparse_cross_v2_op(xp, indices, values, shapes, dense, sep):
    """Combines features of each example in all ways, as joined strings."""
    rows, _ = _features(indices, values, shapes, dense)
    return _as_sparse(crossed(rows, False, 0, 0, sep.item()), string)


@op("RaggedCross", "ragged_values: list(ragged_values_types), ragged_row_splits: list(ragged_splits_types), "
    "sparse_indices: Nsparse*int64, sparse_values: list(sparse_values_types), sparse_shape: Nsparse*int64, "
    "dense_inputs: list(dense_types) -> output_values: out_values_type, output_row_splits: out_row_splits_type",
    ragged_values_types=_KINDS, sparse_values_types=_KINDS, dense_types=_KINDS, out_values_type=_KINDS,
    flags=("host",))
def ragged_cross_op(xp, ragged_values, ragged_splits, indices, sparse_values, shapes, dense, *, input_order,
                    hashed_output, num_buckets, hash_key, out_values_type, out_row_splits_type):
    """Combines features of each example in all ways, in rows; letters give the kind of each feature."""
    sizes = {len(s) - 1 for s in ragged_splits} | {int(s[0]) for s in shapes} | {len(d) for d in dense}
    if len(sizes) > 1:
        raise Complaint("inputs must all have the same batch dimension size.", "give features of the same examples")
    n = sizes.pop() if sizes else 0
    order = input_order.decode() if isinstance(input_order, bytes) else input_order
    kinds: dict[str, Any] = {
        "R": iter([[v[a:b].tolist() for a, b in itertools.pairwise(s.tolist())]
                   for v, s in zip(ragged_values, ragged_splits, strict=True)]),
        "S": iter([sparse_rows(i, v, n) for i, v in zip(indices, sparse_values, strict=True)]),
        "D": iter([d.tolist() for d in dense]),
    }
    parts = [next(kinds[letter]) for letter in order]
    rows = crossed([list(row) for row in zip(*parts, strict=True)], hashed_output, num_buckets, hash_key, b"_X_")
    values = np.empty(sum(map(len, rows)), out_values_type.np_dtype)
    values[:] = [v for row in rows for v in row]
    return values, np.cumsum([0, *map(len, rows)]).astype(out_row_splits_type.np_dtype)


@ragged_cross_op.shape
def _ragged_cross_shape(ragged_values, ragged_splits, indices, sparse_values, shapes, dense):
    for d in dense:
        if d is not None and len(d) != 2:
            raise Complaint(f"tf.ragged.cross only supports inputs with rank=2, not {len(d)}", "tf.expand_dims(x, 1)")
    return [(None,), (None,)]


for _record in (sparse_cross_op, sparse_cross_v2_op, ragged_cross_op):
    _record.grad(NOT_DIFFERENTIABLE)


def as_feature(value: Any) -> Any:
    """Converts a dense feature, or the values of another one, to strings or int64."""
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype in (string, int64) else raw.Cast(tensor, DstT=int64)


def _taken_apart(inputs: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list. Fix: [features]")
    sparse, dense = [], []
    for i in inputs:
        if isinstance(i, SparseTensor):
            sparse.append(i)
        elif hasattr(i, "dtype") and hasattr(i, "shape"):
            dense.append(as_feature(i))
        else:
            raise TypeError(f"All inputs must be Tensor or SparseTensor, not {type(i).__name__}. Fix: tf.constant(x)")
    return sparse, dense


def _parts(sparse: list[Any], dense: list[Any]) -> list[Any]:
    return [[s.indices for s in sparse], [as_feature(s.values) for s in sparse], [s.dense_shape for s in sparse], dense]


def sparse_cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """Combines features of each example in all ways, as strings; sparse ones come before dense ones.

    Args:
      inputs: a list of sparse matrices and dense ones of strings or ints, with a row for each example.
      name: a name for the scope of the operations.
      separator: the separator of values; '_X_' by default.
    Returns: a `SparseTensor` of strings, with a row for each example.
    Raises: TypeError for other inputs; InvalidArgumentError at run time for different numbers of examples.
    Gradient: none.
    Reference: TensorFlow 2.21 SparseCrossV2.

    >>> pets, sizes = tf.constant([["cat", "dog"]]), tf.constant([["big"]])
    >>> sess.run(tf.sparse.cross([pets, sizes])).values
    array([b'cat_X_big', b'dog_X_big'], dtype=object)
    """
    with name_scope(name, "SparseCross"):
        parts = _parts(*_taken_apart(inputs))
        return SparseTensor(*raw.SparseCrossV2(*parts, "_X_" if separator is None else separator))


def sparse_cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None,
                        name: str | None = None) -> SparseTensor:
    """Combines features of each example in all ways, and hashes them.

    Args:
      inputs: a list of sparse matrices and dense ones of strings or ints, with a row for each example.
      num_buckets: the number of hashes; 0 for 2**63 - 1.
      hash_key: the key of the hash.
      name: a name for the scope of the operations.
    Returns: a `SparseTensor` of int64, with a row for each example.
    Raises: as `sparse.cross`.
    Gradient: none.
    Reference: TensorFlow 2.21 SparseCross.

    >>> pets, sizes = tf.constant([["cat", "dog"]]), tf.constant([["big"]])
    >>> sess.run(tf.sparse.cross_hashed([pets, sizes], num_buckets=100)).dense_shape
    array([1, 2])
    """
    with name_scope(name, "SparseCross"):
        parts = _parts(*_taken_apart(inputs))
        return SparseTensor(*raw.SparseCross(*parts, hashed_output=True, num_buckets=whole(num_buckets), out_type=int64,
                                             hash_key=DEFAULT_HASH_KEY if hash_key is None else whole(hash_key),
                                             internal_type=string))


def sampled_addmm(indices: TensorLike, values: TensorLike, dense_shape: Any, mat1: Any, mat2: Any, beta: Any = 1.0,
                  alpha: Any = 1.0, output_type: DTypeLike = float32) -> tuple[Tensor, Tensor, Tensor]:
    """Computes beta S + alpha A B only at the positions of a sparse matrix S.

    Args:
      indices: (n, 2), the positions of S.
      values: (n), its values.
      dense_shape: (2), its shape.
      mat1: (m, k).
      mat2: (k, p).
      beta, alpha: factors.
      output_type: the dtype that all are converted to.
    Returns: (indices, values, dense_shape) of the result.
    Raises: ValueError for incompatible shapes.
    Gradient: for values and matrices.
    Reference: TensorFlow 2.21 `tf.sparse.sampled_addmm`.

    >>> sess.run(sampled_addmm([[0, 1]], [10.0], [2, 2], [[1.0], [2.0]], [[3.0, 4.0]])[1])
    array([14.], dtype=float32)
    """
    indices = convert_to_tensor(indices)
    values, mat1, mat2 = (raw.Cast(convert_to_tensor(t), DstT=output_type) for t in (values, mat1, mat2))
    if indices.shape.rank != 2 or indices.shape.as_list()[1] != 2:
        raise ValueError(f"sampled_addmm is offered for matrices, with indices of shape (n, 2), not {indices.shape}. "
                         "Fix: call it for each matrix of a batch")
    rows, columns = raw.Unpack(indices, num=2, axis=1)
    products = raw.Mul(raw.GatherV2(mat1, rows, 0), raw.GatherV2(raw.Transpose(mat2, [1, 0]), columns, 0))
    beta, alpha = (convert_to_tensor(v, output_type) for v in (beta, alpha))
    found = raw.AddV2(raw.Mul(beta, values), raw.Mul(alpha, raw.Sum(products, [1])))
    return indices, found, convert_to_tensor(dense_shape)
