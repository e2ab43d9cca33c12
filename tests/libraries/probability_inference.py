"""Programs of inference with TensorFlow Probability: Markov chains, variational methods, optimizers; numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import flat, into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES, flat)
RTOL, ATOL = 2e-4, 2e-5
_SEED = (3, 7)


def _probability() -> Any:
    import tensorflow_probability as tfp  # type: ignore[import-not-found]  # not installed with the tools

    return tfp


def _keras() -> Any:
    import tf_keras  # type: ignore[import-not-found]  # likewise; the library's layers are those of Keras 2

    return tf_keras


def _normal(tfp: Any) -> Any:
    return tfp.distributions.MultivariateNormalTriL([1.0, -1.0], [[1.0, 0.0], [0.5, 2.0]])


def _chain(tf: Any, kernel: Any, steps: int = 10, burn_in: int = 3) -> Any:
    """Samples of a chain in two dimensions, and what the kernel says of its steps, from a `tf.function`."""
    tfp = _probability()

    @tf.function
    def run() -> Any:
        return tfp.mcmc.sample_chain(num_results=steps, num_burnin_steps=burn_in, current_state=tf.constant([0.5, 0.5]),
                                     kernel=kernel, trace_fn=lambda _, results: results, seed=_SEED)

    return run()


@_case
def hamiltonian(tf: Any) -> Any:
    """Hamiltonian Monte Carlo with a fixed step, and with one that adapts."""
    tfp = _probability()
    target = _normal(tfp)
    plain = tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=0.3, num_leapfrog_steps=3)
    adaptive = tfp.mcmc.SimpleStepSizeAdaptation(plain, num_adaptation_steps=6)
    states, results = _chain(tf, plain)
    found = [states, results.log_accept_ratio, tf.cast(results.is_accepted, tf.int32)]
    states, results = _chain(tf, adaptive)
    return [*found, states, results.new_step_size]


@_case
def no_u_turns(tf: Any) -> Any:
    """The No-U-Turn sampler, with dual averaging of the step."""
    tfp = _probability()
    kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(
        tfp.mcmc.NoUTurnSampler(_normal(tfp).log_prob, step_size=0.4, max_tree_depth=4), num_adaptation_steps=4)
    states, results = _chain(tf, kernel, 6, 2)
    inner = results.inner_results
    return [states, inner.target_log_prob, inner.leapfrogs_taken, results.new_step_size]


@_case
def other_kernels(tf: Any) -> Any:
    """Random walks, slices, Langevin steps, replicas, transformed states."""
    tfp = _probability()
    target = _normal(tfp).log_prob
    found = []
    for kernel in (tfp.mcmc.RandomWalkMetropolis(target), tfp.mcmc.SliceSampler(target, 1.0, max_doublings=3),
                   tfp.mcmc.MetropolisAdjustedLangevinAlgorithm(target, 0.3),
                   tfp.mcmc.TransformedTransitionKernel(
                       tfp.mcmc.HamiltonianMonteCarlo(target, 0.3, 2), tfp.bijectors.Softplus()),
                   tfp.mcmc.ReplicaExchangeMC(target, [1.0, 0.5], lambda f: tfp.mcmc.HamiltonianMonteCarlo(f, 0.3, 2))):
        states, _ = _chain(tf, kernel, 6, 0)
        found.append(states)
    return found


@_case
def diagnostics(tf: Any) -> Any:
    """Effective sample sizes, potential scale reduction, statistics of samples."""
    tfp = _probability()
    chains = tf.constant(np.cumsum(np.random.RandomState(1).normal(size=(60, 3)), 0) * 0.1, tf.float32)
    return [tfp.mcmc.effective_sample_size(chains), tfp.mcmc.potential_scale_reduction(chains[:, :, tf.newaxis]),
            tfp.stats.covariance(chains), tfp.stats.percentile(chains, [10.0, 50.0], axis=0),
            tfp.stats.auto_correlation(chains, axis=0, max_lags=3), tfp.stats.expected_calibration_error(
                3, logits=chains[:10], labels_true=tf.constant([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]))]


@_case
def variational(tf: Any) -> Any:
    """A surrogate posterior fitted to a joint distribution, by a few steps of Adam."""
    tfp = _probability()
    tfd, tfb = tfp.distributions, tfp.bijectors
    model = tfd.JointDistributionSequential([
        tfd.Gamma(2.0, 1.0), tfd.Normal(0.0, 3.0), lambda n, g: tfd.Sample(tfd.Normal(n, g), 5)])
    data = tf.constant([0.5, 1.0, 2.0, 1.5, -0.3])
    surrogate = tfd.JointDistributionSequential([
        tfd.TransformedDistribution(tfd.Normal(tf.Variable(0.1), tfp.util.TransformedVariable(0.5, tfb.Softplus())),
                                    tfb.Softplus()),
        tfd.Normal(tf.Variable(0.3), tfp.util.TransformedVariable(0.7, tfb.Softplus()))])
    losses = tfp.vi.fit_surrogate_posterior(
        lambda *z: model.log_prob([*z, data]), surrogate, _keras().optimizers.Adam(0.1), num_steps=8, sample_size=4,
        seed=_SEED)
    return [losses, *[v.numpy() for v in surrogate.trainable_variables]]


@_case
def differentiation(tf: Any) -> Any:
    """`tfp.math`: values and gradients, Jacobians, special functions, an ordinary differential equation."""
    tfp = _probability()
    x = tf.constant([0.5, 2.0, 3.5])
    value, gradient = tfp.math.value_and_gradient(lambda v: tf.reduce_sum(tf.sin(v) * v), x)
    solved = tfp.math.ode.DormandPrince().solve(lambda t, y: -y * t, 0.0, tf.constant([1.0, 2.0]), [0.5, 1.0])
    found = [value, gradient, solved.states,
             tfp.math.batch_interp_regular_1d_grid([0.5, 1.2], 0.0, 2.0, [0.0, 1.0, 4.0])]
    for function in (tfp.math.lbeta, tfp.math.log_add_exp):
        found.append(tfp.math.value_and_gradient(lambda v, f=function: tf.reduce_sum(f(v, v + 1.0)), x))
    for function in (tfp.math.bessel_ive, lambda a, b: tf.math.betainc(a, a, b / 4), tf.math.igamma):
        found.append(tfp.math.value_and_gradient(lambda v, f=function: tf.reduce_sum(f(1.5, v)), x))
    for function in (tfp.math.erfcinv, tfp.math.log1mexp, tfp.math.log_cosh, tfp.math.lambertw):
        found.append(tfp.math.value_and_gradient(lambda v, f=function: tf.reduce_sum(f(v)), x / 4))
    return found


@_case
def optimizers(tf: Any) -> Any:
    """L-BFGS, BFGS, Nelder-Mead, differential evolution and `tfp.math.minimize` on small functions."""
    tfp = _probability()

    def rosenbrock(x: Any) -> Any:
        return tf.reduce_sum(100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2, axis=-1)

    def both(x: Any) -> Any:
        return tfp.math.value_and_gradient(rosenbrock, x)

    start = tf.constant([-1.2, 1.0], tf.float64)
    limited = tf.function(lambda: tfp.optimizer.lbfgs_minimize(both, start, max_iterations=60))()
    full = tfp.optimizer.bfgs_minimize(both, start, max_iterations=60)
    simplex = tfp.optimizer.nelder_mead_minimize(rosenbrock, initial_vertex=start, max_iterations=30)
    v = tf.Variable([0.0, 1.0])
    losses = tfp.math.minimize(lambda: tf.reduce_sum((v - [1.0, 2.0]) ** 2), 5, _keras().optimizers.Adam(0.1))
    root = tfp.math.find_root_chandrupatla(lambda x: x ** 3 - 2.0, tf.constant(0.0), tf.constant(3.0))
    return [limited.position, tf.cast(limited.converged, tf.int32), full.position, simplex.position, losses, v.numpy(),
            root.estimated_root]


@_case
def gaussian_processes(tf: Any) -> Any:
    """The marginal likelihood of a Gaussian process with gradients of its hyperparameters, and a regression."""
    tfp = _probability()
    tfd, kernels = tfp.distributions, tfp.math.psd_kernels
    x = tf.constant(np.linspace(0.0, 2.0, 7)[:, None])
    y = tf.constant(np.sin(3 * np.linspace(0.0, 2.0, 7)))
    found = []
    for make in (kernels.ExponentiatedQuadratic, kernels.MaternFiveHalves, kernels.RationalQuadratic):
        amplitude, length = tf.constant(1.2, tf.float64), tf.constant(0.4, tf.float64)
        with tf.GradientTape() as tape:
            tape.watch([amplitude, length])
            process = tfd.GaussianProcess(make(amplitude, length), x, observation_noise_variance=0.01)
            likelihood = process.log_prob(y)
        found += [likelihood, tape.gradient(likelihood, [amplitude, length])]
    fitted = tfd.GaussianProcessRegressionModel(
        kernels.ExponentiatedQuadratic(amplitude, length), tf.constant([[0.3], [1.1]], tf.float64), x, y,
        observation_noise_variance=tf.constant(0.01, tf.float64))
    return [*found, fitted.mean(), fitted.covariance()]


@_case
def time_series(tf: Any) -> Any:
    """A structural model of a time series: its likelihood by the Kalman filter, and a forecast."""
    tfp = _probability()
    series = tf.constant(np.sin(np.arange(12.0)) + 0.1 * np.arange(12.0), tf.float32)
    model = tfp.sts.Sum([tfp.sts.LocalLinearTrend(observed_time_series=series),
                         tfp.sts.Seasonal(num_seasons=4, observed_time_series=series)], observed_time_series=series)
    values = [0.5] * len(model.parameters)
    parameters = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        likelihood = model.make_state_space_model(12, parameters).log_prob(series[..., tf.newaxis])
    forecast = tfp.sts.forecast(model, series, [tf.stack([p, p]) for p in parameters], 3)
    return [likelihood, tape.gradient(likelihood, parameters), forecast.mean(), forecast.stddev()]


@_case
def layers(tf: Any) -> Any:
    """Layers with distributions: a variational dense layer, a mixture density network, trained for a few steps."""
    tfp = _probability()
    tfd, tfpl, keras = tfp.distributions, tfp.layers, _keras()
    rng = np.random.RandomState(4)
    x, y = rng.normal(size=(16, 3)).astype("f"), rng.normal(size=(16, 1)).astype("f")

    def posterior(kernel_size: int, bias_size: int = 0, dtype: Any = None) -> Any:
        n = kernel_size + bias_size
        return keras.Sequential([
            tfpl.VariableLayer(n, dtype=dtype, initializer="zeros"),
            tfpl.DistributionLambda(lambda t: tfd.Independent(tfd.Normal(t, 1e-12), 1))])

    def prior(kernel_size: int, bias_size: int = 0, dtype: Any = None) -> Any:
        return keras.Sequential([tfpl.DistributionLambda(
            lambda _: tfd.Independent(tfd.Normal(tf.zeros(kernel_size + bias_size), 1.0), 1))])

    model = keras.Sequential([
        keras.Input((3,)), keras.layers.Dense(4, kernel_initializer="ones", activation="tanh"),
        tfpl.DenseVariational(2, posterior, prior, kl_weight=0.0, use_bias=True),
        tfpl.DistributionLambda(lambda t: tfd.Normal(t[..., :1], 1e-3 + tf.math.softplus(t[..., 1:])))])
    model.compile(keras.optimizers.Adam(0.05), lambda truth, given: -given.log_prob(truth))
    history = model.fit(x, y, epochs=3, batch_size=16, verbose=0, shuffle=False).history["loss"]
    mixture = keras.Sequential([
        keras.Input((3,)), keras.layers.Dense(tfpl.MixtureNormal.params_size(2, [1]), kernel_initializer="ones"),
        tfpl.MixtureNormal(2, [1])])
    mixture.compile(keras.optimizers.SGD(0.05), lambda truth, given: -given.log_prob(truth))
    return [history, mixture.fit(x, y, epochs=3, batch_size=16, verbose=0, shuffle=False).history["loss"],
            mixture(x[:2]).mean()]


@_case
def composites(tf: Any) -> Any:
    """Distributions and bijectors as arguments and results of functions, in loops, branches and `tf.nest`."""
    tfp = _probability()
    tfd, tfb = tfp.distributions, tfp.bijectors
    scale = tf.Variable(2.0)

    @tf.function
    def widened(d: Any, n: Any) -> Any:
        def step(i: Any, d: Any) -> Any:
            return i + 1, tfd.Normal(d.loc + 1.0, d.scale * 2.0)

        return tf.while_loop(lambda i, _: i < n, step, (0, d))[1]

    @tf.function
    def density(d: Any, x: Any) -> Any:
        return d.log_prob(x)

    wide = widened(tfd.Normal(tf.constant(0.0), tf.constant(1.0)), tf.constant(3))
    held = tfd.Normal(0.5, scale)
    with tf.GradientTape() as tape:
        y = density(held, 1.5)
    flat = tf.nest.flatten(tfd.Normal(tf.constant(1.0), tf.constant(2.0)), expand_composites=True)
    chosen = tf.function(lambda p: tf.cond(p, lambda: tfd.Normal(1.0, 2.0), lambda: tfd.Normal(3.0, 4.0)))(
        tf.constant(False))
    turned = tf.function(lambda b, v: b.forward(v))(tfb.Scale(tf.constant(3.0)), 2.0)
    scale.assign(3.0)
    return [wide.loc, wide.scale, y, tape.gradient(y, scale), density(held, 1.5), flat, chosen.loc, chosen.scale,
            turned, density(tfd.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]), [0.3, 0.4])]
