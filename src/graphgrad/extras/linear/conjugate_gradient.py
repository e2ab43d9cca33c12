"""Solves linear systems by conjugate gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow import cond_while
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.common.elementwise import conj


class CGState(NamedTuple):
    """The state of the iteration: steps, solution, residual, direction, squared norm of the preconditioned residual."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def conjugate_gradient(operator: Any, rhs: Any, preconditioner: Any = None, x: Any = None, tol: float = 1e-5,
                       max_iter: int = 20, name: str = "conjugate_gradient") -> CGState:
    """Solves A x = rhs for self-adjoint, positive definite A, by conjugate gradients.

    Args:
      operator: a `LinearOperator`, or an object with its `matvec` and properties.
      rhs: (*B, n).
      preconditioner: an operator like it that approximates the inverse of A, or None.
      x: (*B, n), where to start; zeros by default.
      tol: the residual, relative to rhs, at which to stop.
      max_iter: the largest number of steps.
      name: a name for the scope of the operations.
    Returns: a tuple of named fields: i (steps), x (the solution), r (the residual), p (the last direction), gamma.
    Raises: ValueError if the operator, or the preconditioner, is not known to be self-adjoint and positive definite.
    Gradient: that of its steps.
    Reference: TensorFlow 2.21 `tf.linalg.experimental.conjugate_gradient`; Hestenes and Stiefel (1952).

    >>> known = {"is_self_adjoint": True, "is_positive_definite": True}
    >>> a = tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]], **known)
    >>> sess.run(tf.linalg.experimental.conjugate_gradient(a, tf.constant([1.0, 2.0])).x).round(4)
    array([0.0909, 0.6364], dtype=float32)
    """
    for what, value in (("operator", operator), ("preconditioner", preconditioner)):
        if value is not None and not (value.is_self_adjoint and value.is_positive_definite):
            raise ValueError(f"Expected a self-adjoint, positive definite {what}.\n"
                             "  Fix: say is_self_adjoint=True, is_positive_definite=True")
    with name_scope(name, "conjugate_gradient"):
        rhs = convert_to_tensor(rhs, operator.dtype, name="rhs")
        if x is None:
            x, residual = raw.ZerosLike(rhs), rhs
        else:
            x = convert_to_tensor(x, operator.dtype, name="x")
            residual = raw.Sub(rhs, operator.matvec(x))
        first = residual if preconditioner is None else preconditioner.matvec(residual)
        bound = raw.Mul(_norm(rhs), np.asarray(tol, rhs.dtype.real_dtype.np_dtype))

        def going_on(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            above = raw.Any(raw.Greater(_norm(r), bound), _all(bound))
            return raw.LogicalAnd(raw.Less(i, max_iter), above)

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            z = operator.matvec(p)
            alpha = _over(gamma, _dot(p, z))
            x = raw.AddV2(x, raw.Mul(alpha, p))
            r = raw.Sub(r, raw.Mul(alpha, z))
            q = r if preconditioner is None else preconditioner.matvec(r)
            later = _dot(r, q)
            return i + 1, x, r, raw.AddV2(q, raw.Mul(_over(later, gamma), p)), later

        start = (convert_to_tensor(np.int32(0)), x, residual, first, _dot(residual, first))
        i, x, r, p, gamma = cond_while.while_loop(going_on, step, start)
        return CGState(i, x, r, p, raw.Squeeze(gamma, squeeze_dims=(-1,)))


def _dot(a: Any, b: Any) -> Any:
    """Computes inner products along the last axis, which is kept."""
    return raw.Sum(raw.Mul(conj(a), b), np.asarray([-1], np.int32), keep_dims=True)


def _over(a: Any, b: Any) -> Any:
    """Computes a / b, and 0 for systems of the batch that are already solved."""
    return raw.DivNoNan(a, b)


def _norm(x: Any) -> Any:
    square = _dot(x, x)
    return raw.Sqrt(raw.Real(square, Tout=x.dtype.real_dtype) if x.dtype.is_complex else square)


def _all(x: Any) -> Any:
    shape = x._spec.shape
    return raw.Range(0, raw.Rank(x), 1) if shape is None else np.arange(len(shape), dtype=np.int32)


