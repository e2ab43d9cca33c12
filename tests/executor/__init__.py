"""Tests of the executor: plans, programs, caches, sessions and runs."""
