"""`tf.random` of TensorFlow 1."""

# -- random, host, assertions ------------------------------------------------------------
from graphgrad.ops.random.random import categorical as categorical
from graphgrad.ops.random.gamma_poisson import random_gamma as gamma
from graphgrad.ops.random.random import random_normal as normal
from graphgrad.ops.random.random import random_shuffle as shuffle
from graphgrad.ops.random.random import random_uniform as uniform
from graphgrad.ops.random.random import truncated_normal as truncated_normal
from graphgrad.ops.random.stateless import stateless_uniform as stateless_uniform
from graphgrad.ops.random.stateless import stateless_normal as stateless_normal
from graphgrad.ops.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from graphgrad.ops.random.stateless import stateless_categorical as stateless_categorical
from graphgrad.ops.random.gamma_poisson import stateless_gamma as stateless_gamma
from graphgrad.ops.random.gamma_poisson import stateless_poisson as stateless_poisson
from graphgrad.ops.random.stateless import split as split
from graphgrad.ops.random.stateless import fold_in as fold_in
from graphgrad.ops.random.random import multinomial as multinomial
from graphgrad.ops.random.gamma_poisson import random_poisson as poisson
from graphgrad.ops.random.stateless import stateless_multinomial as stateless_multinomial
from graphgrad.ops.random.seeds import get_seed as get_seed
from graphgrad.ops.random.seeds import set_random_seed as set_random_seed
from graphgrad.ops.random.stateless_functions import stateless_binomial as stateless_binomial
from graphgrad.ops.random.stateless_functions import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from graphgrad.compat.v1 import _random_experimental as experimental


from graphgrad.ops.nn.candidate_samplers import all_candidate_sampler as all_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from graphgrad.ops.nn.sampled_losses import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from graphgrad.ops.nn.sampled_losses import uniform_candidate_sampler as uniform_candidate_sampler

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

# Rarely used, so imported when first asked for.
_GENERATORS = {
    "Algorithm": "graphgrad.frontend.variables.random_generator:Algorithm",
    "Generator": "graphgrad.frontend.variables.random_generator:Generator",
    "create_rng_state": "graphgrad.frontend.variables.random_generator:create_rng_state",
    "get_global_generator": "graphgrad.frontend.variables.random_generator:get_global_generator",
    "set_global_generator": "graphgrad.frontend.variables.random_generator:set_global_generator",
}

__getattr__ = _missing_attribute(__name__, _GENERATORS)
