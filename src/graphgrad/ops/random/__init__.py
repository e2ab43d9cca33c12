"""Random numbers: counter-based generators, distributions, seeds."""
