"""Tapes, forward accumulators, recomputation, gradient checks, `py_function`."""
