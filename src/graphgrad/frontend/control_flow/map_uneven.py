"""`map_fn` over the rows of sparse and ragged tensors, and with such results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composite_specs import spec_of
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.structure.uneven_rows import RowResults, UnevenSpec
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import dtype_of
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import Composite

from .cond_while import while_loop


def _uneven(leaf: Any) -> UnevenSpec | None:
    """Returns the spec of a leaf, or the leaf itself, if rows may differ in size; None if not."""
    spec = leaf if isinstance(leaf, TypeSpec) else spec_of(leaf) if isinstance(leaf, Composite) else None
    return spec if isinstance(spec, UnevenSpec) else None


def is_uneven(elems: Any, signature: Any) -> bool:
    """Returns whether there are sparse or ragged tensors among the rows, or the results."""
    return any(_uneven(leaf) is not None for leaf in nest.flatten([elems, signature]))


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any, back_prop: bool) -> Any:
    """Applies `map_fn` where `is_uneven` holds; arguments as there."""
    leaves = [convert_to_tensor(e, name="elem") if _uneven(e) is None else e for e in nest.flatten(elems)]
    first = _uneven(leaves[0])
    n = raw.Shape(leaves[0])[0] if first is None else first._row_count(leaves[0])
    structure = elems if signature is None else signature
    results = [_result_like(s) for s in nest.flatten(structure)]
    if current_graph() is None and int(n) == 0:  # an empty array has no parts to join
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


def _row(leaf: Any, i: Any) -> Any:
    spec = _uneven(leaf)
    return leaf[i] if spec is None else spec._row(leaf, i)


def _result_like(leaf: Any) -> RowResults:
    """Returns the kind of results for a leaf of the signature, or of `elems`."""
    spec = _uneven(leaf)
    if spec is None:
        return RowResults(dtype_of(leaf))
    return (spec._row_spec() if isinstance(leaf, Composite) else spec)._collected()
