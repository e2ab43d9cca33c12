"""Measurements of graphgrad, side by side with TensorFlow; `python -m benchmarks`."""
