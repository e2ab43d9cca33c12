"""Horovod's names, for programs that say `import horovod.tensorflow as hvd`; see `graphgrad launch`."""

from graphgrad.extras.distribute.horovod_names import (
    Average,
    BroadcastGlobalVariablesHook,
    Compression,
    DistributedGradientTape,
    DistributedOptimizer,
    Sum,
    allgather,
    allreduce,
    broadcast,
    broadcast_global_variables,
    broadcast_variables,
    grouped_allreduce,
    init,
    is_initialized,
    local_rank,
    local_size,
    rank,
    shutdown,
    size,
)

__all__ = ["Average", "BroadcastGlobalVariablesHook", "Compression", "DistributedGradientTape", "DistributedOptimizer",
           "Sum", "allgather", "allreduce", "broadcast", "broadcast_global_variables", "broadcast_variables",
           "grouped_allreduce", "init", "is_initialized", "local_rank", "local_size", "rank", "shutdown", "size"]
