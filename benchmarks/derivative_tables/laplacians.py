"""The gradient by the weights of mean (Laplacian u)^2, for nets of three sizes."""

from __future__ import annotations

from . import nets

TITLE = "Laplacian of a net, and its gradient by the weights"
TEXT = """u is a net of tanh layers; measured is the gradient of mean (Laplacian u)^2 by its weights, in float32. Two
calls of `tf.gradients` for each column are 'nested'. JAX's are `jax.grad` of `jax.grad` for each column,
`jax.experimental.jet` along each column (`vmap`), and folx's forward Laplacian (`vmap` over examples).
With d = 2 a layer takes 12 products of matrices by 'laplacian' and 18 by 'nested': where these and passes over memory
take the time, 1.5 is the ratio to expect, and stacking the coefficients gains nothing. Both are computed with narrow
matrices by columns (`executor/rewrite/layouts.py`), which takes 0.63 of the time in the first case."""
SYSTEMS = {"laplacian": "graphgrad", "nested": "graphgrad", "JAX nested": "peers", "JAX jet": "peers", "folx": "peers"}
CASES = {"2, 20, 8, 1,000": (2, 20, 8, 1000), "3, 64, 4, 4,096": (3, 64, 4, 4096),
         "10, 128, 4, 1,024": (10, 128, 4, 1024)}


def prepare(system, case):
    """One system's function for a case."""
    d, width, layers, count = CASES[case]
    sizes = [d, *[width] * layers, 1]
    return _graphgrad(system, sizes, count) if SYSTEMS[system] == "graphgrad" else _jax(system, sizes, count)


def _graphgrad(system, sizes, count):
    import graphgrad.compat.v1 as tf

    with tf.Graph().as_default():
        x, u, weights, points = nets.graph(tf, sizes, count)
        if system == "laplacian":
            result = tf.laplacian(u, x)
        else:
            g = tf.gradients(u, x)[0]
            result = tf.add_n([tf.gradients(g[:, i], x)[0][:, i] for i in range(sizes[0])])
        slopes = [s for s in tf.gradients(tf.reduce_mean(result**2), weights) if s is not None]
        return nets.session(tf, slopes, {x: points})


def _jax(system, sizes, count):
    import jax
    import jax.numpy as jnp

    layers, points = nets.arrays(sizes, count)

    def nested(p, x):
        def slope(x):
            return jax.grad(lambda x: jnp.sum(nets.net(jnp, p, x)))(x)

        return sum(jax.grad(lambda x, i=i: jnp.sum(slope(x)[:, i]))(x)[:, i] for i in range(sizes[0]))

    def jet(p, x):
        from jax.experimental.jet import jet as series

        def along(v):
            _, (_, second) = series(lambda x: nets.net(jnp, p, x), (x,), [[jnp.broadcast_to(v, x.shape),
                                                                           jnp.zeros_like(x)]])
            return second

        return jnp.sum(jax.vmap(along)(jnp.eye(sizes[0], dtype=x.dtype)), 0)

    def folx(p, x):
        from folx import forward_laplacian

        return jax.vmap(lambda z: forward_laplacian(lambda z: nets.net(jnp, p, z)[0])(z).laplacian)(x)

    laplacian = {"JAX nested": nested, "JAX jet": jet, "folx": folx}[system]
    return nets.compiled(jax, jax.grad(lambda p, x: jnp.mean(laplacian(p, x) ** 2)), layers, points)


def columns(results):
    """The heading, and a row for each case: times, then memory."""
    head = ["d, width, layers, examples"] + [f"{s}, ms" for s in SYSTEMS] + [f"{s}, MB" for s in SYSTEMS]
    rows = []
    for case in CASES:
        found = [results.get((case, s)) for s in SYSTEMS]
        rows.append([case, *["–" if r is None else f"{r['ms']:.3g}" for r in found],
                     *["–" if r is None else f"{r['bytes'] / 1e6:.1f}" for r in found]])
    return head, rows
