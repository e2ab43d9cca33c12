"""Random operations at numbers from the edges give what TensorFlow gives, in NumPy and in XLA.

`number_cases.py` has the programs, `tests/record/ops/numbers.py` records what TensorFlow makes of them.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from graphgrad.errors import OpError
from graphgrad.executor.runtime.session import HostSession, Session
from graphgrad.gradients.core.backprop import gradients
from tests.support.host import dense
from tests.support.recordings import FOLDER

from . import number_cases
from .test_ops import Built

_RECORDED = json.loads(gzip.decompress((FOLDER / "numbers.json.gz").read_bytes()))
_TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-8, "complex128": 1e-8}


def results(p: number_cases.Program, engine: str) -> Any:
    """Values, gradients and gradients of these, as recorded; or the class of an error."""
    try:
        built = Built(p.row, p.inputs, number_cases.fed(p))
        xs = [built.flat[i] for i in p.inputs.differentiable(p.row)]
        ys = [built.outputs[k] for k in number_cases.differentiated(built.outputs, p.row)]
        levels: list[Any] = [built.outputs]
        with built.graph.as_default():
            for _ in range(2):
                try:
                    grads = gradients(ys, xs) if ys and xs else []
                except (LookupError, NotImplementedError, TypeError):
                    levels.append(None)
                    break
                levels.append([g if g is None else dense(g, built.graph) for g in grads])
                ys = [g for g in levels[-1] if g is not None]
        wanted = [t for level in levels if level for t in level if t is not None]
        with (HostSession if engine == "numpy" else Session)(graph=built.graph) as sess:
            if engine == "xla":
                sess.run(wanted, built.feeds)
            values = iter(sess.run(wanted, built.feeds))
    except (OpError, ValueError, TypeError) as e:
        return type(e).__name__
    return [level and [t if t is None else next(values) for t in level] for level in levels]


def _same(got: Any, want: list[Any], scale: float) -> bool:
    got, dtype = np.asarray(got), np.asarray(got).dtype
    if dtype.kind in "biu":
        return got.reshape(-1).tolist() == want
    if dtype.kind == "c":
        got = np.stack([got.real, got.imag], -1)
    tolerance = _TOLERANCE.get(dtype.name, 2e-4)
    with np.errstate(all="ignore"):
        return got.size == len(want) and bool(np.allclose(
            got.astype(np.float64).reshape(-1), want, rtol=tolerance, atol=tolerance * min(1.0, scale), equal_nan=True))


def wrong(p: number_cases.Program, want: Any, engine: str) -> str | None:
    """How results differ from the recorded ones, in words."""
    got = results(p, engine)
    if isinstance(want, str) or isinstance(got, str):
        return None if type(want) is type(got) else f"{str(got)[:200]}; TensorFlow's {str(want)[:200]}"
    for level, (a, b) in enumerate(zip(got, want, strict=False)):
        if b is None or a is None or (level and not p.row.tf_grad):
            break
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if (x is None) != (y is None):
                return f"level {level}, {k}: {x}; TensorFlow's {y}"
            if x is not None:
                finite = [abs(v) for v in y if np.isfinite(v)]
                if not _same(x, y, max(finite, default=0.0) if not level and p.row.family != "nn" else 1.0):
                    given = [v.tolist() for v in p.inputs.flat]
                    return f"level {level}, {k}: {number_cases.plain(x)}; TensorFlow's {y} for {given}"
    return None


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_random_operations_at_the_edges(engine: str) -> None:
    """Values, gradients and second gradients are TensorFlow's; compiling takes time, so XLA gets some of them."""
    seeds = range(number_cases.COUNT if engine == "numpy" else 20)
    found = []
    for seed, p in number_cases.cases(seeds):
        complaint = wrong(p, _RECORDED[str(seed)], engine)
        if complaint:
            found.append(f"{seed} {p.row.op_type} {p.dtype} {p.case}: {complaint}")
    assert not found, "\n".join(found)
