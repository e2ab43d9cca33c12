"""StableHLO for most clusters without JAX, whose import takes longer than lowering them."""
