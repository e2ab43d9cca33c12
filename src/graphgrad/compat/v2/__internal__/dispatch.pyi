"""`tf.__internal__.dispatch`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.util.dispatch import GlobalOpDispatcher as GlobalOpDispatcher
from graphgrad.compat.internal.util.dispatch import OpDispatcher as OpDispatcher
from graphgrad.compat.internal.util.dispatch import add_dispatch_support as add_dispatch_support

__all__ = [
    "GlobalOpDispatcher", "OpDispatcher", "add_dispatch_support"
]
