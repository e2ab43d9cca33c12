"""Tests of feature columns."""
