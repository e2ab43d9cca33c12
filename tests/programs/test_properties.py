"""Random graphs: gradients against finite differences, and XLA against NumPy.

A graph is grown step by step: each step picks an op and operands out of all tensors so far,
so tensors are shared, feed each other, or end nowhere. Ops with several outputs, gathers
(whose gradients are IndexedSlices), integer and boolean branches (where gradients end) and
broadcasting are among them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphgrad.executor.plan import partition
from graphgrad.executor.runtime.session import HostSession, Session
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.derived.higher import hessians, jacobian
from graphgrad.gradients.derived.vector_products import hessian_vector_product, jvp
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from tests.ops.test_ops import check_derivatives
from tests.support.host import dense, evaluate, placeholder
from tests.support.table import generator, sample

settings.register_profile("graphs", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True,
                          suppress_health_check=list(HealthCheck))
_PROFILE = settings.get_profile("graphs")

_SHAPES = [(3, 4), (4,), (1, 4), (3, 1), (), (4, 3)]


def _shape(t: Tensor) -> tuple[int, ...]:
    shape = t.shape.as_list()
    assert None not in shape, f"{t} has no static shape"
    return tuple(shape)


def _unary(op: str) -> Callable[..., list[Tensor]]:
    return lambda a, b: [getattr(raw, op)(a)]


def _with_corner(op: str) -> Callable[..., list[Tensor]]:
    # Zeros come up easily (a - a, relu); the corner lies elsewhere.
    return lambda a, b: [getattr(raw, op)(raw.AddV2(a, 0.0437))]


def _maximum(a: Tensor, b: Tensor) -> list[Tensor]:
    return _binary("Maximum")(a, raw.AddV2(b, 0.0137))


def _binary(op: str) -> Callable[..., list[Tensor]]:
    def build(a: Tensor, b: Tensor) -> list[Tensor]:
        try:
            np.broadcast_shapes(_shape(a), _shape(b))
        except ValueError:
            b = raw.Mean(b, list(range(len(_shape(b)))))
        return [getattr(raw, op)(a, b)]

    return build


def _matmul(a: Tensor, b: Tensor) -> list[Tensor]:
    return [raw.Tanh(raw.MatMul(raw.Reshape(a, [-1, 1]), raw.Reshape(b, [1, -1]))[:3, :3])]


def _divide(a: Tensor, b: Tensor) -> list[Tensor]:
    return _binary("RealDiv")(a, raw.AddV2(raw.Square(b), 1.0))


def _split(a: Tensor, b: Tensor) -> list[Tensor]:
    halves: list[Tensor] = raw.Split(0, raw.Reshape(raw.Pack([a, a], axis=0), [2, -1]), num_split=2)
    return halves


def _unpack(a: Tensor, b: Tensor) -> list[Tensor]:
    parts: list[Tensor] = raw.Unpack(raw.Pack([a, raw.Neg(a)], axis=0), num=2, axis=0)
    return parts


def _identity_n(a: Tensor, b: Tensor) -> list[Tensor]:
    pair: list[Tensor] = raw.IdentityN([a, b])
    return pair


def _gather(a: Tensor, b: Tensor) -> list[Tensor]:
    if not _shape(a):
        return [a]
    last = _shape(a)[0] - 1
    return [raw.Mul(raw.GatherV2(a, [0, last, 0], 0), raw.Tanh(raw.GatherV2(a, [last, 0, last], 0)))]


def _gather_columns(a: Tensor, b: Tensor) -> list[Tensor]:
    return [a] if not _shape(a) else [raw.GatherV2(a, [[0], [0]], len(_shape(a)) - 1)]


def _reduce(a: Tensor, b: Tensor) -> list[Tensor]:
    return [raw.Sum(a, [0])] if _shape(a) else [a]


def _transpose(a: Tensor, b: Tensor) -> list[Tensor]:
    n = len(_shape(a))
    return [raw.Transpose(a, list(range(n))[::-1])] if n else [a]


def _concat(a: Tensor, b: Tensor) -> list[Tensor]:
    return [raw.ConcatV2([raw.Reshape(a, [-1]), raw.Reshape(b, [-1])], 0)[:4]]


def _where(a: Tensor, b: Tensor) -> list[Tensor]:
    return [raw.SelectV2(raw.Greater(a, 0.1), raw.Sin(a), raw.Cos(a))]


def _through_integers(a: Tensor, b: Tensor) -> list[Tensor]:
    whole = raw.Cast(raw.Mul(a, 3.0), DstT=dtypes.int32)
    return [_binary("Mul")(raw.Cast(raw.AddV2(whole, 1), DstT=dtypes.float64), b)[0]]


def _position(a: Tensor, b: Tensor) -> list[Tensor]:
    # The ramp keeps equal elements from being a tie, where differences do not exist.
    ramp = 0.0137 * np.arange(np.prod(_shape(a)))
    return [raw.Cast(raw.ArgMax(raw.AddV2(raw.Reshape(a, [-1]), ramp), 0), DstT=dtypes.float64)]


def _tile(a: Tensor, b: Tensor) -> list[Tensor]:
    return [raw.Tile(raw.Reshape(raw.Tanh(a), [-1]), [2])[1:5]]


STEPS: dict[str, Callable[..., list[Tensor]]] = {
    **{op: _unary(op) for op in ("Tanh", "Sigmoid", "Sin", "Softplus", "Neg", "Identity", "Atan")},
    **{op: _with_corner(op) for op in ("Relu", "Abs")},
    **{op: _binary(op) for op in ("AddV2", "Sub", "Mul", "SquaredDifference")},
    "Maximum": _maximum, "MatMul": _matmul, "RealDiv": _divide, "Split": _split, "Unpack": _unpack,
    "IdentityN": _identity_n, "Gather": _gather, "GatherColumns": _gather_columns, "Sum": _reduce,
    "Transpose": _transpose, "Concat": _concat, "Select": _where, "Integers": _through_integers,
    "ArgMax": _position, "Tile": _tile,
}

_STEP = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(0, 99))
_RECIPE = st.tuples(
    st.lists(st.sampled_from(_SHAPES), min_size=1, max_size=3),
    st.lists(_STEP, min_size=1, max_size=14),
    st.lists(st.integers(0, 99), min_size=1, max_size=3),
)


class Grown:
    """The graph that a recipe describes: placeholders, all tensors so far, and the ys."""

    def __init__(self, recipe: Any):
        shapes, steps, targets = recipe
        self.graph = Graph()
        rng = generator(recipe)
        with self.graph.as_default():
            self.xs = [placeholder(self.graph, dtypes.float64, s) for s in shapes]
            self.feeds = {x: sample(rng, s, dtypes.float64, (-1.5, 1.5)) for x, s in zip(self.xs, shapes, strict=True)}
            self.tensors = list(self.xs)
            for name, i, j in steps:
                # Operands are counted from the end: recent ones make deep graphs.
                a, b = (self.tensors[-1 - k % len(self.tensors)] for k in (i, j))
                made = STEPS[name](a, b)
                value = max(float(np.max(np.abs(v), initial=0)) for v in evaluate(made, self.feeds))
                self.tensors.extend(raw.Tanh(t) if value > 4 else t for t in made)
            self.ys = [self.tensors[-1 - k % len(self.tensors)] for k in targets]


@settings(_PROFILE, max_examples=60)
@given(_RECIPE)
def test_derivatives(recipe: Any) -> None:
    """First and second derivatives with respect to the inputs agree with finite differences."""
    grown = Grown(recipe)
    check_derivatives(grown.graph, grown.ys, grown.xs, grown.feeds, 2, generator("directions", recipe), 1e-5)


@settings(_PROFILE, max_examples=60)
@given(_RECIPE, st.integers(0, 99))
def test_inner_x(recipe: Any, k: int) -> None:
    """An x may lie inside the graph, and does not change what the other xs get."""
    grown = Grown(recipe)
    inner = grown.tensors[k % len(grown.tensors)]
    cts = [np.ones(_shape(y)) for y in grown.ys]
    with grown.graph.as_default():
        alone = gradients(grown.ys, grown.xs)
        together = gradients(grown.ys, [inner, *grown.xs])
        alone, together = ([None if g is None else dense(g, grown.graph) for g in gs] for gs in (alone, together))
    assert [g is None for g in alone] == [g is None for g in together[1:]]
    live = [(g, h) for g, h in zip(alone, together[1:], strict=True) if g is not None]
    for g, h in live:
        np.testing.assert_allclose(*evaluate([g, h], grown.feeds), rtol=1e-9, atol=1e-12)
    value = evaluate([inner], grown.feeds)[0]
    along = sample(generator("along", recipe), value.shape, dtypes.float64, (-1, 1))
    ends = []
    for step in (1e-5, 0.0, -1e-5):
        moved = evaluate(grown.ys, {**grown.feeds, inner: value + step * along})
        ends.append(sum(float(np.sum(c * m)) for c, m in zip(cts, moved, strict=True)))
    assume(abs(ends[0] - 2 * ends[1] + ends[2]) < 1e-3)  # no step from one whole number to the next in between
    want = (ends[0] - ends[2]) / 2e-5
    got = 0.0 if together[0] is None else float(np.sum(evaluate([together[0]], grown.feeds)[0] * along))
    assert abs(got - want) <= 1e-5 * max(1.0, abs(got)), (got, want)


class _SmallClusters(Session):
    """Cuts even short programs."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        before = partition.WHOLE, partition.LIGHT, partition.LARGEST, partition.UNLIKE
        partition.WHOLE, partition.LIGHT, partition.LARGEST, partition.UNLIKE = 3, 2, 5, 0
        try:
            return super().run(*args, **kwargs)
        finally:
            partition.WHOLE, partition.LIGHT, partition.LARGEST, partition.UNLIKE = before


