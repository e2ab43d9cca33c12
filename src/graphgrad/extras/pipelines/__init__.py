"""Queues, readers, lookup tables, parsing, batching."""
