"""Tests of the gradients of loops and branches."""
