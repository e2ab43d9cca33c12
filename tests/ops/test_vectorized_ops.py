"""Every op of the table inside `vectorized_map`: XLA computes all rows at once, NumPy one after another.

The ops of a family share one map and are compiled once. Gradients consist of ops of the table too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.conversion import constant
from graphgrad.ir.opdef import registry
from tests.support import table
from tests.support.effort import ALL, part
from tests.support.table import Inputs, Row

from . import rows
from .test_ops import assert_close, regrouped

_ROWS = 3
# Those that draw differ from row to row by design; host ops run in NumPy in either case.
_LEFT_OUT = {"host", "random", "stateful"}
# Seconds to compile; their loops are those of Igamma, Zeta and Betainc.
_LONG = {"IgammaGradA", "IgammaDerivative", "ZetaDerivative", "BetaincDerivative"}


class _Mapped:
    """The first case of an op that has random inputs: `draws` holds them once for each row of the map."""

    def __init__(self, row: Row, monkeypatch: pytest.MonkeyPatch):
        self.row = row
        self.opdef = row.opdef
        dtype = table.row_dtypes(row)[0]
        self.draws: list[Inputs] = []
        for salt in range(_ROWS):
            with monkeypatch.context() as patch:
                drawn = table.generator
                patch.setattr(table, "generator", lambda *key, salt=salt, drawn=drawn: drawn(salt, *key))
                self.draws.append(table.draw(row, row.case(0), dtype))
        one, two = self.draws[:2]
        known = {self.opdef.inputs[i].name for i in self.opdef.host}
        self.mapped = [
            i for i, (a, b) in enumerate(zip(one.flat, two.flat, strict=True))
            if one.dtypes[i].is_differentiable and one.names[i] not in known and not np.array_equal(a, b)
        ]

    def stacked(self) -> list[Any]:
        """The rows of each mapped input."""
        return [np.stack([d.flat[i] for d in self.draws]) for i in self.mapped]

    def build(self, args: list[Any]) -> list[Any]:
        """The op's results for one row."""
        one = self.draws[0]
        flat = [constant(a, t) for a, t in zip(one.flat, one.dtypes, strict=True)]
        for i, t in zip(self.mapped, args, strict=True):
            flat[i] = t
        return list(self.opdef.unpack(self.opdef(*regrouped(one, flat), **one.attrs)))


_TABLE = [r for r in rows.load() if r.op_type in registry and r.cases and not r.opdef.flags & _LEFT_OUT
          and (ALL or r.op_type not in _LONG)]


_FAMILIES = {r.family for r in _TABLE} - {"broadcast", "random"}  # the inputs of these are shapes and seeds


@pytest.mark.parametrize("family", sorted(_FAMILIES))
def test_all_rows_at_once(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What XLA gives for all rows together, NumPy gives row by row."""
    cases = [_Mapped(r, monkeypatch) for r in _TABLE if r.family == family]
    cases = part([c for c in cases if c.mapped], 5)
    with tf.Graph().as_default():
        placeholders = [[tf.placeholder(c.draws[0].dtypes[i], (_ROWS, *c.draws[0].flat[i].shape)) for i in c.mapped]
                        for c in cases]
        feeds = {p: v for c, ps in zip(cases, placeholders, strict=True) for p, v in zip(ps, c.stacked(), strict=True)}
        assert feeds
        found = tf.vectorized_map(lambda args: [c.build(a) for c, a in zip(cases, args, strict=True)], placeholders)
        with tf.Session() as sess:
            at_once = sess.run(found, feeds)
        with HostSession() as sess:
            in_turn = sess.run(found, feeds)
    for c, tensors, got, want in zip(cases, found, at_once, in_turn, strict=True):
        for k, (t, a, b) in enumerate(zip(tensors, got, want, strict=True)):
            assert_close(a, b, c.row, t.dtype, f"{c.row.op_type}, result {k}")
