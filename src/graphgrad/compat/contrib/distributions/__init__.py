"""`tf.contrib.distributions` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.distributions.bijectors: bijectors=.
graphgrad.extras.contrib.bijectors.elementwise_bijectors: softplus_inverse
graphgrad.extras.contrib.bijectors.triangular: fill_triangular
graphgrad.extras.contrib.distributions.discrete: Bernoulli Categorical
graphgrad.extras.contrib.distributions.distribution: Distribution FULLY_REPARAMETERIZED MultivariateNormalDiag
    NOT_REPARAMETERIZED Normal RegisterKL ReparameterizationType Uniform kl_divergence
graphgrad.extras.contrib.distributions.multivariate: Dirichlet DirichletMultinomial Multinomial
    MultivariateNormalFullCovariance MultivariateNormalTriL OneHotCategorical RelaxedOneHotCategorical
graphgrad.extras.contrib.distributions.scalar: Beta Exponential Gamma Laplace Logistic Poisson StudentT
graphgrad.extras.contrib.distributions.transformed: ConditionalTransformedDistribution Independent Mixture
    TransformedDistribution
""")
