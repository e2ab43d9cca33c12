"""`map_fn` over rows that differ in length, and with results that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.context import current_graph
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import as_dtype
from ..ir.opdef import raw
from . import nest
from .control_flow import while_loop
from .ragged import RaggedTensor
from .tensor_array import TensorArray
from .type_specs import RaggedTensorSpec


def is_ragged(elems: Any, signature: Any) -> bool:
    """Whether there are ragged tensors among the rows, or the results."""
    return any(isinstance(leaf, (RaggedTensor, RaggedTensorSpec)) for leaf in nest.flatten([elems, signature]))


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any, back_prop: bool) -> Any:
    """`map_fn` where `is_ragged` holds; arguments as there."""
    leaves = [e if isinstance(e, RaggedTensor) else convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    first = leaves[0]
    n = raw.Cast(first.nrows(), DstT=as_dtype("int32")) if isinstance(first, RaggedTensor) else raw.Shape(first)[0]
    structure = elems if signature is None else signature
    specs = [_row_spec(s) for s in nest.flatten(structure)]
    if current_graph() is None and int(n) == 0:  # an array of nothing has no parts to join
        return nest.pack_sequence_as(structure, [_of_no_rows(s) for s in specs])
    starts = [TensorArray(d, n, element_shape=shape, infer_shape=shape is not None and None not in shape,
                          clear_after_read=False) for s in specs for d, shape in _columns(s)]  # fmt: skip

    def body(i: Any, arrays: list[Any]) -> Any:
        result = fn(nest.pack_sequence_as(elems, [leaf[i] for leaf in leaves]))
        nest.assert_same_structure(structure, result, check_types=False)
        tensors = [t for r, s in zip(nest.flatten(result), specs, strict=True) for t in _parts(r, s)]
        return i + 1, [ta.write(i, t) for ta, t in zip(arrays, tensors, strict=True)]

    _, arrays = while_loop(lambda i, _: i < n, body, [convert_to_tensor(np.int32(0)), starts], back_prop=back_prop)
    left, found = list(arrays), []
    for s in specs:
        count = len(_columns(s))
        found.append(_joined(left[:count], s))
        left = left[count:]
    return nest.pack_sequence_as(structure, found)


def _row_spec(leaf: Any) -> Any:
    """What a row of the result is: the spec of a ragged one, else the dtype (and the shape, if it is known)."""
    if isinstance(leaf, RaggedTensor):
        spec = leaf._type_spec
        shape = None if spec.shape.rank is None else spec.shape.as_list()[1:]
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    if isinstance(leaf, RaggedTensorSpec):
        return leaf
    return as_dtype(getattr(leaf, "dtype", leaf))


def _columns(spec: Any) -> list[tuple[Any, Any]]:
    """Dtype and shape of what is kept of each row: its values, and the lengths on each level."""
    if not isinstance(spec, RaggedTensorSpec):
        return [(spec, None)]
    inner = spec._inner() if spec.ragged_rank else None if spec.shape.rank is None else spec.shape.as_list()[1:]
    flat = None if inner is None else [None, *inner]
    return [(spec.dtype, flat), (spec.row_splits_dtype, []), *[(spec.row_splits_dtype, [None])] * spec.ragged_rank]


def _parts(row: Any, spec: Any) -> list[Any]:
    if not isinstance(spec, RaggedTensorSpec):
        return [convert_to_tensor(row, None if hasattr(row, "dtype") else spec)]
    if not spec.is_compatible_with(row):
        raise ValueError(f"map_fn: fn returns {row}, but fn_output_signature says {spec}. Fix: change one of them")
    if not spec.ragged_rank:
        return [row, raw.Cast(raw.Shape(row)[0], DstT=spec.row_splits_dtype)]
    return [row.flat_values, row.nrows(), *row.nested_row_lengths()]


def _of_no_rows(spec: Any) -> Any:
    if not isinstance(spec, RaggedTensorSpec):
        return convert_to_tensor(np.zeros(0, spec.np_dtype))
    (dtype, flat), *levels = _columns(spec)
    values = convert_to_tensor(np.zeros([n or 0 for n in flat or [0]], dtype.np_dtype))
    splits = [convert_to_tensor(np.zeros(1, d.np_dtype)) for d, _ in levels]
    return RaggedTensor.from_nested_row_splits(values, splits)


def _joined(arrays: list[Any], spec: Any) -> Any:
    if not isinstance(spec, RaggedTensorSpec):
        return arrays[0].stack()
    flat, rows, *inner = arrays
    return RaggedTensor.from_nested_row_lengths(flat.concat(), [rows.stack(), *[a.concat() for a in inner]])
