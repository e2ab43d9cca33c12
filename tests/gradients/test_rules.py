"""Gradient rules read the outputs of their operations where TensorFlow's do, and only there.

`tests/record/ops/rules.py` says what is recorded: derivatives of gradients while the outputs are held.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.conversion import constant
from graphgrad.ir.opdef import registry
from tests.ops import rows
from tests.ops.test_ops import Built
from tests.support.host import dense, evaluate
from tests.support.table import Case, Row, draw

from .rule_cases import PATH, cases, cotangent

_RECORDED = json.loads(gzip.decompress(PATH.read_bytes()))

# Op types whose rules differ from TensorFlow's on purpose, and why.
_DIFFERENT = {
    "BesselI0": "TensorFlow's derivative of BesselI1 at 0 is 1, not 1/2",
    "FakeQuantWithMinMaxArgs": "TensorFlow takes the gradient for a constant, also of dy, to which it is linear",
    "FakeQuantWithMinMaxVars": "TensorFlow takes the gradient for a constant, also of dy, to which it is linear",
    "FakeQuantWithMinMaxVarsPerChannel": "TensorFlow takes the gradient for a constant, also of dy",
    "Prod": "TensorFlow differentiates running products by way of quotients by factors, of which some are 0",
}

# Those where only TensorFlow's NaNs are numbers here.
_NAN_THERE = {
    "BesselI1e": "0 / 0 at 0",
    "BesselJ1": "0 / 0 at 0",
    "CumulativeLogsumexp": "inf - inf at the first of exclusive sums",
    "Spence": "0 / 0 at 1",
    "UnsortedSegmentProd": "0 / 0 where a factor is 0",
}

_CASES = [(row, case, dtype) for row in rows.load() if row.op_type in registry and row.tf and row.tf_grad
          and "random" not in row.opdef.flags for case, dtype in cases(row)]


def differentiated(row: Row, case: Case, dtype: str) -> list[Any] | None:
    """The derivatives of a case's gradient by xs and ys while ys are held; None where there is no gradient."""
    key = row.key(case, dtype)
    inputs = draw(row, case, dtype)
    xs = inputs.differentiable(row)
    built = Built(row, inputs, fed=xs)
    ys = [t for k, t in enumerate(built.outputs) if t.dtype.is_differentiable and (row.ys is None or k in row.ys)]
    shapes = [np.shape(v) for v in evaluate(ys, built.feeds)]
    with built.graph.as_default():
        first = gradients(ys, [built.flat[i] for i in xs], [
            constant(cotangent(key, "y", k, s, y.dtype.name), y.dtype)
            for k, (y, s) in enumerate(zip(ys, shapes, strict=True))])
        found = [(i, dense(g, built.graph)) for i, g in zip(xs, first, strict=True) if g is not None]
        if not found:
            return None
        weights = [constant(cotangent(key, "x", i, inputs.flat[i].shape, g.dtype.name), g.dtype) for i, g in found]
        second = gradients([g for _, g in found], [built.flat[i] for i in xs] + ys, weights, stop_gradients=ys)
        second = [None if g is None else dense(g, built.graph) for g in second]
    values = iter(evaluate([g for g in second if g is not None], built.feeds))
    return [None if g is None else next(values) for g in second]


def wrong(row: Row, case: Case, dtype: str, strict: bool = False) -> str | None:
    """How the derivatives differ from those recorded, in words; `strict` for whether also in NaNs that are known."""
    want = _RECORDED.get(row.key(case, dtype))
    if not isinstance(want, list):
        return None  # no gradient, or none of it, in TensorFlow
    got = differentiated(row, case, dtype)
    if got is None:
        return "there is no gradient"
    if [g is None for g in got] != [w is None for w in want]:
        return f"None for {[g is None for g in got]}; TensorFlow's {[w is None for w in want]}"
    for k, (g, w) in enumerate(zip(got, want, strict=True)):
        if g is not None:
            wide = np.stack([g.real, g.imag], -1) if g.dtype.kind == "c" else g.astype(np.float64)
            wide, w = wide.reshape(-1), np.asarray(w)
            if row.op_type in _NAN_THERE and not strict:
                wide = np.where(np.isnan(w), w, wide)
            scale = max(1.0, float(np.abs(w[np.isfinite(w)]).max(initial=0.0)))
            tolerance = {4: 2e-4, 2: 5e-2}.get(g.dtype.itemsize if g.dtype.kind != "c" else g.dtype.itemsize // 2, 1e-7)
            if not np.allclose(wide, w, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                return f"derivative {k}: {wide[:6]}; TensorFlow's {w[:6]}"
    return None


@pytest.mark.parametrize("part", range(8))
def test_outputs_are_read_where_tensorflow_reads_them(part: int) -> None:
    """The derivatives are TensorFlow's, but for the named operations."""
    found = []
    for row, case, dtype in _CASES[part::8]:
        complaint = wrong(row, case, dtype)
        if complaint and row.op_type not in _DIFFERENT:
            found.append(f"{row.op_type} {case} {dtype}: {complaint}")
    assert not found, "\n".join(found)


def test_exemptions_are_needed() -> None:
    """Whoever is named above does differ."""
    named = {*_DIFFERENT, *_NAN_THERE}
    cases = [c for c in _CASES if c[0].op_type in named]
    assert named == {row.op_type for row, case, dtype in cases if wrong(row, case, dtype, strict=True)}
