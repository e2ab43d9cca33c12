"""From fetches to steps: pruning, common subexpressions, schedule, partition into clusters, placement."""
