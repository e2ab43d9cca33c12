"""`tf.sysconfig`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.state import get_build_info as get_build_info

__all__ = [
    "get_build_info"
]
