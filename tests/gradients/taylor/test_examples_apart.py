"""Whether examples are apart: what records say of rows, and what is left as it is because they may not be."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.gradients.taylor.examples_apart import hindrance
from tests.ops.test_ops import ROWS, Built
from tests.support.host import evaluate
from tests.support.table import Row, draw


def _rows() -> list[Any]:
    return [pytest.param(row, id=row.op_type) for row in ROWS if row.opdef.rows_rule is not None and row.cases
            and "float64" in row.dtypes]


@pytest.mark.parametrize("row", _rows())
def test_rows_by_results(row: Row) -> None:
    """Where a record says that examples stay apart, changing one of them changes that row of the results alone."""
    rng = np.random.default_rng(5)
    tried = 0
    for i in range(len(row.cases)):
        inputs = draw(row, row.case(i), "float64")
        fed = [k for k, t in enumerate(inputs.dtypes) if t.is_floating and inputs.flat[k].ndim]
        built = Built(row, inputs, fed)
        op = built.outputs[0].op if built.outputs else None
        for size in range(1, len(fed) + 1):
            for batches in itertools.combinations(fed, size):
                count = {len(inputs.flat[k]) for k in batches}
                # Silenced: the row's op has a rule.
                if op is None or len(count) > 1 or min(count) < 2 or not row.opdef.rows_rule(  # type: ignore[misc]
                        op, [k in batches for k in range(len(op.inputs))]):
                    continue
                before = evaluate(built.outputs, built.feeds)
                changed = {t: v.copy() for t, v in built.feeds.items()}
                at = int(rng.integers(min(count)))
                for k in batches:
                    changed[built.flat[k]][at] += rng.uniform(0.1, 1, changed[built.flat[k]][at].shape)
                for a, b in zip(before, evaluate(built.outputs, changed), strict=True):
                    assert len(a) == min(count)
                    np.testing.assert_array_equal(np.delete(a, at, 0), np.delete(b, at, 0))
                tried += 1
    assert tried or not any(len(inputs.flat[k]) > 1 for k in fed) or row.op_type in _NEVER, row.op_type


_NEVER = {"Reshape", "Slice", "Squeeze"}  # in the cases of one row or all, rows do not stay what they are


def _points(batch: int | None = None, columns: int = 2) -> Any:
    return tf.placeholder(tf.float64, [batch, columns])


def _net(x: Any) -> Any:
    return tf.matmul(tf.tanh(tf.matmul(x, np.ones((2, 3)))), np.ones((3, 1)))


def _moments(x: Any) -> Any:
    h = tf.matmul(x, np.ones((2, 3)))
    mean, variance = tf.nn.moments(h, [0])
    return tf.reduce_sum((h - mean) / tf.sqrt(variance + 1e-3), 1, keepdims=True)


_MIXED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "batch statistics": (_moments, "Mean"),
    "neighbours": (lambda x: x[1:] * x[:-1], "StridedSlice"),
    "last rows": (lambda x: x[-3:] ** 2, "StridedSlice"),
    "turned round": (lambda x: tf.reverse(x, [0]) * x, "ReverseV2"),
    "product of rows": (lambda x: tf.matmul(x, x, transpose_b=True), "MatMul"),
    "transposed": (lambda x: tf.matmul(x, np.ones((4, 1)), transpose_a=True), "MatMul"),
    "running sum": (lambda x: tf.cumsum(x**2), "Cumsum"),
    "other shape": (lambda x: tf.reshape(x, [-1, 1]) ** 2, "Reshape"),
    "rank 1, along the examples": (lambda x: tf.nn.softmax(x[:, 0]), "Softmax"),
    "repeated": (lambda x: x[:1] * x, "StridedSlice"),
    "mean as a weight": (lambda x: x * tf.reduce_mean(x), "Mean"),
    "another batch": (lambda x: x * tf.placeholder(tf.float64, [None, 2]), "Mul"),
    "loop": (lambda x: tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.sin(h)), [0, x])[1], "sub-graphs"),
    "users": (lambda x: tf2.custom_gradient(lambda z: (z**3, lambda dz: dz * z))(x), "user's"),
}


@pytest.mark.parametrize("case", _MIXED)
def test_mixed_examples(case: str) -> None:
    """Where an example may depend on others, that is said, with the operation."""
    build, word = _MIXED[case]
    with tf.Graph().as_default():
        x = _points()
        reason = hindrance([build(x)], [x])
    assert word in reason, reason


_APART: dict[str, Callable[[Any], Any]] = {
    "net": _net,
    "scaled": lambda x: _net(2.0 * (x - [0.0, 1.0]) / [3.0, 2.0] - 1.0),
    "columns": lambda x: tf.concat([tf.sin(x[:, 0:1]), x[:, 1:] ** 2], 1),
    "split and stacked": lambda x: tf.stack(tf.unstack(tf.split(x, 2, 1)[0] * x, axis=1), 1),
    "flat": lambda x: tf.reshape(tf.expand_dims(x, 1), [-1, 2]) * tf.squeeze(x[:, :1], [1])[:, None],
    "normalized features": lambda x: tf.nn.softmax(x) + tf.reduce_max(x, 1, keepdims=True),
    "stopped": lambda x: x * tf.stop_gradient(tf.reduce_mean(x)) + x * tf.ones_like(x),
    "bias": lambda x: tf.nn.bias_add(x, [1.0, 2.0]),
    "boundary condition": lambda x: x[:, :1] * (1.0 - x[:, :1]) * _net(x),
}


@pytest.mark.parametrize("case", _APART)
def test_examples_apart(case: str) -> None:
    """What people write for each example is seen to be that."""
    with tf.Graph().as_default():
        x = _points()
        assert hindrance([_APART[case](x)], [x]) == ""


def test_two_batches() -> None:
    """Two placeholders have as many examples if they are joined, or if their sizes are known; else one may have one."""
    with tf.Graph().as_default():
        x, t = [tf.placeholder(tf.float64, [None, 1]) for _ in range(2)]
        assert "differ in the number" in hindrance([x * t], [x, t])
        assert hindrance([x * t * _net(tf.concat([x, t], 1))], [x, t]) == ""
        assert "another x" in hindrance([x * t], [x, x * 2.0])
        x, t = [tf.placeholder(tf.float64, [5, 1]) for _ in range(2)]
        assert hindrance([x * t], [x, t]) == ""
