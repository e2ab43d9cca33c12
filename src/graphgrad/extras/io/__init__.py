"""Parsing and serializing: CSV, examples, records, tensors."""
