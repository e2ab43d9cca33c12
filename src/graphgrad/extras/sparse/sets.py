"""Sets along the last axis of tensors, and the distance between sequences. All of it runs on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import ANY, INTEGER, string
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.sparse_tensor import SparseTensor

_ELEMENTS = INTEGER | {string}
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"
_OPERATIONS = ("a-b", "b-a", "intersection", "union")


def _by_group(indices, values):
    """Returns the elements of a sparse tensor as a set for each tuple of leading indices."""
    groups: dict[tuple[int, ...], set[Any]] = {}
    for row, value in zip(indices.tolist(), values.tolist(), strict=True):
        groups.setdefault(tuple(row[:-1]), set()).add(value)
    return groups


def _groups(dense):
    lead = dense.shape[:-1]
    return {place: set(dense[place].tolist()) for place in np.ndindex(*lead)}, lead


def _combined(one, other, lead, operation, dtype):
    """Makes the sparse tensor of the sorted elements of each group's result."""
    if operation not in _OPERATIONS:
        raise Complaint(f"Invalid set_operation {operation!r}", f"use one of {', '.join(_OPERATIONS)}")
    rows, values, longest = [], [], 0
    for place in sorted({*one, *other}):
        a, b = one.get(place, set()), other.get(place, set())
        found = {"a-b": a - b, "b-a": b - a, "intersection": a & b, "union": a | b}[operation]
        longest = max(longest, len(found))
        for i, value in enumerate(sorted(found)):
            rows.append((*place, i))
            values.append(value)
    indices = np.asarray(rows, np.int64).reshape(len(rows), len(lead) + 1)
    return indices, np.asarray(values, dtype), np.asarray([*lead, longest], np.int64)


def _agreeing(one, other):
    if tuple(one) != tuple(other):
        raise Complaint(f"the shapes {tuple(map(int, one))} and {tuple(map(int, other))} of all but the last axis "
                        "differ", "give sets for the same groups")
    return tuple(map(int, one))


def _sparse_result(rank):
    if rank is not None and rank < 2:
        raise Complaint(f"Shape must be at least rank 2 but is rank {rank}: sets are rows", "give (..., n)")
    return [(None, rank), (None,), (rank,)]


def _rank(dense=(), indices=(), shapes=()):
    """Returns the rank, from the static shapes of dense operands, matrices of indices and vectors of sizes."""
    known = [len(s) for s in dense if s is not None]
    known += [s[1] for s in indices if s is not None and len(s) == 2]
    known += [s[0] for s in shapes if s is not None and len(s) == 1]
    return next((n for n in known if n is not None), None)


@op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", T=_ELEMENTS, flags=("host",))
def dense_to_dense_op(xp, set1, set2, *, set_operation, validate_indices=True):
    """Applies a set operation to the last axis of two dense tensors."""
    (a, lead), (b, other) = _groups(set1), _groups(set2)
    return _combined(a, b, _agreeing(lead, other), set_operation, set1.dtype)


@dense_to_dense_op.shape
def _dense_to_dense_shape(set1, set2):
    return _sparse_result(_rank([set1, set2]))


@op("DenseToSparseSetOperation", f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    T=_ELEMENTS, flags=("host",))
def dense_to_sparse_op(xp, set1, indices, values, shape, *, set_operation, validate_indices=True):
    """Applies a set operation to the last axis of a dense and a sparse tensor."""
    a, lead = _groups(set1)
    return _combined(a, _by_group(indices, values), _agreeing(lead, shape[:-1]), set_operation, set1.dtype)


@dense_to_sparse_op.shape
def _dense_to_sparse_shape(set1, indices, values, shape):
    return _sparse_result(_rank([set1], [indices], [shape]))


