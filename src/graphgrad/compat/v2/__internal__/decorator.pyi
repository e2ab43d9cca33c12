"""`tf.__internal__.decorator`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.util.decorator import make_decorator as make_decorator
from graphgrad.compat.internal.util.decorator import unwrap as unwrap

__all__ = [
    "make_decorator", "unwrap"
]
