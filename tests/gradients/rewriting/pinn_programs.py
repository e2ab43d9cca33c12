"""Physics-informed programs as people write them: nested calls of `tf.gradients`, nothing else.

Each takes the module `tf` and gives the tensors that are compared, the weights, and what to feed.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_RNG_SEED = 7


def _layers(tf: Any, sizes: list[int]) -> list[tuple[Any, Any]]:
    rng = np.random.RandomState(_RNG_SEED)
    return [(tf.Variable(rng.randn(n, m) * np.sqrt(2 / (n + m)), dtype=tf.float64),
             tf.Variable(rng.randn(1, m) * 0.1, dtype=tf.float64)) for n, m in itertools.pairwise(sizes)]


def _net(tf: Any, layers: list[tuple[Any, Any]], h: Any, activation: Any = None) -> Any:
    for w, b in layers[:-1]:
        h = (activation or tf.tanh)(tf.matmul(h, w) + b)
    w, b = layers[-1]
    return tf.matmul(h, w) + b


def _fed(tf: Any, count: int) -> tuple[list[Any], dict[Any, Any]]:
    points = np.random.RandomState(1).rand(6, count)
    xs = [tf.placeholder(tf.float64, [None, 1]) for _ in range(count)]
    return xs, {x: points[:, i : i + 1] for i, x in enumerate(xs)}


def burgers(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """u_t + u u_x = nu u_xx, with a placeholder for each variable and data at other points."""
    layers = _layers(tf, [2, 7, 7, 1])
    (x, t), feed = _fed(tf, 2)
    x0 = tf.constant(np.linspace(-1, 1, 5)[:, None])
    u = _net(tf, layers, tf.concat([x, 2.0 * t - 1.0], 1))
    u_t, u_x = tf.gradients(u, t)[0], tf.gradients(u, x)[0]
    u_xx = tf.gradients(u_x, x)[0]
    f = u_t + u * u_x - (0.01 / np.pi) * u_xx
    data = _net(tf, layers, tf.concat([x0, -tf.ones_like(x0)], 1)) + tf.sin(np.pi * x0)
    loss = tf.reduce_mean(tf.square(f)) + tf.reduce_mean(tf.square(data))
    return [loss, f, u_xx], [v for layer in layers for v in layer], feed


def helmholtz(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """u_xx + u_yy + k^2 u = q, with columns of one placeholder."""
    layers = _layers(tf, [2, 8, 8, 1])
    points = tf.placeholder(tf.float64, [None, 2])
    u = _net(tf, layers, points, tf.sin)
    g = tf.gradients(u, points)[0]
    u_xx = tf.gradients(g[:, 0:1], points)[0][:, 0:1]
    u_yy = tf.gradients(g[:, 1:2], points)[0][:, 1:2]
    f = u_xx + u_yy + 4.0 * u - tf.sin(points[:, 0:1])
    loss = tf.reduce_mean(tf.square(f))
    return [loss, f, u_xx], [v for layer in layers for v in layer], {points: np.random.RandomState(1).rand(6, 2)}


def beam(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """EI w_xxxx = q, with a bending moment at the ends."""
    layers = _layers(tf, [1, 6, 6, 1])
    (x,), feed = _fed(tf, 1)
    w = _net(tf, layers, x)
    slope = tf.gradients(w, x)[0]
    moment = 2.5 * tf.gradients(slope, x)[0]
    shear = tf.gradients(moment, x)[0]
    f = tf.gradients(shear, x)[0] - 1.0
    loss = tf.reduce_mean(tf.square(f)) + tf.reduce_mean(tf.square(moment[:2]))
    return [loss, f, moment], [v for layer in layers for v in layer], feed


def navier_stokes(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """Two-dimensional flow from a stream function and a pressure, with unknown coefficients (Raissi et al., 2019)."""
    layers = _layers(tf, [3, 6, 6, 2])
    (x, y, t), feed = _fed(tf, 3)
    convection, viscosity = tf.Variable(0.9, dtype=tf.float64), tf.Variable(0.02, dtype=tf.float64)
    found = _net(tf, layers, tf.concat([x, y, t], 1))
    psi, p = found[:, 0:1], found[:, 1:2]
    u, v = tf.gradients(psi, y)[0], -tf.gradients(psi, x)[0]
    residuals = []
    for velocity, along in ((u, x), (v, y)):
        by_t, by_x, by_y = [tf.gradients(velocity, s)[0] for s in (t, x, y)]
        second = tf.gradients(by_x, x)[0] + tf.gradients(by_y, y)[0]
        residuals.append(by_t + convection * (u * by_x + v * by_y) + tf.gradients(p, along)[0] - viscosity * second)
    loss = tf.add_n([tf.reduce_sum(tf.square(f)) for f in residuals])
    return [loss, *residuals, u], [*[v for layer in layers for v in layer], convection, viscosity], feed


def wave(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """u_tt = c^2 u_xx + mixed terms, by rank-1 coordinates and whole rows of the Hessian."""
    layers = _layers(tf, [2, 6, 1])
    t, x = [tf.placeholder(tf.float64, [None]) for _ in range(2)]
    points = np.random.RandomState(1).rand(2, 5)
    u = _net(tf, layers, tf.stack([t, x], 1))[:, 0]
    u_x = tf.gradients(u, x)[0]
    u_xt = tf.gradients(u_x, t)[0]
    f = tf.gradients(tf.gradients(u, t)[0], t)[0] - tf.exp(-x) * tf.gradients(u_x, x)[0] + 0.3 * u_xt
    loss = tf.reduce_mean(f**2)
    return [loss, f], [v for layer in layers for v in layer], {t: points[0], x: points[1]}


def hessian_rows(tf: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
    """All second derivatives of each example, of a sum of two outputs, read whole."""
    layers = _layers(tf, [2, 5, 5, 2])
    points = tf.placeholder(tf.float64, [None, 2])
    u = _net(tf, layers, points, tf.nn.softplus)
    g = tf.gradients(u, points)[0]
    rows = [tf.gradients(c, points)[0] for c in tf.unstack(g, axis=1)]
    loss = tf.add_n([tf.reduce_sum(row**4) for row in rows]) + tf.reduce_sum(g**2)
    return [loss, *rows], [v for layer in layers for v in layer], {points: np.random.RandomState(1).rand(4, 2)}


ALL = {f.__name__: f for f in (burgers, helmholtz, beam, navier_stokes, wave, hessian_rows)}
