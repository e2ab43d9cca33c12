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

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
