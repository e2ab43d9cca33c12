"""Unmodified physics-informed programs, before and after `optimize_derivatives`."""

from __future__ import annotations

from . import nets

TITLE = "Unmodified programs, before and after `optimize_derivatives`"
TEXT = """A training step (loss and its gradient by the weights) of nets of eight layers of 20 tanh units and 1,000
points, in float32, built by nested `tf.gradients`: Burgers' equation, the Helmholtz equation in two and a Poisson
equation in three dimensions, a beam (fourth derivative)."""
SYSTEMS = {"before": "graphgrad", "after": "graphgrad"}
CASES = {"Burgers": 2, "Helmholtz": 2, "Poisson, 3-D": 3, "beam": 1}


def prepare(system, case):
    """The step of a program."""
    import graphgrad.compat.v1 as tf

    with tf.Graph().as_default(), tf.optimize_derivatives(system == "after"):
        d = CASES[case]
        x, u, weights, points = nets.graph(tf, [d, *[20] * 8, 1], 1000)
        residual = _residual(tf, case, u, x, d)
        loss = tf.reduce_mean(tf.square(residual))
        slopes = [s for s in tf.gradients(loss, weights) if s is not None]
        return nets.session(tf, [loss, *slopes], {x: points})


def _residual(tf, case, u, x, d):
    g = tf.gradients(u, x)[0]
    if case == "beam":
        for _ in range(3):
            g = tf.gradients(g, x)[0]
        return g - 1.0
    if case == "Burgers":
        u_t, u_x = g[:, 1:2], g[:, 0:1]
        return u_t + u * u_x - 0.003 * tf.gradients(u_x, x)[0][:, 0:1]
    second = [tf.gradients(g[:, i : i + 1], x)[0][:, i : i + 1] for i in range(d)]
    return tf.add_n(second) + (u if case == "Helmholtz" else 1.0)


def columns(results):
    """The heading, and a row for each program."""
    head = ["program", "before, ms", "after, ms", "ratio", "before, MB", "after, MB"]
    rows = []
    for case in CASES:
        a, b = results.get((case, "before")), results.get((case, "after"))
        if a is None or b is None:
            rows.append([case, *["–"] * 5])
            continue
        rows.append([case, f"{a['ms']:.3g}", f"{b['ms']:.3g}", f"{b['ms'] / a['ms']:.2f}", f"{a['bytes'] / 1e6:.1f}",
                     f"{b['bytes'] / 1e6:.1f}"])
    return head, rows
