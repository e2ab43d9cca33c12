"""The sub-graphs of loops and branches: copies, their inputs, trip counts, recording loops, joint loops."""
