"""`tf.random` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.random import experimental as experimental
from graphgrad.frontend.variables.random_generator import Algorithm as Algorithm
from graphgrad.frontend.variables.random_generator import Generator as Generator
from graphgrad.frontend.variables.random_generator import create_rng_state as create_rng_state
from graphgrad.frontend.variables.random_generator import get_global_generator as get_global_generator
from graphgrad.frontend.variables.random_generator import set_global_generator as set_global_generator
from graphgrad.ops.nn.candidate_samplers import all_candidate_sampler as all_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from graphgrad.ops.nn.candidate_samplers import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from graphgrad.ops.nn.sampled_losses import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from graphgrad.ops.nn.sampled_losses import uniform_candidate_sampler as uniform_candidate_sampler
from graphgrad.ops.random.gamma_poisson import random_gamma as gamma
from graphgrad.ops.random.gamma_poisson import random_poisson as poisson
from graphgrad.ops.random.gamma_poisson import stateless_gamma as stateless_gamma
from graphgrad.ops.random.gamma_poisson import stateless_poisson as stateless_poisson
from graphgrad.ops.random.random import categorical as categorical
from graphgrad.ops.random.random import multinomial as multinomial
from graphgrad.ops.random.random import random_normal as normal
from graphgrad.ops.random.random import random_shuffle as shuffle
from graphgrad.ops.random.random import random_uniform as uniform
from graphgrad.ops.random.random import truncated_normal as truncated_normal
from graphgrad.ops.random.seeds import get_seed as get_seed
from graphgrad.ops.random.seeds import set_random_seed as set_random_seed
from graphgrad.ops.random.stateless import fold_in as fold_in
from graphgrad.ops.random.stateless import split as split
from graphgrad.ops.random.stateless import stateless_categorical as stateless_categorical
from graphgrad.ops.random.stateless import stateless_multinomial as stateless_multinomial
from graphgrad.ops.random.stateless import stateless_normal as stateless_normal
from graphgrad.ops.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from graphgrad.ops.random.stateless import stateless_uniform as stateless_uniform
from graphgrad.ops.random.stateless_functions import stateless_binomial as stateless_binomial
from graphgrad.ops.random.stateless_functions import stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal

__all__ = [
    "Algorithm", "Generator", "all_candidate_sampler", "categorical", "create_rng_state", "experimental",
    "fixed_unigram_candidate_sampler", "fold_in", "gamma", "get_global_generator", "get_seed",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "multinomial", "normal", "poisson",
    "set_global_generator", "set_random_seed", "shuffle", "split", "stateless_binomial", "stateless_categorical",
    "stateless_gamma", "stateless_multinomial", "stateless_normal", "stateless_parameterized_truncated_normal",
    "stateless_poisson", "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform",
    "uniform_candidate_sampler"
]
