"""`tf.contrib.distributions` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.distributions import bijectors as bijectors
from graphgrad.extras.contrib.bijectors.elementwise_bijectors import softplus_inverse as softplus_inverse
from graphgrad.extras.contrib.bijectors.triangular import fill_triangular as fill_triangular
from graphgrad.extras.contrib.distributions.discrete import Bernoulli as Bernoulli
from graphgrad.extras.contrib.distributions.discrete import Categorical as Categorical
from graphgrad.extras.contrib.distributions.distribution import Distribution as Distribution
from graphgrad.extras.contrib.distributions.distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from graphgrad.extras.contrib.distributions.distribution import MultivariateNormalDiag as MultivariateNormalDiag
from graphgrad.extras.contrib.distributions.distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from graphgrad.extras.contrib.distributions.distribution import Normal as Normal
from graphgrad.extras.contrib.distributions.distribution import RegisterKL as RegisterKL
from graphgrad.extras.contrib.distributions.distribution import ReparameterizationType as ReparameterizationType
from graphgrad.extras.contrib.distributions.distribution import Uniform as Uniform
from graphgrad.extras.contrib.distributions.distribution import kl_divergence as kl_divergence
from graphgrad.extras.contrib.distributions.multivariate import Dirichlet as Dirichlet
from graphgrad.extras.contrib.distributions.multivariate import DirichletMultinomial as DirichletMultinomial
from graphgrad.extras.contrib.distributions.multivariate import Multinomial as Multinomial
from graphgrad.extras.contrib.distributions.multivariate import MultivariateNormalFullCovariance as MultivariateNormalFullCovariance
from graphgrad.extras.contrib.distributions.multivariate import MultivariateNormalTriL as MultivariateNormalTriL
from graphgrad.extras.contrib.distributions.multivariate import OneHotCategorical as OneHotCategorical
from graphgrad.extras.contrib.distributions.multivariate import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from graphgrad.extras.contrib.distributions.scalar import Beta as Beta
from graphgrad.extras.contrib.distributions.scalar import Exponential as Exponential
from graphgrad.extras.contrib.distributions.scalar import Gamma as Gamma
from graphgrad.extras.contrib.distributions.scalar import Laplace as Laplace
from graphgrad.extras.contrib.distributions.scalar import Logistic as Logistic
from graphgrad.extras.contrib.distributions.scalar import Poisson as Poisson
from graphgrad.extras.contrib.distributions.scalar import StudentT as StudentT
from graphgrad.extras.contrib.distributions.transformed import ConditionalTransformedDistribution as ConditionalTransformedDistribution
from graphgrad.extras.contrib.distributions.transformed import Independent as Independent
from graphgrad.extras.contrib.distributions.transformed import Mixture as Mixture
from graphgrad.extras.contrib.distributions.transformed import TransformedDistribution as TransformedDistribution

__all__ = [
    "Bernoulli", "Beta", "Categorical", "ConditionalTransformedDistribution", "Dirichlet", "DirichletMultinomial",
    "Distribution", "Exponential", "FULLY_REPARAMETERIZED", "Gamma", "Independent", "Laplace", "Logistic", "Mixture",
    "Multinomial", "MultivariateNormalDiag", "MultivariateNormalFullCovariance", "MultivariateNormalTriL",
    "NOT_REPARAMETERIZED", "Normal", "OneHotCategorical", "Poisson", "RegisterKL", "RelaxedOneHotCategorical",
    "ReparameterizationType", "StudentT", "TransformedDistribution", "Uniform", "bijectors", "fill_triangular",
    "kl_divergence", "softplus_inverse"
]
