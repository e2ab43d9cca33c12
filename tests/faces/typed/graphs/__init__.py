"""Programs of 1.x: graphs and sessions."""
