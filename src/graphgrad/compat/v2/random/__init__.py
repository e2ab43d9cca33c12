"""`tf.random`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.random.experimental: experimental=.
graphgrad.frontend.variables.random_generator: Algorithm Generator create_rng_state get_global_generator
    set_global_generator
graphgrad.ops.nn.candidate_samplers: all_candidate_sampler fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler
graphgrad.ops.nn.sampled_losses: log_uniform_candidate_sampler uniform_candidate_sampler
graphgrad.ops.random.gamma_poisson: gamma=random_gamma poisson stateless_gamma stateless_poisson
graphgrad.ops.random.random: categorical normal=random_normal shuffle=random_shuffle truncated_normal
    uniform=random_uniform
graphgrad.ops.random.seeds: set_seed
graphgrad.ops.random.stateless: fold_in split stateless_categorical stateless_normal stateless_truncated_normal
    stateless_uniform
graphgrad.ops.random.stateless_functions: stateless_binomial stateless_parameterized_truncated_normal
""")
