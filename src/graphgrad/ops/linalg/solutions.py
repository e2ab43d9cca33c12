"""Solutions that say what they are worth: linear systems with an estimate of the lost digits, checks of iterations.

They are what `tf.implicit` builds upon. A number without a correct digit is never passed on silently: it is an error, a
warning, or NaN, as the attribute `strict` says.
"""

from __future__ import annotations

import contextlib
import warnings

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import COMPLEX, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.op_traits import Cost

from .decompositions import _adjoint_kernel, _same_batch
from .lapack_threads import lapack
from .matmul import matmul
from .triangular_solve import solve

_T = COMPLEX | {float32, float64}
_LOST = 0.1  # the relative error of a solution from which on it has no correct digit
STRICT = ("error", "warn", "nan")


def _say(problem, fix, strict):
    if strict == "error":
        raise Complaint(problem, fix)
    warnings.warn(f"{problem}. Fix: {fix}", RuntimeWarning, stacklevel=2)


# -- linear systems --------------------------------------------------------------------


def _shapes(matrix, rhs):
    found = _same_batch(matrix, rhs)
    return [found, None if found is None else found[:-2]]


@op("LinearSolve", "matrix: T, rhs: T -> output: T, lost: double", T=_T, shape=_shapes, cost=Cost.FACTORIZATION)
@lapack
def linear_solve_op(xp, matrix, rhs, *, adjoint=False, strict="error", what="the matrix"):
    """Solves matrix x = rhs, or with the adjoints; estimates the relative error that rounding may have caused."""
    if adjoint:
        matrix = _adjoint_kernel(xp, matrix)
    n, m = matrix.shape[-1], rhs.shape[-1]
    if n == 0:
        return rhs, xp.zeros(rhs.shape[:-2], np.float64)
    probe = _probe(n, rhs.dtype)
    both = xp.concatenate([rhs, xp.broadcast_to(xp.asarray(probe), (*rhs.shape[:-1], 1))], -1)
    if xp is np:
        found = np.full(both.shape, np.nan, both.dtype)
        with contextlib.suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            found = np.linalg.solve(matrix, both)
    else:
        found = solve(xp, matrix, both)
    grown = xp.sum(xp.abs(found[..., m:]), (-1, -2)) * xp.max(xp.sum(xp.abs(matrix), -2), -1)
    condition = grown / float(np.sum(np.abs(probe)))
    eps = float(np.finfo(rhs.dtype).eps)
    lost = xp.asarray(condition, np.float64) * eps
    found = found[..., :m]
    lost = xp.where(xp.logical_and(xp.isfinite(lost), xp.all(xp.isfinite(found), (-1, -2))), lost, np.inf)
    if strict == "nan":
        return xp.where((lost < _LOST)[..., None, None], found, np.asarray(np.nan, found.dtype)), lost
    if xp is np and not np.all(lost < _LOST):
        _say(*_unsolved(matrix, rhs, lost, what), strict)
    return found, lost


def _unsolved(matrix, rhs, lost, what):
    """Says what is wrong with a system whose solution has no correct digit, and what may help."""
    for values, who in ((matrix, what), (rhs, f"{what} has a right side that")):
        if not np.all(np.isfinite(values)):
            has = "is not finite" if who is not what else "has elements that are not finite"
            return f"{who} {has}, so the residual is not, either", "find the first one: tf.debugging.check_numerics"
    most = np.max(lost)
    estimate = "infinite" if np.isinf(most) else f"at least {most / float(np.finfo(rhs.dtype).eps):.1e}"
    return (f"{what} is singular to the precision of {rhs.dtype}: its condition number is {estimate}, the smallest "
            f"residual {_least(matrix, rhs):.1e}", "regularize the problem, scale it, or use float64")


def _least(matrix, rhs):
    """Returns the largest element of the residuals of least squares; NaN where there are no finite ones."""
    shape = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    pairs = zip(np.broadcast_to(matrix, (*shape, *matrix.shape[-2:])).reshape(-1, *matrix.shape[-2:]),
                np.broadcast_to(rhs, (*shape, *rhs.shape[-2:])).reshape(-1, *rhs.shape[-2:]), strict=True)
    with contextlib.suppress(np.linalg.LinAlgError):
        return max(np.max(np.abs(a @ np.linalg.lstsq(a, b)[0] - b), initial=0.0) for a, b in pairs)
    return np.nan


def _probe(n, dtype):
    """Returns a column (n, 1) for which the solution is large if the matrix is ill-conditioned, as LAPACK's is."""
    at = np.arange(n)
    return ((1 + at / max(n - 1, 1)) * np.where(at % 2, -1, 1)).astype(dtype)[:, None]


@linear_solve_op.refuses()
def _linear_solve_refuses(xp, output, lost, *, strict):
    return [] if strict == "nan" else [xp.logical_not(lost < _LOST)]


