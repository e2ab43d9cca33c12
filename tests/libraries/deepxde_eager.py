"""Problems of DeepXDE's kinds with its backend `tensorflow`, which runs eagerly; L-BFGS of TensorFlow Probability."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import deepxde_problems as problems

os.environ["DDE_BACKEND"] = "tensorflow"

# All but what that backend does not have, or has arguments of its own for.
CASES = {name: case for name, case in problems.CASES.items()
         if name not in ("fractional", "integrals", "two_fidelities", "diffusion_in_time")}
RTOL = 1e-3


def prepare(tf: Any) -> None:
    """Sets all seeds."""
    import deepxde as dde

    dde.config.set_random_seed(7)


def lbfgs(tf: Any) -> Any:
    """Some steps of Adam, then of L-BFGS."""
    import deepxde as dde

    dde.optimizers.set_LBFGS_options(maxiter=8)
    geometry = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(geometry, lambda x, y: dde.grad.hessian(y, x) + np.pi**2 * tf.sin(np.pi * x),
                        dde.icbc.DirichletBC(geometry, lambda x: np.sin(np.pi * x),
                                             lambda _, on_boundary: on_boundary), 12, 2, train_distribution="pseudo")
    model = dde.Model(data, dde.nn.FNN([1, 8, 8, 1], "tanh", "Glorot uniform"))
    model.compile("adam", lr=1e-3)
    model.train(iterations=3, display_every=1, verbose=0)
    model.compile("L-BFGS")
    history, _ = model.train(display_every=1, verbose=0)
    return [np.array(history.loss_train)]


CASES["lbfgs"] = lbfgs
