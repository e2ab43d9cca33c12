"""GPflow 1.5.1: Gaussian processes on sessions and `tf.gradients`.

The library is for TensorFlow 1.x and NumPy 1.x: `prepare` gives it the names that Python and NumPy have dropped.
The numbers are those of TensorFlow 1.15.5 with Python 3.7, which `python -m tests.libraries.run` cannot record.
"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1
RTOL = 1e-3  # the ends of optimizations


def prepare(tf: Any) -> None:
    """Gives GPflow the names it needs, and a new graph."""
    for name in collections.abc.__all__:
        setattr(collections, name, getattr(collections.abc, name))
    for old, new in {"string_": "bytes_", "unicode_": "str_", "float_": "float64"}.items():
        if not hasattr(np, old):
            setattr(np, old, getattr(np, new))
    import gpflow

    gpflow.reset_default_graph_and_session()
    tf.set_random_seed(5)
    np.random.seed(5)


def curve() -> Any:
    """Some points near a curve."""
    rng = np.random.RandomState(0)
    x = rng.rand(12, 1)
    return x, np.sin(12 * x) + 0.66 * np.cos(25 * x) + rng.randn(12, 1) * 0.1 + 3.0


AT = np.linspace(-0.2, 1.2, 6)[:, None]


@_case
def regression(tf: Any) -> Any:
    """The library's first program: exact regression, optimized by SciPy."""
    import gpflow

    model = gpflow.models.GPR(*curve(), kern=gpflow.kernels.Matern52(1, lengthscales=0.3))
    model.likelihood.variance = 0.01
    before = model.compute_log_likelihood(), *model.predict_y(AT)
    gpflow.train.ScipyOptimizer().minimize(model)
    values = model.read_values()
    return [*before, model.compute_log_likelihood(), [values[k].item() for k in sorted(values)],
            *model.predict_f(AT), model.predict_f_full_cov(AT)[1]]


@_case
def kernels_and_means(tf: Any) -> Any:
    """Sums and products of kernels, active dimensions, a linear mean, a prior."""
    import gpflow

    rng = np.random.RandomState(1)
    x = rng.randn(15, 3)
    y = x @ [[1.0], [0.5], [-1.0]] + np.sin(2 * x[:, :1])
    kernels = gpflow.kernels
    kernel = (kernels.RBF(2, ARD=True, active_dims=[0, 1]) * kernels.Linear(1, active_dims=[2])
              + kernels.Periodic(1, active_dims=[0]) + kernels.Polynomial(3) + kernels.White(3, variance=0.1)
              + kernels.RationalQuadratic(3) + kernels.ArcCosine(3, order=1))
    with gpflow.defer_build():
        model = gpflow.models.GPR(x, y, kern=kernel, mean_function=gpflow.mean_functions.Linear(np.ones((3, 1))))
        model.likelihood.variance.prior = gpflow.priors.Gamma(2.0, 0.5)
    model.compile()
    gradients = model.enquire_session().run(tf.gradients(model.objective, model.trainable_tensors))
    return [model.compute_log_likelihood(), model.compute_log_prior(), *[np.ravel(g) for g in gradients],
            kernel.compute_K_symm(x[:4]), *model.predict_f(x[:3])]


@_case
def inducing_points(tf: Any) -> Any:
    import gpflow

    x, y = curve()
    model = gpflow.models.SGPR(x, y, kern=gpflow.kernels.RBF(1, lengthscales=0.2), Z=np.linspace(0, 1, 6)[:, None])
    model.feature.trainable = False
    gpflow.train.ScipyOptimizer().minimize(model, maxiter=20)
    fitc = gpflow.models.GPRFITC(x, y, kern=gpflow.kernels.RBF(1, lengthscales=0.2), Z=np.linspace(0, 1, 6)[:, None])
    return [model.compute_log_likelihood(), *model.predict_y(AT), fitc.compute_log_likelihood(), *fitc.predict_y(AT)]


@_case
def variational_classification(tf: Any) -> Any:
    """Sparse variational classification by Adam, then natural gradients for the same bound."""
    import gpflow

    rng = np.random.RandomState(2)
    x = rng.rand(30, 2)
    y = (x[:, :1] + x[:, 1:] > 1).astype(float)
    model = gpflow.models.SVGP(x, y, gpflow.kernels.Matern32(2), gpflow.likelihoods.Bernoulli(), Z=x[:8].copy())
    bounds = [model.compute_log_likelihood()]
    gpflow.train.AdamOptimizer(0.05).minimize(model, maxiter=30)
    bounds.append(model.compute_log_likelihood())
    model.q_mu.trainable = model.q_sqrt.trainable = False
    gpflow.train.NatGradOptimizer(0.1).minimize(model, maxiter=5, var_list=[(model.q_mu, model.q_sqrt)])
    bounds.append(model.compute_log_likelihood())
    assert bounds[0] < bounds[1] < bounds[2]
    return [bounds, *model.predict_y(x[:5]), model.predict_density(x[:5], y[:5])]


@_case
def several_classes_and_outputs(tf: Any) -> Any:
    """Robust-max classes; two outputs that share a kernel through coregionalization; counts."""
    import gpflow

    rng = np.random.RandomState(3)
    x = rng.rand(20, 1)
    classes = np.floor(3 * x)
    several = gpflow.models.VGP(x, classes, gpflow.kernels.RBF(1), gpflow.likelihoods.MultiClass(3), num_latent=3)
    gpflow.train.AdamOptimizer(0.05).minimize(several, maxiter=20)
    tagged = np.hstack([x, rng.randint(0, 2, (20, 1))])
    kernel = gpflow.kernels.RBF(1, active_dims=[0]) * gpflow.kernels.Coregion(1, output_dim=2, rank=1, active_dims=[1])
    kernel.kernels[1].W = [[0.5], [-0.5]]
    shared = gpflow.models.GPR(tagged, np.sin(6 * x) * (1 - tagged[:, 1:]), kern=kernel)
    gpflow.train.ScipyOptimizer().minimize(shared, maxiter=10)
    counts = gpflow.models.VGP(x, np.round(4 * x), gpflow.kernels.RBF(1), gpflow.likelihoods.Poisson())
    gpflow.train.AdamOptimizer(0.05).minimize(counts, maxiter=20)
    return [several.compute_log_likelihood(), *several.predict_y(AT), shared.compute_log_likelihood(),
            counts.compute_log_likelihood(), *counts.predict_y(AT)]


@_case
def latent_positions(tf: Any) -> Any:
    """A model that learns its inputs."""
    import gpflow

    y = np.random.RandomState(4).randn(10, 4) @ np.diag([2.0, 1.0, 0.3, 0.1])
    model = gpflow.models.BayesianGPLVM(X_mean=gpflow.models.PCA_reduce(y, 2), X_var=0.1 * np.ones((10, 2)), Y=y,
                                        kern=gpflow.kernels.RBF(2, ARD=True), M=4, Z=y[:4, :2].copy())
    before = model.compute_log_likelihood()
    gpflow.train.AdamOptimizer(0.02).minimize(model, maxiter=15)
    return [before, model.compute_log_likelihood(), *model.predict_f(np.zeros((1, 2)))]
