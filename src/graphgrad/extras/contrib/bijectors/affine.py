"""Bijectors that are linear, that rearrange elements, or that are composed of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.linalg.diag_functions import matrix_band_part
from graphgrad.ops.linalg.linalg_functions import solve, triangular_solve
from graphgrad.ops.math.reduce_functions import reduce_sum

from .bijector import Bijector


class Affine(Bijector):
    """y = S x + shift, for vectors.

    S is the sum of those given: a multiple of the identity, a diagonal, a lower triangle, and V D V^T.

    Args:
      shift: (..., k), or None.
      scale_identity_multiplier: a factor for the identity.
      scale_diag: (..., k).
      scale_tril: (..., k, k); above the diagonal it counts as zero.
      scale_perturb_factor: V, (..., k, r).
      scale_perturb_diag: the diagonal of D, (..., r); ones by default.
      validate_args: accepted.
      name: its name.
    Raises: ValueError for D without V.
    """

    def __init__(self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
                 scale_tril: Any = None, scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
                 validate_args: bool = False, name: str = "affine"):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=1)
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(f"scale_perturb_diag needs scale_perturb_factor\n  Asked for at {user_source(2)}\n"
                             "  Fix: give both")
        given = (shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag)
        dtype = next((t.dtype for t in given if hasattr(t, "dtype")), float32)
        self._shift, times, diag, tril, factor, middle = (
            None if t is None else convert_to_tensor(t, dtype) for t in given)
        self._diag = self._tril = self._dense = None
        if times is not None:
            diag = raw.ExpandDims(times, -1) if diag is None else diag + raw.ExpandDims(times, -1)
        if tril is not None:
            tril = matrix_band_part(tril, -1, 0)
            if diag is not None:
                tril = raw.MatrixSetDiag(tril, raw.MatrixDiagPart(tril) + diag)
        if factor is not None:
            weighted = factor if middle is None else factor * raw.ExpandDims(middle, -2)
            dense = raw.BatchMatMulV2(weighted, factor, adj_y=True)
            if tril is None:
                one = convert_to_tensor(1.0, dense.dtype)
                tril = raw.MatrixDiag((one if diag is None else diag) + raw.ZerosLike(raw.MatrixDiagPart(dense)))
            self._dense = dense + tril
        elif tril is not None:
            self._tril = tril
        else:
            self._diag = diag

    @property
    def shift(self) -> Any:
        """The shift, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """S: its diagonal, its lower triangle, or the whole matrix; None for the identity."""
        return next((s for s in (self._diag, self._tril, self._dense) if s is not None), None)

    def _forward(self, x: Any) -> Any:
        if self._diag is not None:
            x = x * self._diag
        matrix = self._dense if self._tril is None else self._tril
        if matrix is not None:
            x = _column(raw.BatchMatMulV2(matrix, raw.ExpandDims(x, -1)))
        return x if self._shift is None else x + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        if self._diag is not None:
            x = x / self._diag
        if self._tril is not None:
            x = _column(triangular_solve(_like(self._tril, x), raw.ExpandDims(x, -1)))
        if self._dense is not None:
            x = _column(solve(_like(self._dense, x), raw.ExpandDims(x, -1)))
        return x

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._diag is not None:
            return reduce_sum(raw.Log(raw.Abs(self._diag)) + raw.ZerosLike(x), -1)
        if self._tril is not None:
            return reduce_sum(raw.Log(raw.Abs(raw.MatrixDiagPart(self._tril))), -1)
        if self._dense is not None:
            return raw.LogMatrixDeterminant(self._dense)[1]
        return convert_to_tensor(0.0, x.dtype)


def _column(x: Any) -> Any:
    return raw.Squeeze(x, squeeze_dims=(-1,))


def _like(matrix: Any, x: Any) -> Any:
    """Returns a matrix for each of the vectors x: solvers do not broadcast."""
    if x.shape.rank == matrix.shape.rank - 1:
        return matrix
    lead = raw.ConcatV2([shape(x), shape(x)[-1:]], 0)
    return raw.BroadcastTo(matrix, lead)


# -- rearranging -------------------------------------------------------------------------