@linear_solve_op.grad
def _linear_solve_grad(op, dx, unused):
    flipped = op._attr("adjoint")
    db, _ = raw.LinearSolve(op.inputs[0], dx, adjoint=not flipped, strict=op._attr("strict"), what=op._attr("what"))
    x = op.outputs[0]
    return raw.Neg(matmul(x, db, adjoint_b=True) if flipped else matmul(db, x, adjoint_b=True)), db


# -- iterations ------------------------------------------------------------------------

RUNNING, CONVERGED, SINGULAR, NOT_FINITE, STUCK, MULTIPLE, NOT_LINEAR, NOT_DEFINITE = range(8)
NOT_MINIMUM, NOT_REACHED, TINY_STEP, BAD_TIMES, OUTSIDE, NOT_BACK, BAD_BOUNDS = range(8, 15)
_ENDS = {
    RUNNING: ("has not converged after {n} iterations", "{advice}"),
    SINGULAR: ("met a singular Jacobian or operator in iteration {n}", "check that as many equations are independent "
               "as there are unknowns, or start elsewhere"),
    NOT_FINITE: ("met a value that is not finite in iteration {n}", "start elsewhere, or keep the function's domain "
                 "by a change of variables such as tf.exp"),
    STUCK: ("cannot reduce the residual any further after {n} iterations", "start elsewhere: this is where the "
            "residual is smallest nearby; or scale the equations"),
    MULTIPLE: ("approaches a multiple solution after {n} iterations", "solve for what makes it simple, such as a zero "
               "of the derivative: the Jacobian is singular there, and the solution has no derivative"),
    NOT_LINEAR: ("got an operator that is not linear: it maps zeros to other values", "subtract operator(0) from it "
                 "and from b"),
    NOT_MINIMUM: ("ended, after {n} iterations, where the function is not convex: at a saddle, a maximum, or on a line "
                  "of equal values", "start elsewhere, or make the minimum unique, e.g. by a small multiple of "
                  "tf.reduce_sum(x**2)"),
    NOT_REACHED: ("stopped after {n} steps, before the last time", "raise max_steps, rtol or atol, or use "
                  "method='radau' if the problem is stiff"),
    TINY_STEP: ("needs a step that is too small, after {n} steps", "see whether the solution becomes infinite there; "
                "use method='radau' if the problem is stiff, smaller steps if they are fixed, or float64"),
    BAD_TIMES: ("got times that are neither strictly increasing nor strictly decreasing", "sort t, and leave repeated "
                "ones out"),
    BAD_BOUNDS: ("got a lower bound above the upper one, or one that is not a number", "see which ones cross: "
                 "tf.reduce_min(upper - lower)"),
    OUTSIDE: ("was asked for a time that is not between the first and the last one", "ask for times between t[0] and "
              "t[-1], or integrate further"),
    NOT_BACK: ("does not come back, from time {n}, to what the solution was at the time before", "use "
               "gradient='steps', whose derivatives are exact, ask for more times between, or lower rtol and atol"),
    NOT_DEFINITE: ("met a direction p with p . A p <= 0 in iteration {n}", "use method='gmres': conjugate gradients "
                   "need a symmetric, positive definite operator"),
}


@op("Converged", "x: T, residual: T, bound: T, iterations: int32, status: int32 -> y: T", T={float32, float64})
def converged_op(xp, x, residual, bound, iterations, status, *, what, advice="", strict="error",
                 quantity="residual"):
    """Passes the result of an iteration on if it has converged; else an error, a warning or NaN says why not."""
    good = xp.logical_and(status == CONVERGED, residual <= bound)
    if strict == "nan":
        return xp.where(good, x, np.asarray(np.nan, x.dtype))
    if xp is np and not good:
        reason = RUNNING if status == CONVERGED else int(status)
        problem, fix = (t.format(n=int(iterations), advice=advice) for t in _ENDS[reason])
        wanted = f", wanted is at most {float(bound):.3g}" if np.isfinite(bound) else ""
        _say(f"{what} {problem}: the {quantity} is {float(residual):.3g}{wanted}", fix, strict)
    return x


@converged_op.shape
def _converged_shape(x, residual, bound, iterations, status):
    for shape in (residual, bound, iterations, status):
        if shape not in (None, ()):
            raise Complaint("residual, bound, iterations and status must be scalars", "tf.reduce_max")
    return x


@converged_op.refuses("residual", "bound", "status")
def _converged_refuses(xp, x, residual, bound, iterations, status, *, strict):
    if strict == "nan":
        return []
    return [xp.logical_not(xp.logical_and(status == CONVERGED, residual <= bound))]


@converged_op.grad
def _converged_grad(op, dy):
    # The operation that follows says what the result solves, so what arrives are zeros at most. Where that is lost, as
    # in a graph read from a file, NaN is better than the derivative of the iterations.
    zero = np.zeros((), dy.dtype.np_dtype)
    return raw.SelectV2(raw.Equal(dy, zero), zero, zero + np.nan), None, None, None, None
