"""`tf.__internal__.distribute`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: ShardedVariable
graphgrad.compat.v2.__internal__.distribute.interim: interim=.
graphgrad.frontend.distribute.contexts: strategy_supports_no_merge_call variable_sync_on_read_context
""")
