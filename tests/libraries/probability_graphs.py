"""Programs on TensorFlow Probability 0.8, the last for TensorFlow 1: graphs, sessions, `tf.gradients`; numbers.

It does not run on TensorFlow 2.21, so that what is expected is computed by other means, see `EXPECTED`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from . import flat, into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES, flat)
FACE = 1
RTOL, ATOL = 2e-5, 2e-5
_TRIL = np.array([[1.0, 0.0], [0.5, 2.0]])
_X = np.linspace(-1.5, 2.0, 30)
_LABELS = (np.sin(7.0 * _X) + _X > 0.2).astype(float)
_PLACES = np.linspace(0.0, 2.0, 7)
_HEIGHTS = np.sin(3 * _PLACES)

# The library was written for a NumPy that had these names for Python's own types.
for _name, _type in (("object", object), ("int", int), ("float", float)):
    if _name not in vars(np):
        setattr(np, _name, _type)


def _probability() -> Any:
    import tensorflow_probability as tfp  # type: ignore[import-not-found]  # not installed with the tools

    return tfp


def _run(tf: Any, fetches: Any) -> Any:
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        return session.run(fetches)


@_case
def densities(tf: Any) -> Any:
    """Logarithms of densities, each with its gradient at the point."""
    tfd = _probability().distributions

    def with_gradient(distribution: Any, x: Any) -> list[Any]:
        x = tf.constant(x, tf.float64)
        y = distribution.log_prob(x)
        return [y, tf.gradients(y, x)[0]]

    f = np.float64
    return _run(tf, [
        with_gradient(tfd.Normal(f(0.5), f(2.0)), [0.3, 4.0]),
        with_gradient(tfd.MultivariateNormalTriL(f([1.0, -1.0]), _TRIL), [0.3, 0.7]),
        with_gradient(tfd.Beta(f(2.5), f(0.7)), [0.2, 0.6]),
        with_gradient(tfd.Gamma(f(2.5), f(0.7)), [0.2, 3.0]),
        with_gradient(tfd.StudentT(f(3.5), f(0.5), f(2.0)), [0.2, 3.0]),
        with_gradient(tfd.MixtureSameFamily(tfd.Categorical(probs=tf.constant([0.3, 0.7], tf.float64)),
                                            tfd.Normal(f([0.0, 3.0]), f(1.0))), [0.5, 2.0]),
        with_gradient(tfd.TransformedDistribution(tfd.Normal(f(0.2), f(1.5)), _probability().bijectors.Exp()),
                      [0.5, 2.5]),
        tfd.Dirichlet(f([0.5, 1.5, 3.0])).log_prob(f([0.2, 0.3, 0.5])),
        tfd.Categorical(probs=tf.constant([0.2, 0.8], tf.float64)).log_prob(1), tfd.Poisson(f(3.0)).log_prob(f(2.0)),
        tfd.kl_divergence(tfd.Normal(f(0.0), f(1.0)), tfd.Normal(f(1.0), f(2.0)))])


def _density_numbers() -> list[Any]:
    """By SciPy, gradients by the derivatives of the logarithms of the densities."""
    x = np.array([0.3, 4.0])
    found = [stats.norm.logpdf(x, 0.5, 2.0), -(x - 0.5) / 4.0]
    mean, covariance, x = np.array([1.0, -1.0]), _TRIL @ _TRIL.T, np.array([0.3, 0.7])
    found += [stats.multivariate_normal.logpdf(x, mean, covariance), -np.linalg.solve(covariance, x - mean)]
    x = np.array([0.2, 0.6])
    found += [stats.beta.logpdf(x, 2.5, 0.7), 1.5 / x + 0.3 / (1 - x)]
    x = np.array([0.2, 3.0])
    found += [stats.gamma.logpdf(x, 2.5, scale=1 / 0.7), 1.5 / x - 0.7]
    z = (x - 0.5) / 2.0
    found += [stats.t.logpdf(x, 3.5, 0.5, 2.0), -4.5 * z / (3.5 + z * z) / 2.0]
    x = np.array([[0.5], [2.0]])
    parts = np.array([0.3, 0.7]) * stats.norm.pdf(x, [0.0, 3.0])
    found += [np.log(parts.sum(-1)), ((np.array([0.0, 3.0]) - x) * parts).sum(-1) / parts.sum(-1)]
    x = np.array([0.5, 2.5])
    found += [stats.lognorm.logpdf(x, 1.5, scale=np.exp(0.2)), -(1 + (np.log(x) - 0.2) / 2.25) / x]
    return [*found, stats.dirichlet.logpdf([0.2, 0.3, 0.5], [0.5, 1.5, 3.0]), np.log(0.8), stats.poisson.logpmf(2, 3.0),
            np.log(2.0) + 2 / 8 - 0.5]


@_case
def bijectors(tf: Any) -> Any:
    """There, back again, and the logarithm of the Jacobian's determinant."""
    tfb = _probability().bijectors
    x = np.array([[0.3, -0.7]])
    made = [tfb.Exp(), tfb.Softplus(), tfb.Sigmoid(), tfb.Affine(shift=[1.0, 2.0], scale_tril=_TRIL),
            tfb.Chain([tfb.Exp(), tfb.AffineScalar(shift=np.float64(1.0), scale=np.float64(2.0))])]
    return _run(tf, [[b.forward(tf.constant(x)), b.inverse(tf.identity(b.forward(tf.constant(x)))),
                      b.forward_log_det_jacobian(tf.constant(x), event_ndims=1)] for b in made])


