"""Formulas of tensors: `formula` writes what computes a tensor as text and as LaTeX."""
