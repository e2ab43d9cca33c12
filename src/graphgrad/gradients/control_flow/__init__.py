"""Gradients of branches, loops and maps."""
