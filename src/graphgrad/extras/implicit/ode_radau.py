"""Steps of Radau IIA of order 5, an implicit method for stiff equations.

Its three stages are the root of a system. Programs have one copy of the equation for all of them, and the system is
solved by Newton's method with the Jacobian at the beginning of the step, inverted once: what is compiled stays small.

Reference: Hairer and Wanner, "Solving Ordinary Differential Equations" II (1996), section IV.8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.control_flow.vectorized_map import vectorized_map
from graphgrad.gradients.derived.higher import jacobian
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw

from . import traced
from .root import largest
from .solution import solution_of, solve_dense
from .traced import Traced

_S = 6**0.5
_NODES = (0.4 - _S / 10, 0.4 + _S / 10, 1.0)
_STAGES = np.array([[(88 - 7 * _S) / 360, (296 - 169 * _S) / 1800, (-2 + 3 * _S) / 225],
                    [(296 + 169 * _S) / 1800, (88 + 7 * _S) / 360, (-2 - 3 * _S) / 225],
                    [(16 - _S) / 36, (16 + _S) / 36, 1 / 9]])
_ERRORS = np.array([[-13 - 7 * _S, -13 + 7 * _S, -1.0]]) / 3
_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)  # the inverse of the real eigenvalue of _STAGES
_MOST = 50  # iterations


def step(e: Any, t: Tensor, y: Tensor, h: Tensor) -> tuple[Tensor, Tensor | None]:
    """Makes a step: takes an `Equation`, the time, y and the step's size; returns y after it, and its error."""
    dtype = y.dtype.np_dtype
    size = raw.Cast(h, DstT=y.dtype)
    times = raw.AddV2(t, raw.Mul(h, np.array(_NODES, t.dtype.np_dtype)))

    def rows(z: Tensor) -> Any:
        return raw.Reshape(z, np.array([3, -1], np.int32))

    def lack(z: Tensor) -> Tensor:
        slopes = vectorized_map(lambda row: e.slope(*row), (rows(z), times))
        change = raw.Mul(size, raw.MatMul(_STAGES.astype(dtype), slopes))
        found: Tensor = raw.Reshape(raw.Sub(raw.Sub(rows(z), raw.ExpandDims(y, 0)), change), np.array([-1], np.int32))
        return found

    at = raw.Identity(y)
    slope = e.slope(at, t)
    stiffness = jacobian(slope, at)
    eye = raw.MatrixDiagV3(raw.OnesLike(y), 0, -1, -1, np.zeros((), dtype))
    if stiffness is None:
        stiffness = raw.ZerosLike(eye)

    start = raw.StopGradient(raw.Reshape(raw.Pack([y] * 3, axis=0), np.array([-1], np.int32)))
    system, others = traced.trace(e.how.what, lack, start, "stages")
    z = _stages(system, others, start, raw.StopGradient(raw.Mul(size, stiffness)), 1e-4 * e.atol, e.how.what)
    z = solution_of(system, z, others, e.how._replace(method="lu"))
    stages = rows(z)
    change = raw.MatMul(_ERRORS.astype(dtype), raw.Sub(stages, raw.ExpandDims(y, 0)))
    right = raw.AddV2(slope, raw.RealDiv(raw.Squeeze(change, squeeze_dims=(0,)), size))
    matrix = raw.Sub(raw.Mul(eye, raw.RealDiv(np.asarray(_REAL, dtype), size)), stiffness)
    return raw.GatherV2(stages, 2, 0), solve_dense(matrix, right, e.how.what, "nan")


def _stages(lack: Traced, others: list[Any], start: Tensor, stiffness: Tensor, atol: float, what: str) -> Tensor:
    """Solves for the stages, as exactly as rounding allows; NaN if that fails, so that the step is made shorter.

    Args:
      lack, others: what is to become zero.
      start: three times y.
      stiffness: the step's size times the Jacobian of the equation.
      atol: an error that is small in any case.
      what: who asks.
    """
    dtype, others = start.dtype.np_dtype, traced.constants(others)
    eps = float(np.finfo(dtype).eps)
    eye = raw.MatrixDiagV3(raw.OnesLike(start), 0, -1, -1, np.zeros((), dtype))
    coupled = raw.Mul(_STAGES.astype(dtype).reshape(3, 1, 3, 1), raw.ExpandDims(raw.ExpandDims(stiffness, 0), 2))
    inverse, lost = raw.LinearSolve(raw.Sub(eye, raw.Reshape(coupled, raw.Shape(eye))), eye, strict="nan", what=what)

    def going_on(k: Any, z: Any, length: Any, last: Any) -> Any:
        # Until rounding keeps steps from getting smaller. Comparisons with NaN are false.
        moves = raw.Greater(length, raw.Mul(np.asarray(2 * eps, dtype), largest(z)))
        nears = raw.Less(length, raw.Mul(np.asarray(0.9, dtype), last))
        return raw.LogicalAnd(raw.LogicalAnd(moves, nears), raw.Less(k, np.int32(_MOST)))

    def iterate(k: Any, z: Any, length: Any, last: Any) -> Any:
        step = raw.Squeeze(raw.MatMul(inverse, raw.ExpandDims(lack(z, others), 1)), squeeze_dims=(1,))
        return k + 1, raw.Sub(z, step), largest(step), length

    most = raw.Identity(np.asarray(np.finfo(dtype).max, dtype))
    _, z, length, _ = while_loop(going_on, iterate, (raw.Identity(np.int32(0)), start, raw.Mul(
        np.asarray(0.5, dtype), most), most))
    relative = raw.Maximum(np.asarray(256 * eps, dtype), raw.Mul(np.asarray(4, dtype), raw.Cast(lost, DstT=z.dtype)))
    enough = raw.LessEqual(length, raw.AddV2(raw.Mul(relative, largest(z)), np.asarray(atol, dtype)))
    found: Tensor = raw.SelectV2(enough, z, np.asarray(np.nan, dtype))
    return found
