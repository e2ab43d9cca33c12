"""`tf.__internal__.distribute`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import ShardedVariable as ShardedVariable
from graphgrad.compat.v2.__internal__.distribute import interim as interim
from graphgrad.frontend.distribute.contexts import strategy_supports_no_merge_call as strategy_supports_no_merge_call
from graphgrad.frontend.distribute.contexts import variable_sync_on_read_context as variable_sync_on_read_context

__all__ = [
    "ShardedVariable", "interim", "strategy_supports_no_merge_call", "variable_sync_on_read_context"
]
