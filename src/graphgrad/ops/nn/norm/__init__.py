"""Batch normalization, moments, local response normalization."""
