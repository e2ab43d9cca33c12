"""Public functions of neural networks, linear algebra, images and signals, against TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import as_dtype, float64
from graphgrad.ir.graph import Graph
from tests.support.host import dense, evaluate, placeholder
from tests.support.recordings import Recorded
from tests.support.table import generator

from .function_cases import CASES, Case, weights
from .test_ops import check_derivatives
from .transform_cases import CASES as TRANSFORMS

_ALL = [pytest.param(name, case, id=name) for name, case in {**CASES, **TRANSFORMS}.items()]


def _recorded(name: str) -> Any:
    return Recorded.of("transforms" if name in TRANSFORMS else "functions").entry(name)


def _built(graph: Graph, name: str, case: Case) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Inputs, outputs and feeds of a call in `graph`."""
    inputs = case.inputs(name)
    xs = [placeholder(graph, as_dtype(v.dtype), v.shape) for v in inputs]
    with graph.as_default():
        y = case.function(tf, tf2, *xs)
    return xs, list(y) if isinstance(y, (tuple, list)) else [y], dict(zip(xs, inputs, strict=True))


def _close(got: Any, want: Any, rtol: float, what: str) -> None:
    kinds = f"{what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
    assert got.dtype == want.dtype and got.shape == want.shape, kinds
    size = np.max(np.abs(want), initial=1.0) if want.dtype.kind == "f" else 1.0
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * size, err_msg=what)


@pytest.mark.parametrize("name, case", _ALL)
def test_recorded(name: str, case: Case) -> None:
    """Values and gradients are TensorFlow's."""
    entry = _recorded(name)
    assert entry is not None, "nothing is recorded for this call: run `make record`"
    graph = Graph()
    xs, ys, feeds = _built(graph, name, case)
    grads: list[Any] = [None] * len(xs)
    values = evaluate(ys, feeds)
    if any(g is not None for g in entry["gradients"]):
        floats = [(t, v) for t, v in zip(ys, values, strict=True) if t.dtype.is_floating]
        with graph.as_default():
            cts = [constant(weights(v.shape).astype(v.dtype)) for _, v in floats]
            grads = [None if g is None else dense(g, graph) for g in gradients([t for t, _ in floats], xs, cts)]
    slopes = iter(evaluate([g for g in grads if g is not None], feeds))
    for k, (got, want) in enumerate(zip(values, entry["outputs"], strict=True)):
        _close(np.asarray(got), want, case.rtol, f"output {k}")
    for k, (g, want) in enumerate(zip(grads, entry["gradients"], strict=True)):
        assert (g is None) == (want is None), f"gradient {k} is {g}; TensorFlow's is {want}"
        if g is not None:
            _close(next(slopes), want, 10 * case.rtol, f"gradient {k}")


@pytest.mark.parametrize("name, case", [p for p in _ALL if p.values[1].order])
def test_derivatives(name: str, case: Case) -> None:
    """Derivatives agree with finite differences."""
    graph = Graph()
    xs, ys, feeds = _built(graph, name, case)
    floats = [t for t in ys if t.dtype is float64]
    with graph.as_default():
        xs = [x for x in xs if any(g is not None for g in gradients(floats, [x]))]
    check_derivatives(graph, floats, xs, feeds, case.order, generator("directions", name))


@pytest.mark.parametrize("name, case", [p for p in _ALL if p.values[1].draws])
def test_unknown_shapes(name: str, case: Case) -> None:
    """Where a call can be built before shapes are known, it gives the same."""
    graph = Graph()
    inputs = case.inputs(name)
    xs = [placeholder(graph, as_dtype(v.dtype), (None,) * v.ndim) for v in inputs]
    try:
        with graph.as_default():
            y = case.function(tf, tf2, *xs)
    except (ValueError, NotImplementedError) as e:
        assert "Fix:" in str(e), f"no remedy in: {e}"
        return
    entry = _recorded(name)
    values = evaluate(list(y) if isinstance(y, (tuple, list)) else [y], dict(zip(xs, inputs, strict=True)))
    assert entry is not None
    for k, (got, want) in enumerate(zip(values, entry["outputs"], strict=True)):
        _close(np.asarray(got), want, case.rtol, f"output {k}")
