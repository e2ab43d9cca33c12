"""Tests of graphs, operations and messages."""
