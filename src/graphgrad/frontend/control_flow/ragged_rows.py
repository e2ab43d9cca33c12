"""`map_fn` over the rows of sparse and ragged tensors, and with such results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.extras.ragged.ragged_tensor import RaggedTensor
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composite_specs import RaggedTensorSpec, SparseTensorSpec
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.tile import repeat
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .cond_while import while_loop

_UNEVEN = (RaggedTensor, RaggedTensorSpec, SparseTensor, SparseTensorSpec)


def is_uneven(elems: Any, signature: Any) -> bool:
    """Whether there are sparse or ragged tensors among the rows, or the results."""
    return any(isinstance(leaf, _UNEVEN) for leaf in nest.flatten([elems, signature]))


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any, back_prop: bool) -> Any:
    """`map_fn` where `is_uneven` holds; arguments as there."""
    leaves = [e if isinstance(e, _UNEVEN) else convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    n = _row_count(leaves[0])
    structure = elems if signature is None else signature
    results = [_result_like(s) for s in nest.flatten(structure)]
    if current_graph() is None and int(n) == 0:  # an array of nothing has no parts to join
        return nest.pack_sequence_as(structure, [r.of_no_rows() for r in results])
    starts = [TensorArray(d, n, element_shape=shape, infer_shape=shape is not None and None not in shape,
                          clear_after_read=False) for r in results for d, shape in r.columns]

    def body(i: Any, arrays: list[Any]) -> Any:
        result = fn(nest.pack_sequence_as(elems, [_row(leaf, i) for leaf in leaves]))
        nest.assert_same_structure(structure, result, check_types=False)
        tensors = [t for row, r in zip(nest.flatten(result), results, strict=True) for t in r.parts(row)]
        return i + 1, [ta.write(i, t) for ta, t in zip(arrays, tensors, strict=True)]

    _, arrays = while_loop(lambda i, _: i < n, body, [convert_to_tensor(np.int32(0)), starts], back_prop=back_prop)
    left, found = list(arrays), []
    for r in results:
        found.append(r.joined(*left[: len(r.columns)]))
        left = left[len(r.columns) :]
    return nest.pack_sequence_as(structure, found)


def _row_count(leaf: Any) -> Any:
    if isinstance(leaf, RaggedTensor):
        return raw.Cast(leaf.nrows(), DstT=int32)
    return raw.Cast(leaf.dense_shape[0], DstT=int32) if isinstance(leaf, SparseTensor) else raw.Shape(leaf)[0]


def _row(leaf: Any, i: Any) -> Any:
    if not isinstance(leaf, SparseTensor):
        return leaf[i]
    inside = raw.Where(raw.Equal(leaf.indices[:, 0], raw.Cast(i, DstT=int64)))
    at = inside[:, 0]
    components = [raw.GatherV2(leaf.indices, at, 0)[:, 1:], raw.GatherV2(leaf.values, at, 0), leaf.dense_shape[1:]]
    return _spec_of_rows(leaf)._from_components(components)


def _spec_of_rows(value: Any) -> Any:
    spec = value._type_spec
    shape = None if spec.shape.rank is None else spec.shape.as_list()[1:]
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    return SparseTensorSpec(shape, spec.dtype)


def _result_like(leaf: Any) -> _Result:
    """What the results are that a leaf of the signature, or one of `elems`, tells of."""
    spec = _spec_of_rows(leaf) if isinstance(leaf, (RaggedTensor, SparseTensor)) else leaf
    for kind, made in ((RaggedTensorSpec, _Ragged), (SparseTensorSpec, _Sparse)):
        if isinstance(spec, kind):
            return made(spec)
    return _Result(as_dtype(getattr(spec, "dtype", spec)))


class _Result:
    """Results that are tensors.

    Args:
      spec: their dtype; in derived classes the spec of one of them.

    Attributes:
      columns: dtype and element shape of the arrays that keep their parts.
    """

    columns: list[tuple[Any, Any]]

    def __init__(self, spec: Any):
        self.spec = spec
        self.columns = [(spec, None)]

    def parts(self, row: Any) -> list[Any]:
        """What is kept of one result."""
        return [convert_to_tensor(row, None if hasattr(row, "dtype") else self.spec)]

    def joined(self, *arrays: Any) -> Any:
        """All of them in one."""
        return arrays[0].stack()

    def of_no_rows(self) -> Any:
        """What `joined` gives where there are no rows, in eager mode."""
        return convert_to_tensor(np.zeros(0, self.spec.np_dtype))

    def check(self, row: Any) -> None:
        """Raises ValueError for what the spec does not fit."""
        if not self.spec.is_compatible_with(row):
            raise ValueError(f"map_fn: fn returns {row}, but fn_output_signature says {self.spec}. "
                             "Fix: change one of them")


class _Ragged(_Result):
    """Ragged results, and tensors that differ in length: values, and lengths on each level."""

    def __init__(self, spec: Any):
        self.spec = spec
        inner = spec._inner() if spec.ragged_rank else None if spec.shape.rank is None else spec.shape.as_list()[1:]
        flat = None if inner is None else [None, *inner]
        lengths = spec.row_splits_dtype
        self.columns = [(spec.dtype, flat), (lengths, []), *[(lengths, [None])] * spec.ragged_rank]

    def parts(self, row: Any) -> list[Any]:
        self.check(row)
        if not self.spec.ragged_rank:
            return [row, raw.Cast(raw.Shape(row)[0], DstT=self.spec.row_splits_dtype)]
        return [row.flat_values, row.nrows(), *row.nested_row_lengths()]

    def joined(self, *arrays: Any) -> Any:
        flat, rows, *inner = arrays
        return RaggedTensor.from_nested_row_lengths(flat.concat(), [rows.stack(), *[a.concat() for a in inner]])

    def of_no_rows(self) -> Any:
        (dtype, flat), *levels = self.columns
        values = convert_to_tensor(np.zeros([n or 0 for n in flat or [0]], dtype.np_dtype))
        splits = [convert_to_tensor(np.zeros(1, d.np_dtype)) for d, _ in levels]
        return RaggedTensor.from_nested_row_splits(values, splits)


class _Sparse(_Result):
    """Sparse results: values, their places, how many there are, and the shape; the joined shape has room for all."""

    def __init__(self, spec: Any):
        self.spec = spec
        rank = spec.shape.rank
        self.columns = [(spec.dtype, [None]), (int64, None if rank is None else [None, rank]), (int64, []),
                        (int64, None if rank is None else [rank])]

    def parts(self, row: Any) -> list[Any]:
        self.check(row)
        return [row.values, row.indices, raw.Shape(row.values, out_type=int64)[0], row.dense_shape]

    def joined(self, *arrays: Any) -> Any:
        values, indices, counts, shapes = arrays[0].concat(), arrays[1].concat(), arrays[2].stack(), arrays[3].stack()
        n = raw.Shape(counts, out_type=int64)
        numbers = repeat(raw.Range(np.int64(0), n[0], np.int64(1)), counts)
        size = raw.Maximum(raw.Max(shapes, 0), np.int64(0))
        places = raw.ConcatV2([raw.ExpandDims(numbers, 1), indices], 1)
        return self._of_all([places, values, raw.ConcatV2([n, size], 0)])

    def of_no_rows(self) -> Any:
        rank = self.spec.shape.rank or 0
        sizes = [0, *(d or 0 for d in self.spec.shape.as_list()[:rank])] if rank else [0]
        arrays = [np.zeros((0, 1 + rank), np.int64), np.zeros(0, self.spec.dtype.np_dtype), np.array(sizes, np.int64)]
        return self._of_all([convert_to_tensor(a) for a in arrays])

    def _of_all(self, components: Any) -> Any:
        rank = self.spec.shape.rank
        spec = SparseTensorSpec(None if rank is None else [None] * (1 + rank), self.spec.dtype)
        return spec._from_components(components)