class Permute(Bijector):
    """A permutation of the elements along an axis.

    Args:
      permutation: (n,), integers: the source of each element.
      axis: the axis, counted from the end.
      validate_args: accepted.
      name: its name.
    Raises: ValueError if it is not a permutation, as far as that is known while building.
    """

    def __init__(self, permutation: Any, axis: int = -1, validate_args: bool = False, name: str | None = None):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name or "permute",
                         forward_min_event_ndims=-whole(axis))
        if not hasattr(permutation, "op"):
            permutation = np.asarray(permutation)
            if permutation.ndim != 1 or sorted(permutation.tolist()) != list(range(permutation.size)):
                raise ValueError(f"Permutation over `d` must contain exactly one of each of {{0, 1, ..., d}}, not "
                                 f"{permutation.tolist()}\n  Asked for at {user_source(2)}\n"
                                 "  Fix: e.g. list(reversed(range(d)))")
            permutation = permutation.astype(np.int32)
        self._permutation = convert_to_tensor(permutation)
        self._axis = whole(axis)

    @property
    def permutation(self) -> Any:
        """The permutation."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return raw.GatherV2(x, self._permutation, np.int32(self._axis))

    def _inverse(self, y: Any) -> Any:
        return raw.GatherV2(y, raw.InvertPermutation(self._permutation), np.int32(self._axis))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype)


# -- composed of others ------------------------------------------------------------------------


class Invert(Bijector):
    """The inverse of another bijector.

    Args:
      bijector: the other one.
      validate_args: accepted.
      name: its name.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> sess.run(ds.bijectors.Invert(ds.bijectors.Exp()).forward([1.0]))
    array([0.], dtype=float32)
    """

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None):
        super().__init__(bijector.graph_parents, bijector.is_constant_jacobian, validate_args, bijector.dtype,
                         bijector.inverse_min_event_ndims, bijector.forward_min_event_ndims,
                         name or f"invert_{bijector.name}")
        self._bijector = bijector

    @property
    def bijector(self) -> Any:
        """The other one."""
        return self._bijector

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._bijector.inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._bijector.forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._bijector.inverse_log_det_jacobian(x, self._forward_min_event_ndims, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._bijector.forward_log_det_jacobian(y, self._inverse_min_event_ndims, **kwargs)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._bijector.inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._bijector.forward_event_shape(output_shape)


class Chain(Bijector):
    """A composition of bijectors: the last one is applied first.

    Args:
      bijectors: the bijectors; none for the identity.
      validate_args: accepted.
      name: its name.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> chain = ds.bijectors.Chain([ds.bijectors.Exp(), ds.bijectors.Sigmoid()])
    >>> sess.run(chain.inverse(chain.forward(0.5)))
    np.float32(0.5)
    """

    def __init__(self, bijectors: Any = None, validate_args: bool = False, name: str | None = None):
        self._bijectors = list(bijectors or [])
        parts = self._bijectors
        if any(not hasattr(b, "forward_min_event_ndims") for b in parts):
            other = next(b for b in parts if not hasattr(b, "forward_min_event_ndims"))
            raise TypeError(f"a chain is made of bijectors, not of {type(other).__name__}. "
                            "Fix: give [ds.bijectors.Exp()]")
        name = name or ("_of_".join(["chain", *(b.name for b in parts)]) if parts else "identity")
        # The event dimensions at either end follow from those that each one needs and changes.
        needs, change = 0, 0
        for b in reversed(parts):
            needs = max(needs, b.forward_min_event_ndims - change)
            change += b.inverse_min_event_ndims - b.forward_min_event_ndims
        super().__init__(None, all(b.is_constant_jacobian for b in parts), validate_args, None, needs, needs + change,
                         name)

    @property
    def bijectors(self) -> list[Any]:
        """The bijectors."""
        return self._bijectors

    def _kwargs(self, b: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        return dict(kwargs.get(b.name, {}))

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for b in reversed(self._bijectors):
            x = b.forward(x, **self._kwargs(b, kwargs))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for b in self._bijectors:
            y = b.inverse(y, **self._kwargs(b, kwargs))
        return y

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        total, ndims = convert_to_tensor(0.0, x.dtype), self._forward_min_event_ndims
        for b in reversed(self._bijectors):
            given = self._kwargs(b, kwargs)
            total = total + b.forward_log_det_jacobian(x, ndims, **given)
            ndims += b.inverse_min_event_ndims - b.forward_min_event_ndims
            x = b.forward(x, **given)
        return total

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        total, ndims = convert_to_tensor(0.0, y.dtype), self._inverse_min_event_ndims
        for b in self._bijectors:
            given = self._kwargs(b, kwargs)
            total = total + b.inverse_log_det_jacobian(y, ndims, **given)
            ndims += b.forward_min_event_ndims - b.inverse_min_event_ndims
            y = b.inverse(y, **given)
        return total

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for b in reversed(self._bijectors):
            input_shape = b.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for b in self._bijectors:
            output_shape = b.inverse_event_shape(output_shape)
        return output_shape
