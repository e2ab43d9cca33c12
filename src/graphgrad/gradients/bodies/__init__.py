"""The sub-graphs of loops and branches: copies, what they need, trip counts, loops that record, loops joined."""
