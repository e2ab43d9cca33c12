"""Replaces nested derivatives of unmodified programs by Taylor coefficients, where that is exact."""
