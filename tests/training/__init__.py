"""Tests of optimizers, checkpoints, summaries and monitored sessions."""
