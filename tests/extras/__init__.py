"""Tests of what programs use besides."""
