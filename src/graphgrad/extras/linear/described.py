"""Static properties of linear operators: hints, names, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.module import Module
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dimension import Dimension
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope

from . import hints, parts


class Described(Module):
    """The static part of every linear operator. The arguments are those of `LinearOperator`."""

    # The parameters that are sliced with the batch -> how many of their last dimensions belong to a matrix.
    _sliced: dict[str, int] = {}

    def __init__(self, dtype: Any, graph_parents: Any = None, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None,
                 parameters: Any = None):
        if is_positive_definite:
            is_non_singular = hints.settled(True, is_non_singular, "A positive definite matrix is always non-singular.",
                                            "is_non_singular")
        for known, kind in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if known:
                is_square = hints.settled(True, is_square, f"A {kind} matrix is always square.", "is_square")
        self._square_hint = is_square
        self._graph_parents = list(graph_parents or [])
        self._dtype = as_dtype(dtype) if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._parameters = dict(parameters or {})
        self._name_as(name or type(self).__name__)

    # -- known properties ----------------------------------------------------------------

    @property
    def parameters(self) -> Any:
        """The arguments that made the operator."""
        return dict(self._parameters)

    @property
    def dtype(self) -> Any:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def name(self) -> Any:
        """The name that scopes of operations begin with."""
        return self._name

    @property
    def graph_parents(self) -> Any:
        """The argument `graph_parents`."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> Any:
        """Whether the matrices have inverses; None if that is not known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> Any:
        """Whether the matrices equal their adjoints; None if that is not known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> Any:
        """Whether x^H A x has a positive real part for all x but 0; None if that is not known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> Any:
        """Whether there are as many rows as columns; None if that is not known."""
        same = self.domain_dimension == self.range_dimension
        if self._square_hint is False and same:
            raise hints.refuse("User set is_square hint to False, but the operator was square.", "leave is_square out")
        return same if self._square_hint is None else self._square_hint

    @property
    def shape(self) -> Any:
        """The static shape (*B, m, n)."""
        return self._shape()

    def _shape(self) -> Any:
        raise NotImplementedError(f"{self.name}: this operator has no shape.\n  Fix: define _shape()")

    def _shape_tensor(self) -> Any:
        raise NotImplementedError(f"{self.name}: this operator has no shape.\n  Fix: define _shape_tensor()")

    def _sizes(self) -> Any:
        """Returns the shape: an array where it is known, else a tensor."""
        shape = self.shape
        return np.asarray(shape.as_list(), np.int32) if shape.is_fully_defined() else self._shape_tensor()

    def _batch(self) -> Any:
        """Returns the shape *B: an array where it is known, else a tensor."""
        return parts.without_matrix(self._sizes())

    def _columns(self) -> Any:
        """Returns the number of columns: an int where it is known, else a tensor."""
        known = self.domain_dimension.value
        return parts.one(self._sizes(), -1) if known is None else known

    def _rows(self) -> Any:
        """Returns the number of rows: an int where it is known, else a tensor."""
        known = self.range_dimension.value
        return parts.one(self._sizes(), -2) if known is None else known

    @property
    def batch_shape(self) -> Any:
        """The static shape *B."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> Any:
        """The number of dimensions of the matrices, batch included; None if that is not known."""
        return self.shape.rank

    def _dimension(self, i: int) -> Any:
        shape = self.shape
        return Dimension(None if shape.rank is None else shape.as_list()[i])

    @property
    def domain_dimension(self) -> Any:
        """The number of columns, a `Dimension`."""
        return self._dimension(-1)

    @property
    def range_dimension(self) -> Any:
        """The number of rows, a `Dimension`."""
        return self._dimension(-2)

    def _scope(self, name: Any) -> Any:
        return name_scope(f"{self.name}/{name}" if name else self.name)

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """Returns the shape as an integer vector."""
        with self._scope(name):
            return convert_to_tensor(self._sizes())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Returns the shape *B as an integer vector."""
        with self._scope(name):
            return convert_to_tensor(self._batch())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """Returns the number of columns as a tensor."""
        with self._scope(name):
            return convert_to_tensor(self._columns())

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """Returns the number of rows as a tensor."""
        with self._scope(name):
            return convert_to_tensor(self._rows())

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """Returns the number of dimensions as a tensor."""
        with self._scope(name):
            rank = self.tensor_rank
            return raw.Size(self._shape_tensor()) if rank is None else convert_to_tensor(np.int32(rank))
