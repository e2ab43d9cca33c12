"""Programs under tapes."""
