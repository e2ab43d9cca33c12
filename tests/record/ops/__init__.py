"""What records operations."""
