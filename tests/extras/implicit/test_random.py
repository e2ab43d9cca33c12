"""Random implicit problems, in any place, have the derivatives of their oracles: orders 1 to 3, both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.effort import ALL, long

from .problems import along, close, compute, pushed
from .random_problems import KINDS, PLACES, VALUE

_SLOW = ("flow", "event")  # their steps are chosen, hundreds of them
# Of minima within bounds few: on the sixth one the steps get stuck, which is an error with the residual.
_COUNTS = {"flow": 6, "event": 6, "bounded": 5}
_CASES = [(kind, seed) for kind in KINDS for seed in range(_COUNTS.get(kind, 40) if ALL else 1)
          if ALL or kind not in _SLOW]
_CASES += [] if ALL else [("linear", 2)]  # in a loop, where gradients once passed through the solver: zeros, and NaN


@pytest.mark.parametrize(("kind", "seed"), _CASES)
def test_random_problems(kind: str, seed: int) -> None:
    """Values and derivatives along a direction, by tf.gradients and by jvp, are the oracle's."""
    rng = np.random.default_rng([seed, *kind.encode()])
    pair, v = KINDS[kind](rng), rng.normal(size=2)
    place = list(PLACES)[(seed + len(kind)) % len(PLACES)]
    orders = pair.orders if ALL or kind != "steps" else 2
    with tf.Graph().as_default():
        p = tf.constant(VALUE)
        y = PLACES[place](pair.solved, p)
        mixed = tf.jvp(tf.reduce_sum(tf.gradients(y, p)[0] * v), p, v)
        got, forward, other, wanted = compute([along(y, p, v, orders), pushed(y, p, v, min(orders, 2)), mixed,
                                               along(pair.oracle(p), p, v, orders)])
    close(got, wanted, pair.rtol)
    close([*forward, other], [*wanted[: len(forward)], wanted[2]], pair.rtol)


@long("other tests of tapes and variables say the same of single problems")
@pytest.mark.parametrize("kind", KINDS)
def test_tapes_and_variables(kind: str) -> None:
    """Tapes give the same for variables, in eager mode."""
    rng = np.random.default_rng([99, *kind.encode()])
    pair = KINDS[kind](rng)
    p = tf2.Variable(VALUE)
    with tf2.GradientTape() as tape:
        y = tf2.function(pair.solved)(p)
    slope: Any = tape.gradient(y, p)
    with tf.Graph().as_default():
        fixed = tf.constant(VALUE)
        oracle = pair.oracle(fixed)
        wanted = compute([oracle, tf.gradients(oracle, fixed)[0]])
    close([y, slope], wanted, pair.rtol)