def _bijector_numbers() -> list[Any]:
    x = np.array([[0.3, -0.7]])
    sigmoid = special.expit(x)
    return [np.exp(x), x, x.sum(-1), np.log1p(np.exp(x)), x, np.log(sigmoid).sum(-1),
            sigmoid, x, np.log(sigmoid * (1 - sigmoid)).sum(-1), x @ _TRIL.T + [1.0, 2.0], x, np.log(2.0),
            np.exp(2 * x + 1), x, (2 * x + 1 + np.log(2.0)).sum(-1)]


@_case
def regression(tf: Any) -> Any:
    """The README's first program on fixed data: a logistic regression, by Fisher scoring."""
    tfp = _probability()
    coefficients, _, converged, _ = tfp.glm.fit(model_matrix=tf.constant(_X[:, None]), response=tf.constant(_LABELS),
                                                model=tfp.glm.Bernoulli())
    return _run(tf, [coefficients, tf.cast(converged, tf.int32)])


def _regression_numbers() -> list[Any]:
    """By Newton's method."""
    c = 0.0
    for _ in range(50):
        p = special.expit(c * _X)
        c += np.sum(_X * (_LABELS - p)) / np.sum(_X ** 2 * p * (1 - p))
    return [[c], 1]


@_case
def variational(tf: Any) -> Any:
    """The mean and deviation that minimize the divergence from a normal distribution, by gradient descent."""
    tfp = _probability()
    tfd = tfp.distributions
    loc, raw_scale = tf.Variable(np.float64(0.0)), tf.Variable(np.float64(0.0))
    target = tfd.Normal(np.float64(1.5), np.float64(0.7))
    divergence = tfd.kl_divergence(tfd.Normal(loc, tf.nn.softplus(raw_scale)), target)
    step = tf.compat.v1.train.GradientDescentOptimizer(0.2).minimize(divergence)
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        for _ in range(200):
            session.run(step)
        return session.run([loc, tf.nn.softplus(raw_scale), divergence])


@_case
def hamiltonian(tf: Any) -> Any:
    """Hamiltonian Monte Carlo in one graph: what is accepted, and where the chains are on average."""
    tfp = _probability()
    target = tfp.distributions.Normal(np.float32(1.5), np.float32(0.7))
    kernel = tfp.mcmc.HamiltonianMonteCarlo(target.log_prob, step_size=np.float32(0.4), num_leapfrog_steps=4, seed=3)
    states, results = tfp.mcmc.sample_chain(
        num_results=100, num_burnin_steps=20, current_state=tf.zeros([64]), kernel=kernel)
    states, accepted = _run(tf, [states, results.is_accepted])
    return [accepted.mean() > 0.8, abs(states.mean() - 1.5) < 0.05, abs(states.std() - 0.7) < 0.05]


@_case
def optimizers(tf: Any) -> Any:
    """L-BFGS and BFGS on a quadratic function, and a value with its gradient."""
    tfp = _probability()
    matrix, goal = _TRIL @ _TRIL.T, np.array([1.0, -2.0])

    def bowl(x: Any) -> Any:
        d = x - goal
        return 0.5 * tf.reduce_sum(d * tf.linalg.matvec(tf.constant(matrix), d))

    def both(x: Any) -> Any:
        return tfp.math.value_and_gradient(bowl, x)

    start = tf.constant([5.0, 5.0], tf.float64)
    return _run(tf, [tfp.optimizer.lbfgs_minimize(both, start).position,
                     tfp.optimizer.bfgs_minimize(both, start).position, both(start)])


@_case
def gaussian_process(tf: Any) -> Any:
    """The marginal likelihood of a Gaussian process, and its derivative by the amplitude."""
    tfp = _probability()
    amplitude = tf.constant(1.2, tf.float64)
    kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(amplitude, np.float64(0.4))
    process = tfp.distributions.GaussianProcess(kernel, _PLACES[:, None], observation_noise_variance=np.float64(0.01),
                                                jitter=np.float64(0.0))
    likelihood = process.log_prob(_HEIGHTS)
    return _run(tf, [likelihood, tf.gradients(likelihood, amplitude)[0]])


def _process_numbers() -> list[Any]:
    """By the density of a normal distribution; d log p = tr((K^-1 y (K^-1 y)' - K^-1) dK) / 2, dK = 2 K0 / 1.2."""
    signal = 1.44 * np.exp(-((_PLACES[:, None] - _PLACES) ** 2) / 0.32)
    whole = signal + 0.01 * np.eye(7)
    solved = np.linalg.solve(whole, _HEIGHTS)
    slope = np.outer(solved, solved) - np.linalg.inv(whole)
    return [stats.multivariate_normal.logpdf(_HEIGHTS, np.zeros(7), whole), 0.5 * np.sum(slope * 2 * signal / 1.2)]


# By SciPy and NumPy, as the functions say; the minima of convex functions; what any working sampler does.
EXPECTED = {
    "densities": _density_numbers(),
    "bijectors": _bijector_numbers(),
    "regression": _regression_numbers(),
    "variational": [1.5, 0.7, 0.0],
    "hamiltonian": [1, 1, 1],
    "optimizers": [[1.0, -2.0], [1.0, -2.0],
                   0.5 * np.array([4.0, 7.0]) @ _TRIL @ _TRIL.T @ [4.0, 7.0], _TRIL @ _TRIL.T @ [4.0, 7.0]],
    "gaussian_process": _process_numbers(),
}
