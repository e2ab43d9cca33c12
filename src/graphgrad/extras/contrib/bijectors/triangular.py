"""Bijectors of triangular matrices.

Reference: TensorFlow 1.15 `tf.contrib.distributions.bijectors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.linalg.diag_functions import matrix_band_part

from .affine import AffineScalar, Chain, _reshaped
from .bijector import Bijector
from .elementwise_bijectors import Softplus


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Fills triangular matrices with vectors.

    Args:
      x: (..., n (n + 1) / 2), of known size.
      upper: whether the triangle above the diagonal is filled, not that below.
      name: a name for the operations.
    Returns: (..., n, n).
    Raises: ValueError for another size.
    Reference: TensorFlow 1.15 `tf.contrib.distributions.fill_triangular`.

    >>> sess.run(fill_triangular([1, 2, 3, 4, 5, 6]))
    array([[4, 0, 0],
           [6, 5, 0],
           [3, 2, 1]], dtype=int32)
    """
    with name_scope(name, "fill_triangular"):
        x = convert_to_tensor(x)
        m = x.shape.as_list()[-1]
        n = int((np.sqrt(1 + 8 * m) - 1) / 2)
        if n * (n + 1) // 2 != m:
            raise ValueError(f"Input right-most shape ({m}) does not correspond to a triangular matrix.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give n (n + 1) / 2 numbers")
        last = np.array([-1], np.int32)
        parts = [x, raw.ReverseV2(x[..., n:], last)] if upper else [x[..., n:], raw.ReverseV2(x, last)]
        square = _reshaped(raw.ConcatV2(parts, np.int32(-1)), 1, [n, n])
        return matrix_band_part(square, *((0, -1) if upper else (-1, 0)))


def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Any:
    """Returns the vectors of which `fill_triangular` makes these matrices.

    Args:
      x: (..., n, n), of known size.
      upper: whether the triangle above the diagonal is meant.
      name: a name for the operations.
    Returns: (..., n (n + 1) / 2).
    """
    with name_scope(name, "fill_triangular_inverse"):
        x = convert_to_tensor(x)
        n = x.shape.as_list()[-1]
        m = n * (n + 1) // 2
        numbers = np.arange(1, m + 1)
        parts = [numbers, numbers[n:][::-1]] if upper else [numbers[n:], numbers[::-1]]
        square = np.concatenate(parts).reshape(n, n)
        places = (np.triu(square) if upper else np.tril(square)).reshape(-1)
        order = np.argsort(places, kind="stable")[n * n - m :].astype(np.int32)
        return raw.GatherV2(_reshaped(x, 2, [n * n]), order, np.int32(-1))


class FillTriangular(Bijector):
    """A bijector from vectors to triangular matrices; see `fill_triangular`.

    Args:
      upper: whether the triangle above the diagonal is filled, not that below.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=1,
                         inverse_min_event_ndims=2)
        self._upper = upper

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        m = input_shape.as_list()[-1]
        n = int((np.sqrt(1 + 8 * m) - 1) / 2)
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        n = output_shape.as_list()[-1]
        return output_shape[:-2].concatenate([n * (n + 1) // 2])


class TransformDiagonal(Bijector):
    """Another bijector, applied to the diagonal of matrices.

    Args:
      diag_bijector: the other bijector.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal"):
        super().__init__(is_constant_jacobian=diag_bijector.is_constant_jacobian, validate_args=validate_args,
                         name=name, forward_min_event_ndims=2)
        self._diag_bijector = diag_bijector

    def _forward(self, x: Any) -> Any:
        return raw.MatrixSetDiag(x, self._diag_bijector.forward(raw.MatrixDiagPart(x)))

    def _inverse(self, y: Any) -> Any:
        return raw.MatrixSetDiag(y, self._diag_bijector.inverse(raw.MatrixDiagPart(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(raw.MatrixDiagPart(x), 1)


class ScaleTriL(Chain):
    """A bijector from vectors to lower triangular matrices with a positive diagonal.

    Args:
      diag_bijector: the bijector that makes the diagonal positive; softplus by default.
      diag_shift: added to the diagonal.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, diag_bijector: Any = None, diag_shift: Any = 1e-5, validate_args: bool = False,
                 name: str = "scale_tril"):
        diag = Chain([AffineScalar(shift=diag_shift), diag_bijector or Softplus()])
        super().__init__([TransformDiagonal(diag), FillTriangular()], validate_args, name)
