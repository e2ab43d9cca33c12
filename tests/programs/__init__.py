"""Tests by programs: the examples, random programs, benchmarks."""
