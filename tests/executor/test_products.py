"""Sums of products are products of joined operands; of a product only the part that is read is computed."""

from __future__ import annotations

import collections
import random
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import products
from tests.support.effort import ALL


def _planned(sess: Any, fetches: Any, feeds: Any) -> collections.Counter[str]:
    metadata = tf.RunMetadata()
    sess.run(fetches, feeds, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    total: collections.Counter[str] = collections.Counter()
    for step in metadata.report.steps:
        total += step.operations
    return total


def _recurrent(steps: int = 6, rows: int | None = 3) -> tuple[Any, Any, Any]:
    xs = tf.placeholder(tf.float32, [steps, rows, 32])
    w = tf.Variable(np.linspace(-1, 1, 96 * 64, dtype=np.float32).reshape(96, 64))
    h = tf.zeros_like(xs[0, :, :1]) + tf.zeros([64])
    for x in tf.unstack(xs):
        h = tf.tanh(tf.matmul(tf.concat([x, h], 1), w))
    return xs, w, tf.reduce_sum(h * h)


@pytest.mark.parametrize("rows", [3, None])
def test_a_recurrent_net(rows: int | None) -> None:
    """Of six steps, the gradient by the weights is one product; those by the states leave out the inputs' part."""
    with tf.Graph().as_default(), tf.Session() as sess:
        xs, w, loss = _recurrent(rows=rows)
        gradient = tf.gradients(loss, w)[0]
        sess.run(tf.global_variables_initializer())
        planned = _planned(sess, gradient, {xs: np.ones((6, 3, 32), np.float32)})
    assert planned["MatMulSum"] == 1
    assert planned["MatMul"] == 6 + 5
    assert planned["AxisSlice"] == 1
    assert planned["SplitV"] == 0
    assert planned["AddN"] == 1  # of the square


def test_what_is_read_elsewhere_stays() -> None:
    """Products that are fetched, read twice, or wait for others are not touched."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        xs, w, loss = _recurrent()
        gradient = tf.gradients(loss, w)[0]
        sess.run(tf.global_variables_initializer())
        terms = list(gradient.op.inputs)
        feeds = {xs: np.full((6, 3, 32), 0.1, np.float32)}
        whole = sess.run(gradient, feeds)
        planned = _planned(sess, [gradient, *terms[:3]], feeds)
        assert planned["MatMulSum"] == 0
        assert planned["AddN"] == 2
        planned = _planned(sess, [gradient, terms[0]], feeds)
        assert planned["MatMulSum"] == 1
        assert planned["AddN"] == 2
        np.testing.assert_allclose(sess.run([gradient, terms[0]], feeds)[0], whole, rtol=1e-5)
        assert graph.get_operation_by_name(gradient.op.name).type == "AddN"


def test_other_sizes_than_known_before() -> None:
    """Pairs that do not fit are refused although their sums would."""
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = ([tf.placeholder(tf.float32, [None, 9]) for _ in range(4)] for _ in range(2))
        total = tf.add_n([tf.matmul(x, y, transpose_a=True) for x, y in zip(a, b, strict=True)])
        fitting = {t: np.ones((2, 9), np.float32) for t in (*a, *b)}
        for _ in range(2):
            assert (sess.run(total, fitting) == 8).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions must be equal, but are 3 and 2"):
            sess.run(total, {**fitting, a[0]: np.ones((3, 9), np.float32), b[1]: np.ones((3, 9), np.float32)})


class _Program:
    """A random program of products that share weights, sums of them, and parts of them."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        rng = self.rng
        self.rows = rng.choice([1, 2, 5])
        self.width = rng.choice([4, 8, 40])
        self.known = rng.random() < 0.5
        shape = [self.rows if self.known else None, self.width]
        self.x = tf.placeholder(rng.choice([tf.float32, tf.float64]), shape)
        numbers = np.random.default_rng(seed)
        self.value = numbers.uniform(-1, 1, (self.rows, self.width))
        n = 2 * self.width
        self.w = tf.Variable((numbers.uniform(-1, 1, (n, n)) / n**0.5).astype(self.x.dtype.as_numpy_dtype))
        self.fetches: list[Any] = []

    def build(self) -> list[Any]:
        """Returns the fetches."""
        rng = self.rng
        state = tf.tanh(self.x)
        terms = []
        for _ in range(rng.randint(2, 8)):
            both = tf.concat(rng.sample([self.x, state], 2), 1)
            product = self._product(both)
            if rng.random() < 0.2:
                self.fetches.append(product)
            sizes: Any = 2 if rng.random() < 0.5 else [1, self.width, self.width - 1]
            parts = tf.split(product, sizes, 1)
            state = tf.sin(parts[-1] if sizes == 2 else parts[1])
            terms.append(product)
        loss = tf.reduce_sum(state * state)
        if rng.random() < 0.5:
            loss += tf.reduce_sum(tf.add_n(terms) ** 2)
        of = [self.w, self.x] if rng.random() < 0.5 else [self.w]
        gradients = tf.gradients(loss, of)
        if rng.random() < 0.5:
            gradients += tf.gradients([tf.reduce_sum(g * g) for g in gradients], of)
        step = tf.assign_sub(self.w, 0.01 * gradients[0])
        with tf.control_dependencies([step] if rng.random() < 0.3 else []):
            return [loss, *gradients, *self.fetches, tf.identity(state)]

    def _product(self, both: Any) -> Any:
        if self.rng.random() < 0.5:
            return tf.matmul(both, self.w)
        return tf.transpose(tf.matmul(self.w, both, transpose_a=True, transpose_b=True))


def _values(seed: int) -> tuple[list[Any], collections.Counter[str]]:
    with tf.Graph().as_default(), tf.Session() as sess:
        program = _Program(seed)
        fetches = program.build()
        sess.run(tf.global_variables_initializer())
        feeds = {program.x: program.value}
        results = [sess.run(fetches, feeds) for _ in range(3)]
        return [*results, sess.run(program.w)], _planned(sess, fetches, feeds)


@pytest.mark.parametrize("seed", range(20 if ALL else 3))
def test_random_programs(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The numbers are those of the plan without this: three runs, and the weights after them."""
    found, _ = _values(seed)
    monkeypatch.setattr(products, "TERMS", 10**9)
    monkeypatch.setattr(products, "MOST", -1.0)
    expected, plain = _values(seed)
    assert plain["MatMulSum"] == plain["AxisSlice"] == 0
    single = found[0][0].dtype == np.float32
    for one, other in zip(found, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            scale = np.max(np.abs(b), initial=1e-3)
            np.testing.assert_allclose(a, b, rtol=0, atol=(1e-4 if single else 1e-10) * scale)


def test_random_programs_have_what_is_meant() -> None:
    """Sums of products and parts of products occur among the random programs."""
    planned = [_values(seed)[1] for seed in range(12)]
    assert sum(p["MatMulSum"] > 0 for p in planned) >= 2
    assert sum(p["AxisSlice"] > 0 for p in planned) >= 2


def test_part_of_which_the_shape_is_read() -> None:
    """A part of a product is computed where what is computed beside the program reads its shape."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x, t = [tf.placeholder(tf.float64, [None, 1]) for _ in range(2)]
        u = tf.tanh(tf.matmul(tf.concat([x, t], 1), np.ones((2, 3))))
        second = tf.gradients(tf.gradients(u, x)[0], x)[0]
        found = sess.run(second, {x: np.full((4, 1), 0.3), t: np.full((4, 1), 0.2)})
    np.testing.assert_allclose(found, np.full((4, 1), -6 * np.tanh(0.5) / np.cosh(0.5) ** 2))
