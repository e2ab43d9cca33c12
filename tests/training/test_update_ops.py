"""Update ops that vary others: values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import raw

_G = np.float32([0.5, -2.0, 0.0])
_ROWS = np.float32([[1.0, 2.0], [3.0, 4.0]])
_VAR = [1.0, 2.0, 3.0]
_ACCUM = [0.1, 0.2, 0.3]

_STEPS: dict[str, tuple[list[Any], Any, list[Any]]] = {
    "adagrad": (
        [_VAR, _ACCUM], lambda w, a: raw.ResourceApplyAdagradV2(w, a, 0.5, 0.1, _G),
        [[0.638524, 2.465248, 3.0], [0.35, 4.2, 0.3]]),
    "adagrad, slots unchanged": (
        [_VAR, _ACCUM], lambda w, a: raw.ResourceApplyAdagradV2(w, a, 0.5, 0.1, _G, update_slots=False),
        [[0.399367, 3.82744, 3.0], _ACCUM]),
    "momentum": (
        [_VAR, _ACCUM], lambda w, a: raw.ResourceApplyKerasMomentum(w, a, 0.5, _G, 0.9),
        [[0.84, 3.18, 3.27], [-0.16, 1.18, 0.27]]),
    "momentum, Nesterov's": (
        [_VAR, _ACCUM], lambda w, a: raw.ResourceApplyKerasMomentum(w, a, 0.5, _G, 0.9, use_nesterov=True),
        [[0.606, 4.062, 3.243], [-0.16, 1.18, 0.27]]),
    "adamax": (
        [_VAR, _ACCUM, [0.4, 0.5, 0.6]],
        lambda w, m, v: raw.ResourceApplyAdaMax(w, m, v, 0.81, 0.5, 0.9, 0.99, 0.1, _G),
        [[0.385965, 2.025063, 1.976187], [0.14, -0.02, 0.27], [0.5, 2.0, 0.594]]),
    "amsgrad": (
        [_VAR, _ACCUM, [0.4, 0.5, 0.6], [9.0, 0.1, 0.1]],
        lambda w, m, v, h: raw.ResourceApplyAdamWithAmsgrad(w, m, v, h, 0.81, 0.9, 0.5, 0.9, 0.99, 0.1, _G),
        [[0.962418, 2.020018, 2.74195], [0.14, -0.02, 0.27], [0.3985, 0.535, 0.594], [9.0, 0.535, 0.594]]),
    "rows of momentum, Nesterov's": (
        [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]],
        lambda w, a: raw.ResourceSparseApplyKerasMomentum(w, a, 0.5, _ROWS, [2, 0], 0.9, use_nesterov=True),
        [[[-1.769, -1.638], [3.0, 4.0], [4.455, 4.586]], [[-1.41, -1.82], [0.3, 0.4], [-0.05, -0.46]]]),
    "rows of adagrad": (
        [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]],
        lambda w, a: raw.ResourceSparseApplyAdagradV2(w, a, 0.5, 0.1, _ROWS, [2, 0]),
        [[[0.518709, 1.515142], [3.0, 4.0], [4.622569, 5.554518]], [[9.1, 16.2], [0.3, 0.4], [1.5, 4.6]]]),
}


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("name", _STEPS)
def test_update(sess: Any, name: str) -> None:
    """The variable and its slots after one step."""
    starts, step, wanted = _STEPS[name]
    variables = [tf.Variable(np.float32(v)) for v in starts]
    update = step(*[v.handle for v in variables])
    sess.run(tf.global_variables_initializer())
    sess.run(update)
    for value, want in zip(sess.run(variables), wanted, strict=True):
        np.testing.assert_allclose(value, want, rtol=2e-6, atol=1e-6)
