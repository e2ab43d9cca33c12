"""Tests of flags, logging and files."""
