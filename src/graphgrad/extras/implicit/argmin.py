"""`implicit.argmin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.gradients.derived.higher import jacobian
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.linalg.solutions import BAD_BOUNDS, CONVERGED, MULTIPLE, NOT_FINITE, NOT_MINIMUM, RUNNING, STUCK

from . import krylov, traced
from .calling import Info, checked, function_given, staged
from .root import checked_result, choose, largest, newton, too_slow
from .solution import How, method_for, solution_of
from .traced import Traced
from .vectors import Layout

_NAME = "tf.implicit.argmin"
_HALVINGS = 40
_NEAR = 1e-2  # a variable is near a bound within this distance at most
_SHORTENED = 0.1  # a step is shortened much if less than this share of it is taken


@overload
def argmin(f: Callable[[Any], Any], start: OneTensor, bounds: Any = None,
           equalities: Callable[[Any], Any] | None = None, linear_solver: str | None = None, rtol: float | None = None,
           atol: float = 0.0, max_iterations: int = 200, strict: str = "error", with_info: Literal[False] = False,
           name: str | None = None) -> AnyTensor: ...
@overload
def argmin(f: Callable[[Any], Any], start: TensorsT, bounds: Any = None, equalities: Callable[[Any], Any] | None = None,
           linear_solver: str | None = None, rtol: float | None = None, atol: float = 0.0, max_iterations: int = 200,
           strict: str = "error", with_info: Literal[False] = False, name: str | None = None) -> TensorsT: ...
@overload
def argmin(f: Callable[[Any], Any], start: Any, bounds: Any = None, equalities: Callable[[Any], Any] | None = None,
           linear_solver: str | None = None, rtol: float | None = None, atol: float = 0.0, max_iterations: int = 200,
           strict: str = "error", with_info: bool = False, name: str | None = None) -> Any: ...
def argmin(f: Callable[[Any], Any], start: Any, bounds: Any = None, equalities: Callable[[Any], Any] | None = None,
           linear_solver: str | None = None, rtol: float | None = None, atol: float = 0.0, max_iterations: int = 200,
           strict: str = "error", with_info: bool = False, name: str | None = None) -> Any:
    """Finds a minimum of f(x) by Newton's method; it has derivatives of any order by what f closes over.

    The derivatives are those of the equations that hold at the minimum: of the gradient being zero, of the bounds that
    are reached, or of Karush, Kuhn and Tucker with multipliers for the equalities.

    Args:
      f: takes a tensor or a structure of tensors like `start`, returns a scalar. It may use tensors and variables from
        outside, which get gradients. It is traced once.
      start: where to start, a tensor or a structure of tensors of one dtype, float32 or float64.
      bounds: a pair (lower, upper), each None, a number, or like `start`; infinite ones do not count. A minimum that
        stays at a bound moves with it; where the gradient of f is zero at a bound that is reached, too, the
        derivative from one side is given.
      equalities: a function of x that returns a tensor, all of whose elements are to be zero. Quadratic f and linear
        equalities (a quadratic program) take one step. Bounds cannot be given as well.
      linear_solver: for gradients, as for `root`; the steps to the minimum need the Hessian as a matrix.
      rtol, atol: as for `root`.
      max_iterations: the largest number of steps.
      strict, with_info, name: as for `root`; the residual is the largest element of the equations at the result.
    Returns: the structure of `start`; with `with_info`, the pair (x, info).
    Raises: InvalidArgumentError at run time, with residual and remedy, if it does not converge, or ends at a saddle, a
      maximum, or where the Hessian is singular; ValueError if f is no scalar, or for both bounds and equalities.
    Gradient: of any order, in reverse and forward mode; none with respect to `start`.
    Reference: Bertsekas, "Projected Newton methods" (1982); Nocedal and Wright, "Numerical Optimization" (2006),
      theorem 16.3 for the check of constrained minima.

    >>> a = tf.constant(3.0)
    >>> x = tf.implicit.argmin(lambda x: tf.reduce_sum((x - a) ** 2 + x**4), tf.constant([0.0, 1.0]))
    >>> np.round(sess.run([x[0], tf.gradients(x[0], a)[0]]), 4)
    array([1.    , 0.1429], dtype=float32)
    """
    function_given(_NAME, f)
    checked(_NAME, linear_solver=(linear_solver, (None, "lu", *krylov.METHODS)),
            strict=(strict, ("error", "warn", "nan")))
    if bounds is not None and equalities is not None:
        raise ValueError(f"{_NAME}: both bounds and equalities.\n  Called at {user_source(2)}\n"
                         "  Fix: give one of them; f can be made large beyond bounds")

    def build(scope: str) -> Any:
        layout = Layout(_NAME, "start", start)
        first = raw.StopGradient(layout.vector())
        how = How(f"{_NAME} '{scope}'", method_for(linear_solver, layout.size), strict, krylov.Tolerances())
        objective, others = traced.trace(_NAME, lambda v: _scalar(f(layout.structure(v))), first, f"{scope}/f")
        limits = _limits(bounds, layout)
        if equalities is None:
            x, info = _descend(objective, others, first, limits, how, rtol, atol, max_iterations)
        slope = traced.gradient_of(objective, first, others)
        if equalities is not None:
            x, info = _with_multipliers(slope, others, first, equalities, layout, how,
                                        (rtol, atol, max_iterations), scope)
        elif bounds is None:
            x = solution_of(slope, x, others, how)
        else:
            def lack(v: Tensor) -> Tensor:
                return raw.Sub(v, _clipped(raw.Sub(v, slope(v, others)), limits))

            bounded, given = traced.trace(_NAME, lack, first, f"{scope}/bounded")
            x = solution_of(bounded, x, given, how)
        found = layout.structure(x)
        return (found, info) if with_info else found

    return staged(name, "argmin", build)


def _scalar(value: Any) -> Tensor:
    t = convert_to_tensor(value)
    shape = t._spec.shape
    if shape is not None and any(n not in (None, 1) for n in shape):
        raise ValueError(f"{_NAME}: f returned shape {shape_str(shape)}.\n  Called at {user_source(2)}\n"
                         "  Fix: return a scalar, e.g. tf.reduce_sum(...)")
    found: Tensor = raw.Reshape(t, np.array([1], np.int32))
    return found


_Limits = tuple[Any, Any]


def _limits(bounds: Any, layout: Layout) -> _Limits:
    """Returns the bounds as vectors."""
    found = []
    pair = (None, None) if bounds is None else tuple(bounds)
    if len(pair) != 2:
        raise ValueError(f"{_NAME}: bounds has {len(pair)} elements.\n  Called at {user_source(2)}\n"
                         "  Fix: give a pair (lower, upper); None means no bound")
    for given, none in zip(pair, (-np.inf, np.inf), strict=True):
        if given is None or isinstance(given, (int, float)):
            number = np.asarray(none if given is None else given, layout.dtype.np_dtype)
            found.append(raw.Fill(raw.ExpandDims(raw.Size(layout.vector()), 0), number))
        else:
            found.append(layout.vector_of("bounds", given))
    return found[0], found[1]


def _clipped(x: Any, limits: _Limits) -> Any:
    # Selections, so that the derivative is that of the bound or of x, whichever it is.
    x = raw.SelectV2(raw.Less(x, limits[0]), limits[0], x)
    return raw.SelectV2(raw.Greater(x, limits[1]), limits[1], x)


def _descend(objective: Traced, others: list[Any], start: Tensor, limits: _Limits, how: How, rtol: float | None,
             atol: float, max_iterations: int) -> tuple[Tensor, Info]:
    """Minimises within bounds: Newton steps among the variables that are free, shortened until f decreases."""
    dtype, others = start.dtype.np_dtype, traced.constants(others)
    eps = float(np.finfo(dtype).eps)
    rtol = eps ** (2 / 3) if rtol is None else rtol
    still = (raw.StopGradient(limits[0]), raw.StopGradient(limits[1]))
    slope = traced.gradient_of(objective, start, others)

    def value(x: Tensor) -> Tensor:
        return raw.Squeeze(objective(x, others), squeeze_dims=(0,))

    def going_on(k: Any, x: Any, size: Any, last: Any, slow: Any, before: Any, status: Any) -> Any:
        return raw.LogicalAnd(raw.Equal(status, RUNNING), raw.Less(k, max_iterations))

    def iterate(k: Any, x: Any, height: Any, last: Any, slow: Any, before: Any, status: Any) -> Any:
        shortened = raw.Less(before, np.asarray(_SHORTENED, dtype))
        step, g, values = _direction(slope, x, others, still, shortened, how)
        move = raw.Sub(_clipped(raw.AddV2(x, step), still), x)
        length = largest(move)
        top, least = raw.Max(raw.Abs(values), np.array([0], np.int32)), raw.Min(values, np.array([0], np.int32))
        lost = raw.Mul(np.asarray(4 * eps, dtype), raw.DivNoNan(top, raw.Abs(least)))
        relative = raw.Maximum(np.asarray(rtol, dtype), raw.Minimum(lost, np.asarray(1e-3, dtype)))
        small = raw.LessEqual(length, raw.AddV2(raw.Mul(relative, largest(x)), np.asarray(atol, dtype)))

        def point(t: Any) -> Any:
            return _clipped(raw.AddV2(x, raw.Mul(t, step)), still)

        def too_long(t: Any, after: Any) -> Any:
            gain = raw.Mul(np.asarray(1e-4, dtype), _dot(g, raw.Sub(point(t), x)))
            noise = raw.Mul(np.asarray(10 * eps, dtype), raw.Abs(height))
            enough = raw.LessEqual(after, raw.AddV2(raw.AddV2(height, gain), noise))  # with NaN false
            return raw.LogicalAnd(raw.LogicalNot(raw.LogicalOr(enough, small)),
                                  raw.Greater(t, np.asarray(0.5**_HALVINGS, dtype)))

        def halve(t: Any, after: Any) -> Any:
            t = raw.Mul(t, np.asarray(0.5, dtype))
            return t, value(point(t))

        one = raw.Identity(np.asarray(1, dtype))
        t, after = while_loop(too_long, halve, (one, value(point(one))))
        stuck = raw.LessEqual(t, np.asarray(0.5**_HALVINGS, dtype))
        x = raw.SelectV2(stuck, x, point(t))
        slow = too_slow(slow, length, last, t)
        convex = raw.Greater(least, raw.Mul(top, np.asarray(eps, dtype)))
        done = choose(convex, choose(raw.Less(slow, 6), CONVERGED, MULTIPLE), NOT_MINIMUM)
        status = choose(raw.LogicalAnd(stuck, shortened), STUCK, choose(small, done, RUNNING))
        whole = raw.LogicalAnd(raw.IsFinite(after), raw.IsFinite(length))
        after = raw.SelectV2(stuck, height, after)
        return k + 1, x, after, length, slow, t, choose(whole, status, NOT_FINITE)

    zero = raw.Identity(np.int32(0))
    first = _clipped(start, still)
    height = value(first)
    status = choose(raw.IsFinite(height), RUNNING, NOT_FINITE)
    ordered = raw.All(raw.LessEqual(*still), np.array([0], np.int32))  # with NaN false
    status = choose(ordered, status, BAD_BOUNDS)
    start_values = zero, first, height, raw.ZerosLike(height), zero, raw.OnesLike(height), status
    k, x, *_, status = while_loop(going_on, iterate, start_values)
    left = raw.Sub(x, _clipped(raw.Sub(x, slope(x, others)), still))
    return checked_result(x, largest(left), k, status, how, "start elsewhere, or raise max_iterations; if the minimum "
                          "is at zero, give atol, the size of a step that is small enough")


def _direction(slope: Traced, x: Tensor, others: list[Any], limits: _Limits, shortened: Any,
               how: How) -> tuple[Tensor, Tensor, Tensor]:
    """Returns Newton's step with the magnitudes of curvatures, so downwards; the gradient; the curvatures.

    Variables at a bound towards which f decreases go against their own slope alone, by the largest curvature. After a
    step that had to be shortened much so do those near a bound, as in Bertsekas (1982), Projected Newton Methods for
    Optimization Problems with Simple Constraints: where a step is cut off at a bound, it may lead upwards.
    """
    at = raw.Identity(x)
    g = slope(at, others)
    hessian = jacobian(g, at)
    if hessian is None:
        raise ValueError(f"{how.what}: f is linear, or does not depend on the unknown.\n"
                         "  Fix: give a function that has a minimum")
    zero = np.zeros((), x.dtype.np_dtype)
    near = raw.Minimum(largest(raw.Sub(x, _clipped(raw.Sub(x, g), limits))), np.asarray(_NEAR, x.dtype.np_dtype))
    near = raw.SelectV2(shortened, near, raw.ZerosLike(near))
    held = raw.LogicalOr(raw.LogicalAnd(raw.LessEqual(x, raw.AddV2(limits[0], near)), raw.Greater(g, zero)),
                         raw.LogicalAnd(raw.GreaterEqual(x, raw.Sub(limits[1], near)), raw.Less(g, zero)))
    either = raw.LogicalOr(raw.ExpandDims(held, 0), raw.ExpandDims(held, 1))
    hessian = raw.Mul(raw.AddV2(hessian, raw.Transpose(hessian, np.array([1, 0], np.int32))),
                      np.asarray(0.5, x.dtype.np_dtype))
    free = raw.SelectV2(either, raw.ZerosLike(hessian), hessian)
    size = raw.Max(raw.Abs(raw.ConcatV2([raw.Reshape(free, [-1]), np.zeros(1, x.dtype.np_dtype)], np.int32(0))), [0])
    size = raw.SelectV2(raw.Greater(size, zero), size, raw.OnesLike(size))
    free = raw.MatrixSetDiagV3(free, raw.SelectV2(held, raw.Mul(size, raw.OnesLike(x)), raw.MatrixDiagPartV3(
        free, 0, zero)), 0)
    finite = raw.LogicalAnd(raw.IsFinite(size), raw.IsFinite(largest(g)))
    free = raw.SelectV2(finite, free, raw.ZerosLike(free))  # decompositions refuse NaN
    values, vectors = raw.SelfAdjointEigV2(free, compute_v=True)
    curvature = raw.Maximum(raw.Abs(values), raw.Mul(largest(values), np.asarray(1e-10, x.dtype.np_dtype)))
    down = raw.ExpandDims(raw.Neg(g), 1)
    column = raw.RealDiv(raw.MatMul(vectors, down, transpose_a=True), raw.ExpandDims(curvature, 1))
    step = raw.Squeeze(raw.MatMul(vectors, column), squeeze_dims=(1,))
    return step, g, values


def _with_multipliers(slope: Traced, others: list[Any], start: Tensor, equalities: Callable[[Any], Any],
                      layout: Layout, how: How, limits: tuple[float | None, float, int],
                      scope: str) -> tuple[Tensor, Info]:
    """Solves the equations of a minimum under equalities, and checks that it is one."""
    def remaining(v: Tensor) -> Tensor:
        t = convert_to_tensor(equalities(layout.structure(v)), layout.dtype)
        return raw.Reshape(t, np.array([-1], np.int32))

    lacking, parameters = traced.trace(_NAME, remaining, start, f"{scope}/equalities")
    count = lacking.body.outputs[0]._spec.shape
    n, m = layout.size, None if count is None else count[0]
    if n is None or m is None:
        raise ValueError(f"{_NAME}: with equalities the shapes must be known.\n  Called at {user_source(2)}\n"
                         "  Fix: give start a static shape, and let equalities return one")

    def conditions(z: Tensor) -> Tensor:
        x = raw.Identity(raw.Slice(z, np.array([0], np.int32), np.array([n], np.int32)))
        weights = raw.Slice(z, np.array([n], np.int32), np.array([m], np.int32))
        lack = lacking(x, parameters)
        pull = traced.vector_jacobian(lack, x, weights)
        return raw.ConcatV2([raw.AddV2(slope(x, others), pull), lack], np.int32(0))

    first = raw.ConcatV2([start, np.zeros(m, layout.dtype.np_dtype)], np.int32(0))
    whole, given = traced.trace(_NAME, conditions, first, f"{scope}/conditions")
    z, info = newton(whole, given, first, how._replace(method="lu"), *limits)
    # A minimum: the matrix of the conditions has as many negative eigenvalues as there are equalities.
    at = raw.Identity(raw.StopGradient(z))
    matrix = jacobian(whole(at, given), at)
    matrix = raw.Mul(raw.AddV2(matrix, raw.Transpose(matrix, np.array([1, 0], np.int32))),
                     np.asarray(0.5, layout.dtype.np_dtype))
    matrix = raw.SelectV2(raw.IsFinite(matrix), matrix, raw.ZerosLike(matrix))
    values, _ = raw.SelfAdjointEigV2(matrix, compute_v=False)
    negative = raw.Sum(raw.Cast(raw.Less(values, np.zeros((), layout.dtype.np_dtype)), DstT=int32),
                       np.array([0], np.int32))
    status = choose(raw.Equal(negative, np.int32(m)), CONVERGED, NOT_MINIMUM)
    z, _ = checked_result(z, info.residual, info.iterations, status, how, "")
    z = solution_of(whole, z, given, how)
    return raw.Slice(z, np.array([0], np.int32), np.array([n], np.int32)), info


def _dot(a: Any, b: Any) -> Any:
    return raw.Sum(raw.Mul(a, b), np.array([0], np.int32))


__all__ = ["argmin"]
