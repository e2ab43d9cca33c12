"""`implicit.linear_solve`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.linalg.solutions import CONVERGED, SINGULAR

from . import krylov, traced
from .calling import Info, checked, staged
from .root import choose, largest
from .solution import DENSE_UP_TO, How, passed_on, solve_with
from .vectors import Layout

_NAME = "tf.implicit.linear_solve"


@overload
def linear_solve(operator: Any, b: OneTensor, method: str | None = None, start: Any = None, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, restart: int = 30, strict: str = "error",
                 with_info: Literal[False] = False, name: str | None = None) -> AnyTensor: ...
@overload
def linear_solve(operator: Any, b: TensorsT, method: str | None = None, start: Any = None, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, restart: int = 30, strict: str = "error",
                 with_info: Literal[False] = False, name: str | None = None) -> TensorsT: ...
@overload
def linear_solve(operator: Any, b: Any, method: str | None = None, start: Any = None, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, restart: int = 30, strict: str = "error",
                 with_info: bool = False, name: str | None = None) -> Any: ...
def linear_solve(operator: Any, b: Any, method: str | None = None, start: Any = None, rtol: float | None = None,
                 atol: float = 0.0, max_iterations: int | None = None, restart: int = 30, strict: str = "error",
                 with_info: bool = False, name: str | None = None) -> Any:
    """Solves A x = b; x has derivatives of any order with respect to b and to all that A consists of.

    The gradient is another solution, with the transposed operator, by the same method; nothing is unrolled.

    Args:
      operator: A, as one of
        a matrix (*B, n, n);
        a `tf.linalg.LinearOperator`, or another object with `matvec`;
        a function x -> A x, which may use tensors and variables from outside; these get gradients.
      b: for a matrix or a `LinearOperator` (*B, n) or (*B, n, m); else what the function takes and returns: a tensor of
        any shape, or a structure of tensors of one precision. Real or complex, of single or double precision.
      method: 'lu' (the default for matrices and operators that have `to_dense`), 'cg' for symmetric or Hermitian,
        positive definite operators, 'bicgstab', or 'gmres' (the default for functions). The last three need products
        only. By default a `LinearOperator` that is diagonal, or has more than 1,000 columns, solves the system in its
        own way if it has one; an object with `matvec` alone is solved by 'cg' if its `is_self_adjoint` and
        `is_positive_definite` are true.
      start: where they start; zeros by default. The result has no gradient with respect to it.
      rtol, atol: they stop when the norm of the residual is below `atol`, below `rtol` times the norm of b (by
        default 1e-12 in float64, 1e-6 in float32), or as small as rounding allows.
      max_iterations: their largest number of products with A; by default 10 times the number of unknowns, at least 100.
      restart: the number of vectors that 'gmres' keeps.
      strict: what happens if a solution is not found: 'error', 'warn' (a RuntimeWarning), or 'nan'.
      with_info: whether to return a pair with `iterations` and `residual` (the norm of b - A x), too.
      name: a name scope.
    Returns: x, of the shape or structure of b; with `with_info`, the pair (x, info).
    Raises: InvalidArgumentError at run time, with residual and remedy, if A is singular to working precision or the
      iteration does not converge; ValueError for functions that are not linear, and shapes that do not fit.
    Gradient: of any order, in reverse and forward mode.
    Reference: scipy.sparse.linalg.cg, bicgstab, gmres; Christianson, "Reverse accumulation and implicit functions"
      (1998).

    >>> a = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    >>> x = tf.implicit.linear_solve(a, tf.constant([1.0, 2.0]))
    >>> sess.run(x).round(4)
    array([0.0909, 0.6364], dtype=float32)
    >>> scale = tf.constant(2.0)
    >>> y = tf.implicit.linear_solve(lambda v: scale * v, tf.constant([1.0, 3.0]), method="cg")
    >>> sess.run([y, tf.gradients(y, scale)[0]])
    [array([0.5, 1.5], dtype=float32), np.float32(-1.0)]
    """
    checked(_NAME, method=(method, (None, "lu", *krylov.METHODS)), strict=(strict, ("error", "warn", "nan")))
    tolerances = krylov.Tolerances(rtol, atol, max_iterations, restart)

    def build(scope: str) -> Any:
        system = _as_system(operator, method, b)
        if system.solve is not None:
            return _checked(system, convert_to_tensor(b, operator.dtype), scope, strict, with_info)
        if system.matrix is not None:
            return _by_elimination(system.matrix, b, scope, strict, with_info)
        how = How(f"{_NAME} '{scope}'", method or system.method, strict, tolerances)
        if system.several and atol == 0.0:
            return _each_alike(operator, system, b, start, how, scope, with_info)
        return _by_products(system.product, b, start, how, scope, with_info)

    return staged(name, "linear_solve", build)


class _System(NamedTuple):
    """A linear system.

    Attributes:
      product: x -> A x, for what b is.
      matrix: A, where it is to be eliminated.
      solve: b -> x, where the operator's own way is to be taken.
      method: what to use in the place of both.
      columns: whether the last axis of b counts columns.
      several: whether there are several systems.
    """

    product: Callable[[Any], Any]
    matrix: Any = None
    solve: Any = None
    method: str = "gmres"
    columns: bool = False
    several: bool = False


def _as_system(operator: Any, method: str | None, b: Any) -> _System:
    direct = method in (None, "lu")
    if hasattr(operator, "matvec"):
        return _of_operator(operator, method, b)
    if callable(operator) and not is_tensor_like(operator):
        return _System(operator)
    matrix = convert_to_tensor(operator)
    shape = matrix._spec.shape
    if shape is not None and (len(shape) < 2 or (None not in shape[-2:] and shape[-1] != shape[-2])):
        raise ValueError(f"{_NAME}: operator has shape {shape_str(shape)}.\n  Called at {user_source(2)}\n"
                         "  Fix: give a square matrix, a stack of them, an operator with `matvec`, or a function")
    columns = shape is not None and _rank(b) == len(shape)

    def product(x: Any) -> Any:
        found = raw.BatchMatMulV2(matrix, x if columns else raw.ExpandDims(x, -1))
        return found if columns else raw.Squeeze(found, squeeze_dims=(-1,))

    several = columns or shape is None or len(shape) > 2
    return _System(product, matrix if direct else None, columns=columns, several=several)


def _of_operator(operator: Any, method: str | None, b: Any) -> _System:
    """Returns the system of an object with `matvec`."""
    direct = method in (None, "lu")
    columns = getattr(operator, "tensor_rank", None) is not None and _rank(b) == operator.tensor_rank
    product = operator.matmul if columns else operator.matvec
    if method is None and _solves_itself(operator):
        return _System(product, solve=operator.solve if columns else operator.solvevec)
    if direct and hasattr(operator, "to_dense"):
        return _System(product, operator.to_dense())
    definite = getattr(operator, "is_self_adjoint", None) and getattr(operator, "is_positive_definite", None)
    rank = getattr(operator, "tensor_rank", None)
    return _System(product, method="cg" if definite else "gmres", columns=columns,
                   several=columns or (rank is not None and rank > 2))


def _rank(b: Any) -> int | None:
    shape = convert_to_tensor(b)._spec.shape
    return None if shape is None else len(shape)


def _solves_itself(operator: Any) -> bool:
    """Whether a `LinearOperator` knows a way that needs no matrix, and its matrix would be large or diagonal."""
    from graphgrad.extras.linear.multiples import LinearOperatorIdentity, LinearOperatorScaledIdentity
    from graphgrad.extras.linear.operator import LinearOperator
    from graphgrad.extras.linear.simple import LinearOperatorDiag

    if not isinstance(operator, LinearOperator) or type(operator)._solve is LinearOperator._solve:
        return False
    size = operator.domain_dimension.value
    diagonal = isinstance(operator, (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity))
    return diagonal or size is None or size > DENSE_UP_TO


def _checked(system: _System, b: Any, scope: str, strict: str, with_info: bool) -> Any:
    """Solves a system by the operator's own method; checks the residual."""
    layout = Layout(_NAME, "b", b)
    x = layout.vector_of("solve", system.solve(b))
    residual = largest(raw.Sub(layout.vector_of("the operator", system.product(layout.structure(x))), layout.vector()))
    residual = raw.StopGradient(residual)
    dtype = layout.dtype.np_dtype
    bound = raw.StopGradient(raw.Mul(largest(layout.vector()), np.asarray(np.finfo(dtype).eps ** 0.5, dtype)))
    status = choose(raw.IsFinite(residual), CONVERGED, SINGULAR)
    checked = raw.Converged(raw.StopGradient(x), residual, bound, np.int32(1), status, what=f"{_NAME} '{scope}'",
                            advice="scale the problem, or use float64", strict=strict)
    solution = layout.structure(passed_on(checked, x))
    return (solution, Info(raw.Identity(np.int32(1)), residual)) if with_info else solution


