"""What XLA computes sooner in another form: rewrites StableHLO programs before they are compiled."""
