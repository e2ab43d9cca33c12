"""A cluster as a list of instructions: its fingerprint and its interpreter."""
