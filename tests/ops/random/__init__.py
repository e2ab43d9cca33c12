"""Tests of random numbers."""
