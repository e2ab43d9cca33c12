"""GPflow 2.9.2: Gaussian processes on `GradientTape`, Keras's optimizers and TensorFlow Probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into

from .gpflow_models import AT, curve

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
RTOL = 1e-3  # the ends of optimizations


@_case
def regression(tf: Any) -> Any:
    """The library's first program: exact regression, its gradients, optimized by SciPy."""
    import gpflow

    model = gpflow.models.GPR(curve(), kernel=gpflow.kernels.Matern52(lengthscales=0.3))
    with tf.GradientTape() as tape:
        loss = model.training_loss()
    grads = tape.gradient(loss, model.trainable_variables)
    gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables)
    return [loss, *grads, model.log_marginal_likelihood(), *[p.numpy() for p in model.parameters],
            *model.predict_f(AT), model.posterior().predict_f(AT, full_cov=True)[1]]


@_case
def kernels(tf: Any) -> Any:
    """Sums and products of kernels, a mean, inducing points; priors."""
    import gpflow
    import tensorflow_probability as tfp

    x, y = curve()
    kinds = gpflow.kernels
    kernel = (kinds.RBF() * kinds.Linear() + kinds.Periodic(kinds.RBF()) + kinds.White(0.1) + kinds.ArcCosine(1)
              + kinds.RationalQuadratic() * kinds.Cosine(lengthscales=2.0) + kinds.Polynomial(2))
    kernel.kernels[0].kernels[0].variance.prior = tfp.distributions.Gamma(np.float64(2.0), np.float64(3.0))
    model = gpflow.models.SGPR((x, y), kernel, x[::3].copy(), mean_function=gpflow.functions.Constant(1.0))
    with tf.GradientTape() as tape:
        loss = model.training_loss()
    return [loss, model.elbo(), *tape.gradient(loss, model.trainable_variables), *model.predict_y(AT)]


@_case
def variational(tf: Any) -> Any:
    """Classes by variational inference: natural gradients with Adam, SciPy, several classes."""
    import gpflow

    x, y = curve()
    labels = (y > 3).astype(float)
    model = gpflow.models.SVGP(gpflow.kernels.Matern32(), gpflow.likelihoods.Bernoulli(), x[::2].copy(), num_data=12)
    gpflow.set_trainable(model.q_mu, False)
    gpflow.set_trainable(model.q_sqrt, False)
    loss = model.training_loss_closure((x, labels), compile=True)
    natural, adam = gpflow.optimizers.NaturalGradient(gamma=0.1), tf.keras.optimizers.Adam(0.05)
    for _ in range(4):
        natural.minimize(loss, [(model.q_mu, model.q_sqrt)])
        adam.minimize(loss, model.trainable_variables)
    whole = gpflow.models.VGP((x, labels), gpflow.kernels.RBF(), gpflow.likelihoods.Bernoulli())
    before = whole.elbo()
    gpflow.optimizers.Scipy().minimize(whole.training_loss, whole.trainable_variables, options={"maxiter": 5})
    several = gpflow.models.SVGP(gpflow.kernels.RBF(), gpflow.likelihoods.MultiClass(3), x[::2].copy(),
                                 num_latent_gps=3)
    return [loss(), *model.predict_y(AT), before, whole.elbo(), several.elbo((x, np.arange(12)[:, None] % 3))]


@_case
def sampling(tf: Any) -> Any:
    """Hamiltonian Monte Carlo of a model with priors: densities, gradients, and one step's end."""
    import gpflow
    import tensorflow_probability as tfp

    x, y = curve()
    model = gpflow.models.GPR((x, y), gpflow.kernels.Matern52(lengthscales=0.3))
    for parameter in model.trainable_parameters:
        parameter.prior = tfp.distributions.Gamma(np.float64(1.0), np.float64(1.0))
    helper = gpflow.optimizers.SamplingHelper(model.log_posterior_density, model.trainable_parameters)
    kernel = tfp.mcmc.HamiltonianMonteCarlo(helper.target_log_prob_fn, 0.01, 3)
    chain, accepted = tf.function(lambda: tfp.mcmc.sample_chain(
        4, helper.current_state, kernel=kernel, trace_fn=lambda _, results: results.is_accepted, seed=3))()
    return [model.log_posterior_density(), *chain, tf.cast(accepted, tf.float32)]
