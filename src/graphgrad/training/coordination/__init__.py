"""Threads that feed queues, and what stops them."""
