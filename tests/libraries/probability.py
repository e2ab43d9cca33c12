"""Programs on TensorFlow Probability: distributions, bijectors, sampling, inference; each gives numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import flat, into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES, flat)
RTOL, ATOL = 2e-5, 2e-6
_SEED = (3, 7)


def _probability() -> Any:
    import tensorflow_probability as tfp  # type: ignore[import-not-found]  # not installed with the tools

    return tfp


def _density(tf: Any, make: Callable[[Any], Any], parameters: Any, x: Any) -> list[Any]:
    """The logarithm of a density, and its gradients with respect to the parameters and to the point."""
    values = [tf.constant(p, tf.float32) for p in parameters]
    x = tf.constant(x)
    sources = [*values, x] if x.dtype.is_floating else values
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = make(values).log_prob(x)
    return [y, *tape.gradient(y, sources)]


@_case
def regression(tf: Any) -> Any:
    """The first program of the README, with seeds: a logistic regression."""
    tfp = _probability()
    features = tfp.distributions.Normal(loc=0.0, scale=1.0).sample(int(100e3), seed=_SEED)
    labels = tfp.distributions.Bernoulli(logits=1.618 * features).sample(seed=(5, 1))
    coefficients, _, converged, steps = tfp.glm.fit(
        model_matrix=features[:, tf.newaxis], response=tf.cast(labels, dtype=tf.float32), model=tfp.glm.Bernoulli())
    return [coefficients, tf.cast(converged, tf.int32), steps]


@_case
def densities(tf: Any) -> Any:
    """Logarithms of densities, with gradients."""
    tfd = _probability().distributions
    tril = [[1.0, 0.0], [0.5, 2.0]]
    return [
        _density(tf, lambda p: tfd.Normal(*p), [[0.5, -1.0], 2.0], [0.3, 1.0]),
        _density(tf, lambda p: tfd.MultivariateNormalTriL(*p), [[1.0, -1.0], tril], [[0.3, 0.7], [2.0, 1.0]]),
        _density(tf, lambda p: tfd.MultivariateNormalDiag(*p), [[1.0, -1.0], [0.5, 2.0]], [0.3, 0.7]),
        _density(tf, lambda p: tfd.Beta(*p), [2.5, [0.7, 3.0]], [0.2, 0.6]),
        _density(tf, lambda p: tfd.Dirichlet(*p), [[0.5, 1.5, 3.0]], [0.2, 0.3, 0.5]),
        _density(tf, lambda p: tfd.Gamma(*p), [[0.5, 3.0], 2.0], [0.2, 3.0]),
        _density(tf, lambda p: tfd.InverseGamma(*p), [[0.5, 3.0], 2.0], [0.2, 3.0]),
        _density(tf, lambda p: tfd.StudentT(*p), [[1.5, 30.0], 0.5, 2.0], [0.2, 3.0]),
        _density(tf, lambda p: tfd.Categorical(*p), [[[0.1, 0.5, -2.0]]], [2]),
        _density(tf, lambda p: tfd.Poisson(*p), [[0.5, 3.0]], [2.0, 5.0]),
        _density(tf, lambda p: tfd.VonMises(*p), [[0.5, 2.0], 3.0], [1.0, -1.0]),
        _density(tf, lambda p: tfd.WishartTriL(p[0], p[1]), [3.5, tril], [[2.0, 0.3], [0.3, 1.0]]),
        _density(tf, lambda p: tfd.LKJ(2, p[0]), [1.5], [[1.0, 0.3], [0.3, 1.0]]),
    ]


@_case
def compound(tf: Any) -> Any:
    """Distributions made of others: mixtures, independent and transformed ones, Markov chains."""
    tfp = _probability()
    tfd, tfb = tfp.distributions, tfp.bijectors

    def mixture(p: Any) -> Any:
        return tfd.MixtureSameFamily(tfd.Categorical(logits=p[0]), tfd.Normal(p[1], p[2]))

    def chain(p: Any) -> Any:
        return tfd.HiddenMarkovModel(tfd.Categorical(logits=p[0]), tfd.Categorical(logits=p[1]),
                                     tfd.Normal(p[2], 1.0), num_steps=4)

    return [
        _density(tf, mixture, [[0.3, -0.2], [0.0, 3.0], [1.0, 0.5]], [0.5, 2.5, -1.0]),
        _density(tf, lambda p: tfd.Independent(tfd.Normal(*p), 1), [[0.0, 1.0], [1.0, 2.0]], [[0.5, 2.5]]),
        _density(tf, lambda p: tfd.TransformedDistribution(tfd.Normal(*p), tfb.Exp()), [0.2, 1.5], [0.5, 2.5]),
        _density(tf, lambda p: tfd.LogitNormal(*p), [0.2, 1.5], [0.5, 0.25]),
        _density(tf, lambda p: tfd.Sample(tfd.Laplace(*p), 3), [0.2, 1.5], [0.5, 0.25, -2.0]),
        _density(tf, lambda p: tfd.Mixture(tfd.Categorical(logits=p[0]),
                                           [tfd.Normal(p[1], 1.0), tfd.Cauchy(p[2], 1.0)]),
                 [[0.3, -0.2], 0.5, 2.0], [0.5, 2.5]),
        _density(tf, chain, [[0.3, -0.2], [[1.0, 0.0], [0.5, 2.0]], [0.0, 3.0]], [0.5, 2.5, 3.0, -1.0]),
        tfd.kl_divergence(tfd.Normal(0.0, 1.0), tfd.Normal([1.0, 2.0], 3.0)),
        tfd.Gamma(2.0, 3.0).mean(), tfd.Beta(2.0, 3.0).entropy(), tfd.Normal(0.0, 1.0).quantile([0.1, 0.9]),
        tfd.StudentT(3.0, 0.0, 1.0).cdf([0.5, -1.0]), tfd.Gamma(2.0, 3.0).survival_function([0.5, 1.0]),
    ]


@_case
def joint(tf: Any) -> Any:
    """Joint distributions: a sequence, names, a coroutine; samples and densities."""
    tfd = _probability().distributions
    sequence = tfd.JointDistributionSequential([
        tfd.Exponential(1.5), lambda e: tfd.Normal(0.0, e), lambda n, e: tfd.Sample(tfd.Normal(n, e), 3)])
    named = tfd.JointDistributionNamed({"e": tfd.Exponential(1.5), "n": lambda e: tfd.Normal(0.0, e)})

    @tfd.JointDistributionCoroutineAutoBatched
    def coroutine() -> Any:
        scale = yield tfd.HalfNormal(1.0, name="scale")
        loc = yield tfd.Normal(0.0, 10.0, name="loc")
        yield tfd.Normal(loc[..., tf.newaxis] * tf.ones([4]), scale, name="observed")

    found: list[Any] = []
    for model in (sequence, named, coroutine):
        drawn = model.sample(2, seed=_SEED)
        found += [*tf.nest.flatten(drawn), model.log_prob(drawn)]
    return found


@_case
def samples(tf: Any) -> Any:
    """Samples with stateless seeds."""
    tfd = _probability().distributions
    made = [
        tfd.Normal([0.0, 3.0], 2.0), tfd.Uniform(1.0, 3.0), tfd.Exponential(2.0), tfd.Laplace(0.5, 2.0),
        tfd.Categorical(logits=[0.1, 0.5, -2.0]), tfd.Bernoulli(probs=[0.2, 0.9]), tfd.Gumbel(0.0, 2.0),
        tfd.MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [0.5, 2.0]]), tfd.Logistic(0.0, 1.0), tfd.Cauchy(0.0, 1.0),
        tfd.Gamma([0.5, 3.0], 2.0), tfd.Beta(2.0, 3.0), tfd.Dirichlet([0.5, 1.5, 3.0]), tfd.StudentT(4.0, 0.0, 1.0),
        tfd.Poisson([0.5, 30.0]), tfd.Binomial(10.0, probs=[0.2, 0.7]), tfd.Multinomial(5.0, probs=[0.2, 0.3, 0.5]),
        tfd.WishartTriL(3.5, np.eye(2, dtype="f")), tfd.LKJ(3, 1.5), tfd.NegativeBinomial(3.0, probs=0.4),
        tfd.HalfCauchy(0.0, 1.0), tfd.OneHotCategorical(logits=[0.1, 0.5]), tfd.Geometric(probs=0.3),
        tfd.MixtureSameFamily(tfd.Categorical(logits=[0.3, -0.2]), tfd.Normal([0.0, 3.0], 1.0)),
        tfd.VonMises(0.5, 3.0), tfd.Kumaraswamy(2.0, 3.0), tfd.Weibull(2.0, 3.0), tfd.Horseshoe(1.0),
        tfd.RelaxedOneHotCategorical(0.5, logits=[0.1, 0.5]), tfd.Triangular(), tfd.Pareto(2.0),
    ]
    return [d.sample(3, seed=_SEED) for d in made]


@_case
def reparameterized(tf: Any) -> Any:
    """Gradients through samples."""
    tfd = _probability().distributions
    found = []
    for make in (lambda a, b: tfd.Normal(a, b), lambda a, b: tfd.Laplace(a, b), lambda a, b: tfd.Cauchy(a, b),
                 lambda a, b: tfd.VonMises(a, b), lambda a, b: tfd.Kumaraswamy(a, b), lambda a, b: tfd.Weibull(a, b)):
        a, b = tf.constant(1.5), tf.constant(0.7)
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = tf.reduce_sum(make(a, b).sample(4, seed=_SEED) ** 2)
        found.append(tape.gradient(y, [a, b], unconnected_gradients="zero"))
    return found


@_case
def bijectors(tf: Any) -> Any:
    """Bijectors there and back, with the logarithms of their Jacobians' determinants."""
    tfb = _probability().bijectors
    x = tf.constant([[0.3, -0.7, 1.2]])
    made = [
        tfb.Exp(), tfb.Softplus(), tfb.Sigmoid(), tfb.Tanh(), tfb.Shift([1.0, 2.0, 3.0]), tfb.Scale([1.0, 2.0, -3.0]),
        tfb.Chain([tfb.Exp(), tfb.Shift(1.0), tfb.Scale(2.0)]), tfb.Invert(tfb.Exp()),
        tfb.ScaleMatvecTriL([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [0.1, 0.2, 3.0]]), tfb.Permute([2, 0, 1]),
        tfb.SinhArcsinh(0.3, 1.2), tfb.Softsign(), tfb.NormalCDF(), tfb.GumbelCDF(),
        tfb.RationalQuadraticSpline(bin_widths=[1.0, 3.0], bin_heights=[2.0, 2.0], knot_slopes=[1.5], range_min=-2.0),
        tfb.BatchNormalization(training=False), tfb.Ascending(),
        tfb.FillScaleTriL(), tfb.CorrelationCholesky(), tfb.Reshape([3, 1], [3]), tfb.Cumsum(),
    ]
    found = []
    for bijector in made:
        y = bijector.forward(x)
        event = max(bijector.forward_min_event_ndims, 1)
        found.append([y, bijector.inverse(tf.identity(y)), bijector.forward_log_det_jacobian(x, event_ndims=event)])
    return found


