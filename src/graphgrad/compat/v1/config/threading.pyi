"""`tf.config.threading` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.frontend.config.settings import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from graphgrad.frontend.config.settings import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from graphgrad.frontend.config.settings import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from graphgrad.frontend.config.settings import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads

__all__ = [
    "get_inter_op_parallelism_threads", "get_intra_op_parallelism_threads", "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads"
]
