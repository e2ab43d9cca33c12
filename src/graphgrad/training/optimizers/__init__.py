"""Optimizers, schedules, averages of variables."""
