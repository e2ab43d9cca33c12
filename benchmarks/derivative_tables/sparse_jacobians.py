"""Sparse Jacobians beside asdex and CasADi: products, detection, evaluation."""

from __future__ import annotations

import time

import numpy as np

from . import nets

TITLE = "Sparse Jacobians"
TEXT = """In float64. 'products' are the products with vectors that give all entries, those with columns and those with
rows together; 'detection' is the time in which the pattern is found, once; a step is an evaluation, called with an
array, that gives the entries. asdex's is `asdex.jacobian_from_coloring` in `jax.jit`, CasADi's is `ca.Function` of
`ca.jacobian` of SX expressions, which needs no products and detects while it differentiates; its time includes that."""
SYSTEMS = {"graphgrad": "graphgrad", "asdex": "peers", "CasADi": "peers"}
CASES = {"Brusselator, 2 x 64 x 64": ("brusselator", 64), "arrowhead, 300": ("arrowhead", 300),
         "banded, 5 of 10,000": ("banded", 10_000), "9 points, 100 x 100": ("grid", 100),
         "Rosenbrock's gradient, 5,000": ("rosenbrock_gradient", 5000)}


def prepare(system, case):
    """One system's function for a case."""
    kind, n = CASES[case]
    shape = (2, n, n) if kind == "brusselator" else (n, n) if kind == "grid" else (n,)
    at = np.random.default_rng(0).normal(size=shape)
    return {"graphgrad": _graphgrad, "asdex": _asdex, "CasADi": _casadi}[system](kind, n, at)


def _known(entries, products, detection, value):
    return {"entries": entries, "products": products, "detection": 1e3 * detection, "bytes": 0,
            "value": nets._norm([value])}


def _graphgrad(kind, n, at):
    import graphgrad.compat.v1 as tf
    from benchmarks import sparsity
    from graphgrad.gradients.sparsity.colouring import Entries
    from graphgrad.gradients.sparsity.compressed import plan

    with tf.Graph().as_default():
        y, x = getattr(sparsity, kind)(n)
        start = time.process_time()
        pattern = tf.sparsity(y, x)
        detection = time.process_time() - start
        entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
        products = plan(entries, pattern.x_shape, pattern.y_shape, True).products
        run = tf.Session().make_callable(tf.jacobian(y, x, sparse=pattern).values, [x])
    run(at)
    return (lambda: run(at)), _known(len(pattern), sum(products), detection, run(at))


# -- the same functions for JAX and for CasADi -----------------------------------------------


def _function(kind, n, xp, roll, pad, stack):
    """The function of an array, written with what a system has."""
    def brusselator(x):
        u, v = x[0], x[1]

        def laplacian(a):
            return (roll(a, 1, 0) + roll(a, -1, 0) + roll(a, 1, 1) + roll(a, -1, 1) - 4.0 * a) * float(n * n)

        return stack([1.0 + u * u * v - 4.4 * u + 0.1 * laplacian(u), 3.4 * u - u * u * v + 0.1 * laplacian(v)])

    def arrowhead(x):
        return stack([xp.sum(x**2)[None], x[0] * x[1:] ** 2])

    def banded(x):
        padded = pad(x, 2)
        return sum(xp.sin(padded[i : i + n]) for i in range(5))

    def grid(x):
        padded = pad(x, 1)
        return sum(padded[i : i + n, j : j + n] ** 2 for i in range(3) for j in range(3))

    def rosenbrock_gradient(x):
        import jax

        return jax.grad(lambda x: xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))(x)

    return {"brusselator": brusselator, "arrowhead": arrowhead, "banded": banded, "grid": grid,
            "rosenbrock_gradient": rosenbrock_gradient}[kind]


def _asdex(kind, n, at):
    import asdex
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    join = jnp.stack if kind == "brusselator" else jnp.concatenate
    f = _function(kind, n, jnp, jnp.roll, jnp.pad, join)
    start = time.process_time()
    pattern = asdex.jacobian_sparsity(f, at)
    detection = time.process_time() - start
    coloured = asdex.jacobian_coloring_from_sparsity(pattern)
    run = jax.jit(asdex.jacobian_from_coloring(f, coloured))
    value = run(at)
    return (lambda: jax.block_until_ready(run(at))), _known(pattern.nnz, coloured.num_colors, detection, value.data)


def _casadi(kind, n, at):
    import casadi as ca

    size = at.size
    x = ca.SX.sym("x", size)
    start = time.process_time()
    jacobian = ca.jacobian(_expression(kind, n, x, ca), x)
    detection = time.process_time() - start
    f = ca.Function("f", [x], [jacobian])
    flat = at.ravel()
    return (lambda: f(flat)), _known(jacobian.nnz(), None, detection, np.array(f(flat).nonzeros()))


def _expression(kind, n, x, ca):
    """The function as an expression of a vector of SX, in the order of memory."""
    if kind == "rosenbrock_gradient":
        return ca.gradient(ca.sum1(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2), x)
    if kind == "arrowhead":
        return ca.vertcat(ca.sum1(x**2), x[0] * x[1:] ** 2)
    if kind == "banded":
        padded = ca.vertcat(ca.SX.zeros(2), x, ca.SX.zeros(2))
        return sum(ca.sin(padded[i : i + n]) for i in range(5))
    if kind == "grid":
        field = ca.reshape(x, n, n)
        wide = ca.horzcat(ca.SX.zeros(n), field, ca.SX.zeros(n))
        padded = ca.vertcat(ca.SX.zeros(1, n + 2), wide, ca.SX.zeros(1, n + 2))
        return ca.vec(sum(padded[i : i + n, j : j + n] ** 2 for i in range(3) for j in range(3)))
    u, v = ca.reshape(x[: n * n], n, n), ca.reshape(x[n * n :], n, n)

    def laplacian(a):
        down, up = ca.vertcat(a[-1, :], a[:-1, :]), ca.vertcat(a[1:, :], a[0, :])
        right, left = ca.horzcat(a[:, -1], a[:, :-1]), ca.horzcat(a[:, 1:], a[:, 0])
        return (down + up + right + left - 4.0 * a) * float(n * n)

    return ca.vertcat(ca.vec(1.0 + u * u * v - 4.4 * u + 0.1 * laplacian(u)),
                      ca.vec(3.4 * u - u * u * v + 0.1 * laplacian(v)))


def columns(results):
    """The heading, and a row for each case: products, times of detection and of steps."""
    head = ["Jacobian", "entries", *[f"products, {s}" for s in SYSTEMS if s != "CasADi"],
            *[f"detection, {s}, ms" for s in SYSTEMS], *[f"{s}, ms" for s in SYSTEMS]]
    rows = []
    for case in CASES:
        found = {s: results.get((case, s)) for s in SYSTEMS}
        known = next((r for r in found.values() if r), {"entries": 0})
        rows.append([case, f"{known['entries']:,}",
                     *["–" if found[s] is None else str(found[s]["products"]) for s in SYSTEMS if s != "CasADi"],
                     *["–" if r is None else f"{r['detection']:.3g}" for r in found.values()],
                     *["–" if r is None else f"{r['ms']:.3g}" for r in found.values()]])
    return head, rows
