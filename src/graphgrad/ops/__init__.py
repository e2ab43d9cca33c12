"""The operations, a room a family."""
