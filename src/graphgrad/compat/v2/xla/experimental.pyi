"""`tf.xla.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.function.critical_section import jit_scope as jit_scope
from graphgrad.frontend.function.critical_section import xla_compile as compile

__all__ = [
    "compile", "jit_scope"
]
