"""Optimizers, schedules, averages."""
