"""Implicit functions: solutions of equations, minima and trajectories, with derivatives of any order."""
