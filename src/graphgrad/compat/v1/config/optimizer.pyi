"""`tf.config.optimizer` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.frontend.config.settings import get_experimental_options as get_experimental_options
from graphgrad.frontend.config.settings import get_jit as get_jit
from graphgrad.frontend.config.settings import set_experimental_options as set_experimental_options
from graphgrad.frontend.config.settings import set_jit as set_jit

__all__ = [
    "get_experimental_options", "get_jit", "set_experimental_options", "set_jit"
]