class _OneProgram(Session):
    _engine = "whole"


@settings(_PROFILE, max_examples=20)
@given(_RECIPE)
def test_engines_agree(recipe: Any) -> None:
    """XLA, in clusters and as one program, and NumPy come to the same numbers; so does this test's own interpreter."""
    grown = Grown(recipe)
    with grown.graph.as_default():
        grads = [g for g in gradients(grown.ys, grown.xs) if g is not None]
        fetches = [*grown.ys, *(dense(g, grown.graph) for g in grads)]
    want = evaluate(fetches, grown.feeds)
    for kind in (HostSession, Session, _SmallClusters, _OneProgram):
        with kind(graph=grown.graph) as sess:
            for got, w in zip(sess.run(fetches, grown.feeds), want, strict=True):
                np.testing.assert_allclose(got, w, rtol=1e-9, atol=1e-11, err_msg=kind.__name__)


@settings(_PROFILE, max_examples=60)
@given(_RECIPE, st.integers(0, 99))
def test_jacobians_and_products(recipe: Any, k: int) -> None:
    """The rows of a Jacobian are the gradients of y's elements; jvp and Hessian-vector products multiply."""
    grown = Grown(recipe)
    y, x = grown.ys[0], grown.xs[k % len(grown.xs)]
    v = sample(generator("vector", recipe), _shape(x), dtypes.float64, (-1, 1))
    with grown.graph.as_default():
        seed = placeholder(grown.graph, dtypes.float64, _shape(y))
        (slope,) = gradients(y, x, seed)
        found = [jacobian(y, x), jvp(y, x, v), *hessian_vector_product(y, x, v)]
        try:
            found += hessians(y, x)
        except ValueError as refused:
            assert "has no Hessian" in str(refused)
            found.append(None)
    assert (found[0] is None) == (slope is None)
    assert (found[2] is None) == (found[3] is None)
    with HostSession(graph=grown.graph) as sess:
        rows = [sess.run(dense(slope, grown.graph), {**grown.feeds, seed: np.eye(1, n, i).reshape(_shape(y))})
                for n in [max(1, int(np.prod(_shape(y))))] for i in range(n)] if slope is not None else []
        live = iter(sess.run([dense(t, grown.graph) for t in found if t is not None], grown.feeds))
    matrix, along, product, second = (None if t is None else next(live) for t in found)
    n = v.ndim
    if slope is not None:
        np.testing.assert_allclose(matrix, np.reshape(rows, (*_shape(y), *_shape(x))), rtol=1e-10, atol=1e-12)
        # None where y does not depend on x, though the gradient is zeros, as for a sibling's output.
        along = np.zeros(_shape(y)) if along is None else along
        np.testing.assert_allclose(along, np.tensordot(matrix, v, n), rtol=1e-9, atol=1e-11)
    if second is not None:
        np.testing.assert_allclose(product, np.tensordot(second, v, n), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(second, second.transpose(*range(n, 2 * n), *range(n)), rtol=1e-9, atol=1e-11)
