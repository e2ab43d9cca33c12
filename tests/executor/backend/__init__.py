"""Tests of XLA, its options and its caches."""