def _by_elimination(matrix: Any, b: Any, scope: str, strict: str, with_info: bool) -> Any:
    right = convert_to_tensor(b, matrix.dtype)
    ranks = [None if t._spec.shape is None else len(t._spec.shape) for t in (matrix, right)]
    vector = None not in ranks and ranks[1] == ranks[0] - 1  # type: ignore[operator]  # they are integers then
    columns = raw.ExpandDims(right, -1) if vector else right
    x, _ = raw.LinearSolve(matrix, columns, strict=strict, what=f"{_NAME} '{scope}': the matrix")
    if with_info:
        left = raw.Sub(raw.BatchMatMulV2(matrix, x), columns)
        square = raw.Square(raw.ComplexAbs(left, Tout=left.dtype.real_dtype) if left.dtype.is_complex else left)
        total = raw.Sum(raw.Reshape(square, np.array([-1], np.int32)), np.array([0], np.int32))
        info = Info(raw.Identity(np.int32(1)), raw.StopGradient(raw.Sqrt(total)))
    x = raw.Squeeze(x, squeeze_dims=(-1,)) if vector else x
    return (x, info) if with_info else x


def _each_alike(operator: Any, system: _System, b: Any, start: Any, how: How, scope: str, with_info: bool) -> Any:
    """Solves several systems as one, scaled, so that a small one is solved as accurately as the largest one.

    The scales are constants, which cancel; derivatives do not see them.
    """
    right = convert_to_tensor(b, None if hasattr(operator, "matvec") else convert_to_tensor(operator).dtype)
    axes = np.array([-2 if system.columns else -1], np.int32)
    by = _size(right, axes)
    of = np.ones((), right.dtype.np_dtype)
    if not hasattr(operator, "matvec"):
        of = _size(convert_to_tensor(operator), np.array([-2, -1], np.int32))
        of = of if system.columns else raw.Squeeze(of, squeeze_dims=(-1,))
    back = raw.RealDiv(by, of)

    def product(x: Any) -> Any:
        return raw.RealDiv(system.product(x), of)

    first = None if start is None else raw.RealDiv(convert_to_tensor(start, right.dtype), back)
    found = _by_products(product, raw.RealDiv(right, by), first, how, scope, with_info)
    if not with_info:
        return raw.Mul(found, back)
    x, info = raw.Mul(found[0], back), found[1]
    left = Layout(_NAME, "b", raw.Sub(system.product(x), right)).vector()
    residual = raw.StopGradient(raw.Sqrt(raw.Sum(raw.Square(left), np.array([0], np.int32))))
    return x, Info(info.iterations, residual)


def _size(t: Any, axes: Any) -> Any:
    """Returns the largest magnitudes along some axes, which stay, as constants; 1 for zeros."""
    found = raw.Max(raw.ComplexAbs(t, Tout=t.dtype.real_dtype) if t.dtype.is_complex else raw.Abs(t), axes,
                    keep_dims=True)
    found = raw.SelectV2(raw.Greater(found, raw.ZerosLike(found)), found, raw.OnesLike(found))
    return raw.StopGradient(raw.Cast(found, DstT=t.dtype))


def _by_products(product: Callable[[Any], Any], b: Any, start: Any, how: How, scope: str, with_info: bool) -> Any:
    layout = Layout(_NAME, "b", b)
    right = layout.vector()
    first = None
    if start is not None:
        first = raw.StopGradient(layout.vector_of("start", start))
    a, others = traced.trace(_NAME, lambda v: layout.vector_of("the operator", product(layout.structure(v))), right,
                             f"{scope}/operator")
    transposed = traced.transposed(_NAME, a, right, others)
    x, residual, count = solve_with(a, transposed, right, others, how, first)
    found = layout.structure(x)
    return (found, Info(count, raw.StopGradient(residual))) if with_info else found


__all__ = ["linear_solve"]