@op("SparseToSparseSetOperation", "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64 -> {_RESULT}", T=_ELEMENTS, flags=("host",))
def sparse_to_sparse_op(xp, indices1, values1, shape1, indices2, values2, shape2, *, set_operation,
                        validate_indices=True):
    """Applies a set operation to the last axis of two sparse tensors."""
    lead = _agreeing(shape1[:-1], shape2[:-1])
    return _combined(_by_group(indices1, values1), _by_group(indices2, values2), lead, set_operation, values1.dtype)


@sparse_to_sparse_op.shape
def _sparse_to_sparse_shape(indices1, values1, shape1, indices2, values2, shape2):
    return _sparse_result(_rank((), [indices1, indices2], [shape1, shape2]))


@op("SetSize", "set_indices: int64, set_values: T, set_shape: int64 -> size: int32", T=_ELEMENTS, flags=("host",))
def set_size_op(xp, indices, values, shape, *, validate_indices=True):
    """Counts the distinct elements of each group of a sparse tensor."""
    sizes = np.zeros([int(n) for n in shape[:-1]], np.int32)
    for place, found in _by_group(indices, values).items():
        sizes[place] = len(found)
    return sizes


@set_size_op.shape
def _set_size_shape(indices, values, shape):
    rank = _rank((), [indices], [shape])
    return None if rank is None else (None,) * (rank - 1)


@op("EditDistance", "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64 -> output: float32", T=ANY, flags=("host",),
    peek=("hypothesis_shape", "truth_shape"))
def edit_distance_op(xp, h_indices, h_values, h_shape, t_indices, t_values, t_shape, *, normalize=True):
    """Computes the Levenshtein distance of corresponding sequences, optionally divided by the length of the truth."""
    lead = [max(int(a), int(b)) for a, b in zip(h_shape[:-1], t_shape[:-1], strict=True)]
    out = np.zeros(lead, np.float32)
    hypotheses, truths = _sequences(h_indices, h_values), _sequences(t_indices, t_values)
    for place in {*hypotheses, *truths}:
        h, t = hypotheses.get(place, []), truths.get(place, [])
        distance = _levenshtein(h, t)
        if normalize:
            distance = distance / len(t) if t else np.inf if h else 0.0
        out[place] = distance
    return out


def _sequences(indices, values):
    found: dict[tuple[int, ...], list[Any]] = {}
    for row, value in zip(indices.tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(row[:-1]), []).append(value)
    return found


def _levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


@edit_distance_op.shape
def _edit_distance_shape(h_indices, h_values, h_shape, t_indices, t_values, t_shape):
    if h_shape is None or t_shape is None:
        return None
    if len(h_shape) != len(t_shape):
        raise Complaint(f"the sequences have {len(h_shape)} and {len(t_shape)} axes", "give tensors of one rank")
    pairs = zip(h_shape[:-1], t_shape[:-1], strict=True)
    return tuple([None if None in (a, b) else max(a, b) for a, b in pairs])


for _record in (dense_to_dense_op, dense_to_sparse_op, sparse_to_sparse_op, set_size_op, edit_distance_op):
    _record.grad(NOT_DIFFERENTIABLE)


# -- functions -----------------------------------------------------------------------------------------


def _operation(a: Any, b: Any, kind: str, validate_indices: bool) -> SparseTensor:
    a, b = (t if isinstance(t, SparseTensor) else convert_to_tensor(t) for t in (a, b))
    turned = isinstance(a, SparseTensor) and not isinstance(b, SparseTensor)
    if turned:
        a, b = b, a
        kind = {"a-b": "b-a", "b-a": "a-b"}.get(kind, kind)
    flat = [p for t in (a, b) for p in (
        (t.indices, t.values, t.dense_shape) if isinstance(t, SparseTensor) else (t,))]
    names = {(False, False): "DenseToDense", (False, True): "DenseToSparse", (True, True): "SparseToSparse"}
    op_type = names[isinstance(a, SparseTensor), isinstance(b, SparseTensor)] + "SetOperation"
    return SparseTensor(*getattr(raw, op_type)(*flat, set_operation=kind, validate_indices=validate_indices))


