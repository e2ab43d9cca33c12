"""Rows of sparse and ragged tensors, which differ in size: what `map_fn` needs to know of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.shape import TensorShape

from .type_spec import TypeSpec


class UnevenSpec(TypeSpec):
    """The spec of composite tensors whose rows may differ in size; `map_fn` maps over such rows one by one."""

    _shape: TensorShape

    def _row_count(self, value: Any) -> Any:
        """Returns the number of rows of a value of this spec, an int32 scalar."""
        raise NotImplementedError(f"{type(self).__name__}._row_count")

    def _row(self, value: Any, i: Any) -> Any:
        """Returns row `i` of a value of this spec."""
        raise NotImplementedError(f"{type(self).__name__}._row")

    def _row_spec(self) -> UnevenSpec:
        """Returns the spec of one row."""
        raise NotImplementedError(f"{type(self).__name__}._row_spec")

    def _collected(self) -> RowResults:
        """Returns an object that collects results of this spec."""
        raise NotImplementedError(f"{type(self).__name__}._collected")

    def _row_shape(self) -> list[int | None] | None:
        """Returns the shape of one row."""
        return None if self._shape.rank is None else self._shape.as_list()[1:]


class RowResults:
    """What `map_fn` keeps of the results of one leaf: here, of results that are tensors.

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
        """Returns the parts kept of one result."""
        return [convert_to_tensor(row, None if hasattr(row, "dtype") else self.spec)]

    def joined(self, *arrays: Any) -> Any:
        """Joins all results."""
        return arrays[0].stack()

    def of_no_rows(self) -> Any:
        """Returns the value of `joined` without rows, in eager mode."""
        return convert_to_tensor(np.zeros(0, self.spec.np_dtype))

    def check(self, row: Any) -> None:
        """Raises ValueError for a result that does not fit the spec."""
        if not self.spec.is_compatible_with(row):
            raise ValueError(f"map_fn: fn returns {row}, but fn_output_signature says {self.spec}. "
                             "Fix: change one of them")
