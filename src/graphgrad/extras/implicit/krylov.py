"""Conjugate gradients, BiCGStab and GMRES, as loops over vectors; none needs more of a matrix than its products.

Reference: Saad, "Iterative Methods for Sparse Linear Systems" (2003), algorithms 6.9, 6.18 and 7.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ops.linalg.solutions import CONVERGED, NOT_DEFINITE, NOT_FINITE, NOT_LINEAR, RUNNING, SINGULAR

METHODS = ("cg", "bicgstab", "gmres")


class Tolerances(NamedTuple):
    """When a solver stops.

    Attributes:
      rtol: the norm of the residual relative to that of b; None for 1e-12 (float64) and 1e-6 (float32).
      atol: the norm of the residual that suffices in any case.
      max_iterations: the largest number of products with A; None for 10 times the number of unknowns, at least 100.
      restart: how many vectors GMRES keeps.
    """

    rtol: float | None = None
    atol: float = 0.0
    max_iterations: int | None = None
    restart: int = 30


def solve(how: Any, a: Callable[[Tensor], Tensor], b: Tensor, start: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """Solves A x = b.

    Args:
      how: a `solution.How`.
      a: x -> A x, for vectors.
      b: a vector.
      start: a vector to start from; zeros by default.
    Returns: the solution, as far as the loop found it, checked as `how.strict` says; the norm of its residual; the
      number of products.
    """
    t, dtype = how.tolerances, b.dtype.np_dtype
    eps = float(np.finfo(dtype).eps)
    rtol = t.rtol if t.rtol is not None else 1e-12 if eps < 1e-10 else 1e-6
    zeros = raw.ZerosLike(b)
    x = zeros if start is None else start
    offset = a(zeros)  # zeros, if A is linear
    first = raw.Sub(b, offset if start is None else a(start))
    size = b._spec.shape[0] if b._spec.shape else None
    most: Any = t.max_iterations
    if most is None:
        most = max(100, 10 * size) if size is not None else raw.Maximum(raw.Mul(raw.Size(b), 10), 100)
    bound = raw.Maximum(raw.Mul(_norm(b), _c(rtol, b)), _c(t.atol, b))
    root = raw.Sqrt(raw.Cast(raw.Size(b), DstT=b.dtype))
    floor = raw.Mul(root, _c(4 * eps, b))  # relative to the norm of A times that of x
    problem = _Problem(a, b, bound, floor, most)
    method = {"cg": _cg, "bicgstab": _bicgstab}.get(how.method)
    x, status, count, scale = (method(problem, x, first) if method is not None else
                               _gmres(problem, x, first, min(t.restart, size or t.restart)))
    residual = _norm(raw.Sub(b, a(x)))
    # What rounding leaves is as large as b where x is, as in singular systems: then no digit of x is right.
    rounding = raw.Minimum(raw.Mul(_c(10.0, b), problem.least(x, scale)), raw.Mul(_c(0.01, b), _norm(b)))
    reached = raw.Maximum(raw.Mul(bound, _c(1 + 1e-3, b)), rounding)
    status = _choose(raw.IsFinite(residual), status, NOT_FINITE)
    status = _choose(raw.LogicalAnd(raw.LessEqual(residual, reached), raw.NotEqual(status, NOT_FINITE)), CONVERGED,
                     status)
    status = _choose(raw.Greater(_norm(offset), _c(0.0, b)), NOT_LINEAR, status)
    advice = ("raise max_iterations or rtol, scale the problem, " +
              ("or use method='gmres' if the operator is not positive definite" if how.method == "cg" else
               "or use method='lu'"))
    x = raw.Converged(x, residual, reached, count, status, what=how.what, advice=advice, strict=how.strict)
    return x, residual, count


class _Problem(NamedTuple):
    """A system, and when to stop: `bound` for the residual, `floor` for what rounding allows, `most` products."""

    a: Callable[[Tensor], Tensor]
    b: Tensor
    bound: Tensor
    floor: Tensor
    most: Any

    def least(self, x: Tensor, scale: Tensor) -> Tensor:
        """Returns the residual that rounding leaves, where A is as large as `scale`."""
        found: Tensor = raw.Mul(self.floor, raw.Mul(scale, _norm(x)))
        return found

    def goes_on(self, count: Tensor, residual: Tensor, x: Tensor, scale: Tensor, status: Tensor) -> Tensor:
        """Returns whether to iterate further."""
        above = raw.Greater(residual, raw.Maximum(self.bound, self.least(x, scale)))
        found: Tensor = raw.LogicalAnd(raw.LogicalAnd(above, raw.Less(count, self.most)), raw.Equal(status, RUNNING))
        return found


def _cg(p: _Problem, x: Tensor, r: Tensor) -> Any:
    def going_on(k: Any, x: Any, r: Any, d: Any, rr: Any, scale: Any, status: Any) -> Any:
        return p.goes_on(k, raw.Sqrt(rr), x, scale, status)

    def step(k: Any, x: Any, r: Any, d: Any, rr: Any, scale: Any, status: Any) -> Any:
        q = p.a(d)
        curvature = _dot(d, q)
        alpha = raw.DivNoNan(rr, curvature)
        x, r = raw.AddV2(x, raw.Mul(alpha, d)), raw.Sub(r, raw.Mul(alpha, q))
        after = _dot(r, r)
        scale = raw.Maximum(scale, raw.DivNoNan(_norm(q), _norm(d)))
        d = raw.AddV2(r, raw.Mul(raw.DivNoNan(after, rr), d))
        # Comparisons with NaN are false.
        status = _choose(raw.Greater(curvature, _c(0.0, r)), status, NOT_DEFINITE)
        status = _choose(raw.IsFinite(curvature), status, NOT_FINITE)
        return k + 1, x, r, d, after, scale, status

    start = (_int(0), x, r, r, _dot(r, r), _zero(r), _int(RUNNING))
    k, x, _, _, _, scale, status = while_loop(going_on, step, start)
    return x, status, k, scale


def _bicgstab(p: _Problem, x: Tensor, r: Tensor) -> Any:
    shadow = r

    def going_on(k: Any, x: Any, r: Any, *rest: Any) -> Any:
        return p.goes_on(k, _norm(r), x, rest[-2], rest[-1])

    def step(k: Any, x: Any, r: Any, d: Any, q: Any, rho: Any, alpha: Any, omega: Any, scale: Any, status: Any) -> Any:
        now = _dot(shadow, r)
        beta = raw.Mul(raw.DivNoNan(now, rho), raw.DivNoNan(alpha, omega))
        d = raw.AddV2(r, raw.Mul(beta, raw.Sub(d, raw.Mul(omega, q))))
        q = p.a(d)
        alpha = raw.DivNoNan(now, _dot(shadow, q))
        s = raw.Sub(r, raw.Mul(alpha, q))
        t = p.a(s)
        omega = raw.DivNoNan(_dot(t, s), _dot(t, t))
        x = raw.AddV2(x, raw.AddV2(raw.Mul(alpha, d), raw.Mul(omega, s)))
        r = raw.Sub(s, raw.Mul(omega, t))
        scale = raw.Maximum(scale, raw.Maximum(raw.DivNoNan(_norm(q), _norm(d)), raw.DivNoNan(_norm(t), _norm(s))))
        return k + 2, x, r, d, q, now, alpha, omega, scale, _choose(raw.IsFinite(now), status, NOT_FINITE)

    one = raw.OnesLike(_zero(r))
    start = (_int(0), x, r, raw.ZerosLike(r), raw.ZerosLike(r), one, one, one, _zero(r), _int(RUNNING))
    k, x, *_, scale, status = while_loop(going_on, step, start)
    return x, status, k, scale


def _gmres(p: _Problem, x: Tensor, r: Tensor, m: int) -> Any:
    """Restarts after m products. The norm of the residual is known in between, from a left null vector w of H."""
    eye = np.eye(m + 1, dtype=p.b.dtype.np_dtype)
    shifted = np.eye(m + 1, m, -1, dtype=p.b.dtype.np_dtype)  # columns that are not reached do not matter

    def going_on(k: Any, x: Any, r: Any, scale: Any, status: Any) -> Any:
        return p.goes_on(k, _norm(r), x, scale, status)

    def cycle(k: Any, x: Any, r: Any, scale: Any, status: Any) -> Any:
        beta = _norm(r)
        least = raw.Maximum(p.bound, p.least(x, scale))

        def extends(j: Any, v: Any, h: Any, w: Any, estimate: Any, scale: Any) -> Any:
            return raw.LogicalAnd(raw.Less(j, m), raw.Greater(estimate, least))

        def extend(j: Any, v: Any, h: Any, w: Any, estimate: Any, scale: Any) -> Any:
            q = p.a(raw.GatherV2(v, j, 0))
            size = _norm(q)
            column = _times(v, q)
            q = raw.Sub(q, _times(v, column, True))
            again = _times(v, q)
            q, column = raw.Sub(q, _times(v, again, True)), raw.AddV2(column, again)
            below = _norm(q)
            new = raw.Greater(below, raw.Mul(size, _c(10 * np.finfo(eye.dtype).eps, size)))
            below = _choose(new, below, raw.ZerosLike(below))
            here, following = raw.GatherV2(eye, j, 0), raw.GatherV2(eye, j + 1, 0)
            v = raw.AddV2(v, _outer(following, raw.Mul(q, raw.DivNoNan(raw.OnesLike(below), below))))
            whole = raw.AddV2(column, raw.Mul(below, following))
            at = raw.Slice(here, np.array([0], np.int32), np.array([m], np.int32))
            h = raw.AddV2(raw.Mul(h, raw.Sub(np.ones((), eye.dtype), raw.ExpandDims(at, 0))), _outer(whole, at))
            w = raw.Sub(w, raw.Mul(following, raw.DivNoNan(_dot(column, w), below)))
            estimate = _choose(new, raw.RealDiv(beta, _norm(w)), raw.ZerosLike(beta))
            return j + 1, v, h, w, estimate, raw.Maximum(scale, size)

        first = raw.Mul(raw.DivNoNan(raw.OnesLike(beta), beta), r)
        start = (_int(0), _outer(eye[0], first), raw.Identity(shifted), raw.Identity(eye[0]), beta, scale)
        j, v, h, _, _, scale = while_loop(extends, extend, start)
        unitary, upper = raw.Qr(h, full_matrices=False)
        right = raw.Mul(beta, raw.GatherV2(unitary, 0, 0))
        y, _ = raw.LinearSolve(upper, raw.ExpandDims(right, -1), strict="nan")
        basis = raw.Slice(v, np.array([0, 0], np.int32), np.array([m, -1], np.int32))
        step = _times(basis, raw.Squeeze(y, squeeze_dims=(-1,)), True)
        regular = raw.IsFinite(_norm(step))
        x = raw.SelectV2(regular, raw.AddV2(x, step), x)
        r = raw.Sub(p.b, p.a(x))
        return k + j + 1, x, r, scale, _choose(regular, status, SINGULAR)

    k, x, _, scale, status = while_loop(going_on, cycle, (_int(0), x, r, _zero(r), _int(RUNNING)))
    return x, status, k, scale


def _c(value: float, like: Any) -> Any:
    return np.asarray(value, like.dtype.np_dtype)


def _int(value: int) -> Any:
    return raw.Identity(np.int32(value))


def _zero(like: Tensor) -> Any:
    return raw.Identity(_c(0.0, like))


def _dot(a: Any, b: Any) -> Any:
    return raw.Sum(raw.Mul(a, b), np.array([0], np.int32))


def _norm(a: Any) -> Any:
    return raw.Sqrt(_dot(a, a))


def _outer(a: Any, b: Any) -> Any:
    return raw.Mul(raw.ExpandDims(a, 1), raw.ExpandDims(b, 0))


def _times(v: Any, x: Any, transposed: bool = False) -> Any:
    """Multiplies a matrix, or its transpose, by a vector."""
    product = raw.MatMul(v, raw.ExpandDims(x, 1), transpose_a=transposed)
    return raw.Squeeze(product, squeeze_dims=(1,))


def _choose(condition: Any, one: Any, other: Any) -> Any:
    one, other = (np.int32(v) if isinstance(v, int) else v for v in (one, other))
    return raw.SelectV2(condition, one, other)
