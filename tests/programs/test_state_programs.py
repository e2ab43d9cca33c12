"""Random programs with state have the gradients that differences say; see `state_programs`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as v1
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context

from . import state_programs

_COUNT = int(os.environ.get("GRAPHGRAD_STATE_PROGRAMS", "6"))


def _dense(gradients: Any, rows: int) -> Any:
    """The gradients with respect to x, v, w and rows as one array; zeros in the place of None."""
    dx, dv, dw, dr = (0.0 if g is None else np.asarray(tf.convert_to_tensor(g) if hasattr(g, "indices") else g)
                      for g in gradients)
    return np.array([dx, dv, dw, *(np.zeros(rows) if np.ndim(dr) == 0 else dr)])


def _made(module: Any) -> tuple[Any, Any, Any, list[int], Any]:
    _, v, w, rows = state_programs.START
    kind = {} if module is tf else {"use_resource": True}
    held = [module.Variable(np.array(value, np.float64), **kind) for value in (v, w, rows)]
    calls: list[int] = []
    return *held, calls, state_programs.Built(module, *held, calls, module is v1)


def _check(expected: state_programs.Expected, value: Any, gradients: Any, held: Any, second: Any, calls: int) -> None:
    np.testing.assert_allclose(value, expected.value, rtol=1e-9)
    np.testing.assert_allclose(gradients, expected.gradient(), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.concatenate([np.ravel(h) for h in held]),
                               np.concatenate([np.ravel(h) for h in expected.after]))
    if second is not None:
        np.testing.assert_allclose(second, expected.second(), rtol=1e-4, atol=1e-5)
    assert calls == expected.calls


@pytest.mark.parametrize("seed", range(_COUNT))
def test_tape_over_a_function(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The passes are two runs, between which variables change."""
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", seed % 2 == 1)
    runs, depth = (2, 2) if seed % 4 == 0 else (1, 3)  # XLA has the second ones
    compare_tape(seed, runs, depth)


def compare_tape(seed: int, runs: int, depth: int = 3) -> None:
    """Compares a function and its gradients by a tape, run by run."""
    statements = state_programs.program(seed, depth)
    with context.use(context.EAGER):
        v, w, rows, calls, built = _made(tf)
        f = tf.function(lambda x: built.run(statements, x))
        for number in range(runs):
            x = tf.constant(state_programs.START[0] + 0.1 * number, tf.float64)
            before = float(v), float(w), rows.numpy(), len(calls)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            held = [v.numpy(), w.numpy(), rows.numpy()]
            v.assign(0.3)
            rows.assign_add([0.1, 0.2, 0.3])
            found = _dense(tape.gradient(y, [x, v, w, rows]), 3)
            _check(state_programs.Expected(statements, float(x), *before), y, found, held, None, len(calls))


@pytest.mark.parametrize("seed", range(_COUNT))
def test_gradient_in_a_session(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """First and second derivatives, in several runs."""
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", seed % 2 == 1)
    compare_session(seed, *((2, v1.Session) if seed % 4 == 0 else (3, HostSession)))


def compare_session(seed: int, depth: int = 3, session: Any = v1.Session) -> None:
    """Compares first and second derivatives in a session, run by run."""
    statements = state_programs.program(seed + 1000, depth)
    with v1.Graph().as_default(), session() as sess:
        v, w, rows, calls, built = _made(v1)
        x = v1.placeholder(tf.float64, [])
        y = built.run(statements, x)
        first = v1.gradients(y, [x, v, w, rows], unconnected_gradients="zero")
        second = v1.gradients(first[0], x, unconnected_gradients="zero")[0]
        sess.run(v1.global_variables_initializer())
        for number in range(3):
            at = state_programs.START[0] - 0.1 * number
            before = *sess.run([v, w, rows]), len(calls)
            value, found, twice = sess.run([y, first, second], {x: at})
            held = sess.run([v, w, rows])
            dense = np.array([*found[:3], *_rows(found[3])])
            _check(state_programs.Expected(statements, at, *before), value, dense, held, twice, len(calls))


def _rows(g: Any) -> Any:
    if not hasattr(g, "indices"):
        return g
    total = np.zeros(3)
    np.add.at(total, g.indices, g.values)
    return total
