"""`tf.random.experimental` of TensorFlow 2."""

from graphgrad.ops.random.stateless import fold_in as stateless_fold_in
from graphgrad.ops.random.stateless import split as stateless_split
from graphgrad.ops.random.stateless_functions import index_shuffle as index_shuffle
from graphgrad.ops.random.stateless_functions import stateless_shuffle as stateless_shuffle

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
