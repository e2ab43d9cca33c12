"""Problems of DeepXDE's kinds with `tensorflow.compat.v1`: losses of a few steps of Adam, and unknown constants.

Points are random: of evenly spaced ones some gradients are zero but for rounding, by which Adam divides.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import gamma
from typing import Any

import numpy as np

from . import into

os.environ |= {"DDE_BACKEND": "tensorflow.compat.v1", "TF_USE_LEGACY_KERAS": "1", "MPLBACKEND": "agg"}

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
RTOL = 1e-3


def prepare(tf: Any) -> None:
    """Begins a new graph with all seeds set."""
    import deepxde as dde

    tf.compat.v1.reset_default_graph()
    dde.config.set_random_seed(7)


def _trained(data: Any, net: Any, unknown: Any = (), steps: int = 6) -> Any:
    """The losses of each step, what the net predicts, and the unknown constants at the end."""
    import deepxde as dde
    import tensorflow as tf

    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3, external_trainable_variables=list(unknown))
    history, state = model.train(iterations=steps, display_every=1, verbose=0)
    return [np.array(history.loss_train, np.float64), np.asarray(state.best_y)[:3],
            *[np.asarray(u) if tf.executing_eagerly() else model.sess.run(u) for u in unknown]]


def _net(inputs: int, outputs: int = 1) -> Any:
    import deepxde as dde

    return dde.nn.FNN([inputs, 12, 12, outputs], "tanh", "Glorot uniform")


def _ends(x: Any, on_boundary: bool) -> bool:
    return on_boundary


@_case
def poisson(tf: Any) -> Any:
    """Conditions of Dirichlet, Neumann and Robin."""
    import deepxde as dde

    geometry = dde.geometry.Rectangle([-1, -1], [1, 1])
    conditions = [
        dde.icbc.DirichletBC(geometry, lambda x: x[:, 0:1] * 0, lambda x, on: on and x[0] < -0.99),
        dde.icbc.NeumannBC(geometry, lambda x: x[:, 1:2], lambda x, on: on and x[0] > 0.99),
        dde.icbc.RobinBC(geometry, lambda x, y: y**2, lambda x, on: on and abs(x[1]) > 0.99)]
    data = dde.data.PDE(geometry, lambda x, y: -dde.grad.hessian(y, x, i=0, j=0) - dde.grad.hessian(y, x, i=1, j=1) - 1,
                        conditions, num_domain=30, num_boundary=20, train_distribution="pseudo")
    return _trained(data, _net(2))


@_case
def beam(tf: Any) -> Any:
    """Euler's beam: derivatives up to the fourth, conditions on the second and third."""
    import deepxde as dde

    def ddy(x: Any, y: Any) -> Any:
        return dde.grad.hessian(y, x)

    geometry = dde.geometry.Interval(0, 1)

    def left(x: Any, on: bool) -> bool:
        return on and x[0] < 0.5

    def right(x: Any, on: bool) -> bool:
        return on and x[0] > 0.5

    conditions = [dde.icbc.DirichletBC(geometry, lambda x: 0, left), dde.icbc.NeumannBC(geometry, lambda x: 0, left),
                  dde.icbc.OperatorBC(geometry, lambda x, y, _: ddy(x, y), right),
                  dde.icbc.OperatorBC(geometry, lambda x, y, _: dde.grad.jacobian(ddy(x, y), x), right)]
    data = dde.data.PDE(geometry, lambda x, y: dde.grad.hessian(ddy(x, y), x) + 1, conditions, num_domain=10,
                        num_boundary=2, train_distribution="pseudo")
    return _trained(data, _net(1))


