"""Circulant operators: circular convolutions in one, two or three dimensions, by Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, complex64, complex128, float64
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.transpose import matrix_transpose
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.control import assertions
from graphgrad.ops.linalg import linalg_functions as functions

from . import hints, parts
from .operator import LinearOperator, _spread
from .parts import cast, column, given, kept, magnitude

_FORWARD = {1: "FFT", 2: "FFT2D", 3: "FFT3D"}


def _complex(x: Any) -> Any:
    x = convert_to_tensor(x)
    return cast(x, complex128 if x.dtype in (float64, complex128) else complex64)


def spectrum_of(x: Any) -> Any:
    """Computes the Fourier transforms of vectors."""
    return raw.FFT(_complex(x))


class _Circulant(LinearOperator):
    """The base of circulant operators of any depth: Fourier transforms make them diagonal."""

    _depth: int

    def _take(self, spectrum: Any, dtype: Any, is_non_singular: Any, is_self_adjoint: Any, is_positive_definite: Any,
              is_square: Any, name: Any, parameters: dict[str, Any]) -> None:
        self._spectrum = kept(spectrum, "spectrum")
        shape = self._spectrum.shape
        if shape.rank is not None and shape.rank < self._depth:
            raise hints.refuse(f"Argument `spectrum` must have at least {self._depth} dimensions. Received: {shape}.",
                               "see the class's documentation for the shape")
        is_self_adjoint = hints.implied(not self._spectrum.dtype.is_complex, is_self_adjoint,
                                        "A real spectrum always corresponds to a self-adjoint operator.",
                                        "is_self_adjoint")
        is_square = hints.settled(True, is_square, "A [[nested] block] circulant operator is always square.",
                                  "is_square")
        LinearOperator.__init__(self, as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite,
                                is_square, name, parameters)

    @property
    def spectrum(self) -> Any:
        """The eigenvalues, (*B, *sizes)."""
        return self._spectrum

    @property
    def block_depth(self) -> Any:
        """The number of dimensions of the convolution."""
        return self._depth

    @property
    def block_shape(self) -> Any:
        """The static sizes of these dimensions."""
        return self._spectrum.shape[-self._depth :]

    def _blocks(self) -> Any:
        """Returns the sizes of the convolved dimensions: an array where they are known, else a tensor."""
        if self.block_shape.is_fully_defined():
            return np.asarray(self.block_shape.as_list(), np.int32)
        return raw.StridedSlice(raw.Shape(self._spectrum), [-self._depth], [0], [1], end_mask=1)

    def block_shape_tensor(self) -> Any:
        """Returns the sizes of the convolved dimensions."""
        return convert_to_tensor(self._blocks())

    def _shape(self) -> Any:
        shape = self._spectrum.shape
        known = self.block_shape
        n = int(np.prod(known.as_list())) if known.is_fully_defined() else None
        return shape[: -self._depth].concatenate([n, n])

    def _shape_tensor(self) -> Any:
        n = raw.Prod(self._blocks(), [0])
        batch = raw.StridedSlice(raw.Shape(self._spectrum), [0], [-self._depth], [1], begin_mask=1)
        return join(batch, parts.as_vector(n, n))

    def _flat(self, x: Any) -> Any:
        """Merges the convolved dimensions into one."""
        own = parts.sizes(x)
        batch = own[: -self._depth] if isinstance(own, np.ndarray) else \
            raw.StridedSlice(own, [0], [-self._depth], [1], begin_mask=1)
        return raw.Reshape(x, join(batch, parts.as_vector(self._columns())))

    def _transform(self, x: Any, inverse: bool = False) -> Any:
        return getattr(raw, ("I" if inverse else "") + _FORWARD[self._depth])(x)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """Computes the convolution kernel: the inverse Fourier transform of the spectrum, in the operator's dtype."""
        with self._scope(name):
            return cast(self._transform(_complex(self._spectrum), inverse=True), self.dtype)

    def _through(self, x: Any, adjoint: bool, adjoint_arg: bool, divide: bool) -> Any:
        """Multiplies the Fourier transforms of the columns of x with the spectrum, or divides, and transforms back."""
        x = functions.adjoint(x) if adjoint_arg else x
        spectrum = _complex(self._spectrum)
        spectrum = conj(spectrum) if adjoint else spectrum
        x = matrix_transpose(cast(x, spectrum.dtype))
        blocks = raw.Reshape(x, join(parts.sizes(x)[:-1], self._blocks()))
        spectrum = raw.ExpandDims(spectrum, -1 - self._depth)  # one for all columns
        seen = self._transform(blocks)
        found = self._transform(raw.RealDiv(seen, spectrum) if divide else raw.Mul(seen, spectrum), inverse=True)
        return cast(matrix_transpose(self._flat(found)), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._through(x, adjoint, adjoint_arg, divide=False)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._through(rhs, adjoint, adjoint_arg, divide=True)

    def _with(self, spectrum: Any, **known: Any) -> Any:
        return type(self)(spectrum, self.dtype, **known)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        a, b = left_operator, right_operator
        if type(a) is type(b):
            return a._with(raw.Mul(*_alike(a.spectrum, b.spectrum)), **hints.commuting(a, b))
        return super()._linop_matmul(a, b)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        a, b = left_operator, right_operator
        if type(a) is type(b):
            return a._with(raw.RealDiv(*_alike(b.spectrum, a.spectrum)), **hints.commuting(a, b))
        return super()._linop_solve(a, b)

    def _linop_adjoint(self) -> Any:
        return self._with(conj(convert_to_tensor(self._spectrum)), **hints.own(self))

    def _linop_inverse(self) -> Any:
        return self._with(raw.Reciprocal(self._spectrum), **hints.own(self))

    def _determinant(self) -> Any:
        return cast(raw.Prod(self._flat(convert_to_tensor(self._spectrum)), parts.LAST), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return cast(parts.total(raw.Log(magnitude(self._eigvals()))), self.dtype)

    def _trace(self) -> Any:
        return cast(parts.total(self._eigvals()), self.dtype)

    def _diag_part(self) -> Any:
        n = self._columns()
        count = np.asarray(n, self.dtype.np_dtype) if isinstance(n, int) else raw.Cast(n, DstT=self.dtype)
        each = column(raw.RealDiv(self.trace(), count))
        return raw.BroadcastTo(each, join(self._batch(), parts.as_vector(n)))

    def _eigvals(self) -> Any:
        return self._flat(convert_to_tensor(self._spectrum))

    def _cond(self) -> Any:
        return _spread(magnitude(self._eigvals()))

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Fails, at run time, unless the convolution kernel is real.

        Returns: the operation, for `tf.control_dependencies`; None in eager mode.
        Raises: InvalidArgumentError at run time.
        """
        with self._scope(name):
            kernel = self._transform(_complex(self._spectrum), inverse=True)
            real = kernel.dtype.real_dtype
            eps = real.np_dtype.type(np.finfo(self.dtype.real_dtype.np_dtype).eps)
            limit = raw.Mul(eps, raw.Cast(self.domain_dimension_tensor(), DstT=real))
            return assertions.assert_less(raw.Abs(parts.imaginary(kernel)), limit, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Any:
        return parts.assert_nonzero(self._spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return parts.assert_positive(self._spectrum, "Not positive definite:  Real part of spectrum was not all "
                                     "positive.")

    def _assert_self_adjoint(self) -> Any:
        return parts.assert_real(self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part.")


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Returns two spectra in one dtype, complex if one of them is."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    if x.dtype is y.dtype:
        return x, y
    return _complex(x), _complex(y)


class LinearOperatorCirculant(_Circulant):
    """Circulant matrices: each column is the previous one, rotated down by one position.

    Args:
      spectrum: (*B, n), the eigenvalues: the Fourier transform of the first column.
      input_output_dtype: the operator's dtype; complex64 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict a real spectrum.

    >>> a = tf.linalg.LinearOperatorCirculant(tf.constant([6.0, 0.0, 0.0]), tf.float32)
    >>> sess.run(a.matvec([1.0, 2.0, 3.0])).round(4)
    array([12., 12., 12.], dtype=float32)
    """

    _depth = 1
    _sliced = {"spectrum": 1}

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: Any = None,
                 is_self_adjoint: Any = None, is_positive_definite: Any = None, is_square: Any = True,
                 name: Any = "LinearOperatorCirculant"):
        self._take(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                   name, given(locals()))


class LinearOperatorCirculant2D(_Circulant):
    """Circular convolutions of images: block circulant matrices of circulant blocks.

    Args:
      spectrum: (*B, m, n), the eigenvalues: the Fourier transform of the convolution kernel. Images are vectors of
        m n elements.
      input_output_dtype: the operator's dtype; complex64 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict a real spectrum.

    >>> sess.run(tf.linalg.LinearOperatorCirculant2D(tf.ones([1, 2]), tf.float32).matvec([1.0, 2.0])).round(4)
    array([1., 2.], dtype=float32)
    """

    _depth = 2
    _sliced = {"spectrum": 2}

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: Any = None,
                 is_self_adjoint: Any = None, is_positive_definite: Any = None, is_square: Any = True,
                 name: Any = "LinearOperatorCirculant2D"):
        self._take(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                   name, given(locals()))


class LinearOperatorCirculant3D(_Circulant):
    """Circular convolutions in three dimensions: nested block circulant matrices.

    Args:
      spectrum: (*B, l, m, n), the eigenvalues: the Fourier transform of the convolution kernel.
      input_output_dtype: the operator's dtype; complex64 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict a real spectrum.

    >>> sess.run(tf.linalg.LinearOperatorCirculant3D(tf.ones([1, 1, 2]), tf.float32).matvec([1.0, 2.0])).round(4)
    array([1., 2.], dtype=float32)
    """

    _depth = 3
    _sliced = {"spectrum": 3}

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: Any = None,
                 is_self_adjoint: Any = None, is_positive_definite: Any = None, is_square: Any = True,
                 name: Any = "LinearOperatorCirculant3D"):
        self._take(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                   name, given(locals()))
