"""TensorDiffEq: equations solved by networks, with weights of residuals that are trained; Adam and its own L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import into, keras_seeds

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
ATOL = 1e-4


def prepare(tf: Any) -> None:
    """Sets all seeds; gives NumPy and Keras what the library asks of older versions."""
    np.random.seed(5)
    keras_seeds(tf)
    tf.keras.optimizers.Adam = tf.keras.optimizers.legacy.Adam  # `lr`


def _domain() -> Any:
    from tensordiffeq.domains import DomainND

    domain = DomainND(["x", "t"], time_var="t")
    domain.add("x", [-1.0, 1.0], 32)
    domain.add("t", [0.0, 1.0], 16)
    domain.X_f = (np.random.RandomState(2).rand(200, 2) * [2, 1] - [1, 0]).astype(np.float32)
    return domain


def _burgers(tf: Any) -> Any:
    def residual(u_model: Any, x: Any, t: Any) -> Any:
        u = u_model(tf.concat([x, t], 1))
        u_x = tf.gradients(u, x)
        u_xx = tf.gradients(u_x, x)
        u_t = tf.gradients(u, t)
        return u_t + u * u_x - tf.constant(0.05 / np.pi, tf.float32) * u_xx

    return residual


def _conditions(domain: Any) -> Any:
    from tensordiffeq.boundaries import IC, dirichletBC

    return [IC(domain, [lambda x: -np.sin(x * np.pi)], var=[["x"]]),
            dirichletBC(domain, val=0.0, var="x", target="upper"),
            dirichletBC(domain, val=0.0, var="x", target="lower")]


@_case
def the_first_program(tf: Any) -> Any:
    """Burgers' equation of the README: steps of Adam, then of L-BFGS; the loss, the solution at points."""
    from tensordiffeq.models import CollocationSolverND

    domain = _domain()
    solver = CollocationSolverND(verbose=False)
    solver.compile([2, 8, 8, 1], _burgers(tf), domain, _conditions(domain))
    solver.fit(tf_iter=6, newton_iter=3)
    points = np.random.RandomState(1).rand(10, 2).astype(np.float32)
    return [solver.update_loss(), *solver.predict(points)]


@_case
def residuals_with_weights(tf: Any) -> Any:
    """Weights of residuals and of the initial condition are raised while the network descends."""
    from tensordiffeq.models import CollocationSolverND

    domain = _domain()
    rng = np.random.RandomState(6)
    weights = {"residual": [tf.constant(rng.rand(200, 1), tf.float32)],
               "BCs": [tf.constant(100 * rng.rand(32, 1), tf.float32), None, None]}
    solver = CollocationSolverND(verbose=False)
    solver.compile([2, 8, 8, 1], _burgers(tf), domain, _conditions(domain), isAdaptive=True,
                   dict_adaptive={"residual": [True], "BCs": [True, False, False]}, init_weights=weights)
    solver.fit(tf_iter=6)
    return [solver.update_loss(), *solver.lambdas]