@_case
def diffusion_in_time(tf: Any) -> Any:
    """Space and time, with features and an output that meets the conditions; then points resampled."""
    import deepxde as dde

    space = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))

    def pde(x: Any, y: Any) -> Any:
        source = tf.exp(-x[:, 1:]) * (tf.sin(np.pi * x[:, 0:1]) - np.pi**2 * tf.sin(np.pi * x[:, 0:1]))
        return dde.grad.jacobian(y, x, j=1) - dde.grad.hessian(y, x, j=0) + source

    data = dde.data.TimePDE(space, pde, [], num_domain=40, train_distribution="pseudo")
    net = _net(2)
    net.apply_feature_transform(lambda x: tf.concat([tf.sin(np.pi * x[:, 0:1]), x], axis=1))
    net.apply_output_transform(lambda x, y: x[:, 1:2] * (1 - x[:, 0:1] ** 2) * y + tf.sin(np.pi * x[:, 0:1]))
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3, decay=("inverse time", 10, 0.5), loss="MSE")
    history, _ = model.train(iterations=6, display_every=1, verbose=0,
                             callbacks=[dde.callbacks.PDEPointResampler(period=2)])
    return [np.array(history.loss_train)]


@_case
def systems(tf: Any) -> Any:
    """Two equations and their initial values."""
    import deepxde as dde

    def system(x: Any, y: Any) -> Any:
        return [dde.grad.jacobian(y, x, i=0) - y[:, 1:], dde.grad.jacobian(y, x, i=1) + y[:, 0:1]]

    geometry = dde.geometry.TimeDomain(0, 10)
    conditions = [dde.icbc.IC(geometry, lambda x: np.sin(x), _ends, component=0),
                  dde.icbc.IC(geometry, lambda x: np.cos(x), _ends, component=1)]
    return _trained(dde.data.PDE(geometry, system, conditions, 25, 2, train_distribution="pseudo"), _net(1, 2))


@_case
def unknown_constants(tf: Any) -> Any:
    """The inverse problem of Lorenz's system: three constants, observed values."""
    import deepxde as dde

    c = [dde.Variable(1.0) for _ in range(3)]

    def lorenz(x: Any, y: Any) -> Any:
        parts = [y[:, i : i + 1] for i in range(3)]
        d = [dde.grad.jacobian(y, x, i=i) for i in range(3)]
        return [d[0] - c[0] * (parts[1] - parts[0]), d[1] - parts[0] * (c[1] - parts[2]) + parts[1],
                d[2] - parts[0] * parts[1] + c[2] * parts[2]]

    geometry = dde.geometry.TimeDomain(0, 3)
    times = np.linspace(0, 3, 9)[:, None]
    seen = [dde.icbc.PointSetBC(times, np.sin(times * (i + 1)) * 2, component=i) for i in range(3)]
    conditions = [dde.icbc.IC(geometry, lambda x: -8, _ends, component=0),
                  dde.icbc.IC(geometry, lambda x: 7, _ends, component=1),
                  dde.icbc.IC(geometry, lambda x: 27, _ends, component=2)]
    data = dde.data.PDE(geometry, lorenz, conditions + seen, 20, 2, anchors=times, train_distribution="pseudo")
    return _trained(data, _net(1, 3), c)


@_case
def unknown_field(tf: Any) -> Any:
    """The inverse problem of a coefficient that is a function: a net with two outputs."""
    import deepxde as dde

    geometry = dde.geometry.Interval(-1, 1)
    points = np.linspace(-1, 1, 11)[:, None]
    seen = dde.icbc.PointSetBC(points, np.sin(np.pi * points), component=0)
    data = dde.data.PDE(geometry, lambda x, y: dde.grad.hessian(y[:, 0:1], x) - y[:, 1:2], [
        dde.icbc.DirichletBC(geometry, lambda x: 0, _ends, component=0), seen], 15, 2, anchors=points,
        train_distribution="pseudo")
    net = dde.nn.PFNN([1, [8, 8], [8, 8], 2], "tanh", "Glorot uniform")
    return _trained(data, net)


