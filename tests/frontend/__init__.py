"""Tests of what a program holds: control flow, functions, tapes, variables, cells."""
