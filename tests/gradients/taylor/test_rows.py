"""Taylor coefficients of every row of the table of ops, against nested derivatives.

All floating inputs move along curves, so that an operation gets coefficients of all orders at once. What nested
gradients give depends on gradient rules alone, and not on what the records say of linear and elementwise operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.gradients.taylor.propagation import coefficients
from graphgrad.gradients.taylor.series import SeriesLayout
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, registry
from tests.ops.test_ops import ROWS, regrouped
from tests.support import effort
from tests.support.table import Row, draw, generator, main_attr

_ORDER = 3
_OTHERS = {"Softmax", "MatrixInverse", "Max", "Prod", "FusedBatchNorm"}  # of those that are nested derivatives
_ALONG = (1.0, -2.0, 0.5)  # several directions at once: multiples of one


def _rows() -> list[Any]:
    found = []
    for row in ROWS:
        record = row.opdef
        if record.gradient in (None, NOT_DIFFERENTIABLE) or record.flags & {"functional", "random"} or row.order == 0:
            continue
        if main_attr(record, "float64") and any(as_dtype(t).is_floating for t in row.dtypes):
            quick = bool(record.linear or record.elementwise) or record.name in _OTHERS
            chosen = range(len(row.cases)) if effort.ALL else range(int(quick))
            found += [pytest.param(row, i, id=f"{row.op_type}-{i}") for i in chosen]
    return found


def _moving(row: Row, i: int, s: Any) -> list[Any]:
    """The outputs of a case whose floating inputs depend on s."""
    case = row.case(i)
    inputs = draw(row, case, "float64")
    rng = generator("curves", row.key(case, "float64"))
    moved = set(inputs.differentiable(row))
    flat = []
    for k, (array, dtype) in enumerate(zip(inputs.flat, inputs.dtypes, strict=True)):
        t = tf.constant(array, dtype)
        if k in moved and dtype.name == "float64":
            first, second = (0.25 * rng.uniform(-1, 1, array.shape) for _ in range(2))
            t = t + s * first + s * s * second
        flat.append(t)
    result = registry[row.op_type](*regrouped(inputs, flat), **inputs.attrs)
    outputs = row.opdef.unpack(result)
    chosen = row.ys if row.ys is not None else range(len(outputs))
    return [outputs[k] for k in chosen if outputs[k].dtype.name == "float64"]


@pytest.mark.parametrize("row, i", _rows())
def test_row(row: Row, i: int) -> None:
    """Coefficients agree with nested derivatives, along one direction, along several, and collapsed."""
    with tf.Graph().as_default(), HostSession() as sess, none_allowed():
        s = tf.constant(np.float64(0.0))
        for y in _moving(row, i, s)[:1]:
            wanted, derivative = [], y
            for k in range(1, _ORDER + 1):
                derivative = None if derivative is None else tf.jvp(derivative, s, tf.constant(np.float64(1.0)))
                wanted.append(None if derivative is None else derivative / math.factorial(k))
            found = tf.taylor(y, s, 1.0, _ORDER)[1:]
            stacked = tf.taylor(y, s, np.array(_ALONG), _ORDER)[1:]
            layout = SeriesLayout(2, True, len(_ALONG), [1.0, 2.0, 3.0])
            collapsed = coefficients([y], [s], [tf.constant(np.array(_ALONG))], layout, {})[-1][0]
            connected = [k for k, t in enumerate(wanted) if t is not None]
            if all(t is None for t in found):
                assert not connected or not any(np.any(v) for v in sess.run([wanted[k] for k in connected]))
                continue
            fetched = [tf.zeros_like(y) if t is None else t for t in wanted]
            values = sess.run([*fetched, *found, *stacked, tf.zeros_like(y) if collapsed is None else collapsed])
            for k in range(_ORDER):
                want = values[k]
                scale = max(1.0, float(np.max(np.abs(want), initial=0)))
                close = {"rtol": 1e-8, "atol": 1e-9 * scale}
                np.testing.assert_allclose(values[_ORDER + k], want, **close, err_msg=f"order {k + 1}")
                for j, along in enumerate(_ALONG):
                    np.testing.assert_allclose(values[2 * _ORDER + k][j], want * along ** (k + 1), **close,
                                               err_msg=f"order {k + 1}, direction {j}")
            np.testing.assert_allclose(values[-1], values[1] * sum(w * a**2 for w, a in zip((1, 2, 3), _ALONG,
                                                                                            strict=True)), **close)
