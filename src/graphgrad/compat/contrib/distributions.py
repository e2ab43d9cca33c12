"""`tf.contrib.distributions`, and `tf.distributions` of 1.x, as far as programs use them."""

from graphgrad.contrib.distributions import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from graphgrad.contrib.distributions import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from graphgrad.contrib.distributions import Bernoulli as Bernoulli
from graphgrad.contrib.distributions import Categorical as Categorical
from graphgrad.contrib.distributions import Distribution as Distribution
from graphgrad.contrib.distributions import MultivariateNormalDiag as MultivariateNormalDiag
from graphgrad.contrib.distributions import Normal as Normal
from graphgrad.contrib.distributions import RegisterKL as RegisterKL
from graphgrad.contrib.distributions import ReparameterizationType as ReparameterizationType
from graphgrad.contrib.distributions import Uniform as Uniform
from graphgrad.contrib.distributions import kl_divergence as kl_divergence
from graphgrad.contrib.bijectors_elementwise import softplus_inverse as softplus_inverse
from graphgrad.contrib.bijectors_triangular import fill_triangular as fill_triangular
from graphgrad.contrib.bijectors_triangular import fill_triangular_inverse as fill_triangular_inverse
from graphgrad.contrib.distributions_numbers import Beta as Beta
from graphgrad.contrib.distributions_numbers import Chi2 as Chi2
from graphgrad.contrib.distributions_numbers import Exponential as Exponential
from graphgrad.contrib.distributions_numbers import Gamma as Gamma
from graphgrad.contrib.distributions_numbers import Laplace as Laplace
from graphgrad.contrib.distributions_numbers import Logistic as Logistic
from graphgrad.contrib.distributions_numbers import Poisson as Poisson
from graphgrad.contrib.distributions_numbers import StudentT as StudentT
from graphgrad.contrib.distributions_vectors import Dirichlet as Dirichlet
from graphgrad.contrib.distributions_vectors import DirichletMultinomial as DirichletMultinomial
from graphgrad.contrib.distributions_vectors import Multinomial as Multinomial
from graphgrad.contrib.distributions_vectors import MultivariateNormalFullCovariance as MultivariateNormalFullCovariance
from graphgrad.contrib.distributions_vectors import MultivariateNormalTriL as MultivariateNormalTriL
from graphgrad.contrib.distributions_vectors import OneHotCategorical as OneHotCategorical
from graphgrad.contrib.distributions_vectors import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from graphgrad.contrib.distributions_transformed import ConditionalTransformedDistribution as ConditionalTransformedDistribution  # noqa: E501
from graphgrad.contrib.distributions_transformed import Independent as Independent
from graphgrad.contrib.distributions_transformed import Mixture as Mixture
from graphgrad.contrib.distributions_transformed import MixtureSameFamily as MixtureSameFamily
from graphgrad.contrib.distributions_transformed import TransformedDistribution as TransformedDistribution
from graphgrad.compat.contrib import _distributions_bijectors as bijectors

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
