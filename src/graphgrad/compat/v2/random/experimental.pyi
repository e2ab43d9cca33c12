"""`tf.random.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.variables.random_generator import Algorithm as Algorithm
from graphgrad.frontend.variables.random_generator import Generator as Generator
from graphgrad.frontend.variables.random_generator import create_rng_state as create_rng_state
from graphgrad.frontend.variables.random_generator import get_global_generator as get_global_generator
from graphgrad.frontend.variables.random_generator import set_global_generator as set_global_generator
from graphgrad.ops.random.stateless import fold_in as stateless_fold_in
from graphgrad.ops.random.stateless import split as stateless_split
from graphgrad.ops.random.stateless_functions import index_shuffle as index_shuffle
from graphgrad.ops.random.stateless_functions import stateless_shuffle as stateless_shuffle

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split"
]
