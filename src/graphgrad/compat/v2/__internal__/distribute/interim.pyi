"""`tf.__internal__.distribute.interim`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.distribute.contexts import maybe_merge_call as maybe_merge_call

__all__ = [
    "maybe_merge_call"
]
