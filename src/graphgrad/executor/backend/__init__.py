"""XLA: lowering, compiling, the caches, memory. The only room that imports JAX."""
