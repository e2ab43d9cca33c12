"""`tf.random.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.variables.random_generator: Algorithm Generator create_rng_state get_global_generator
    set_global_generator
graphgrad.ops.random.stateless: stateless_fold_in=fold_in stateless_split=split
graphgrad.ops.random.stateless_functions: index_shuffle stateless_shuffle
""")
