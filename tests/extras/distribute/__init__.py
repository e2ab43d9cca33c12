"""Replicas on the devices of one process."""
