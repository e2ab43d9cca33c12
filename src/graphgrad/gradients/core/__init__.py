"""Reverse-mode differentiation of a graph: arguments, sweep, rules, aggregation."""