@_case
def fractional(tf: Any) -> Any:
    """A fractional Laplacian on an interval, with fixed and with moving points beside them."""
    import deepxde as dde

    alpha = 1.5

    def fpde(x: Any, y: Any, matrix: Any) -> Any:
        if isinstance(matrix, (list, tuple)) and len(matrix) == 3:
            left = tf.compat.v1.sparse_tensor_dense_matmul(tf.SparseTensor(*matrix), y)
        else:
            left = tf.matmul(matrix, y)
        right = gamma(4) / gamma(4 - alpha) * (x ** (3 - alpha) + (1 - x) ** (3 - alpha))
        return left - right[: tf.size(left)]

    geometry = dde.geometry.Interval(0, 1)
    condition = dde.icbc.DirichletBC(geometry, lambda x: x**3 * (1 - x) ** 3, _ends)
    found = []
    for resolution, more in (([21], {"meshtype": "static"}),
                             ([20], {"meshtype": "dynamic", "num_domain": 12, "num_boundary": 2})):
        data = dde.data.FPDE(geometry, fpde, alpha, condition, resolution, **more)
        found += _trained(data, _net(1), steps=4)
    return found


@_case
def integrals(tf: Any) -> Any:
    """Volterra's integro-differential equation."""
    import deepxde as dde

    def equation(x: Any, y: Any, matrix: Any) -> Any:
        right = tf.matmul(matrix, y)
        return (tf.gradients(y, x)[0] + y)[: tf.size(right)] - right

    geometry = dde.geometry.TimeDomain(0, 5)
    data = dde.data.IDE(geometry, equation, dde.icbc.IC(geometry, lambda x: np.exp(-x) * np.cosh(x), _ends), 8,
                        kernel=lambda x, s: np.exp(s - x), num_domain=8, num_boundary=2, train_distribution="pseudo")
    return _trained(data, _net(1))


@_case
def operators(tf: Any) -> Any:
    """DeepONets that learn an antiderivative from data, aligned and not."""
    import deepxde as dde

    rng = np.random.RandomState(0)
    branch, trunk = rng.randn(8, 10).astype(np.float32), np.linspace(0, 1, 6, dtype=np.float32)[:, None]
    values = np.cumsum(branch, 1)[:, :6] / 10
    aligned = dde.data.TripleCartesianProd((branch, trunk), values, (branch[:3], trunk), values[:3])
    net = dde.nn.DeepONetCartesianProd([10, 12, 12], [1, 12, 12], "relu", "Glorot normal")
    found = _trained(aligned, net)
    rows = (np.repeat(branch, 6, 0), np.tile(trunk, (8, 1)))
    data = dde.data.Triple(rows, values.reshape(-1, 1), rows, values.reshape(-1, 1))
    return found + _trained(data, dde.nn.DeepONet([10, 12, 12], [1, 12, 12], "relu", "Glorot normal"))


@_case
def operators_of_equations(tf: Any) -> Any:
    """A DeepONet that learns an antiderivative from its equation alone."""
    import deepxde as dde

    geometry = dde.geometry.TimeDomain(0, 1)
    equation = dde.data.PDE(geometry, lambda x, u, v: dde.grad.jacobian(u, x) - v,
                            dde.icbc.IC(geometry, lambda _: 0, _ends), num_domain=8, num_boundary=2, num_test=5)
    points = np.linspace(0, 1, num=10)[:, None]
    data = dde.data.PDEOperatorCartesianProd(equation, dde.data.PowerSeries(N=4), points, 12, num_test=4, batch_size=6)
    net = dde.nn.DeepONetCartesianProd([10, 12, 12], [1, 12, 12], "tanh", "Glorot normal")
    net.apply_output_transform(lambda x, y: y * tf.transpose(x[1], [1, 0]))
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3)
    history, _ = model.train(iterations=4, display_every=1, verbose=0)
    return [np.array(history.loss_train)]


@_case
def two_fidelities(tf: Any) -> Any:
    """A net for a coarse and a fine function, with a penalty on its weights."""
    import deepxde as dde

    data = dde.data.MfFunc(dde.geometry.Interval(0, 1), lambda x: 0.5 * np.sin(8 * x) + x, lambda x: np.sin(8 * x), 20,
                           4, 10, dist_train="pseudo")
    net = dde.nn.MfNN([1, 10, 10, 1], [6, 6, 1], "tanh", "Glorot uniform", regularization=["l2", 0.01])
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3)
    history, _ = model.train(iterations=6, display_every=1, verbose=0)
    return [np.array(history.loss_train)]
