"""Programs of 2.x: eager mode, functions, tapes."""
