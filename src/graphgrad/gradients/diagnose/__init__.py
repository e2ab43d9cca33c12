"""Explanations: which paths carry a gradient, and where it ends."""