def set_size(a: TensorLike, validate_indices: bool = True) -> Tensor:
    """Counts the distinct elements along the last axis.

    Args:
      a: a `SparseTensor` of integers or strings.
      validate_indices: accepted.
    Returns: int32, the shape of `a` without its last axis.
    Raises: TypeError if it is not sparse.
    Gradient: none.
    Reference: TensorFlow 2.21 SetSize.

    >>> sess.run(tf.sets.size(tf.sparse.from_dense([[1, 1, 2], [3, 0, 0]])))
    array([2, 1], dtype=int32)
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"a must be a SparseTensor, not {type(a).__name__}. Fix: tf.sparse.from_dense(a)")
    return raw.SetSize(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Computes the intersection of sets along the last axis.

    Args:
      a, b: tensors or sparse tensors of integers or strings, with equal shapes except for the last axis.
      validate_indices: accepted.
    Returns: a `SparseTensor`, the elements in order.
    Raises: InvalidArgumentError at run time if the shapes differ.
    Gradient: none.
    Reference: TensorFlow 2.21 DenseToDenseSetOperation.

    >>> sess.run(tf.sets.intersection([[1, 2, 3]], [[3, 1, 5]]).values)
    array([1, 3], dtype=int32)
    """
    return _operation(a, b, "intersection", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Computes the difference of sets along the last axis.

    Args:
      a, b, validate_indices: as for `sets.intersection`.
      aminusb: whether to compute a - b, else b - a.
    Returns: a `SparseTensor`, the elements in order.
    Raises: InvalidArgumentError at run time if the shapes differ.
    Gradient: none.
    Reference: TensorFlow 2.21 DenseToDenseSetOperation.

    >>> sess.run(tf.sets.difference([[1, 2, 3]], [[3, 1, 5]]).values)
    array([2], dtype=int32)
    """
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Computes the union of sets along the last axis.

    Args:
      a, b, validate_indices: as for `sets.intersection`.
    Returns: a `SparseTensor`, the elements in order.
    Raises: InvalidArgumentError at run time if the shapes differ.
    Gradient: none.
    Reference: TensorFlow 2.21 DenseToDenseSetOperation.

    >>> sess.run(tf.sets.union([[1, 2, 3]], [[3, 1, 5]]).values)
    array([1, 2, 3, 5], dtype=int32)
    """
    return _operation(a, b, "union", validate_indices)


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = "edit_distance") -> Tensor:
    """Counts the insertions, deletions and replacements that turn one sequence into the other.

    Args:
      hypothesis, truth: `SparseTensor`s of one dtype and rank; sequences are along the last axis.
      normalize: whether to divide by the length of the truth; inf if that is 0 and the hypothesis is not.
      name: a name for the operation.
    Returns: float32, the shape of `hypothesis` without its last axis.
    Raises: TypeError if one is not sparse.
    Gradient: none.
    Reference: Levenshtein (1966); TensorFlow 2.21 EditDistance.

    >>> h = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], [1, 2, 3], [1, 3])
    >>> t = tf.SparseTensor([[0, 0], [0, 1]], [1, 3], [1, 2])
    >>> sess.run(tf.edit_distance(h, t, normalize=False))
    array([1.], dtype=float32)
    """
    for what, value in (("hypothesis", hypothesis), ("truth", truth)):
        if not (isinstance(value, SparseTensor) or (isinstance(value, tuple) and len(value) == 3)):
            raise TypeError(f"{what} must be a SparseTensor, not {type(value).__name__}. Fix: tf.sparse.from_dense(x)")
    h, t = (v if isinstance(v, SparseTensor) else SparseTensor(*v) for v in (hypothesis, truth))
    return raw.EditDistance(h.indices, h.values, h.dense_shape, t.indices, t.values, t.dense_shape,
                            normalize=normalize, name=name)


limit_ranks(vectors="EditDistance.hypothesis_shape EditDistance.truth_shape")

__all__ = ["edit_distance", "set_difference", "set_intersection", "set_size", "set_union"]
