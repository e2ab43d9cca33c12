"""`tf.autograph.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.frontend.function.autograph.api import AutographFeature as Feature
from graphgrad.frontend.function.autograph.api import do_not_convert as do_not_convert
from graphgrad.frontend.function.autograph.api import set_loop_options as set_loop_options

__all__ = [
    "Feature", "do_not_convert", "set_loop_options"
]
