"""`tf.config.threading`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.config.settings: get_inter_op_parallelism_threads get_intra_op_parallelism_threads
    set_inter_op_parallelism_threads set_intra_op_parallelism_threads
""")
