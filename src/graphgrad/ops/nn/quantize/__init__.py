"""Fake quantization and quantized arithmetic."""
