"""Devices, session configuration, settings."""