@_case
def flows(tf: Any) -> Any:
    """A masked autoregressive flow and RealNVP, whose networks have fixed weights: densities and their gradients."""
    tfp = _probability()
    tfd, tfb = tfp.distributions, tfp.bijectors
    rng = np.random.RandomState(0)
    network = tfb.AutoregressiveNetwork(params=2, hidden_units=[8, 8], activation="tanh")
    network.build([None, 3])
    network.set_weights([rng.normal(size=w.shape, scale=0.5) for w in network.get_weights()])
    masked = tfb.MaskedAutoregressiveFlow(network)

    dense = [tf.constant(rng.normal(size=s, scale=0.5), tf.float32) for s in ((1, 8), (8, 4))]

    def shift_and_scale(x: Any, units: int, **_: Any) -> Any:
        return tf.split(tf.tanh(x @ dense[0]) @ dense[1], 2, axis=-1)

    coupling = tfb.RealNVP(num_masked=1, shift_and_log_scale_fn=shift_and_scale)
    found: list[Any] = []
    for flow in (masked, coupling):
        model = tfd.TransformedDistribution(tfd.Sample(tfd.Normal(0.0, 1.0), [3]), flow)
        x = tf.constant(rng.normal(size=(4, 3)), tf.float32)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model.log_prob(x)
        found += [y, tape.gradient(y, x), model.sample(2, seed=_SEED)]
    return found
