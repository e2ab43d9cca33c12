"""Comparisons, logic, bits, and tests for special values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import ANY, FLOATING, INTEGER, REAL
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import broadcast
from .elementwise import same


@op("Less", "x: T, y: T -> z: bool", T=REAL, shape=broadcast)
def _less(xp, x, y):
    """x < y."""
    return xp.less(x, y)


@op("LessEqual", "x: T, y: T -> z: bool", T=REAL, shape=broadcast)
def _less_equal(xp, x, y):
    """x <= y."""
    return xp.less_equal(x, y)


@op("Greater", "x: T, y: T -> z: bool", T=REAL, shape=broadcast)
def _greater(xp, x, y):
    """x > y."""
    return xp.greater(x, y)


@op("GreaterEqual", "x: T, y: T -> z: bool", T=REAL, shape=broadcast)
def _greater_equal(xp, x, y):
    """x >= y."""
    return xp.greater_equal(x, y)


def _equality_shape(x, y, incompatible_shape_error):
    try:
        return broadcast(x, y)
    except Complaint:
        if incompatible_shape_error:
            raise
        return ()


def _equality(xp, x, y, unequal, compare):
    try:
        np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return xp.asarray(unequal)
    return compare(x, y)


@op("Equal", "x: T, y: T -> z: bool", T=ANY, shape=_equality_shape)
def _equal(xp, x, y, *, incompatible_shape_error=True):
    """x == y; False as a whole if the shapes do not fit and that is no error."""
    return _equality(xp, x, y, False, xp.equal)


@op("NotEqual", "x: T, y: T -> z: bool", T=ANY, shape=_equality_shape)
def _not_equal(xp, x, y, *, incompatible_shape_error=True):
    """x != y; True as a whole if the shapes do not fit and that is no error."""
    return _equality(xp, x, y, True, xp.not_equal)


for _record in (_less, _less_equal, _greater, _greater_equal, _equal, _not_equal):
    _record.grad(NOT_DIFFERENTIABLE)


@op("LogicalNot", "x: bool -> y: bool", shape=same)
def _logical_not(xp, x):
    """not x."""
    return xp.logical_not(x)


@op("LogicalAnd", "x: bool, y: bool -> z: bool", shape=broadcast)
def _logical_and(xp, x, y):
    """x and y."""
    return xp.logical_and(x, y)


@op("LogicalOr", "x: bool, y: bool -> z: bool", shape=broadcast)
def _logical_or(xp, x, y):
    """x or y."""
    return xp.logical_or(x, y)


for _record in (_logical_not, _logical_and, _logical_or):
    _record.grad(NOT_DIFFERENTIABLE)
