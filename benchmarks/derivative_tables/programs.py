"""Unmodified physics-informed programs, before and after `optimize_derivatives`."""

from __future__ import annotations

import numpy as np

from . import nets

TITLE = "Unmodified programs, before and after `optimize_derivatives`"
TEXT = """A training step (loss and its gradient by the weights) of nets of eight layers of 20 tanh units and 1,000
points, in float32, built by nested `tf.gradients`: Burgers' equation, the Helmholtz equation in two and a Poisson
equation in three dimensions, a beam (fourth derivative), and the Navier-Stokes equations in two dimensions as in M.
Raissi's public program (2019): the net of x, y, t has the stream function psi and the pressure, u = psi_y, v = -psi_x,
two coefficients are learnt, and third derivatives of psi are in the loss."""
SYSTEMS = {"before": "graphgrad", "after": "graphgrad"}
CASES = {"Burgers": 2, "Helmholtz": 2, "Poisson, 3-D": 3, "beam": 1, "Navier-Stokes": 3}


def prepare(system, case):
    """The step of a program."""
    import graphgrad.compat.v1 as tf

    with tf.Graph().as_default(), tf.optimize_derivatives(system == "after"):
        if case == "Navier-Stokes":
            return _navier_stokes(tf)
        d = CASES[case]
        x, u, weights, points = nets.graph(tf, [d, *[20] * 8, 1], 1000)
        residual = _residual(tf, case, u, x, d)
        loss = tf.reduce_mean(tf.square(residual))
        slopes = [s for s in tf.gradients(loss, weights) if s is not None]
        return nets.session(tf, [loss, *slopes], {x: points})


def _navier_stokes(tf):
    """The step of Raissi's program, with random numbers in the place of its measured velocities."""
    layers, points = nets.arrays([3, *[20] * 8, 2], 1000)
    pairs = [(tf.Variable(w), tf.Variable(b)) for w, b in layers]
    weights = [v for pair in pairs for v in pair]
    weights += [tf.Variable([0.0]), tf.Variable([0.0])]  # lambda_1, lambda_2
    x, y, t, u_data, v_data = [tf.placeholder(tf.float32, [None, 1]) for _ in range(5)]
    h = 2.0 * tf.concat([x, y, t], 1) - 1.0
    for w, b in pairs[:-1]:
        h = tf.tanh(tf.add(tf.matmul(h, w), b))
    psi_and_p = tf.add(tf.matmul(h, pairs[-1][0]), pairs[-1][1])
    psi, p = psi_and_p[:, 0:1], psi_and_p[:, 1:2]
    u, v = tf.gradients(psi, y)[0], -tf.gradients(psi, x)[0]
    loss = tf.reduce_sum(tf.square(u_data - u)) + tf.reduce_sum(tf.square(v_data - v))
    for a, by in ((u, x), (v, y)):
        a_t, a_x, a_y = [tf.gradients(a, z)[0] for z in (t, x, y)]
        a_xx, a_yy = tf.gradients(a_x, x)[0], tf.gradients(a_y, y)[0]
        p_by = tf.gradients(p, by)[0]
        residual = a_t + weights[-2] * (u * a_x + v * a_y) + p_by - weights[-1] * (a_xx + a_yy)
        loss += tf.reduce_sum(tf.square(residual))
    slopes = [s for s in tf.gradients(loss, weights) if s is not None]
    feeds = dict(zip((x, y, t), [points[:, i : i + 1] for i in range(3)], strict=True))
    measured = np.random.RandomState(1).randn(2, len(points), 1).astype(np.float32)
    return nets.session(tf, [loss, *slopes], feeds | {u_data: measured[0], v_data: measured[1]})


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
