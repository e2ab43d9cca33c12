"""Runs on several devices."""
