"""Errors of all functions that give derivatives name the function that was called."""

from __future__ import annotations

import re
from typing import Any

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf1
from graphgrad.ir import context
from tests import ROOT

# What cannot be called in eager mode, and how it is called.
GRAPH_ONLY: dict[str, Any] = {
    "gradients": lambda tf, y, x: tf.gradients(y, x),
    "jacobian": lambda tf, y, x: tf.jacobian(y, x),
    "batch_jacobian": lambda tf, y, x: tf.batch_jacobian(y, x),
    "batch_hessian": lambda tf, y, x: tf.batch_hessian(y, x),
    "hessian": lambda tf, y, x: tf.hessian(y, x),
    "hessians": lambda tf, y, x: tf.hessians(y, x),
    "hessian_vector_product": lambda tf, y, x: tf.hessian_vector_product(y, x, x),
    "jvp": lambda tf, y, x: tf.jvp(y, x, x),
    "vjp": lambda tf, y, x: tf.vjp(y, x, y),
    "taylor": lambda tf, y, x: tf.taylor(y, x, x, 2),
    "laplacian": lambda tf, y, x: tf.laplacian(y, x),
    "differential_operator": lambda tf, y, x: tf.differential_operator(y, x, {(1, 0): 1.0}),
    "sparsity": lambda tf, y, x: tf.sparsity(y, x),
    "explain_gradient": lambda tf, y, x: tf.explain_gradient(y, x),
}
# What works in eager mode, or takes no tensors.
ELSEWHERE = {"AggregationMethod", "custom_gradient", "memoize_gradients", "NoGradient", "NotDifferentiable",
             "no_gradient", "optimize_derivatives", "derivatives_report", "RegisterGradient", "UnconnectedGradients",
             "strict_gradients"}


def _names() -> set[str]:
    """The public names of the rooms that give derivatives."""
    found = set()
    for table in (ROOT / "src" / "graphgrad" / "gradients").rglob("exports.txt"):
        for line in table.read_text().splitlines():
            if line.strip() and not line.startswith("["):
                found |= {name for name in line.split()[1:] if not name.endswith(":") and "." not in name}
    return found


def test_the_list_is_complete():
    assert _names() == (set(GRAPH_ONLY) | ELSEWHERE) & _names()
    assert not (set(GRAPH_ONLY) | ELSEWHERE) - _names()


@pytest.mark.parametrize("name", GRAPH_ONLY)
def test_eager_mode(name):
    with context.use(context.EAGER):
        for tf in (tf2, tf1):
            x = tf.constant([[1.0, 2.0]])
            with pytest.raises((RuntimeError, TypeError)) as caught:
                GRAPH_ONLY[name](tf, x * x, x)
            text = str(caught.value)
            assert re.search(rf"\b{name}\b", text), text
            others = set(re.findall(r"tf\.([a-z_]+)", text)) & set(GRAPH_ONLY) - {name}
            assert not others, text
            assert "with graph.as_default()" in text


@pytest.mark.parametrize("name", sorted(set(GRAPH_ONLY) - {"explain_gradient", "formula"}))
def test_tensors_of_another_graph(name):
    with tf1.Graph().as_default():
        x = tf1.constant([[1.0, 2.0]])
    with tf1.Graph().as_default():
        y = tf1.constant([[1.0, 2.0]])
        with pytest.raises(ValueError, match="same graph") as caught:
            GRAPH_ONLY[name](tf1, y, x)
    named = set(re.findall(r"tf\.([a-z_]+)", str(caught.value))) & set(GRAPH_ONLY)
    assert named <= {name}, str(caught.value)
