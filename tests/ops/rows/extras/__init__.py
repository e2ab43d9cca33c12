"""Rows of operations of images, signals, sparse and ragged tensors, summaries."""
