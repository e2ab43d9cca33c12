"""Derivatives of orders 1 to 6 of a net of one variable."""

from __future__ import annotations

from . import nets

TITLE = "Orders 1 to 6 of a net"
TEXT = """The k-th derivative by x of a net of four layers of 64 tanh units, for 1,000 points, in float32. 'operations'
are those of graphgrad's graph, the net among them."""
SYSTEMS = {"taylor": "graphgrad", "nested": "graphgrad", "JAX nested": "peers", "JAX jet": "peers"}
CASES = {str(k): k for k in range(1, 7)}
_SIZES, _COUNT = [1, 64, 64, 64, 64, 1], 1000


def prepare(system, case):
    """One system's function for a case."""
    order = CASES[case]
    return _graphgrad(system, order) if SYSTEMS[system] == "graphgrad" else _jax(system, order)


def _graphgrad(system, order):
    import math

    import graphgrad.compat.v1 as tf

    with tf.Graph().as_default():
        x, u, _, points = nets.graph(tf, _SIZES, _COUNT)
        if system == "taylor":
            u = math.factorial(order) * tf.taylor(u, x, tf.ones_like(x), order)[-1]
        else:
            for _ in range(order):
                u = tf.gradients(u, x)[0]
        return nets.session(tf, [u], {x: points})


def _jax(system, order):
    import jax
    import jax.numpy as jnp

    layers, points = nets.arrays(_SIZES, _COUNT)

    def f(x):
        return nets.net(jnp, layers, x)

    if system == "JAX jet":
        from jax.experimental.jet import jet

        def result(x):
            seeds = [jnp.ones_like(x)] + [jnp.zeros_like(x)] * (order - 1)
            return jet(f, (x,), [seeds])[1][-1]
    else:
        result = f
        for _ in range(order):
            result = (lambda g: jax.grad(lambda x: jnp.sum(g(x))))(result)
    return nets.compiled(jax, result, points)


def columns(results):
    """The heading, and a row for each order."""
    head = ["order", *[f"{s}, ms" for s in SYSTEMS], "operations, taylor", "operations, nested"]
    rows = []
    for case in CASES:
        found = {s: results.get((case, s)) for s in SYSTEMS}
        rows.append([case, *["–" if r is None else f"{r['ms']:.3g}" for r in found.values()],
                     *["–" if found[s] is None else f"{found[s]['operations']:,}" for s in ("taylor", "nested")]])
    return head, rows
