"""`cond`, `while_loop`, `case`, `map_fn`, `scan`."""
